"""Links between entities of the small index (tests/small_index.py): names for HippoRAG, vectors for FastGraphRAG."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from leanrag_core.errors import PartDamaged
from leanrag_core.indexing.part_base import PartModels, PartTools, parts
from leanrag_core.indexing.part_building import build_part, read_part
from leanrag_core.indexing.parts import synonyms
from leanrag_core.indexing.parts.near_duplicates import near_duplicates
from leanrag_core.storage.layout import read_index, write_index
from leanrag_core.types.index import Index
from leanrag_core.types.walks import EntityLinks
from tests.small_index import small_index, unit


def made(name: str, index: Index, folder: Path, embedded: dict[str, list[float]] | None = None) -> Any:
    """Return what that part of the index holds. embedded: vectors of texts."""

    def embed(texts: Sequence[str]) -> np.ndarray:
        return unit([(embedded or {})[text] for text in texts])

    folder.mkdir()
    write_index(folder, index)
    stored, info = read_index(folder), parts().named(name)
    build_part(stored, info, info.config(), PartModels(), PartTools(embed))
    return read_part(stored, info)


def test_synonyms_have_names_that_are_near_whatever_their_descriptions_are(tmp_path: Path) -> None:
    # By the index's vectors queen and honey are near (.8), as are rape and clover; by their names mite and clover are.
    names = dict(zip(("queen", "honey", "mite", "rape"), np.eye(4).tolist(), strict=True))
    names |= {"clover": [0, 0, 0.9, np.sqrt(0.19)], "seed coat": [0.5, 0.5, 0.5, 0.5]}
    links: EntityLinks = made("synonyms", small_index(), tmp_path / "index", names)
    assert np.argwhere(links.links.toarray() > 0).tolist() == [[2, 4], [4, 2]]
    assert links.links[2, 4] == pytest.approx(0.9)


def test_pairs_are_compared_a_block_at_a_time_with_the_same_cosines(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(4)
    vectors, ends = unit(random.normal(size=(20, 8))), random.integers(0, 20, (33, 2))
    whole = synonyms.cosines_of_pairs(vectors, ends)
    monkeypatch.setattr(synonyms, "_PAIRS_AT_ONCE", 5)
    assert synonyms.cosines_of_pairs(vectors, ends).tobytes() == whole.tobytes()
    assert whole == pytest.approx((vectors[ends[:, 0]] * vectors[ends[:, 1]]).sum(axis=1), abs=1e-6)


def test_a_relation_counts_the_passages_that_state_it_and_not_its_strength(tmp_path: Path) -> None:
    small = small_index()
    base = small.layers[0]  # queen - honey has weight 4, rape - clover 2, the others 1
    chunks = pa.array([[0], [1, 2], [2], [], [3]], base.relations.schema.field("chunks").type)
    place = base.relations.schema.get_field_index("chunks")
    base = replace(base, relations=base.relations.set_column(place, "chunks", chunks))
    names = {name: [1.0, 0, 0, 0] for name in base.entities["name"].to_pylist()}
    index = replace(small, layers=(base, *small.layers[1:]))
    links: EntityLinks = made("synonyms", index, tmp_path / "index", names)
    stated = {(0, 1): 1, (1, 2): 2, (1, 3): 1, (3, 4): 1, (2, 5): 1}  # one that names no passage counts once
    wanted = np.zeros((6, 6))
    for (source, target), n in stated.items():
        wanted[source, target] = wanted[target, source] = n
    assert links.statements.toarray() == pytest.approx(wanted)


def test_near_duplicates_are_the_later_of_the_two_nearest_that_are_not_related() -> None:
    # Of queen: honey (.95), which it is related to, mite (.85), and rape (.82), which is the third. Clover and seed
    # coat are not near enough (.79).
    places = np.eye(6, dtype=np.float32)
    for row, to, cosine in ((1, 0, 0.95), (2, 0, 0.85), (3, 0, 0.82), (5, 4, 0.79)):
        places[row] = 0
        places[row, [to, row]] = cosine, np.sqrt(1 - cosine**2)
    base = replace(small_index().layers[0], vectors=places)
    assert near_duplicates(base, 0.8).tolist() == [[0, 2]]


def test_the_graph_of_near_duplicates_has_one_weight_for_all(tmp_path: Path) -> None:
    wanted = np.zeros((6, 6))  # weights 4 and 2 count as 1; the two pairs that are near (.8) are related
    for source, target in ((0, 1), (1, 2), (1, 3), (3, 4), (2, 5)):
        wanted[source, target] = wanted[target, source] = 1
    transition = made("near_duplicates", small_index(), tmp_path / "index")
    assert transition.matrix.toarray() == pytest.approx(wanted / wanted.sum(axis=0))


def test_pairs_outside_the_index_are_named_as_what_they_are(tmp_path: Path) -> None:
    made("near_duplicates", small_index(), tmp_path / "index")
    [pairs] = (tmp_path / "index").rglob("pairs.npy")
    np.save(pairs, np.array([[0, 6]], dtype=np.int32))
    with pytest.raises(PartDamaged) as damaged:
        parts().named("near_duplicates").part.read(pairs.parent, small_index())
    assert damaged.value.message.code == "part.near_duplicates.outside"
