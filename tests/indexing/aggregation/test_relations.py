from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leanrag_core.indexing.aggregation.layer_step import concatenate, words_of
from leanrag_core.indexing.aggregation.relations import (
    group_keywords,
    group_relations,
    lift_counts,
    sorted_pairs,
    strongest_first,
)
from leanrag_core.text.tokens import count_tokens


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


def test_a_hub_with_fifty_thousand_relations_loses_none() -> None:
    r = 50_000
    ends = np.stack([np.zeros(r, dtype=np.int32), np.arange(1, r + 1, dtype=np.int32)], axis=1)
    parent = np.concatenate([[0], 1 + np.arange(r) // 20])
    groups = group_relations(ends, np.ones(r), parent, int(parent.max()) + 1)
    assert len(groups) == r // 20
    assert (groups.left == 0).all()
    assert (groups.strength == 20).all()
    assert groups.rows.tolist() == list(range(r))
    everything = group_relations(ends, np.ones(r), np.minimum(np.arange(r + 1), 1), 2)
    assert everything.strength.tolist() == [r]
    assert everything.weight.tolist() == [r]
    words = pa.chunked_array([pa.array([["sting", f"w{row}"] for row in range(r)])])
    assert group_keywords(words, everything).to_pylist() == [["sting", "w0", "w1", "w10", "w100"]]


@pytest.mark.parametrize("scale", [1, 2**58])
def test_pairs_too_many_for_one_number_with_their_rows_are_sorted_alike(scale: int) -> None:
    keys, rows = sorted_pairs(np.array([5, 2, 5, 0, 2]) * scale, np.array([1, 4, 6, 7, 900]))
    assert keys.tolist() == [0, 2 * scale, 2 * scale, 5 * scale, 5 * scale]
    assert rows.tolist() == [7, 4, 900, 1, 6]


def test_the_strongest_of_a_group_come_first_then_the_heaviest_then_the_earliest() -> None:
    ends = np.array([[0, 1]] * 4 + [[1, 2]] * 2)
    groups = group_relations(ends, np.ones(6), np.arange(3), 3)
    ranked = strongest_first(groups, np.array([1, 3, 3, 3, 1, 1]), np.array([9.0, 1.0, 2.0, 1.0, 1.0, 1.0]))
    assert ranked.tolist() == [2, 1, 3, 0, 4, 5]


def keywords_of(lists: list[list[str] | None], group_of: list[int]) -> list[list[str]]:
    """Return the keywords of relations each between cluster 0 and the cluster that group_of names."""
    ends = np.array([[0, group] for group in group_of], dtype=np.int32).reshape(-1, 2)
    groups = group_relations(ends, np.ones(len(ends)), np.arange(9), 9)
    column = pa.chunked_array([pa.array(lists, pa.list_(pa.string()))])
    return group_keywords(column, groups).to_pylist()


def test_keywords_of_most_relations_come_first() -> None:
    assert keywords_of([["b", "a"], ["b", "b"], ["a"], ["c"]], [1, 1, 1, 1]) == [["a", "b", "c"]]
    assert keywords_of([[""], None, ["c"]], [1, 1, 2]) == [[], ["c"]]
    assert keywords_of([], []) == []


@given(
    st.lists(
        st.tuples(
            st.integers(0, 8), st.lists(st.sampled_from(["", "bee", "Bee", "wax", "é", "z", "aa", "中"]), max_size=5)
        ),
        max_size=30,
    )
)
def test_keywords_are_those_that_counting_finds(relations: list[tuple[int, list[str]]]) -> None:
    expected = []
    for group in range(1, 9):
        word_lists = [words for its_group, words in relations if its_group == group]
        counted = Counter(word for words in word_lists for word in dict.fromkeys(words) if word)
        if word_lists:
            expected.append(sorted(counted, key=lambda word: (-counted[word], word))[:5])
    assert keywords_of([words for _, words in relations], [group for group, _ in relations]) == expected


def test_descriptions_join_whole_and_once() -> None:
    (joined,) = concatenate(
        [["Mites feed on brood.", " Acid kills mites. ", "Mites feed on brood.", ""]], max_tokens=50
    )
    assert joined.text == "Mites feed on brood. Acid kills mites."
    assert joined.cut == 0


def test_what_exceeds_the_budget_is_cut_and_counted() -> None:
    short, long = "Mites feed on brood.", "Acid kills mites. " * 30
    joined, alone, none = concatenate([[short, long, "Queens lay eggs."], [long], []], max_tokens=10)
    assert joined.text == short
    assert joined.cut == 2
    assert alone.cut == 1
    assert 0 < count_tokens(alone.text) <= 10
    assert (none.text, none.cut) == ("", 0)


def test_a_hub_of_fifty_thousand_descriptions_is_joined_as_far_as_it_fits() -> None:
    (joined,) = concatenate([(f"Bee {row} stings." for row in range(50_000))], max_tokens=160)
    kept = joined.text.count("stings.")
    assert joined.cut == 50_000 - kept
    assert count_tokens(joined.text) <= 160 < count_tokens(f"{joined.text} Bee {kept} stings.")


@given(
    st.lists(st.text(alphabet="a B9é中.'!\n-", max_size=12), max_size=8),
    st.integers(7, 12),  # at most max_tokens + 1 descriptions are tried
)
def test_joins_fit_as_many_whole_descriptions_as_counting_every_join_allows(texts: list[str], max_tokens: int) -> None:
    distinct = list(dict.fromkeys(text.strip() for text in texts if text.strip()))
    kept: list[str] = []
    for text in distinct:
        kept += [text] if count_tokens(" ".join([*kept, text])) <= max_tokens else []
    (joined,) = concatenate([texts], max_tokens=max_tokens)
    assert joined.cut == len(distinct) - len(kept)
    if kept:
        assert joined.text == " ".join(kept)


def test_the_descriptions_that_stay_are_those_that_tell_about_both_ends() -> None:
    bees, fields = words_of("bees: Honey bees of the valley"), words_of("fields: Clover fields of the plain")
    sentences = [
        "Somebody counted everything twice.",
        "Bees and their honey were weighed.",
        "Honey bees visit the clover fields.",
        "The plain flooded in spring.",
    ]
    (joined,) = concatenate([sentences], max_tokens=16, about=lambda _: (bees, fields))
    assert joined.text == "Bees and their honey were weighed. Honey bees visit the clover fields."
    assert joined.cut == 2
    (joined,) = concatenate([sentences], max_tokens=9, about=lambda _: (bees, fields))
    assert joined.text == "Honey bees visit the clover fields."
    (whole,) = concatenate([sentences], max_tokens=100, about=lambda _: (bees, fields))
    assert whole.text == " ".join(sentences)


def test_signs_of_scripts_without_spaces_are_compared_one_by_one() -> None:
    sentences = ["全員が数えた。", "蜜蜂が花を訪れる。"]
    (joined,) = concatenate([sentences], max_tokens=16, about=lambda _: (words_of("蜜蜂"), words_of("花畑")))
    assert joined.text == "蜜蜂が花を訪れる。"
