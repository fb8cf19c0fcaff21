"""The slides of a presentation that are about a question: its steps, its answer, strategies side by side."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from datetime import date
from itertools import zip_longest
from typing import Any

from leanrag_core.answering.support import Support, doubt, supports_in
from leanrag_core.figures.drawn_nodes import lit_ids
from leanrag_core.figures.layered import layered_graph
from leanrag_core.figures.layered_places import NARROW, WIDE, LayeredGraph
from leanrag_core.figures.numbers import date_alone
from leanrag_core.messages.catalog import codes, joined_sentences, sentence
from leanrag_core.messages.message import Message, message
from leanrag_core.presenting import claims
from leanrag_core.presenting.claims import Claim, Figure, Page
from leanrag_core.presenting.making import bridges_of
from leanrag_core.presenting.story import Presentation, PresentedQuestion, Side
from leanrag_core.retrieval.settings import settings_words
from leanrag_core.text.words import words_around
from leanrag_core.types.trace import AnswerPart, Trace

_OPENING = 300  # characters of an answer beside another one
_MOST_TEXT, _BEFORE = 560, 160  # of a text behind a citation, and before the cited sentence


class Words:
    """Says messages in a language, for texts within a picture."""

    def __init__(self, language: str) -> None:
        self.language = language

    def say(self, text: Message) -> str:
        """Return the sentence of that message."""
        return sentence(text, self.language)

    def day(self, made: str) -> str:
        """Return a day of ISO 8601 as people write it; nothing for another text."""
        try:
            return date_alone(date.fromisoformat(made), self.language)
        except ValueError:
            return ""

    def figure(self, figure: Figure) -> dict[str, str]:
        """Return a large figure and its label, as JSON values."""
        return {"value": figure.value, "label": self.say(figure.label)}

    def claim(self, claim: Claim) -> dict[str, str]:
        """Return a claim as JSON values: its bold sentence, and what supports it."""
        return {
            "strong": self.say(claim.strong) if claim.strong else "",
            "rest": joined_sentences(map(self.say, claim.rest)),
        }

    def strategy(self, side: Side) -> str:
        """Return the title of the strategy that was asked."""
        return self.say(side.run.trace.title)

    def settings(self, side: Side) -> str:
        """Return the settings with which it was asked."""
        return self.say(settings_words(side.run.trace.strategy, side.run.trace.parameters))


def steps(question: PresentedQuestion, words: Words) -> Page:
    """Return the retrieval, step by step."""
    side = question.sides[0]
    trace = side.run.trace
    layouts = [layered_graph(trace, plot_px=width, language=words.language) for width in (NARROW, WIDE)]
    names = [*(step.name for step in trace.steps), "answer"]
    step_records = []
    for place, name in enumerate(names):
        claim = _answer_claim(side) if name == "answer" else claims.step_claim(side, name)
        nodes, relations = lit_ids(trace, place if place < len(trace.steps) else None)
        title = message("present.step.answer") if name == "answer" else _title(trace, place)
        step_records.append(
            {
                "name": name,
                "title": words.say(title),
                "fact": _fact(trace, side, name, words),
                **words.claim(claim),
                "nodes": sorted(nodes),
                "relations": sorted(relations),
            }
        )
    picture = {
        "question": question.question,
        "layouts": [_drawn(layout) for layout in layouts],
        "steps": step_records,
        "chunks": _chunk_cards(trace),
        "sections": _sections(trace, words),
        "tokens": trace.context.tokens,
        "answer": _parts(side, _OPENING, words),
        "sources": [
            {"mark": mark, "name": text["where"] or text["lead"], "colour": text["colour"]}
            for mark, text in _cited_texts(side, words).items()
        ],
        "kind": words.say(answer_kind(side)),
    }
    return Page(message("present.steps.title"), Claim(None), picture)


def _title(trace: Trace, place: int) -> Message:
    """Return the title of a step: for LeanRAG's steps words that need no knowledge of the terms."""
    step = trace.steps[place]
    code = f"present.step.{step.name}"
    return message(code) if trace.strategy == "leanrag" and code in codes() else step.title


def _fact(trace: Trace, side: Side, name: str, words: Words) -> str:
    """Return a few words beside a step's name; none for a step of another strategy."""
    above = [node for node in trace.nodes if node.layer and node.role == "path"]
    documents = {passage.source.document for passage in trace.passages if passage.source}
    counts: Mapping[str, int] = {
        "seeds": len(trace.with_role("seed")),
        "climb": len(above),
        "lca": len(trace.with_role("lca")),
        "relations": len(bridges_of(trace)),
        "chunks": len(trace.passages),
        "context": trace.context.tokens,
        "answer": len(set(side.run.answer.citations)) if side.run.answer else 0,
    }
    code = f"present.fact.{name}"
    if not counts.get(name) or code not in codes() or (trace.strategy != "leanrag" and name in ("seeds", "climb")):
        return ""
    return words.say(message(code, n=counts[name], documents=message("count.documents", n=len(documents))))


def _drawn(graph: LayeredGraph) -> dict[str, Any]:
    return {
        "nodes": [_without(asdict(node), "lit", "role", "layer", "members") for node in graph.nodes],
        "edges": [_without(asdict(edge), "lit") for edge in graph.edges],
        "height": graph.height,
        "plot_px": graph.plot_px,
    }


def _without(values: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name not in names}


def _chunk_cards(trace: Trace) -> list[dict[str, Any]]:
    marks = trace.context.mark_of
    return [
        {
            "mark": marks.get(passage.id, ""),
            "title": passage.source.title or passage.name,
            "seeds": len(passage.source.items),
        }
        for passage in trace.passages
        if passage.source
    ]


def _sections(trace: Trace, words: Words) -> list[dict[str, Any]]:
    return [
        {"title": words.say(section.title), "tokens": section.tokens, "colour": section.colour}
        for section in trace.context.sections
        if section.items
    ]


def answer(question: PresentedQuestion, words: Words) -> Page:
    """Return the answer with its citations, and the texts behind these."""
    side = question.sides[0]
    picture = {
        "question": question.question,
        "parts": _parts(side, None, words),
        "kind": words.say(answer_kind(side)),
        "texts": _cited_texts(side, words),
    }
    grounded = side.run.answer is not None and side.run.answer.grounded
    title = message("present.answer.title" if grounded and _checked(side) else "present.answer.neutral")
    return Page(title, _answer_claim(side), picture)


def answer_kind(side: Side) -> Message:
    """Say who wrote the answer."""
    stored = side.run.answer
    if stored is None:
        return message("present.answer.none")
    return message("present.answer.extractive" if stored.extractive else "present.answer.written", model=stored.model)


def _answer_claim(side: Side) -> Claim:
    stored = side.run.answer
    if stored is None:
        return Claim(message("present.answer.none"))
    if not stored.grounded:
        return Claim(message("present.answer.declined"))
    n_lacking = sum(support.lacks for support in _supports(side))
    if n_lacking:
        some = message("support.some", n=n_lacking, sentences=len(stored.parts))
        return Claim(some, (message("present.answer.by_rule"),))
    n = len(set(stored.citations))
    if not n or not _checked(side):
        return Claim(None)
    documents = len(_cited_documents(side))
    rest = (message("present.answer.documents", n=documents),) if documents else ()
    return Claim(message("present.answer.checked", n=n), rest)


def _checked(side: Side) -> bool:
    """Tell whether each citation of the answer is the mark of a text in the context, and no sentence lacks support."""
    stored = side.run.answer
    cited = set(stored.citations) if stored else set()
    is_of_context = bool(cited) and cited <= set(side.run.trace.context.mark_of.values())
    return is_of_context and not any(support.lacks for support in _supports(side))


def _supports(side: Side) -> tuple[Support, ...]:
    """Return how far each sentence of a model's answer is supported; other answers are the context's own sentences."""
    stored = side.run.answer
    if stored is None or stored.extractive or not stored.grounded:
        return ()
    return supports_in(side.run.trace.context, stored.parts)


def _cited_documents(side: Side) -> set[str]:
    cited = set(side.run.answer.citations) if side.run.answer else set()
    marks = side.run.trace.context.mark_of
    return {
        passage.source.document
        for passage in side.run.trace.passages
        if passage.source and marks.get(passage.id) in cited
    }


def _parts(side: Side, most: int | None, words: Words) -> list[dict[str, Any]]:
    """Return the sentences of the answer with their marks; with `most` only the opening, of some so many
    characters, and an ellipsis for the rest."""
    stored = side.run.answer
    parts: tuple[AnswerPart, ...] = stored.parts if stored else ()
    if stored and not parts:
        parts = (AnswerPart(stored.text, ()),)
    doubts = [doubt(support) for support in _supports(side)]
    shown: list[dict[str, Any]] = []
    length = 0
    for part, why in zip_longest(parts, doubts[: len(parts)]):
        if most is not None and shown and length + len(part.text) > most:
            shown.append({"text": "…", "marks": []})
            break
        doubted = {} if why is None else {"doubt": words.say(why)}
        shown.append({"text": part.text, "marks": list(part.marks), **doubted})
        length += len(part.text)
    return shown


def _cited_texts(side: Side, words: Words) -> dict[str, dict[str, str]]:
    trace = side.run.trace
    cited_sentences = {
        mark: str(part["text"]) for part in reversed(_parts(side, None, words)) for mark in part["marks"]
    }
    sources = {passage.id: passage.source for passage in trace.passages}
    texts = {}
    for section in trace.context.sections:
        for item in section.items:
            if item.mark in cited_sentences:
                source = sources.get(item.ref)
                where = "" if source is None else source.title or source.document
                texts[item.mark] = {
                    "text": _excerpt(item.text[item.lead :].strip(), cited_sentences.get(item.mark, "")),
                    "where": where,
                    "colour": section.colour,
                    "lead": item.text[: item.lead].strip(),
                }
    return texts


def _excerpt(text: str, quote: str) -> str:
    """Return the part of a text that a sentence of the answer is taken from, with some of what is around it; else its
    beginning."""
    at = max(0, text.find(quote.strip()))
    start, _ = words_around(text, at, at, _BEFORE)
    end = start + _MOST_TEXT
    return ("… " if start else "") + text[start:end].strip() + (" …" if end < len(text) else "")


def compare(stored: Presentation, question: PresentedQuestion, beside: int, words: Words) -> Page:
    """Return the same question with two strategies."""
    sides = (question.sides[0], question.sides[beside])
    most = max(1, *(side.run.trace.context.tokens for side in sides))
    columns = [
        column(question.n_gold, side, letter, most, words)
        for side, letter in zip(sides, ("A", "ABC"[beside]), strict=True)
    ]
    foot = [stored_on(stored.made, words)]
    if any(each["is_cut"] for each in columns):
        foot.append(message("present.compare.opening"))
    measured = next((each for each in stored.measured if each.beside == beside), None)
    picture = {"question": question.question, "columns": columns}
    return Page(
        claims.compare_title(question, beside), Claim(None), picture, (*foot, *claims.measured_sentences(measured))
    )


def stored_on(made: str, words: Words) -> Message:
    """Say that the sides of a comparison had the same index and model, and the day."""
    day = words.day(made)
    return message("present.compare.same", day=day) if day else message("present.compare.same_undated")


def column(n_gold: int, side: Side, letter: str, most: int, words: Words) -> dict[str, Any]:
    """Return a side of a comparison. n_gold: gold quotes of the question; most: tokens of the longest context."""
    trace, stored = side.run.trace, side.run.answer
    sources = [passage.source for passage in trace.passages if passage.source]
    documents = Counter(source.title or source.document for source in sources)
    chunks, bridges = len(trace.passages), len(bridges_of(trace))
    cited = len(set(stored.citations)) if stored else 0
    parts = _parts(side, _OPENING, words)
    figures = [
        (chunks, message("present.compare.chunks", n=chunks, documents=message("count.documents", n=len(documents)))),
        (cited, message("present.compare.checked" if _checked(side) else "present.compare.citations", n=cited)),
        (bridges, message("present.compare.bridges", n=bridges)),
    ]
    if side.gold is not None and n_gold:
        figures[1] = (side.gold, message("present.compare.gold", n=n_gold))
    return {
        "letter": letter,
        "name": words.strategy(side),
        "settings": words.settings(side),
        "tokens": trace.context.tokens,
        "share": trace.context.tokens / most,
        "documents": [{"title": title, "chunks": n} for title, n in documents.items()],
        "bridged": bridges > 0,
        "figures": [{"value": f"{value:,}", "label": words.say(label)} for value, label in figures],
        "answer": parts,
        "is_cut": stored is not None and len(parts) < len(stored.parts),
        "colours": {section.letter: section.colour for section in trace.context.sections},
    }


def several(stored: Presentation, words: Words) -> Page:
    """Return all questions: what each side read and which of the gold quotes it has."""
    rows: list[dict[str, Any]] = [
        {"question": each.question, "sides": [_what_it_read(side, each.n_gold, words) for side in each.sides]}
        for each in stored.questions
    ]
    names = [
        {"letter": "ABC"[place], "name": words.strategy(side)} for place, side in enumerate(stored.questions[0].sides)
    ]
    most = max(1, *(side["tokens"] for row in rows for side in row["sides"]))
    smaller = sum(
        claims.less_reading(row["sides"][0]["tokens"], min(side["tokens"] for side in row["sides"][1:]))
        for row in rows
        if len(row["sides"]) > 1
    )
    claim = Claim(None)
    if smaller:
        strong = message("present.questions.strong", n=smaller, total=len(rows), name=names[0]["name"])
        claim = Claim(strong, tuple(_gold_of_all(stored, names)))
    foot = tuple(part for each in stored.measured[:1] for part in claims.measured_sentences(each))
    title = message("present.questions.title", n=len(rows))
    foot += claims.asked_with(stored)
    return Page(title, claim, {"rows": rows, "names": names, "most": most}, foot)


def _what_it_read(side: Side, n_gold: int, words: Words) -> dict[str, Any]:
    known = side.gold is not None and n_gold
    gold = words.say(message("present.questions.gold", n=side.gold, total=n_gold)) if known else ""
    chunks = words.say(message("count.chunks", n=len(side.run.trace.passages)))
    return {"tokens": side.run.trace.context.tokens, "gold": gold, "chunks": chunks}


def _gold_of_all(stored: Presentation, names: list[dict[str, str]]) -> Iterator[Message]:
    """Yield how many of the wanted passages each system found, over the questions of which these are known."""
    known = [question for question in stored.questions if question.n_gold]
    for place, name in enumerate(names):
        sides = [question.sides[place] for question in known]
        if known and all(side.gold is not None for side in sides):
            n_found, total = sum(side.gold or 0 for side in sides), sum(question.n_gold for question in known)
            yield message("present.questions.gold_of_all", name=name["name"], n=n_found, total=total)
