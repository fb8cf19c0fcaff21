"""Each number on each slide is recomputed from the index and from what the retrieval of it gave.

Those of the shipped presentation are recomputed in tests/processors, where its index is built.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from leanrag_core.presenting.making import bridges_of
from leanrag_core.presenting.slides import View, deck_of
from leanrag_core.presenting.story import Presentation, Side
from leanrag_core.text.tokens import count_tokens
from leanrag_core.types.index import Index
from tests.small_index import small_index

_NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?|(?<!\w)\.\d+")


def numbers(text: str) -> set[str]:
    """Return the numbers of a sentence as they are written, names in quotation marks left out."""
    return set(_NUMBER.findall(re.sub(r'"[^"]*"', "", text)))


def of_counts(*counts: int) -> set[str]:
    return {f"{count:,}" for count in counts}


def of_index(index: Index) -> dict[str, set[str]]:
    """Return by kind of slide what may stand on it, from the tables of the index alone."""
    texts, layers = index.documents["text"].to_pylist(), index.layers
    first = next(layer for layer in layers[1:] if len(layer) > 1)
    kinds = first.relations["kind"].to_pylist()
    joined = parts(len(first), first.ends.tolist())
    summarised = kinds.count("summarised")
    largest = max(joined.count(part) for part in joined)
    sizes = [len(layer) for layer in layers]
    return {
        "documents": of_counts(len(texts), sum(map(count_tokens, texts)), index.chunks.num_rows),
        "graph": of_counts(sizes[0], layers[0].relations.num_rows),
        "islands": of_counts(len(first), first.number),
        "bridges": of_counts(
            len(first), first.number, len(kinds), summarised, len(kinds) - summarised, len(set(joined)), largest
        ),
        "hierarchy": of_counts(len(sizes), len(sizes) - 1, sizes[0]),
    }


def parts(n: int, ends: list[list[int]]) -> list[int]:
    """Return the part of the graph that each of n nodes is in, by its lowest node."""
    part = list(range(n))
    for _ in range(n):
        for a, b in ends:
            part[a] = part[b] = min(part[a], part[b])
    return part


def of_bridge(index: Index, side: Side) -> set[str]:
    """Return the base relations below each bridge and the documents that state them, counted level by level."""
    found: set[str] = set()
    for relation in bridges_of(side.run.trace):
        rows, documents = {relation.row}, set()
        for layer in range(relation.layer or 0, 0, -1):
            rows = {member for row in rows for member in index.layers[layer].relation(row).members}
        for row in rows:
            chunks = index.layers[0].relation(row).chunks
            documents |= {index.chunks["document"][chunk].as_py() for chunk in chunks}
        members = len(index.layers[relation.layer].relation(relation.row).members)
        found |= of_counts(len(rows), len(documents), members)
    return found


def of_side(index: Index, side: Side) -> set[str]:
    """Return what may stand on the steps of a retrieval."""
    trace = side.run.trace
    sources = [passage.source for passage in trace.passages if passage.source]
    above = [node for node in trace.nodes if node.layer and node.role == "path"]
    cited = set(side.run.answer.citations) if side.run.answer else set()
    scores = {f"{seed.score:.2f}".lstrip("0") for seed in trace.with_role("seed") if seed.score is not None}
    marks = {item.mark: item.ref for section in trace.context.sections for item in section.items}
    refs = {marks.get(mark) for mark in cited}
    cited_documents = {p.source.document for p in trace.passages if p.source and p.id in refs}
    return (
        scores
        | of_bridge(index, side)
        | of_counts(
            len(trace.with_role("seed")),
            len(above),
            len(trace.with_role("lca")),
            *(top.layer or 0 for top in trace.with_role("lca")),
            len(index.layers) - 1,
            len(bridges_of(trace)),
            len(sources),
            len({source.document for source in sources}),
            max((len(source.items) for source in sources), default=0),
            sum(bool(section.items) for section in trace.context.sections),
            count_tokens(trace.context.text),
            len(cited),
            len(cited_documents),
        )
    )


def shown_texts(view: View) -> Iterator[str]:
    """Yield all sentences and figures of a view that a person reads; texts of documents and names are not its own."""
    yield from (view.title, view.strong, view.rest)
    picture: Any = view.picture
    for step in picture.get("steps", ()):
        yield from (step["fact"], step["strong"], step["rest"])
    for column in picture.get("columns", ()):
        if "figures" in column:
            yield f"{column['tokens']:,}"
            for figure in column["figures"]:
                yield from (figure["value"], figure["label"])
    for row in picture.get("rows", ()):
        for side in row.get("sides", ()):
            yield from (f"{side['tokens']:,}", side["gold"], side["chunks"])


def assert_recomputed(index: Index, made: Presentation) -> None:
    allowed = of_index(index)
    for slide in deck_of(made).slides:
        for place, view in enumerate(slide.views):
            if slide.kind in ("questions", "cost"):
                known = of_counts(len(made.questions))
                sides = [side for question in made.questions for side in question.sides]
            else:
                known = set(allowed.get(slide.kind, set()))
                sides = list(made.questions[place].sides) if slide.kind in ("steps", "answer", "compare") else []
            for side in sides:
                known |= of_side(index, side) | of_counts(side.gold or 0)
            known |= of_counts(*(question.n_gold for question in made.questions))
            if slide.kind == "compare":
                tokens = [count_tokens(side.run.trace.context.text) for side in sides]
                known |= {f"{100 * tokens[0] / other:.0f}" for other in tokens[1:] if other}
            if slide.kind == "cost":
                used = zip(
                    *([count_tokens(s.run.trace.context.text) for s in q.sides] for q in made.questions), strict=True
                )
                means = {round(sum(tokens) / len(tokens)) for tokens in used}
                assert {row["tokens"] for row in view.picture["rows"]} == means
            for text in shown_texts(view):
                assert numbers(text) <= known, (slide.kind, text, sorted(numbers(text) - known))


def test_each_number_of_a_small_story_is_of_the_index(make: Callable[..., Presentation]) -> None:
    assert_recomputed(small_index(), make())


def test_a_number_that_is_not_of_the_index_is_found(make: Callable[..., Presentation]) -> None:
    made = make()
    wrong = made.documents.__class__(made.documents.n, made.documents.tokens + 7, made.documents.chunks, ())
    with pytest.raises(AssertionError, match="documents"):
        assert_recomputed(small_index(), made.__class__(**{**vars(made), "documents": wrong}))
