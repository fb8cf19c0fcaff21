"""What the released systems are given when their retrieval is compared with ours: our graph, our vectors, our keywords.

This file runs inside their environments too, so it needs numpy alone.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

KINDS = ("entities", "relations", "chunks", "reports")


@dataclass(frozen=True)
class GivenEntity:
    """An entity under a name that no other has, in capitals or not. chunks: rows of the passages that mention it."""

    name: str
    type: str
    description: str
    chunks: tuple[int, ...]


@dataclass(frozen=True)
class GivenRelation:
    """A relation between two rows of the entities. chunks: rows of the passages that state it."""

    source: int
    target: int
    description: str
    keywords: str
    weight: float
    chunks: tuple[int, ...]


@dataclass(frozen=True)
class GivenQuestion:
    """A question, and what our built-in way takes from it in place of a language model. mapped, types: names and types
    of the answer, in small letters, as MiniRAG asks for them."""

    text: str
    low: tuple[str, ...]
    high: tuple[str, ...]
    named: tuple[str, ...]
    generic: tuple[str, ...]
    mapped: tuple[str, ...] = ()
    types: tuple[str, ...] = ()


@dataclass(frozen=True)
class GivenReport:
    """A community with its report. entities: rows. level: 0 is the coarsest. parent: its row, -1 for none."""

    title: str
    summary: str
    text: str
    rating: float
    level: int
    parent: int
    entities: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Given:
    """The input of all systems.

    vectors: float32 unit rows by name: "entities", "relations", "chunks", "reports", a row for each of these, "names",
    a row for each entity's name alone, and "texts", a row for each of `texts`, which are the questions and what is
    asked for instead of them. "expanded", "follow_ups": a row for each question, of what DRIFT has in place of a
    hypothetical report and of a follow-up question.
    """

    entities: tuple[GivenEntity, ...]
    relations: tuple[GivenRelation, ...]
    passages: tuple[str, ...]
    questions: tuple[GivenQuestion, ...]
    reports: tuple[GivenReport, ...]
    texts: tuple[str, ...]
    vectors: Mapping[str, np.ndarray] = field(default_factory=dict)

    def save(self, folder: Path) -> None:
        """Write everything to the folder as JSON and npy files."""
        folder.mkdir(parents=True, exist_ok=True)
        for name, vectors in self.vectors.items():
            np.save(folder / f"vectors-{name}.npy", vectors)
        cells: dict[str, Any] = {
            name: [asdict(row) for row in getattr(self, name)]
            for name in ("entities", "relations", "questions", "reports")
        }
        cells |= {"passages": self.passages, "texts": self.texts}
        (folder / "given.json").write_text(json.dumps(cells), encoding="utf-8")

    @classmethod
    def load(cls, folder: Path) -> "Given":
        """Read what `save` wrote."""
        cells = json.loads((folder / "given.json").read_text(encoding="utf-8"))
        stored = {path.stem.removeprefix("vectors-"): path for path in folder.glob("vectors-*.npy")}
        vectors = {name: np.load(path) for name, path in stored.items()}
        return cls(
            entities=tuple(GivenEntity(**_tuples(row)) for row in cells["entities"]),
            relations=tuple(GivenRelation(**_tuples(row)) for row in cells["relations"]),
            passages=tuple(cells["passages"]),
            questions=tuple(GivenQuestion(**_tuples(row)) for row in cells["questions"]),
            reports=tuple(GivenReport(**_tuples(row)) for row in cells["reports"]),
            texts=tuple(cells["texts"]),
            vectors=vectors,
        )


def _tuples(cells: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in cells.items()}


class Embedding:
    """Looks vectors up by the text that a system writes for a thing. A text that nobody announced is an error."""

    def __init__(self, given: Given) -> None:
        self.rows: dict[str, np.ndarray] = {}
        self.announce(given.texts, given.vectors["texts"])

    def announce(self, texts: Iterable[str], vectors: np.ndarray) -> None:
        """Keep those vectors for those texts; the first vector stays where a text comes twice."""
        for text, vector in zip(texts, vectors, strict=True):
            self.rows.setdefault(text.strip(), vector)

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Return the (texts, d) float32 vectors of the texts. Raises KeyError."""
        return np.stack([self.rows[text.strip()] for text in texts]).astype(np.float32)


@dataclass(frozen=True)
class Retrieved:
    """Rows of what a system retrieved for a question, best first; None for a kind that it does not retrieve."""

    entities: tuple[int, ...] | None = None
    relations: tuple[int, ...] | None = None
    chunks: tuple[int, ...] | None = None
    reports: tuple[int, ...] | None = None


def write_retrieved(out: Path, modes: Mapping[str, Sequence[Retrieved]], versions: Mapping[str, str]) -> None:
    """Write what each mode of a system retrieved, question by question, as JSON."""
    cells = {mode: [asdict(each) for each in listed] for mode, listed in modes.items()}
    out.write_text(json.dumps({"modes": cells, "versions": dict(versions)}), encoding="utf-8")


def read_retrieved(cells: Mapping[str, Any]) -> dict[str, list[Retrieved]]:
    """Return the modes of what `write_retrieved` wrote."""
    return {mode: [Retrieved(**_tuples(row)) for row in listed] for mode, listed in cells["modes"].items()}
