"""The relations section measures what it says: the sorted pass finds what a scan over all pairs finds."""

import numpy as np

from benchmarks.relations import clustered_relations, measure
from leanrag_core.indexing.aggregation.relations import group_relations


def test_the_sorted_pass_finds_what_a_scan_of_all_pairs_finds() -> None:
    ends, weights, parent, n_parents = clustered_relations(300)
    groups = group_relations(ends, weights, parent, n_parents)
    pairs = {
        (int(left), int(right)): sorted(groups.members(row).tolist())
        for row, (left, right) in enumerate(zip(groups.left, groups.right, strict=True))
    }
    expected = {}
    for left in range(n_parents):
        for right in range(left + 1, n_parents):
            rows = [row for row, pair in enumerate(ends) if {int(parent[end]) for end in pair} == {left, right}]
            if rows:
                expected[left, right] = rows
    assert pairs == expected
    np.testing.assert_allclose(groups.weight, [weights[expected[pair]].sum() for pair in sorted(expected)], rtol=1e-5)
    assert int(groups.inside.sum()) == sum(int(parent[a] == parent[b]) for a, b in ends)


def test_the_input_is_well_formed_and_always_the_same() -> None:
    ends, weights, parent, n_parents = clustered_relations(1003)
    assert (len(ends), len(weights), n_parents) == (2006, 2006, 51)
    assert (ends[:, 0] < ends[:, 1]).all()
    assert ends.min() >= 0
    assert ends.max() < 1003
    assert np.bincount(parent, minlength=n_parents).tolist() == [20] * 50 + [3]
    again = clustered_relations(1003)
    assert np.array_equal(again[0], ends)
    assert np.array_equal(again[2], parent)


def test_figures_account_for_every_relation() -> None:
    figures = measure(200)
    assert figures["relations"] == 400
    assert figures["clusters"] == 10
    assert 0 < int(figures["inside"]) < 400
    assert 0 < int(figures["pairs"]) <= 45
