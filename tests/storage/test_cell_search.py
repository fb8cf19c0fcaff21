"""The clustering as a search index: what it finds, that vectors alone decide it, and what damage is named."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from leanrag_core.errors import PartDamaged
from leanrag_core.messages.catalog import sentence
from leanrag_core.retrieval import vector_search
from leanrag_core.storage import cell_search
from leanrag_core.storage.cell_search import CellSearch, read_cells, write_cells
from leanrag_core.storage.layout import read_index, write_index
from leanrag_core.storage.search_store import SearchStore
from leanrag_core.types.graph import Layer
from leanrag_core.types.index import Index
from tests.index_parts import made_part
from tests.small_index import entity, layer, small_index, unit

N, DIMENSION, CELLS, GROUPS = 1200, 16, 60, 6


def layers() -> tuple[Layer, ...]:
    """Return three layers over planted clusters, whose numbers do not rise with the rows, and a root."""
    random = np.random.default_rng(0)
    group_of, cell_of = random.permutation(np.arange(CELLS) % GROUPS), random.permutation(np.arange(N) % CELLS)
    groups = random.standard_normal((GROUPS, DIMENSION))
    centres = groups[group_of] + 0.5 * random.standard_normal((CELLS, DIMENSION))
    points = centres[cell_of] + 0.2 * random.standard_normal((N, DIMENSION))

    def made(number: int, vectors: np.ndarray, parent: np.ndarray) -> Layer:
        entities = [entity(f"{number}-{row}", []) for row in range(len(vectors))]
        return layer(number, entities, [], unit(vectors.tolist()), parent.tolist())

    return (
        made(0, points, cell_of),
        made(1, centres, group_of),
        made(2, groups, np.zeros(GROUPS, dtype=int)),
        made(3, np.ones((1, DIMENSION)), np.zeros(0, dtype=int)),
    )


def written(folder: Path, *, recall: float = 0.99) -> CellSearch:
    write_cells(folder, layers(), lambda done, total: None, wanted_recall=recall)
    return CellSearch(folder)


def questions() -> np.ndarray:
    return unit(np.random.default_rng(1).standard_normal((50, DIMENSION)).tolist())


def test_the_ten_nearest_are_among_the_candidates_and_most_rows_are_not(tmp_path: Path) -> None:
    search, base = written(tmp_path), layers()[0]
    found = 0
    for query in questions():
        rows = search.candidates(base, query, 10)
        assert np.array_equal(rows, np.unique(rows))
        assert len(rows) < N / 5
        nearest = np.argsort(-(base.vectors @ query), kind="stable")[:10]
        found += len(np.intersect1d(rows, nearest))
    assert found / 500 >= 0.95  # questions from nowhere; the record's .99 is of vectors and points between them
    [record, _] = read_cells(tmp_path).layers
    assert record.recall >= 0.99
    assert record.probes < CELLS == record.cells
    measured = search.of_layer(0)
    assert measured is not None
    assert (measured.rows, measured.recall) == (N, record.recall)


def test_more_recall_takes_more_cells(tmp_path: Path) -> None:
    probes = [
        written(tmp_path / str(recall), recall=recall) and read_cells(tmp_path / str(recall)) for recall in (0.5, 1)
    ]
    few, many = (record.layers[0].probes for record in probes)
    assert few < many


def test_a_layer_without_clusters_above_it_is_searched_whole(tmp_path: Path) -> None:
    search, top = written(tmp_path), layers()[2]
    assert search.of_layer(2) is None
    assert search.candidates(top, top.vectors[0], 1).tolist() == list(range(GROUPS))


def test_rows_whose_signs_differ_most_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cell_search, "_SHORTLISTS", (80,))
    monkeypatch.setattr(cell_search, "_PROBES", ())  # all cells
    search, base = written(tmp_path, recall=0.5), layers()[0]
    [record, _] = read_cells(tmp_path).layers
    assert (record.shortlist, record.probes) == (80, CELLS)
    codes, rows = (np.load(tmp_path / f"{name}-0.npy") for name in ("codes", "rows"))
    for query in base.vectors[::40]:
        differing = ((codes > 0) != (query > 0)).sum(axis=1)
        candidates = search.candidates(base, query, 1)
        assert 64 <= len(candidates) < 120
        assert differing[np.isin(rows, candidates)].max() <= np.sort(differing)[79] + 1  # what is nearly 0 rounds to it


@pytest.mark.parametrize("dimension", [1, 63, 64, 65, 384])
def test_differing_signs_are_counted_whatever_the_dimension(dimension: int) -> None:
    random = np.random.default_rng(dimension)
    numbers, question = random.integers(-1, 2, (50, dimension)), random.integers(-1, 2, dimension)
    signs, of_question = cell_search._signs(numbers), cell_search._signs(question[None, :])[0]
    expected = ((numbers > 0) != (question > 0)).sum(axis=1)
    assert cell_search._hamming_distances(signs, of_question).tolist() == expected.tolist()
    places = np.array([3, 3, 49, 0])
    assert cell_search._hamming_distances(signs, of_question, places).tolist() == expected[places].tolist()


def test_where_signs_say_too_little_every_row_of_the_cells_is_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cell_search, "_SHORTLISTS", (1,))
    written(tmp_path, recall=1)
    [record, _] = read_cells(tmp_path).layers
    assert (record.shortlist, record.recall) == (N, 1)


def test_a_part_of_before_there_were_signs_is_to_be_made_again(tmp_path: Path) -> None:
    written(tmp_path)
    path = tmp_path / "search.json"
    record = json.loads(path.read_text())
    for kept in record["layers"]:
        del kept["shortlist"]
    path.write_text(json.dumps(record))
    with pytest.raises(PartDamaged, match="another version"):
        CellSearch(tmp_path)


def test_the_files_are_the_same_each_time(tmp_path: Path) -> None:
    for name in ("first", "second"):
        written(tmp_path / name)
    assert digest(tmp_path / "first") == digest(tmp_path / "second")


def digest(folder: Path) -> str:
    hashed = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        hashed.update(path.name.encode() + path.read_bytes())
    return hashed.hexdigest()


@pytest.mark.slow
def test_no_processor_and_no_number_of_threads_changes_what_is_found(tmp_path: Path) -> None:
    written(tmp_path)
    code = (
        "import sys; from pathlib import Path; from tests.storage.test_cell_search import *; "
        "s = CellSearch(Path(sys.argv[1])); b = layers()[0]; "
        "print([s.candidates(b, q, 3).tolist() for q in questions()])"
    )
    answers = set()
    for core, threads in (("Haswell", "1"), ("Zen", "2"), ("SkylakeX", "2")):
        environment = {**os.environ, "OPENBLAS_CORETYPE": core, "OPENBLAS_NUM_THREADS": threads}
        command = [sys.executable, "-c", code, str(tmp_path)]
        answers.add(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout)
    assert len(answers) == 1


@pytest.mark.parametrize("name", ["codes", "signs", "rows", "starts", "centre_signs"])
def test_files_that_do_not_belong_together_are_refused(tmp_path: Path, name: str) -> None:
    written(tmp_path)
    path = tmp_path / f"{name}-0.npy"
    np.save(path, np.load(path)[:-1])
    with pytest.raises(PartDamaged):
        CellSearch(tmp_path)


def test_a_row_that_is_in_two_cells_is_refused(tmp_path: Path) -> None:
    written(tmp_path)
    path = tmp_path / "rows-0.npy"
    rows = np.load(path)
    rows[0] = rows[1]
    np.save(path, rows)
    with pytest.raises(PartDamaged):
        CellSearch(tmp_path)


def stored(directory: Path) -> Index:
    directory.mkdir()
    write_index(directory, small_index())
    return read_index(directory)


def test_questions_are_searched_in_the_cells_once_the_part_is_made_and_say_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = tmp_path / "index"
    index = stored(directory)
    searches = SearchStore()
    assert searches.open(directory) is None
    made_part(directory, "cells")
    assert isinstance(searches.open(directory), CellSearch)
    monkeypatch.setattr(vector_search, "EXACT_UP_TO", 2)
    base, query = index.layers[0], np.asarray(index.layers[0].vectors[4])
    found = vector_search.nearest(index, base, query, 2, searches=searches)
    exact = vector_search.nearest(index, base, query, 2, "exact")
    assert (found.kind, exact.kind) == (vector_search.APPROXIMATE, vector_search.EXACT)
    assert np.array_equal(found.rows, exact.rows)
    assert np.array_equal(found.scores, exact.scores)


def test_damaged_cells_are_named_and_the_layer_is_searched_exactly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = tmp_path / "index"
    index = stored(directory)
    codes = made_part(directory, "cells") / "codes-0.npy"
    content = bytearray(codes.read_bytes())
    content[-1] ^= 1
    codes.write_bytes(content)
    monkeypatch.setattr(vector_search, "EXACT_UP_TO", 2)
    found = vector_search.nearest(
        index, index.layers[0], np.asarray(index.layers[0].vectors[4]), 2, searches=SearchStore()
    )
    assert found.kind == vector_search.EXACT
    assert found.instead is not None
    assert "codes-0.npy" in sentence(found.instead)
