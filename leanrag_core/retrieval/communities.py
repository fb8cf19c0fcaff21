"""Communities and their reports as items of a trace and lines of a context."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from leanrag_core.messages.message import Message, message
from leanrag_core.retrieval.budgets import Candidate, affordable, section_form, text_line
from leanrag_core.retrieval.tracing import link
from leanrag_core.types.communities import Communities
from leanrag_core.types.trace import Style, TraceItem, TraceRelation

LEVELS = ("C0", "C1", "C2", "C3")  # names of the levels by their numbers
COMMUNITIES = section_form("communities", "K", "path", "## Community reports\n", {"community": "count.communities"})
COMMUNITY = Style("community", message("style.community"), "path", "box")
MEMBER = Style("member", message("style.member"), "path", "line", on="relation")


def communities_holding(communities: Communities, nodes: Sequence[int], allowed: np.ndarray) -> list[tuple[int, int]]:
    """Return row and number of held nodes of each allowed community that holds any of those nodes: most nodes first,
    ties by rating.

    allowed: (k,) rows.
    """
    if not len(nodes) or not len(allowed):
        return []
    counts = np.asarray(communities.membership[list(nodes)].sum(axis=0)).ravel().astype(np.int64)
    rows = allowed[counts[allowed] > 0]
    order = np.lexsort((rows, -communities.rating[rows], -counts[rows]))
    return [(int(row), int(counts[row])) for row in rows[order]]


def report_of(communities: Communities, row: int) -> str:
    """Return title and text of a report."""
    return f"{communities.cells.value('title', row)}\n{communities.report(row)}"


def community_items(
    communities: Communities,
    rows: Iterable[int],
    scores: Mapping[int, float] | None = None,
    reasons: Mapping[int, Message] | None = None,
) -> tuple[TraceItem, ...]:
    """Return those communities as items, ranked as they come; the report is the item's text. scores, reasons: by
    row."""
    cells, scores, reasons = communities.cells, scores or {}, reasons or {}
    return tuple(
        TraceItem(
            id=cells.value("id", row),
            kind="community",
            name=cells.value("title", row),
            roles=("community",),
            row=row,
            score=scores.get(row),
            rank=rank,
            reason=reasons.get(row),
            type=f"C{cells.value('level', row)}",
            text=communities.report(row),
        )
        for rank, row in enumerate(rows, start=1)
    )


def held_reports(
    communities: Communities, holding: Sequence[tuple[int, int]], max_tokens: int
) -> tuple[TraceItem, ...]:
    """Return the first reports of communities_holding() as items, as many as affordable() gives; the score is the
    number of held nodes."""
    counts = dict(holding)
    rows = affordable(communities.table["tokens"], list(counts), max_tokens)
    reasons = {
        row: message("graphrag_local.reason", n=counts[row], rating=communities.rating[row].item()) for row in rows
    }
    return community_items(communities, rows, {row: float(counts[row]) for row in rows}, reasons)


def community_line(communities: Communities, item: TraceItem) -> Candidate:
    """Return a report as a line of a section, whole."""
    tokens = None if item.row is None else communities.cells.value("tokens", item.row)
    return text_line("community", item.id, f"{item.name}:", item.text, tokens)


def member_links(
    communities: Communities, items: Sequence[TraceItem], entities: Mapping[int, str]
) -> tuple[TraceRelation, ...]:
    """Return a link from each community to those entities that it holds. entities: id by node."""
    links = []
    for item in items:
        members = communities.nodes[item.row or 0]
        links += [
            link(item.id, id_, "member", "member")
            for node, id_ in entities.items()
            if (place := int(np.searchsorted(members, node))) < len(members) and members[place] == node
        ]
    return tuple(links)


def community_notes(communities: Communities) -> tuple[Message, ...]:
    """Return what the reader should know: that there are no reports, or that the built-in writer wrote some or all of
    them."""
    if not len(communities):
        return (message("communities.note.none"),)
    if communities.by_rule:
        return (message("communities.note.by_rule"),)
    if communities.n_by_rule:
        return (message("communities.note.some_by_rule", n=communities.n_by_rule, total=len(communities)),)
    return ()
