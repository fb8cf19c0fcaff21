import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from leanrag_core.clustering.regions import _joined, _links, cut_overfull, join_regions


def test_rows_go_to_the_region_that_most_neighbours_are_in() -> None:
    neighbours = np.array([[(row + 1) % 4, (row + 2) % 4] for row in range(4)] + [[0, 1]] + [[5, 6]] * 4)
    region = join_regions(neighbours, group_rows=3, region_rows=4)  # the third run of three rows begins in a group
    assert region.tolist() == [0] * 5 + [1] * 4


def test_links_are_counted_in_both_directions_and_not_within_a_group() -> None:
    neighbours = np.array([[1, 2], [0, 3], [0, 3], [2, 2]])
    assert _links(np.array([0, 0, 1, 2]), neighbours).toarray().tolist() == [[0, 2, 1], [2, 0, 3], [1, 3, 0]]


def test_groups_that_are_tied_most_are_joined_as_long_as_there_is_room() -> None:
    links = np.zeros((5, 5), dtype=np.int64)
    for one, other, number in ((0, 1, 9), (1, 2, 8), (2, 3, 9), (3, 4, 1)):
        links[one, other] = links[other, one] = number
    groups, sizes = csr_array(links), np.array([10, 10, 10, 10, 30])
    assert _joined(groups, sizes, 20).tolist() == [0, 0, 1, 1, 2]
    assert _joined(groups, sizes, 40).tolist() == [0, 0, 0, 0, 1]
    assert _joined(groups, sizes, 70).tolist() == [0, 0, 0, 0, 0]
    assert _joined(csr_array((3, 3), dtype=np.int64), np.ones(3, dtype=int), 70).tolist() == [0, 1, 2]
    large = np.array([10, 10, 1000, 10, 30])  # the same links are less to a large group
    assert _joined(groups, large, 2000).tolist() == [0, 0, 0, 0, 0]
    assert _joined(groups, large, 1010).tolist() == [0, 0, 1, 1, 2]


@given(st.integers(2, 12), st.integers(0, 2**32 - 1), st.integers(5, 60))
def test_joining_takes_the_strongest_of_all_ties_each_time(count: int, seed: int, most: int) -> None:
    random = np.random.default_rng(seed)
    links = np.triu(random.integers(0, 4, (count, count)), 1)
    links += links.T
    sizes = random.integers(1, 10, count)
    members = {group: [group] for group in range(count)}
    while fitting := [
        (-round(number / np.sqrt(size_a * size_b), 9), a, b)
        for a in members
        for b in members
        if a < b
        for number in [links[np.ix_(members[a], members[b])].sum()]
        for size_a, size_b in [(sizes[members[a]].sum(), sizes[members[b]].sum())]
        if number and size_a + size_b <= most
    ]:
        _, a, b = min(fitting)
        members[a] += members.pop(b)
    expected = np.empty(count, dtype=int)
    for number, a in enumerate(sorted(members)):
        expected[members[a]] = number
    assert _joined(csr_array(links), sizes, most).tolist() == expected.tolist()


def test_no_label_is_on_more_rows_than_may_be() -> None:
    labels, came_from = cut_overfull(np.array([5, 5, 5, 5, 5, 2, 9]), 2)
    assert np.bincount(labels).tolist() == [1, 2, 2, 1, 1]
    assert came_from.tolist() == [2, 5, 5, 5, 9]
    assert came_from[labels].tolist() == [5, 5, 5, 5, 5, 2, 9]
