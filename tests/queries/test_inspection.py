"""What the inspector asks of an index: what made a thing, what a chunk says, what a retrieval met, what an id names."""

from dataclasses import replace

import pytest

from leanrag_core.figures.lines import made_sentence
from leanrag_core.messages.catalog import sentence
from leanrag_core.queries.browse import entities_in, forms_by_name, relations_in, with_forms
from leanrag_core.queries.entity_search import thing_of
from leanrag_core.queries.made_by import made_by
from leanrag_core.types.graph import Relation
from leanrag_core.types.index import Index
from leanrag_core.types.manifest import BY_MODEL, IMPORTED, REFERENCE_GRAPH


def origin_sentence(index: Index, id_: str) -> str:
    made = made_by(index, id_)
    assert made is not None
    return sentence(made_sentence(made))


def test_the_rule_is_named_where_no_model_wrote(index: Index) -> None:
    assert origin_sentence(index, "id-honey") == (
        "Extracted by the built-in engine from 3 chunks, merged under the rule “same name”."
    )
    assert origin_sentence(index, "id-bees") == "Written by the built-in writer from the texts below it."
    assert origin_sentence(index, "chunk-0").startswith("Cut by the rule for chunks")
    joined = index.layers[1].relation(0)
    assert isinstance(joined, Relation)
    assert origin_sentence(index, joined.id) == "2 descriptions in a row, since λ 2 is not above τ."
    assert made_by(index, "nothing") is None


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"kind": IMPORTED, "extractor": "import-lightrag/1"}, "Taken over from an import (lightrag)."),
        ({"kind": IMPORTED}, "Taken over from an import."),
        ({"kind": REFERENCE_GRAPH}, "Written by hand, in the reference graph of the corpus."),
        ({"kind": BY_MODEL, "language_model": "openai:m@t0"}, "Extracted by m from 3 chunks, merged under"),
    ],
)
def test_an_entity_of_another_origin_says_so(index: Index, change: dict[str, str], expected: str) -> None:
    changed = replace(index, manifest=replace(index.manifest, **change))
    assert origin_sentence(changed, "id-honey").startswith(expected)


def test_a_text_of_a_model_before_calls_were_recorded_says_so(index: Index) -> None:
    changed = replace(index, manifest=replace(index.manifest, kind=BY_MODEL, aggregation_model="openai:m@t0"))
    assert origin_sentence(changed, "id-bees").startswith("Written by m. Which call it was is not recorded")


def test_a_chunk_names_its_entities_the_most_connected_first(index: Index) -> None:
    assert entities_in(index, 2).tolist() == [1, 3, 4]
    assert entities_in(index, 3).tolist() == [5]
    assert relations_in(index, 0).tolist() == []


def test_other_forms_of_a_name_are_marked_too() -> None:
    forms = forms_by_name({"Curie": "Marie Curie", "M. Curie": "Marie Curie", "the Hive": "hive"})
    assert with_forms(["Marie Curie", "queen"], forms) == ["Marie Curie", "Curie", "M. Curie", "queen"]


def test_a_thing_is_named_by_its_id_or_an_entity_by_its_name(index: Index) -> None:
    honey = thing_of(index, "HONEY")
    assert honey is not None
    assert (honey.id, honey.what, honey.layer) == ("id-honey", "entity", 0)
    joined = thing_of(index, index.layers[1].relation(0).id)
    assert joined is not None
    assert (joined.what, joined.name) == ("relation", "bees – fields")
    chunk = thing_of(index, "chunk-3")
    assert chunk is not None
    assert chunk.text == index.chunk(3).text
    assert thing_of(index, "hon") is None
