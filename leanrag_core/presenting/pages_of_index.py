"""The slides of a presentation that are about its index: documents, graph, islands, bridges, hierarchy, cost."""

from dataclasses import asdict
from typing import Any

from leanrag_core.figures.numbers import money
from leanrag_core.messages.message import Message, message
from leanrag_core.presenting import claims
from leanrag_core.presenting.claims import Claim, Page
from leanrag_core.presenting.pages_of_question import Words
from leanrag_core.presenting.story import Islands, Presentation
from leanrag_core.types.manifest import HEURISTIC, REFERENCE_GRAPH

_UNPAID = {HEURISTIC: "present.cost.builtin", REFERENCE_GRAPH: "present.cost.by_hand"}  # kinds that no model made
_MOST_LABELS = 34  # spots; above it the larger half is named


def documents(stored: Presentation) -> Page:
    """Return what was read: each document with its chunks."""
    facts = stored.documents
    strong = message("present.documents.strong", n=facts.n, tokens=facts.tokens)
    claim = Claim(strong, (message("present.documents.rest", n=facts.chunks),))
    rest = facts.n - len(facts.drawn)
    foot = (message("present.documents.drawn", n=len(facts.drawn), total=facts.n),) if rest else ()
    return Page(message("present.documents.title"), claim, {"documents": _plain(facts.drawn)}, foot)


def graph(stored: Presentation) -> Page:
    """Return the base graph: its best connected entities."""
    picture, islands = stored.graph, stored.islands
    entities, relations = stored.index.layers[0], stored.index.relations[0]
    meaning = claims.kind_meaning(stored.index.kind)
    claim = Claim(
        message("present.graph.strong", n=entities, relations=relations), (meaning,) if meaning is not None else ()
    )
    dots = picture.dots if picture else ()
    values = {"dots": _plain(dots), "links": _plain(picture.links if picture else ())}
    values["spots"] = _plain(islands.spots) if islands else []
    foot = (message("present.graph.drawn", n=len(dots), total=entities),) if len(dots) < entities else ()
    return Page(message("present.graph.title"), claim, values, foot)


def islands(picture: Islands) -> Page:
    """Return a layer of summaries without its aggregated relations."""
    drawn, foot = _spots(picture, joined=False), _foot(picture, joined=False)
    return Page(claims.islands_title(picture), claims.islands_claim(picture), drawn, foot)


def bridges(picture: Islands) -> Page:
    """Return the same layer with them, at the same places."""
    drawn, foot = _spots(picture, joined=True), _foot(picture, joined=True)
    return Page(claims.bridges_title(picture), claims.bridges_claim(picture), drawn, foot)


def hierarchy(stored: Presentation) -> Page:
    """Return the layers, from the root down to the entities."""
    layers = stored.index.layers
    title = message("present.hierarchy.title", n=len(layers))
    strong = message("present.hierarchy.strong", n=layers[0], layers=len(layers) - 1)
    claim = Claim(strong, (message("present.hierarchy.rest"),))
    return Page(title, claim, {"columns": _plain(stored.hierarchy), "base": layers[0]})


def cost(stored: Presentation, words: Words) -> Page:
    """Return what the build was paid, and what the answers read."""
    spent = stored.cost
    if spent.calls:
        strong = message("present.cost.strong", n=spent.calls, money=money(spent.dollars))
        tokens = spent.prompt_tokens + spent.completion_tokens
        claim = Claim(strong, (message("present.cost.tokens", n=tokens),))
    else:
        kind = stored.index.kind
        code = _UNPAID.get(kind, "present.cost.nothing_new")
        models = tuple(message("plain", text=name) for name in _models_of_answers(stored))
        rest = (message("present.cost.unpaid_rest"),) if kind in _UNPAID else ()
        if models:
            rest = (message("present.cost.model_answers", models=models),)
        claim = Claim(message(code), rest)
    n, rows = len(stored.questions), []
    for place, side in enumerate(stored.questions[0].sides):
        total = sum(each.sides[place].run.trace.context.tokens for each in stored.questions)
        rows.append({"letter": "ABC"[place], "name": words.strategy(side), "tokens": round(total / n)})
    counts = {"calls": spent.calls, "prompt": spent.prompt_tokens, "completion": spent.completion_tokens}
    figures = [
        {"value": f"{count:,}", "label": words.say(message(f"present.cost.{name}"))} for name, count in counts.items()
    ]
    figures.append({"value": money(spent.dollars), "label": words.say(message("present.cost.money"))})
    label = words.say(message("present.cost.per_question", n=n))
    measured = [words.figure(figure) for each in stored.measured[:1] for figure in claims.measured_figures(each)]
    picture = {"figures": figures, "rows": rows, "label": label, "measured": measured}
    return Page(message("present.cost.title"), claim, picture, claims.asked_with(stored))


def _models_of_answers(stored: Presentation) -> list[str]:
    """Return the models that wrote answers which are shown."""
    answers = [side.run.answer for question in stored.questions for side in question.sides]
    return sorted({answer.model for answer in answers if answer is not None and not answer.extractive})


def _spots(picture: Islands, *, joined: bool) -> dict[str, Any]:
    spots = _plain(picture.spots)
    named = sorted(range(len(spots)), key=lambda place: (-picture.spots[place].size, place))[:_MOST_LABELS]
    for place, spot in enumerate(spots):
        spot["named"] = place in named
    alone = [place for place, spot in enumerate(picture.spots) if not joined or not spot.relations]
    return {"spots": spots, "bridges": _plain(picture.bridges) if joined else [], "alone": alone}


def _foot(picture: Islands, *, joined: bool) -> tuple[Message, ...]:
    """Return how many are drawn, and of how many."""
    n, total = len(picture.spots), picture.nodes
    code = "present.islands.drawn" if n < total else "present.islands.all"
    foot = [message(code, n=n, total=total, layer=picture.layer)]
    if joined and len(picture.bridges) < picture.relations:
        foot.append(message("present.bridges.drawn", n=len(picture.bridges), total=picture.relations))
    return tuple(foot)


def _plain(values: Any) -> list[Any]:
    return [asdict(value) if hasattr(value, "__dataclass_fields__") else list(value) for value in values]
