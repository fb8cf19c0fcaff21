"""A small index built from two documents, and ways to change what is stored of it."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from leanrag_core import IndexConfig
from leanrag_core.checking.check import CheckResult, check_directory
from leanrag_core.files.records import plain
from leanrag_core.indexing.build import BuildRequest, build_index
from leanrag_core.indexing.build_models import BuildModels
from leanrag_core.models.base import EmbeddingModel
from leanrag_core.models.minilm import MiniLM
from leanrag_core.storage import layout, tables
from leanrag_core.storage.counted_columns import entities_with_tokens, relations_with_tokens
from leanrag_core.storage.digests import digests_of, sealed
from leanrag_core.storage.part_store import index_digests
from leanrag_core.storage.search_connection import fingerprinted
from leanrag_core.types.index import Index
from tests.index_parts import made_part
from tests.reading import read_uploads
from tests.workbench.test_workbench import BEES, HIVES

CONFIG = IndexConfig(cluster_size=4, tau=1, chunk_tokens=64, overlap_tokens=8)


def built_index(out: Path, embedding: EmbeddingModel) -> Path:
    """Build an index of 20, 5, 2 and 1 entities; summarised and concatenated relations; 3 chunks of 2 documents; a
    search index."""
    documents = read_uploads([("bees.md", BEES), ("hives.txt", HIVES)]).documents
    build_index(BuildRequest(documents, CONFIG, out), BuildModels(embedding))
    made_part(out, "chroma")
    return out


class Remembered:
    """The built-in model, which embeds each text once for all tests."""

    def __init__(self) -> None:
        self.model = MiniLM()
        self.name, self.dimension, self.fingerprint = "builtin", self.model.dimension, self.model.fingerprint
        self.known: dict[str, np.ndarray] = {}

    def embed(self, texts: list[str]) -> np.ndarray:
        new = [text for text in dict.fromkeys(texts) if text not in self.known]
        if new:
            self.known |= zip(new, self.model.embed(new), strict=True)
        return np.array([self.known[text] for text in texts])


@dataclass(frozen=True)
class Stored:
    """An index on disk that is being changed."""

    folder: Path

    @property
    def search_folder(self) -> Path:
        """The folder of the search index, the only part."""
        [folder] = (self.folder / "parts" / "chroma").iterdir()
        return folder

    def search_file(self, name: str) -> str:
        """Return the path, below the index, of a file of the search index."""
        return (self.search_folder / name).relative_to(self.folder).as_posix()

    def index(self) -> Index:
        return layout.read_index(self.folder, hashes=False)

    def table(self, name: str) -> pa.Table:
        return tables.read_table(self.folder / name)

    def cells(self, name: str, column: str) -> list[Any]:
        return self.table(name)[column].to_pylist()

    def put(self, name: str, column: str, cells: list[Any]) -> None:
        """Make the column hold those cells."""
        table = self.table(name)
        place = table.schema.get_field_index(column)
        new_column = pa.array(cells, table.schema.field(place).type)
        tables.write_table(self.folder / name, table.set_column(place, table.schema.field(place), new_column))

    def change(self, name: str, column: str, row: int, value: Any) -> None:
        """Make the cell hold the value; a function is given what it held."""
        cells = self.cells(name, column)
        cells[row] = value(cells[row]) if callable(value) else value
        self.put(name, column, cells)

    def vectors(self, part: int | str, change: Callable[[np.ndarray], None]) -> None:
        """Apply change() to a copy of the vectors, which takes their place."""
        path = self.folder / f"vectors-{part}.npy"
        rows = np.array(tables.read_vectors(path))
        change(rows)
        np.save(path, rows)

    def record(self, name: str, change: Callable[[dict[str, Any]], None]) -> None:
        """Apply change() to the JSON object of manifest.json, report.json, or a record of the search index."""
        path = self.folder / name
        values = json.loads(path.read_text(encoding="utf-8"))
        change(values)
        path.write_text(json.dumps(sealed(values) if "sha256" in values else values), encoding="utf-8")

    def counted_again(self) -> None:
        """Count again, so that the stored token columns fit the texts."""
        index = self.index()
        for layer in index.layers:
            entities, relations = entities_with_tokens(layer.entities), relations_with_tokens(layer.relations)
            tables.write_table(self.folder / f"entities-{layer.number}.arrow", entities)
            tables.write_table(self.folder / f"relations-{layer.number}.arrow", relations)

    def hashed_again(self) -> None:
        """Hash again, so that all hashes fit the files and only the content shows the change."""
        hashes = plain(fingerprinted(self.search_folder, ()))
        change = {"files": hashes["files"], "rows": hashes["rows"]}
        self.record(self.search_file("search.json"), lambda search: search.update(change))
        self.record(layout.MANIFEST, lambda manifest: _hash_files(manifest, self.folder))
        self.record(self.search_file("part.json"), lambda part: _hash_files(part, self.search_folder))
        digests = index_digests(self.folder, ["vectors"])
        self.record(self.search_file("part.json"), lambda part: part.update(rests_on=digests))


def _hash_files(record: dict[str, Any], folder: Path) -> None:
    record["files"] = {name: plain(file) for name, file in digests_of(folder, record["files"]).items()}


def results(stored: Stored, embedding: Remembered) -> dict[str, CheckResult]:
    """Return what each check reports, by its name."""
    checked = check_directory(stored.folder, lambda name, fingerprint: embedding)
    return {result.name: result for result in checked}


def named(result: CheckResult) -> list[tuple[str, int | None]]:
    """Return the file and row of each problem."""
    return [(problem.file, problem.row) for problem in result.problems]
