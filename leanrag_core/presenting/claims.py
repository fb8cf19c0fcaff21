"""What a slide says and draws, and what it may claim: each sentence is made of stored figures, and is left out where
they do not support it.
"""

from dataclasses import dataclass
from typing import Any

from leanrag_core.figures.drawing import isolated
from leanrag_core.figures.numbers import decimal, score, share
from leanrag_core.messages.catalog import codes
from leanrag_core.messages.message import Message, message
from leanrag_core.presenting.making import bridges_of
from leanrag_core.presenting.story import COMPARE, Estimate, Islands, Measured, Presentation, PresentedQuestion, Side
from leanrag_core.retrieval.settings import settings_words
from leanrag_core.types.trace import Trace, TraceRelation

_MOST_NAME = 44  # characters of a name within a sentence


@dataclass(frozen=True)
class Claim:
    """What a slide claims: a first sentence, which is set bold, and what supports it."""

    strong: Message | None
    rest: tuple[Message, ...] = ()


@dataclass(frozen=True)
class Figure:
    """A number in large type, and what it is."""

    value: str
    label: Message


NO_CLAIM = Claim(None)


@dataclass(frozen=True)
class Page:
    """title, claim, foot: see slides.View."""

    title: Message
    claim: Claim
    picture: Any
    foot: tuple[Message, ...] = ()


def _cut_name(name: str) -> str:
    """Return the name, cut between words where it is too long for a sentence."""
    if len(name) <= _MOST_NAME:
        return name
    return f"{name[: _MOST_NAME - 1].rsplit(' ', 1)[0].rstrip(' ,:;')}…"


def talk(kind: str, stored: Presentation) -> tuple[Message, ...]:
    """Return what a speaker may say on a slide of that kind; beside other strategies, with which settings these were
    asked."""
    if f"present.talk.{kind}" not in codes():
        return ()
    own = message(f"present.talk.{kind}")
    return (own, *asked_with(stored)) if kind == COMPARE else (own,)


def asked_with(stored: Presentation) -> tuple[Message, ...]:
    """Say with which settings each strategy was asked."""
    traces = [side.run.trace for side in stored.questions[0].sides]
    return tuple(
        message("present.asked_with", name=trace.title, settings=settings_words(trace.strategy, trace.parameters))
        for trace in traces
    )


def kind_meaning(kind: str) -> Message | None:
    """Return what a kind of graph means, where the catalog says so."""
    code = f"graph.{kind.replace(' ', '_').lower()}.meaning"
    if code not in codes():
        return None
    return message("present.kind", kind=message(code.removesuffix(".meaning")), meaning=message(code))


def islands_title(islands: Islands) -> Message:
    """Say that summaries are islands, where there are several parts without aggregated relations."""
    return message("present.islands.title" if islands.components_without > 1 else "present.islands.neutral")


def islands_claim(islands: Islands) -> Claim:
    """Return how many parts the layer has without its aggregated relations."""
    strong = message("present.islands.strong", nodes=islands.nodes, n=islands.components_without)
    rest = (message("present.islands.rest"),) if islands.components_without == islands.nodes else ()
    return Claim(strong, rest)


def bridges_title(islands: Islands) -> Message:
    """Say that aggregated relations join the islands, where they do: all of them, or some."""
    if islands.components_with == 1 < islands.components_without:
        return message("present.bridges.title_all")
    if islands.components_with < islands.components_without:
        return message("present.bridges.title_some")
    return message("present.bridges.neutral")


def bridges_claim(islands: Islands) -> Claim:
    """Return what the aggregated relations leave of the islands."""
    joined = islands.components_with < islands.components_without
    counts = {"n": islands.components_with, "relations": islands.relations, "before": islands.components_without}
    strong = message("present.bridges.strong" if joined else "present.bridges.strong_none", **counts)
    rest = [message("present.bridges.rest", n=islands.summarised, listed=islands.relations - islands.summarised)]
    if joined and islands.components_with > 1:
        rest.insert(0, message("present.bridges.largest", n=islands.largest, nodes=islands.nodes))
    return Claim(strong, tuple(rest))


def less_reading(first: int, other: int) -> bool:
    """Tell whether the first context is smaller, by what a whole percent shows."""
    return 0 < first < other and round(100 * first / other) < 100


def compare_title(question: PresentedQuestion, beside: int) -> Message:
    """Say that the first strategy reads less, where its context for this question is the smaller one."""
    first, other = (question.sides[side].run.trace.context.tokens for side in (0, beside))
    if less_reading(first, other):
        return message("present.compare.title", share=share(first / other))
    return message("present.compare.neutral")


def measured_sentences(measured: Measured | None) -> tuple[Message, ...]:
    """Return what an experiment measured, each mean with its interval and how many questions it is of."""
    if measured is None:
        return ()
    sentences = [message("present.measured.tokens", n=measured.tokens.n, share=share(measured.tokens.value),
                         interval=_interval(measured.tokens))]  # fmt: skip
    if measured.recall and measured.recall_beside and measured.difference:
        values = _recalls(measured.recall.value, measured.recall_beside.value, measured.difference.value)
        interval = _point_interval(measured.difference)
        sentences.append(message("present.measured.recall", n=measured.recall.n, **values, interval=interval))
    return tuple(sentences)


def measured_figures(measured: Measured) -> tuple[Figure, ...]:
    """Return what an experiment measured, in two large numbers."""
    tokens = message("present.measured.tokens_label", n=measured.tokens.n, interval=_interval(measured.tokens))
    figures = [Figure(share(measured.tokens.value), tokens)]
    if measured.recall and measured.recall_beside and measured.difference:
        values = _recalls(measured.recall.value, measured.recall_beside.value, measured.difference.value)
        difference = values.pop("difference")
        recall = message("present.measured.recall_label", interval=_point_interval(measured.difference), **values)
        figures.append(Figure(difference, recall))
    return tuple(figures)


def _recalls(first: float, other: float, difference: float) -> dict[str, str]:
    """Write two shares and their difference in points: whole, or with a decimal where the whole ones would not add
    up."""
    adds_up = round(100 * first) - round(100 * other) == round(100 * difference)
    places = 0 if adds_up else 1
    shares = {"first": share(first, places), "other": share(other, places)}
    return {**shares, "difference": _points(difference, places)}


def _interval(estimate: Estimate) -> Message:
    if estimate.low is None or estimate.high is None:
        return message("present.no_interval")
    return message("present.interval", low=f"{estimate.low * 100:.0f}", high=share(estimate.high))


def _point_interval(estimate: Estimate) -> Message:
    if estimate.low is None or estimate.high is None:
        return message("present.no_interval")
    return message("present.interval", low=_points(estimate.low), high=_points(estimate.high))


def _points(value: float, places: int = 0) -> str:
    sign = "+" if round(100 * value, places) > 0 else ""
    return f"{sign}{decimal(100 * value, places)}"


def step_claim(side: Side, name: str) -> Claim:
    """Return what a step of the retrieval shows: LeanRAG's own sentences for its steps, the caption for any other
    step."""
    trace = side.run.trace
    own = {
        "seeds": _seeds, "climb": _climb, "lca": _lca, "relations": _relations, "chunks": _chunks, "context": _context,
    }.get(name)  # fmt: skip
    claim = own(trace, side) if own is not None else None
    if claim is not None:
        return claim
    caption = next((step.caption for step in trace.steps if step.name == name), None)
    return Claim(None, (caption,) if caption else ())


def _seeds(trace: Trace, side: Side) -> Claim | None:
    seeds = trace.with_role("seed")
    if not seeds or seeds[0].score is None:
        return None
    best = min(seeds, key=lambda seed: seed.rank or len(seeds))
    rest = message("present.seeds.rest", name=isolated(best.name), score=score(best.score or 0.0))
    return Claim(message("present.seeds.strong", n=len(seeds)), (rest,))


def _climb(trace: Trace, side: Side) -> Claim | None:
    above = [node for node in trace.nodes if node.layer and node.role == "path"]
    if not above:
        return None
    return Claim(message("present.climb.strong"), (message("present.climb.rest", n=len(above)),))


def _lca(trace: Trace, side: Side) -> Claim | None:
    tops = trace.with_role("lca")
    if len(tops) != 1:
        return None
    height = len(trace.index.layer_sizes) - 1
    is_root = tops[0].layer == height
    rest = message("present.lca.root") if is_root else message("present.lca.below", layer=tops[0].layer, height=height)
    return Claim(message("present.lca.strong", name=isolated(tops[0].name)), (rest,))


def _relations(trace: Trace, side: Side) -> Claim | None:
    bridges = {relation.id: relation for relation in bridges_of(trace)}
    if not bridges:
        return Claim(message("present.relations.none"))
    strong = message("present.relations.strong", n=len(bridges))
    known = [each for each in side.bridges if each.relation in bridges and each.statements]
    if not known:
        return Claim(strong)
    best = max(known, key=lambda each: each.statements)
    first, second = _ends(trace, bridges[best.relation])
    strength = round(bridges[best.relation].strength)
    code = "present.relations.tie" if strength == best.statements else "present.relations.tie_lambda"
    rest = [message(code, n=best.statements, first=first, second=second, strength=strength)]
    if best.documents > 1 and best.most_in_one < best.statements:
        rest.append(message("present.relations.spread", n=best.documents))
    return Claim(strong, tuple(rest))


def _ends(trace: Trace, relation: TraceRelation) -> tuple[str, str]:
    names = {item.id: item.name for item in trace.items}
    first, second = (_cut_name(names.get(id_, "")) for id_ in (relation.source, relation.target))
    return isolated(first), isolated(second)


def _chunks(trace: Trace, side: Side) -> Claim | None:
    sources = [passage.source for passage in trace.passages if passage.source]
    if not sources:
        return None
    documents = len({source.document for source in sources})
    strong = message("present.chunks.strong", n=len(sources), documents=message("count.documents", n=documents))
    n_seeds = len(trace.with_role("seed"))
    most = max(len(source.items) for source in sources)
    rest = (message("present.chunks.rest", n=most, seeds=n_seeds),) if most > 1 else ()
    return Claim(strong, rest)


def _context(trace: Trace, side: Side) -> Claim | None:
    sections = [section for section in trace.context.sections if section.items]
    strong = message("present.context.strong", n=trace.context.tokens)
    return Claim(strong, (message("present.context.rest", n=len(sections)),) if len(sections) > 1 else ())
