"""Items and lines for strategies without a hierarchy, on an index that the built-in models made."""

import numpy as np
import pytest

from leanrag_core.retrieval.base_graph import end_rows, entity_items, entity_line, relation_items, relation_line
from leanrag_core.retrieval.budgets import section
from leanrag_core.retrieval.context import ENTITIES, RELATIONS
from leanrag_core.text.tokens import count_tokens
from leanrag_core.types.index import Index
from tests.small_index import small_index


@pytest.fixture(scope="module")
def index() -> Index:
    return small_index()


def test_lines_cost_what_their_section_says(index: Index) -> None:
    related = relation_items(index, [0])
    entities = entity_items(index, end_rows(index, [0]), {}, role="entity")
    assert [entity.id for entity in entities] == [related[0].source, related[0].target]
    names = {entity.id: entity.name for entity in entities}
    for form, lines in (
        (ENTITIES, [entity_line(index, entity) for entity in entities]),
        (RELATIONS, [relation_line(index, related[0], names)]),
    ):
        filled = section(form, lines, 500)
        assert filled.tokens == count_tokens(filled.text) > 0
        assert len(filled.items) == len(lines)


def test_incidence_and_adjacency_repeat_the_tables(index: Index) -> None:
    base = index.layers[0]
    for row in range(len(base)):
        assert np.flatnonzero(index.entity_chunks[[row]].toarray()).tolist() == base.chunks_of(row).tolist()
    weights = base.adjacency.toarray()
    assert (weights == weights.T).all()
    for row, (source, target) in enumerate(base.ends.tolist()):
        assert weights[source, target] == pytest.approx(base.relation(row).weight)
