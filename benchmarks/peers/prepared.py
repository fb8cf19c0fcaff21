"""What every system is given: one graph with its passages, questions, and stubs that stand where models stand.

This file and `benchmarks.memory` are all of this project that runs inside the environments of the other systems, so it
needs numpy alone. A model costs nothing here: embeddings are looked up, keywords and reports are fixed.
"""

import importlib.metadata
import json
import re
import statistics
import time
import zlib
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.memory import peak_gb

_QUESTION = re.compile(r"\(question (\d+)\)", re.IGNORECASE)
_TOKEN = re.compile(r"\bk([0-9a-z]+)\b")
_WARM_UP = 3


@dataclass(frozen=True)
class Budget:
    """Tokens of context that every system may fill, by part; a system that has no such part spends it on another."""

    entities: int = 1000
    summaries: int = 1500
    relations: int = 1000
    chunks: int = 6000

    @property
    def total(self) -> int:
        """All parts together."""
        return self.entities + self.summaries + self.relations + self.chunks


@dataclass(frozen=True)
class PeerEntity:
    """An entity; chunks are rows of the passages, the first is where it is described."""

    name: str
    type: str
    description: str
    chunks: tuple[int, ...]


@dataclass(frozen=True)
class PeerRelation:
    """A relation between two entities by name, found in one passage."""

    source: str
    target: str
    description: str
    keywords: str
    weight: float
    chunk: int


@dataclass(frozen=True)
class Question:
    """A question about two entities, with the keywords that a model would find in it."""

    text: str
    names: tuple[str, ...]
    themes: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Prepared:
    """The input of all systems. vectors: (n, d) float32 unit rows of the entities; question_vectors: (q, d), alike.

    characters_per_token: of the passages, for a system that counts characters.
    """

    entities: tuple[PeerEntity, ...]
    relations: tuple[PeerRelation, ...]
    passages: tuple[str, ...]
    questions: tuple[Question, ...]
    vectors: np.ndarray
    question_vectors: np.ndarray
    budget: Budget
    characters_per_token: float

    def save(self, folder: Path) -> None:
        """Write everything to the folder as JSON and one npz."""
        folder.mkdir(parents=True, exist_ok=True)
        np.savez(folder / "vectors.npz", entities=self.vectors, questions=self.question_vectors)
        cells: dict[str, Any] = {
            name: [asdict(row) for row in getattr(self, name)] for name in ("entities", "relations", "questions")
        }
        cells |= {"passages": self.passages, "budget": asdict(self.budget)}
        cells["characters_per_token"] = self.characters_per_token
        (folder / "graph.json").write_text(json.dumps(cells), encoding="utf-8")

    @classmethod
    def load(cls, folder: Path) -> "Prepared":
        """Read what `save` wrote."""
        cells = json.loads((folder / "graph.json").read_text(encoding="utf-8"))
        with np.load(folder / "vectors.npz") as arrays:
            vectors, questions = arrays["entities"], arrays["questions"]
        return cls(
            entities=tuple(PeerEntity(**{**cell, "chunks": tuple(cell["chunks"])}) for cell in cells["entities"]),
            relations=tuple(PeerRelation(**cell) for cell in cells["relations"]),
            passages=tuple(cells["passages"]),
            questions=tuple(
                Question(cell["text"], tuple(cell["names"]), tuple(cell["themes"])) for cell in cells["questions"]
            ),
            vectors=vectors,
            question_vectors=questions,
            budget=Budget(**cells["budget"]),
            characters_per_token=cells["characters_per_token"],
        )

    def question_in(self, text: str) -> Question:
        """Return the question that a prompt speaks of: the last one whose number it names."""
        return self.questions[int(_QUESTION.findall(text)[-1])]

    def embed(self, texts: Iterable[str]) -> np.ndarray:
        """Return (texts, d) float32 unit rows, without a model.

        A text that names a question gets that question's vector, else the one of the first entity whose token it
        holds, else one that follows from its bytes.
        """
        return np.stack([self._vector(text) for text in texts]).astype(np.float32)

    def _vector(self, text: str) -> np.ndarray:
        if asked := _QUESTION.search(text):
            return np.asarray(self.question_vectors[int(asked[1])])
        for digits in _TOKEN.findall(text.lower()):
            if (row := int(digits, 36)) < len(self.vectors):
                return np.asarray(self.vectors[row])
        drawn = np.random.default_rng(zlib.crc32(text.encode())).standard_normal(self.vectors.shape[1])
        return np.asarray(drawn / np.linalg.norm(drawn))


@dataclass(frozen=True)
class Asked:
    """Milliseconds by the clock and by the processor for each question, and the replies."""

    wall_ms: tuple[float, ...]
    cpu_ms: tuple[float, ...]
    replies: tuple[Any, ...]


async def asked(prepared: Prepared, ask: Callable[[str], Awaitable[Any]]) -> Asked:
    """Ask every question once, one after the other, after a few to warm up."""
    for question in prepared.questions[:_WARM_UP]:
        await ask(question.text)
    wall, cpu, replies = [], [], []
    for question in prepared.questions:
        started, worked = time.perf_counter(), time.process_time()
        replies.append(await ask(question.text))
        wall.append(1000 * (time.perf_counter() - started))
        cpu.append(1000 * (time.process_time() - worked))
    return Asked(tuple(wall), tuple(cpu), tuple(replies))


def report(
    out: Path,
    asked: Asked,
    *,
    contexts: Sequence[str],
    insert_seconds: float,
    packages: Iterable[str],
    other_p50_ms: Mapping[str, Asked] | None = None,
) -> None:
    """Write what a system did as JSON: figures, the contexts it made, and the versions it ran with.

    other_p50_ms: the same questions asked in another way, by the name of that way.
    """
    if not all(contexts):
        raise ValueError(f"question {[bool(text) for text in contexts].index(False)} got an empty context")
    figures = {
        "p50_ms": round(statistics.median(asked.wall_ms), 2),
        "best_ms": round(min(asked.wall_ms), 2),
        "processor_ms": round(statistics.median(asked.cpu_ms), 2),
        **{f"{way}_p50_ms": round(statistics.median(timed.wall_ms), 2) for way, timed in (other_p50_ms or {}).items()},
        "insert_seconds": round(insert_seconds, 1),
        "peak_gb": round(peak_gb(), 3),
    }
    written = {"figures": figures, "contexts": list(contexts), "versions": versions(packages)}
    out.write_text(json.dumps(written), encoding="utf-8")


def versions(packages: Iterable[str]) -> dict[str, str]:
    """Return the installed version of each package, in the environment that runs this."""
    return {name: importlib.metadata.version(name) for name in packages}
