"""The corpora that come with the program: read into the corpus store when they are first asked for."""

import hashlib
import json
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from leanrag_core.evaluation.gold import GoldQuestion
from leanrag_core.evaluation.question_sets.reading import read_questions
from leanrag_core.files.records import from_json
from leanrag_core.indexing.parsing.confined import ConfinedParser
from leanrag_core.indexing.reading import read_files, sources_below
from leanrag_core.storage.corpora import CorpusStore
from leanrag_core.system.environment import PROGRAM
from leanrag_core.types.config import IndexConfig

SAMPLES = PROGRAM / "sample_corpora"
FIRST_SAMPLE = "agriculture"  # the corpus whose index is built on first start
EXAMPLES = "examples.json"  # written by sample_corpora.openings
PREPARED = SAMPLES / "indexes"  # holds the index of the first start, below its id
PREPARED_STAGES = PREPARED / "stages.arrow"  # what its build kept, from which another clustersize or tau is made
_CARD, _QUESTIONS, _DOCUMENTS = "corpus.json", "questions.jsonl", "documents"  # in the folder of a sample corpus
_PREFIX = "sample-"  # of the ids of sample corpora in the store


def sample_id(name: str) -> str:
    """Return the id that the sample corpus of that name has in the store."""
    return f"{_PREFIX}{name}"


def sample_name(corpus_id: str) -> str:
    """Return the name of the sample corpus that has that id in the store."""
    return corpus_id.removeprefix(_PREFIX)


def documents_of(path: Path) -> Path:
    """Return the folder of documents in the folder of a sample corpus, which also holds its questions and its reference
    graph; any other path as it is."""
    is_sample = all((path / name).is_file() for name in (_CARD, _QUESTIONS)) and (path / _DOCUMENTS).is_dir()
    return path / _DOCUMENTS if is_sample else path


def _card(name: str) -> dict[str, Any]:
    """Return what a sample corpus says of itself."""
    card: dict[str, Any] = json.loads((SAMPLES / name / _CARD).read_text(encoding="utf-8"))
    return card


@dataclass(frozen=True)
class Example:
    """A question that is offered, and why. id: in the corpus's question set. gold, gold_of_vectors: shares of its gold
    that the contexts of LeanRAG and of vector search hold, both of so many tokens, None without gold. right: the
    built-in answer is right; an unanswerable question is declined. below_root: its lowest common ancestor is below the
    root."""

    id: str
    kind: str
    gold: float | None
    gold_of_vectors: float | None
    tokens: int
    right: bool
    below_root: bool


@dataclass(frozen=True)
class Examples:
    """The questions that a sample corpus offers first, one of each kind, with what the choice rests on: clustersize of
    its first index, questions of the set, and of how many the lowest common ancestor is below the root."""

    cluster_size: int
    questions: int
    below_root: int
    examples: tuple[Example, ...]


class Samples:
    """Keeps the sample corpora of a store in step with the files of the program. parser: makes the reader of files."""

    def __init__(self, store: CorpusStore, parser: Callable[[], ConfinedParser]) -> None:
        self._store, self._parser = store, parser
        self._reading = threading.Lock()
        self._questions: dict[Path, tuple[int, tuple[GoldQuestion, ...]]] = {}  # with the file's time of change

    @cached_property
    def _files(self) -> dict[str, tuple[Path, ...]]:
        """The document files of each sample corpus, by its name."""
        return {
            folder.name: sources_below([folder / _DOCUMENTS]).files
            for folder in sorted(SAMPLES.iterdir())
            if (folder / _CARD).is_file()
        }

    def read_all(self) -> None:
        """Read every sample corpus into the store."""
        for name in self._files:
            self.read(name)

    def read(self, name: str) -> None:
        """Read the sample corpus into the store, again when its files have changed."""
        digest = hashlib.sha256(b"".join(path.read_bytes() for path in self._files[name])).hexdigest()[:16]
        with self._reading:  # Streamlit runs a page again while its last run is still reading
            if self._store.source(sample_id(name)) != digest:
                self._read_again(name, digest)

    def _read_again(self, name: str, digest: str) -> None:
        card = _card(name)
        parsed = read_files(self._files[name], self._parser())
        corpus_id = sample_id(name)
        self._store.create(card["title"], corpus_id=corpus_id, description=card["description"], sample=True)
        self._store.add(corpus_id, parsed.documents, source=digest)

    def ids(self) -> tuple[str, ...]:
        """Return the ids of the sample corpora."""
        return tuple(map(sample_id, self._files))

    def names(self) -> tuple[str, ...]:
        """Return the names of the sample corpora that have questions."""
        return tuple(name for name in self._files if self.questions(sample_id(name)))

    def title(self, corpus_id: str) -> str:
        """Return the title of a sample corpus."""
        return str(_card(sample_name(corpus_id))["title"])

    def cluster_size(self, name: str) -> int:
        """Return the clustersize of a sample corpus's first index, for which its reference graph has texts."""
        return int(_card(name).get("cluster_size", IndexConfig().cluster_size))

    def examples(self, corpus_id: str) -> Examples | None:
        """Return the questions of a sample corpus that are offered first; None for another corpus."""
        path = SAMPLES / sample_name(corpus_id) / EXAMPLES
        return from_json(Examples, path.read_bytes(), name=EXAMPLES) if self.questions(corpus_id) else None

    def questions(self, corpus_id: str) -> tuple[GoldQuestion, ...]:
        """Return the question set that comes with a sample corpus; empty for another corpus."""
        name = sample_name(corpus_id)
        path = SAMPLES / name / _QUESTIONS
        if name not in self._files or not path.is_file():
            return ()
        changed = path.stat().st_mtime_ns
        known = self._questions.get(path)
        if known is None or known[0] != changed:
            known = self._questions[path] = changed, read_questions(path)
        return known[1]
