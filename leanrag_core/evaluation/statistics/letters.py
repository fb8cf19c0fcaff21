"""Compact letters: systems that share a letter cannot be told apart."""

import string
from collections.abc import Mapping, Sequence

from leanrag_core.evaluation.statistics.rank_tests import differ


def compact_letters(
    names: Sequence[str], p_values: Sequence[Sequence[float]], means: Sequence[float | None]
) -> dict[str, str]:
    """Return the letters of each name, "a" for the group of the best mean; two names share a letter unless they
    differ().

    p_values: (n, n), symmetric, already corrected; the diagonal is not read. means: in the order of the names; a name
    whose mean is None has no letter. Source: Piepho, An algorithm for a letter-based representation of all-pairwise
    comparisons, 2004; its columns are the largest groups of which no two differ.
    """
    import networkx as nx

    ranked = sorted((-mean, row) for row, mean in enumerate(means) if mean is not None)
    rank = {row: place for place, (_, row) in enumerate(ranked)}
    graph = nx.Graph()
    graph.add_nodes_from(rank)
    graph.add_edges_from(
        (first, second) for first in rank for second in rank if first < second and not differ(p_values[first][second])
    )
    groups = sorted(sorted(rank[row] for row in group) for group in nx.find_cliques(graph))
    letters = _by_rank(_without_needless(groups))
    return {name: letters.get(rank[row], "") if row in rank else "" for row, name in enumerate(names)}


def _without_needless(groups: Sequence[Sequence[int]]) -> list[Sequence[int]]:
    """Return the groups without those whose every pair shares another group."""
    kept = list(groups)
    for group in sorted(groups, key=lambda each: (len(each), each)):
        others = [set(other) for other in kept if other is not group]
        pairs = [{first, second} for first in group for second in group if first < second] or [set(group)]
        if all(any(pair <= other for other in others) for pair in pairs):
            kept.remove(group)
    return kept


def _by_rank(groups: Sequence[Sequence[int]]) -> Mapping[int, str]:
    letters: dict[int, str] = {}
    for number, group in enumerate(groups):
        for place in group:
            letters[place] = letters.get(place, "") + letter(number)
    return letters


def letter(number: int) -> str:
    """Return the letter of a group: a to z, A to Z, then numbers in brackets."""
    return string.ascii_letters[number] if number < len(string.ascii_letters) else f"({number + 1})"
