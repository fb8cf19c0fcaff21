"""Nodes of a tree of texts: leaves as passages, summaries as items, and both as lines of a context."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from leanrag_core.messages.message import Message, message
from leanrag_core.retrieval.budgets import Candidate, section_form, text_line
from leanrag_core.retrieval.context import passage_lead
from leanrag_core.retrieval.passages import passage_item, source_in
from leanrag_core.retrieval.tracing import link
from leanrag_core.types.index import Index
from leanrag_core.types.text_tree import TextTree
from leanrag_core.types.trace import Style, TraceItem, TraceRelation

SUMMARIES = section_form("summaries", "S", "path", "## Summaries\n", {"summary": "count.summaries"})
SUMMARY = Style("summary", message("style.summary"), "path", "box")
SUMS_UP = Style("sums-up", message("style.sums_up"), "path", "line", on="relation")


def node_id(tree: TextTree, row: int) -> str:
    """Return id of a node's item."""
    return f"{'summary' if tree.layer[row] else 'leaf'}-{row}"


def summary_items(
    tree: TextTree, rows: Sequence[int], scores: Mapping[int, float], ranks: Mapping[int, int], reason: str
) -> tuple[TraceItem, ...]:
    """Return those summaries as items. scores, ranks: by row. reason: code of a message with the value score."""
    return tuple(
        TraceItem(
            node_id(tree, row),
            "summary",
            f"Summary {row} of layer {tree.layer[row]}",
            ("summary",),
            row=row,
            score=scores[row],
            rank=ranks[row],
            reason=message(reason, score=scores[row]),
            type=f"layer {tree.layer[row]}",
            text=tree.text_of_summary(row),
        )
        for row in rows
    )


def leaf_passages(
    index: Index,
    tree: TextTree,
    rows: Sequence[int],
    scores: Mapping[int, float],
    ranks: Mapping[int, int],
    reasons: Mapping[int, Message],
) -> tuple[TraceItem, ...]:
    """Return those leaves as passages of their documents; the row is that of the chunk that holds the leaf."""
    items = []
    for row in rows:
        chunk = int(tree.chunk[row])
        document = index.chunk_cells.value("document", chunk)
        start, end, tokens = (tree.cells.value(name, row) for name in ("start", "end", "tokens"))
        source = source_in(index, document, start, end, tokens)
        ranked: dict[str, Any] = {"score": scores[row], "rank": ranks[row], "reason": reasons[row]}
        items.append(passage_item(node_id(tree, row), chunk, source, tree.text(index, row), **ranked))
    return tuple(items)


def leaf_line(leaf: TraceItem) -> Candidate:
    """Return a leaf as a line of a section: its document's title and page, then its text."""
    return text_line("chunk", leaf.id, passage_lead(leaf), leaf.text)


def summary_line(summary: TraceItem) -> Candidate:
    """Return a summary as a line of a section."""
    return text_line("summary", summary.id, f"({summary.type})", summary.text)


def summed_up(tree: TextTree, rows: Sequence[int]) -> tuple[TraceRelation, ...]:
    """Return links from each summary to what it sums up, among those nodes."""
    among = set(rows)
    return tuple(
        link(node_id(tree, row), node_id(tree, child), "sums-up", "tree")
        for row in rows
        for child in tree.children[row].tolist()
        if child in among
    )


def affordable_nodes(tree: TextTree, rows: Sequence[int] | np.ndarray, max_tokens: int) -> list[int]:
    """Return the first of those nodes, until the next one would go beyond the budget; one at least, which may be
    trimmed.

    Summaries come before passages in a context: without this, summaries of a lower rank would take the room of
    passages of a higher one. rows: (k,), best first.
    """
    tokens = np.cumsum(tree.cells["tokens"].take(np.asarray(rows, dtype=np.int64)).to_numpy())
    return [int(row) for row in rows[: max(1, int(np.searchsorted(tokens, max_tokens, side="right")))]]


def chunk_order(tree: TextTree, rows: Sequence[int] | np.ndarray) -> list[int]:
    """Return chunks of the leaves among those nodes, each once, in their order. rows: (k,)."""
    chunks = tree.chunk[np.asarray(rows, dtype=np.int64)]
    chunks = chunks[chunks >= 0]
    places = np.arange(len(chunks))
    first = np.empty(int(chunks.max(initial=-1)) + 1, dtype=np.int64)
    first[chunks[::-1]] = places[::-1]  # of equal ones the last is kept, which is the first in order
    return list(chunks[first[chunks] == places].tolist())


def tree_notes(tree: TextTree) -> tuple[Message, ...]:
    """Return who wrote the summaries, where that was not a language model."""
    return (message("tree.note.by_rule"),) if tree.by_rule else ()
