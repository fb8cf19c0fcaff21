import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from leanrag_core.indexing.aggregation.concatenation import concatenate
from leanrag_core.indexing.aggregation.relations import frequent_keywords, group_relations, lift_counts
from leanrag_core.tokens import count_tokens


def test_relations_between_clusters_are_counted_weighed_and_remembered() -> None:
    # nodes 0 1 | 2 3 | 4: clusters 0, 1, 2
    ends = np.array([[0, 1], [0, 2], [1, 3], [2, 3], [3, 4], [0, 4]])
    groups = group_relations(ends, np.array([1, 2, 4, 8, 16, 32.0]), np.array([0, 0, 1, 1, 2]), 3)
    assert list(zip(groups.left.tolist(), groups.right.tolist(), strict=True)) == [(0, 1), (0, 2), (1, 2)]
    assert groups.strength.tolist() == [2, 1, 1]
    assert groups.weight.tolist() == [6, 32, 16]
    assert [groups.members(group).tolist() for group in range(3)] == [[1, 2], [5], [4]]
    assert groups.inside.tolist() == [1, 1, 0]


def test_an_end_in_a_later_cluster_may_come_first() -> None:
    groups = group_relations(np.array([[0, 1]]), np.ones(1), np.array([1, 0]), 2)
    assert (groups.left.tolist(), groups.right.tolist()) == ([0], [1])


def test_a_layer_without_relations_has_no_groups() -> None:
    groups = group_relations(np.zeros((0, 2), dtype=np.int32), np.zeros(0), np.array([0, 0, 1]), 2)
    assert len(groups) == 0
    assert groups.inside.tolist() == [0, 0]
    assert lift_counts(np.zeros((0, 3), dtype=np.int64), groups).shape == (0, 3)


@given(st.integers(1, 6), st.lists(st.tuples(st.integers(0, 29), st.integers(0, 29)), max_size=60))
def test_lambdas_and_inside_relations_add_up_to_the_relations_below(m: int, pairs: list[tuple[int, int]]) -> None:
    ends = np.array(pairs, dtype=np.int32).reshape(-1, 2)
    groups = group_relations(ends, np.ones(len(ends)), np.arange(30) % m, m)
    assert groups.strength.sum() + groups.inside.sum() == len(ends)
    assert (groups.left < groups.right).all()
    assert len({(left, right) for left, right in zip(groups.left, groups.right, strict=True)}) == len(groups)


def test_kinds_are_counted_in_base_relations() -> None:
    groups = group_relations(np.array([[0, 1], [0, 1], [0, 0]]), np.ones(3), np.array([0, 1]), 2)
    assert lift_counts(np.array([[3, 0], [1, 2], [9, 9]]), groups).tolist() == [[4, 2]]


def test_keywords_of_most_relations_come_first() -> None:
    assert frequent_keywords([["b", "a"], ["b", "b"], ["a"], ["c"]]) == ("a", "b", "c")


def test_descriptions_join_whole_and_once() -> None:
    joined = concatenate(["Mites feed on brood.", " Acid kills mites. ", "Mites feed on brood.", ""], max_tokens=50)
    assert joined.text == "Mites feed on brood. Acid kills mites."
    assert joined.cut == 0


def test_what_exceeds_the_budget_is_cut_and_counted() -> None:
    one = "Mites feed on brood."
    joined = concatenate([one, "Acid kills mites. " * 30, "Queens lay eggs."], max_tokens=10)
    assert joined.text == one
    assert joined.cut == 2
    alone = concatenate(["Acid kills mites. " * 30], max_tokens=10)
    assert alone.cut == 1
    assert 0 < count_tokens(alone.text) <= 10
