"""Communities of concepts: hubs, chunks of each, and chunks of none."""

from pathlib import Path

import numpy as np
import pyarrow as pa

from leanrag_core.indexing.part_base import PartTools
from leanrag_core.indexing.parts.noun_communities import Config, Part, concept_communities, hubs
from leanrag_core.indexing.parts.noun_graph import noun_graph
from leanrag_core.types.index import Index
from leanrag_core.types.walks import OCCURRENCE_SCHEMA, PAIR_SCHEMA, NounGraph
from tests.contract.indexes import INDEXES
from tests.contract.same import assert_same
from tests.index_parts import no_embedding
from tests.small_index import small_index


def graph(pairs: list[tuple[int, int]], occurrences: list[tuple[int, int]], size: tuple[int, int]) -> NounGraph:
    """Return a graph in which each pair shares a sentence, and each (entity, chunk) is in one."""
    tables = [
        pa.Table.from_pylist([dict(zip(schema.names, (*row, 1), strict=True)) for row in rows], schema=schema)
        for schema, rows in ((PAIR_SCHEMA, pairs), (OCCURRENCE_SCHEMA, occurrences))
    ]
    return NounGraph(tables[0], tables[1], size)


def two_triangles() -> NounGraph:
    """Return a graph of 0 1 2 in chunk 0, 3 4 5 in chunk 1, joined by 2 and 3; 6 alone in chunk 2."""
    triangles = [(0, 1), (0, 2), (1, 2), (2, 3), (3, 4), (3, 5), (4, 5)]
    return graph(triangles, [(row, row // 3) for row in range(7)], (7, 3))


def test_what_shares_sentences_is_in_one_community_and_chunks_of_none_are_in_a_last_one() -> None:
    made = concept_communities(two_triangles(), max_size=10, hub_deviations=4.0)
    assert [made.concepts[row].tolist() for row in range(3)] == [[0, 1, 2], [3, 4, 5], []]
    assert [made.chunks[row].tolist() for row in range(3)] == [[0], [1], [2]]
    assert (made.level.tolist(), made.parent.tolist()) == ([0, 0, 0], [-1, -1, -1])
    assert made.finest.tolist() == [0, 0, 0, 1, 1, 1, -1]


def test_a_large_community_is_split_and_a_concept_belongs_to_the_smallest() -> None:
    links = [(first, second) for first in range(60) for second in range(first + 1, 60) if second - first < 3]
    made = concept_communities(graph(links, [(row, 0) for row in range(60)], (60, 1)), max_size=3, hub_deviations=20.0)
    deepest = {int(row): int(made.level[row]) for row in made.finest}
    assert max(deepest.values()) >= 1
    for entity, row in enumerate(made.finest.tolist()):
        assert entity in made.concepts[row]
        assert not any(entity in made.concepts[part] for part in np.flatnonzero(made.parent == row).tolist())
    assert all(made.chunks[row].tolist() == [0] for row in range(len(made)))


def test_hubs_have_more_neighbours_than_the_mean_and_so_many_deviations() -> None:
    # A star: the middle has 9 neighbours, the others 1; the mean is 1.8, the deviation 2.4.
    star = np.array([(0, row) for row in range(1, 10)])
    assert hubs(star, 12, 2.9).tolist() == [0]
    assert hubs(star, 12, 3.1).tolist() == []
    assert hubs(np.zeros((0, 2), dtype=np.int64), 3, 0.0).tolist() == []


def test_a_hub_is_in_no_community_and_its_chunks_are_in_the_last_one() -> None:
    star = graph([(0, row) for row in range(1, 10)], [(row, row) for row in range(10)], (10, 10))
    made = concept_communities(star, max_size=10, hub_deviations=2.0)
    assert len(made) == 1
    assert made.chunks[0].tolist() == list(range(10))


def test_every_chunk_is_in_a_root_of_every_index() -> None:
    for name, make in INDEXES.items():
        index = make()
        made = concept_communities(noun_graph(index, lambda done, total: None), max_size=10, hub_deviations=4.0)
        roots = np.flatnonzero(made.parent < 0).tolist()
        held = {chunk for row in roots for chunk in made.chunks[row].tolist()}
        assert held == set(range(index.chunks.num_rows)), name


def test_the_part_is_read_as_it_was_made(tmp_path: Path) -> None:
    index: Index = small_index()
    nouns = noun_graph(index, lambda done, total: None)
    tools = PartTools(no_embedding, part={"noun_graph": nouns}.__getitem__)
    Part().build(index, tmp_path, Config(), tools)
    assert_same(Part().read(tmp_path, index), concept_communities(nouns, max_size=10, hub_deviations=4.0))
