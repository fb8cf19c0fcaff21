"""The search over communities, worked out by hand, and beside a plain one."""

from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from leanrag_core.errors import BudgetSpent
from leanrag_core.retrieval.deepening_search import (
    RelevanceTest,
    SearchResult,
    Visit,
    deepening_search,
    mean_best_ranks,
)
from leanrag_core.types.communities import ConceptCommunities
from tests.retrieval.hand_concepts import Row, concept_communities

# A 0-4: its parts A1 0-2 and A2 2-4; B 1 and 5, C 6 and 7 have no parts. Chunks are ranked by their numbers.
A, B, C, A1, A2 = range(5)
ROWS: list[Row] = [
    (0, -1, [0], [0, 1, 2, 3, 4]),
    (0, -1, [1], [1, 5]),
    (0, -1, [2], [6, 7]),
    (1, A, [3], [0, 1, 2]),
    (1, A, [4], [2, 3, 4]),
]
COMMUNITIES = concept_communities(ROWS, 5, 8)


def rated(*relevant: int) -> RelevanceTest:
    return lambda rows: {row: 3 for row in rows if row in relevant}


def search(test: RelevanceTest, *, tests: int = 10, misses: int = 2) -> SearchResult:
    return deepening_search(COMMUNITIES, np.arange(8), test, most_tests=tests, top_k=2, most_misses=misses)


def test_communities_rank_by_the_mean_of_their_nearest_chunks() -> None:
    means = mean_best_ranks(COMMUNITIES, np.array([A, B, C, A2]), np.arange(8), 2)
    assert means.tolist() == [0.5, 3.0, 6.5, 2.5]
    assert mean_best_ranks(COMMUNITIES, np.array([B, A1]), np.arange(8)[::-1], 5).tolist() == [4.0, 6.0]


def test_each_community_is_tested_in_turn_and_then_the_parts_of_those_that_gave_something() -> None:
    result = search(rated(0, 3))
    assert result.visits == (
        Visit(A, 0, (0, 1), (0,)),
        Visit(B, 0, (5,), ()),  # 1 was tested already
        Visit(C, 0, (6, 7), ()),
        Visit(A1, 1, (2,), ()),
        Visit(A2, 1, (3, 4), (3,)),
    )
    assert (result.ratings, result.n_tested) == ({0: 3, 3: 3}, 8)


def test_after_so_many_misses_the_next_round_begins_with_what_was_not_reached() -> None:
    # C was not reached, and would stand behind A1 and A2; but the round ends at A1 with nothing.
    result = search(rated(0, 3), misses=1)
    assert [visit.community for visit in result.visits] == [A, B, A1]
    reached = search(rated(0, 2, 6), misses=1)
    # A1 gives a chunk, A2 gives none, which ends the round; A1 has nothing left, and C comes in the third.
    assert [(visit.community, visit.depth) for visit in reached.visits] == [(A, 0), (B, 0), (A1, 1), (A2, 1), (C, 2)]
    assert sorted(reached.ratings) == [0, 2, 6]


def test_a_round_without_a_relevant_chunk_is_the_last() -> None:
    assert [visit.community for visit in search(rated()).visits] == [A, B]


@pytest.mark.parametrize("tests", range(1, 9))
def test_no_more_chunks_are_tested_than_the_budget_allows(tests: int) -> None:
    assert search(rated(*range(8)), tests=tests).n_tested == tests


def test_a_spent_budget_of_calls_keeps_what_was_found() -> None:
    def test(rows: Sequence[int]) -> Mapping[int, int]:
        if 5 in rows:
            raise BudgetSpent("budget.calls")
        return dict.fromkeys(rows, 5)

    result = search(test)
    assert (result.ratings, result.budget_spent) == ({0: 5, 1: 5}, True)


def plain_search(
    communities: ConceptCommunities, ranking: list[int], relevant: set[int], *, tests: int, k: int, misses: int
) -> list[tuple[int, list[int]]]:
    """Search by sets and lists: return the communities in the order of their visits, with what was tested."""
    rank = {row: place for place, row in enumerate(ranking)}
    chunks = [sorted(communities.chunks[row].tolist(), key=rank.__getitem__) for row in range(len(communities))]
    parents = communities.parent.tolist()
    frontier = [row for row, parent in enumerate(parents) if parent < 0]
    seen: set[int] = set()
    visits: list[tuple[int, list[int]]] = []
    while frontier:
        gone, found, missed = set[int](), False, 0
        means = {row: np.mean([rank[chunk] for chunk in chunks[row][:k]]) for row in frontier}
        for row in sorted(frontier, key=lambda row: (means[row], row)):
            tested = [chunk for chunk in chunks[row] if chunk not in seen][: min(k, tests - len(seen))]
            if not tested:
                gone.add(row)
                continue
            seen |= set(tested)
            visits.append((row, tested))
            hit = bool(relevant & set(tested))
            found, missed = found or hit, 0 if hit else missed + 1
            if not hit:
                gone.add(row)
            if missed == misses or len(seen) == tests:
                break
        if not found or len(seen) == tests:
            break
        below = [[part for part, parent in enumerate(parents) if parent == row] or [row] for row in frontier]
        frontier = [part for row, parts in zip(frontier, below, strict=True) if row not in gone for part in parts]
    return visits


@pytest.mark.parametrize("seed", range(40))
def test_the_search_is_that_of_sets_and_lists(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n_chunks, rows = int(rng.integers(1, 40)), list[Row]()
    for _ in range(int(rng.integers(1, 6))):
        rows.append((0, -1, [], sorted(set(rng.integers(0, n_chunks, 12).tolist()))))
    for level in (1, 2):
        for row in [row for row, each in enumerate(rows) if each[0] == level - 1]:
            for _ in range(int(rng.integers(0, 4))):
                held = rows[row][3]
                rows.append((level, row, [], sorted(set(rng.choice(held, max(1, len(held) // 2)).tolist()))))
    communities = concept_communities(rows, 1, n_chunks)
    ranking, relevant = rng.permutation(n_chunks), set(rng.integers(0, n_chunks, n_chunks // 3 + 1).tolist())
    tests, k, misses = (int(rng.integers(1, high)) for high in (40, 6, 4))
    result = deepening_search(communities, ranking, rated(*relevant), most_tests=tests, top_k=k, most_misses=misses)
    expected = plain_search(communities, ranking.tolist(), relevant, tests=tests, k=k, misses=misses)
    assert [(visit.community, list(visit.tested)) for visit in result.visits] == expected
    assert set(result.ratings) == relevant & {chunk for _, tested in expected for chunk in tested}
