import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leanrag_core.errors import InvalidConfig
from leanrag_core.retrieval.lca import Subtree, lca_subtree, nearest_pairs, pairwise_subtree

#            root
#      0 ------------ 1
#   0    1         2     3
#  0 1  2 3       4 5    6
PARENTS = [
    np.array([0, 0, 1, 1, 2, 2, 3]),
    np.array([0, 0, 1, 1]),
    np.array([0, 0]),
    np.array([], dtype=int),
]


def test_siblings_meet_in_their_parent_not_in_the_root() -> None:
    subtree = lca_subtree(PARENTS, [(0, 0), (0, 1)])
    assert subtree.top == (1, 0)
    assert subtree.nodes == ((0, 0), (0, 1), (1, 0))


def test_cousins_meet_in_their_grandparent() -> None:
    subtree = lca_subtree(PARENTS, [(0, 1), (0, 2)])
    assert subtree.top == (2, 0)
    assert subtree.nodes == ((0, 1), (0, 2), (1, 0), (1, 1), (2, 0))
    assert subtree.parent == {(0, 1): (1, 0), (0, 2): (1, 1), (1, 0): (2, 0), (1, 1): (2, 0)}


def test_one_seed_is_its_own_path() -> None:
    assert lca_subtree(PARENTS, [(0, 4)]) == Subtree(tops=((0, 4),), nodes=((0, 4),), parent={})


def test_a_seed_above_another_seed_is_their_ancestor() -> None:
    subtree = lca_subtree(PARENTS, [(0, 4), (2, 1)])
    assert subtree.top == (2, 1)
    assert subtree.nodes == ((0, 4), (1, 2), (2, 1))


def test_no_seed_is_refused_with_the_remedy() -> None:
    with pytest.raises(InvalidConfig, match="raise top-N"):
        lca_subtree(PARENTS, [])


def test_pairs_that_are_far_apart_keep_trees_of_their_own() -> None:
    subtree = pairwise_subtree(PARENTS, [(0, 0), (0, 1), (0, 4), (0, 5)], [(0, 1), (2, 3)])
    assert subtree.tops == ((1, 0), (1, 2))
    assert subtree.nodes == ((0, 0), (0, 1), (0, 4), (0, 5), (1, 0), (1, 2))


def test_the_top_of_a_pair_below_that_of_another_is_no_top() -> None:
    subtree = pairwise_subtree(PARENTS, [(0, 0), (0, 1), (0, 2)], [(0, 1), (1, 2)])
    assert subtree.tops == ((2, 0),)


def test_a_pair_of_seeds_is_taken_once_and_equally_like_seeds_by_rank() -> None:
    vectors = np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0], [0.6, -0.8]])
    # 0 is as like 1 as 3 and takes 1; 1 and 2 are most like each other; 3 is most like 0.
    assert nearest_pairs(vectors) == ((0, 1), (0, 3), (1, 2))
    assert nearest_pairs(vectors[:1]) == ()


@st.composite
def trees(draw: st.DrawFn) -> list[np.ndarray]:
    parents, n = [], draw(st.integers(1, 30))
    while n > 1:
        above = draw(st.integers(1, n - 1))
        tail = draw(st.lists(st.integers(0, above - 1), min_size=n - above, max_size=n - above))
        parents.append(np.array([*range(above), *tail]))
        n = above
    return [*parents, np.array([], dtype=int)]


def chain(parents: list[np.ndarray], node: tuple[int, int]) -> list[tuple[int, int]]:
    path = [node]
    while node[0] < len(parents) - 1:
        node = (node[0] + 1, int(parents[node[0]][node[1]]))
        path.append(node)
    return path


def pair_path(parents: list[np.ndarray], a: tuple[int, int], b: tuple[int, int]) -> set[tuple[int, int]]:
    up_a, up_b = chain(parents, a), chain(parents, b)
    meet = next(node for node in up_a if node in up_b)
    return {*up_a[: up_a.index(meet) + 1], *up_b[: up_b.index(meet) + 1]}


@given(trees(), st.data())
def test_the_subtree_is_the_union_over_all_pairs_and_minimal(parents: list[np.ndarray], data: st.DataObject) -> None:
    n = len(parents[0]) or 1
    rows = data.draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=8, unique=True))
    seeds = [(0, row) for row in rows]
    subtree = lca_subtree(parents, seeds)
    pairs = set().union(*(pair_path(parents, a, b) for a, b in itertools.combinations(seeds, 2)), set(seeds))
    assert set(subtree.nodes) == pairs
    assert set(seeds) <= set(subtree.nodes)
    assert [node for node in subtree.nodes if node not in subtree.parent] == [subtree.top]
    for node in set(subtree.nodes) - set(seeds) - {subtree.top}:
        assert any(node in chain(parents, seed) for seed in seeds), "without it a seed would be cut off"


@given(trees(), st.data())
def test_all_pairs_give_the_subtree_of_one_ancestor(parents: list[np.ndarray], data: st.DataObject) -> None:
    nodes = [(layer, row) for layer, each in enumerate(parents) for row in range(len(each) or 1)]
    seeds = data.draw(st.lists(st.sampled_from(nodes), min_size=1, max_size=6, unique=True))
    pairs = itertools.combinations(range(len(seeds)), 2)
    assert pairwise_subtree(parents, seeds, pairs) == lca_subtree(parents, seeds)
