import difflib
from dataclasses import replace

import pyarrow as pa
import pytest

from leanrag_core.queries.entity_search import (
    EntityMatches,
    best_matches,
    chunk_of,
    find_entities,
    matches_by_words,
    names_of_chunk,
    nearest_names,
)
from leanrag_core.types.index import Index
from tests.large_index import large_index, name_of
from tests.small_index import small_index


@pytest.fixture(scope="module")
def large() -> Index:
    return large_index(3000)


def names(matches: EntityMatches) -> list[str]:
    return [row.name for row in matches.rows]


def test_every_entity_is_listed_the_aggregated_ones_first(index: Index) -> None:
    matches = find_entities(index, "")
    # within layer 0: honey has 3 relations, mite and rape 2, the others 1
    assert names(matches) == ["farm", "bees", "fields", "honey", "mite", "rape", "queen", "clover", "seed coat"]
    assert matches.total == 9
    honey = matches.rows[3]
    assert (honey.id, honey.layer, honey.row, honey.below, honey.relations, honey.chunks) == ("id-honey", 0, 1, 1, 3, 3)
    assert (matches.rows[1].below, matches.rows[1].relations) == (3, 1)


def test_a_search_finds_the_text_anywhere_in_any_case(index: Index) -> None:
    assert names(find_entities(index, "EE")) == ["bees", "queen", "seed coat"]
    assert names(find_entities(index, "  Seed ")) == ["seed coat"]


def test_names_that_begin_with_the_text_come_first(index: Index) -> None:
    assert names(find_entities(index, "r")) == ["farm", "rape", "clover"]
    assert names(find_entities(index, "e", layer=0)) == ["honey", "mite", "rape", "queen", "clover", "seed coat"]


def test_a_search_can_be_kept_to_one_layer(index: Index) -> None:
    assert names(find_entities(index, "", layer=1)) == ["bees", "fields"]
    assert find_entities(index, "bees", layer=0) == EntityMatches((), 0)


def test_a_limit_cuts_the_rows_and_not_the_total(index: Index) -> None:
    matches = find_entities(index, "e", limit=2)
    assert names(matches) == ["bees", "fields"]
    assert matches.total == 8


@pytest.mark.parametrize("text", [".*", "[", "(", "%", "_", "\\", "<b>"])
def test_signs_of_patterns_in_a_search_are_taken_literally(index: Index, text: str) -> None:
    assert find_entities(index, text) == EntityMatches((), 0)


def test_a_chunk_is_found_by_its_id_and_names_what_it_mentions(index: Index) -> None:
    ids = index.chunks["id"].to_pylist()
    assert [chunk_of(index, id_) for id_ in (ids[2], "gone")] == [2, None]
    assert [names_of_chunk(index, row) for row in range(4)] == [
        ["queen", "honey"],
        ["honey", "mite"],
        ["honey", "rape", "clover"],
        ["seed coat"],
    ]


def test_a_misspelt_name_has_near_ones(index: Index) -> None:
    assert nearest_names(index, "hony")[0] == "honey"
    assert nearest_names(index, "CLOVR") == ["clover"]
    assert nearest_names(index, "zzzzzz") == []


@pytest.mark.parametrize(("text", "layer"), [("", None), ("mill", None), ("MILL 1", 0), ("o", 0), ("1", 0)])
def test_the_first_rows_are_those_of_a_full_sort(large: Index, text: str, layer: int | None) -> None:
    expected = []
    for level in reversed(large.layers):
        if layer is not None and level.number != layer:
            continue
        names, below, degrees = level.entities["name"].to_pylist(), large.leaf_counts[level.number], level.degrees
        hits = [row for row, name in enumerate(names) if text.casefold() in name.casefold()]
        begins = {row for row in hits if text and names[row].casefold().startswith(text.casefold())}
        hits.sort(key=lambda row: (row not in begins, -below[row], -degrees[row], row))
        expected += [(level.number, row) for row in hits]
    matches = find_entities(large, text, layer=layer, limit=60)
    assert [(row.layer, row.row) for row in matches.rows] == expected[:60]
    assert matches.total == len(expected)


def test_near_names_among_many_are_those_of_a_full_comparison(large: Index) -> None:
    names = [name for level in large.layers for name in level.entities["name"].to_pylist()]
    for row, wrong in ((777, "Copper mill"), (1499, "timbr weavr"), (2123, "Ivory shcool")):
        folded = {name.casefold(): name for name in sorted(names, reverse=True)}
        text = f"{wrong} {row}"
        best = difflib.get_close_matches(text.casefold(), list(folded), n=1, cutoff=0.5)
        assert nearest_names(large, text)[0] == folded[best[0]]
    assert nearest_names(large, f"{name_of(0, 1234)}!")[0] == name_of(0, 1234)
    assert nearest_names(large, "q") == []


def test_names_that_hold_all_words_follow_those_that_hold_the_text(index: Index) -> None:
    def found(text: str) -> list[str]:
        return [row.name for row in matches_by_words(index, text, limit=5)]

    assert found("coat SEED") == ["seed coat"]
    assert found("séed cöat") == ["seed coat"]
    assert found("ee") == [row.name for row in best_matches(index, "ee", limit=5).rows]
    assert found("seed honey") == found("") == []


def test_accents_of_names_need_not_be_written() -> None:
    index = small_index()
    layer = index.layers[0]
    renamed = layer.entities.set_column(1, "name", pa.array(["Société des Abeilles", *["x"] * (len(layer) - 1)]))
    index = replace(index, layers=(replace(layer, entities=renamed), *index.layers[1:]))
    assert [row.name for row in matches_by_words(index, "abeilles societe", limit=3)] == ["Société des Abeilles"]
