"""Where things lie in the columns: the text of a chunk, the page of a character, relations among entities."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from leanrag_core.types.graph import Layer
from leanrag_core.types.index import CHUNK_SCHEMA, DOCUMENT_SCHEMA, Index
from tests.small_index import entity, layer, relation, small_index, unit


def with_texts(texts: list[str], spans: list[tuple[int, int, int]], pages: list[dict[str, int]] | None = None) -> Index:
    index = small_index()
    row = index.documents.slice(0, 1).to_pylist()[0]
    documents = [{**row, "id": f"d{place}", "text": text, "pages": pages or []} for place, text in enumerate(texts)]
    chunks = [
        {"id": f"c{place}", "document": document, "start": start, "end": end, "tokens": 1}
        for place, (document, start, end) in enumerate(spans)
    ]
    return replace(
        index,
        documents=pa.Table.from_pylist(documents, schema=DOCUMENT_SCHEMA),
        chunks=pa.Table.from_pylist(chunks, schema=CHUNK_SCHEMA),
    )


def test_a_chunk_is_cut_by_characters_not_by_bytes() -> None:
    index = with_texts(["plain text", "é蜂🐝 honey"], [(1, 1, 3), (0, 0, 5), (1, 4, 9)])
    assert [index.chunk(row).text for row in range(3)] == ["蜂🐝", "plain", "honey"]
    assert index.chunk_bytes.tolist() == [[2, 9], [0, 5], [10, 15]]


@settings(max_examples=60)
@given(st.lists(st.text(st.sampled_from("ab é\n蜂🐝"), min_size=1, max_size=20), min_size=1, max_size=4), st.data())
def test_the_text_of_a_chunk_is_the_slice_of_its_document(texts: list[str], data: st.DataObject) -> None:
    spans = []
    for _ in range(5):
        document = data.draw(st.integers(0, len(texts) - 1))
        start, end = sorted(data.draw(st.tuples(*[st.integers(0, len(texts[document]))] * 2)))
        spans.append((document, start, end))
    index = with_texts(texts, spans)
    assert [index.chunk(row).text for row in range(5)] == [texts[place][start:end] for place, start, end in spans]


def test_a_span_beyond_the_text_ends_with_it() -> None:
    assert with_texts(["honey"], [(0, 3, 99)]).chunk(0).text == "ey"


def test_a_character_lies_on_the_page_whose_span_holds_it() -> None:
    index = with_texts(["a" * 30, "b" * 30], [(1, 0, 5)], [{"start": 0, "end": 10}, {"start": 12, "end": 30}])
    assert [index.page_of(1, at) for at in (0, 9, 10, 12, 29, 30)] == [1, 1, None, 2, 2, None]


def test_pages_are_found_in_tables_of_several_pieces() -> None:
    whole = with_texts(["a" * 30, "b" * 30], [(1, 0, 5)], [{"start": 0, "end": 10}, {"start": 12, "end": 30}])
    first, second = whole.documents.slice(0, 1), whole.documents.slice(1)
    index = replace(whole, documents=pa.concat_tables([first, first.slice(1), second]))
    assert [index.page_of(document, 12) for document in (0, 1)] == [whole.page_of(0, 12), 2]


def test_without_pages_there_is_no_page() -> None:
    assert with_texts(["honey"], [(0, 0, 5)]).page_of(0, 0) is None


def star(n: int) -> Layer:
    """Return a layer in which entity 0 is related to all others, each other one to the next."""
    ends = [(0, other) for other in range(1, n)] + [(end, end + 1) for end in range(1, n - 1)]
    entities = [entity(f"e{row}", [row % 3]) for row in range(n)]
    return layer(0, entities, [relation(a, b) for a, b in ends], unit([[1.0, 0.0]] * n), [0] * n)


@settings(max_examples=60)
@given(st.lists(st.integers(0, 11), unique=True))
def test_relations_inside_are_those_with_both_ends_among_the_entities(rows: list[int]) -> None:
    made = star(12)
    expected = [row for row, (a, b) in enumerate(made.ends.tolist()) if a in rows and b in rows]
    assert made.relations_inside(rows).tolist() == expected


def test_a_hub_and_a_layer_without_relations_have_the_right_ones() -> None:
    assert star(2000).relations_of(0).tolist() == list(range(1999))
    lonely = layer(0, [entity("a", [0])], [], unit([[1.0, 0.0]]), [])
    assert lonely.relations_inside([0]).tolist() == []
    assert lonely.relations_of(0).tolist() == []


def test_the_chunks_of_an_entity_are_numbers() -> None:
    assert small_index().layers[0].chunks_of(1).tolist() == [0, 1, 2]
    assert small_index().layers[0].chunks_of(np.int64(5)).tolist() == [3]
