"""`check`: every invariant that can be seen on a stored index."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import pyarrow as pa

from leanrag_core.checking import entities, places, relations, stored, tree
from leanrag_core.checking.problem import Check, Note, Problem, Subject
from leanrag_core.errors import IndexDamaged, LeanRAGError, ModelUnavailable
from leanrag_core.messages.catalog import sentence
from leanrag_core.messages.message import Message
from leanrag_core.models.base import EmbeddingModel
from leanrag_core.storage.layout import read_index
from leanrag_core.text.plain_words import in_words
from leanrag_core.types.index import Index

_PROBLEMS_KEPT = 200  # of one check
_PROBLEMS_SHOWN = 3
# What a check raises on an index that is too damaged to be checked.
_FAULTS = (ArithmeticError, AssertionError, AttributeError, LeanRAGError, LookupError, OSError, TypeError, ValueError)
_UNMADE: tuple[type[Exception], ...] = (*_FAULTS, pa.ArrowException)

_CHECKS: tuple[tuple[str, Check], ...] = (
    ("file hashes", stored.hashes),
    ("tables", stored.tables),
    ("counts", stored.counts),
    ("one parent", tree.parents),
    ("one root", tree.root),
    ("partition", tree.partition),
    ("cluster sizes", tree.sizes),
    ("minimal subtree", tree.minimal),
    ("relation ends", relations.ends),
    ("connectivity", relations.strengths),
    ("unfolding", relations.members),
    ("weights", relations.weights),
    ("kind and tau", relations.kinds),
    ("relation texts", relations.descriptions),
    ("entity texts", entities.texts),
    ("names", entities.entity_names),
    ("chunks of entities", entities.chunks),
    ("stored token counts", entities.tokens),
    ("ids", entities.once),
    ("ids from content", entities.recomputed),
    ("id of the index", entities.of_the_index),
    ("chunk spans", places.spans),
    ("stored places", places.stored_places),
    ("unit vectors", places.unit),
    ("vectors of texts", places.of_texts),
    ("imported communities and ids", stored.imported_kept),
    ("model calls", stored.calls_recorded),
    ("index parts", stored.parts_stored),
    ("search index", places.rows),
    ("build report", stored.drops),
    ("clusters in the report", stored.clustering),
)


@dataclass(frozen=True)
class CheckResult:
    """One invariant. detail: what was checked when it holds, else the first problems. problems: the first of all."""

    name: str
    ok: bool
    detail: str
    problems: tuple[Problem, ...] = ()


def check_directory(directory: Path, embedding: Callable[[str, str], EmbeddingModel]) -> list[CheckResult]:
    """Check the index in the directory; an index that does not open has failed the first check.

    embedding: gives the model of that name and fingerprint; may raise ModelUnavailable. Raises IndexNotFound,
    IndexTooNew.
    """
    try:
        index = read_index(directory, hashes=False)
    except IndexDamaged as error:
        problem = _opening_problem(error, directory)
        return [CheckResult("the index opens", False, str(problem), (problem,))]
    recorded = index.manifest.embedding
    try:
        return check_index(index, embedding(recorded.name, recorded.fingerprint))
    except ModelUnavailable as error:
        return check_index(index, reason=str(error))


def _opening_problem(error: IndexDamaged, directory: Path) -> Problem:
    """Return the problem that keeps the index from opening, with its file."""
    path, problem = error.message.values["path"], error.message.values["problem"]
    assert isinstance(path, str)
    assert isinstance(problem, Message)
    row = problem.values.get("row")
    file = Path(path).relative_to(directory).as_posix()
    return Problem(file, row if isinstance(row, int) else None, sentence(problem))


def check_index(index: Index, embedding: EmbeddingModel | None = None, reason: str = "") -> list[CheckResult]:
    """Check every invariant that can be seen on an index; a check that cannot even be made counts as failed.

    embedding: the model that the index was made with; without it no text is embedded again. reason: why it is missing.
    Takes O(n log n) for n entities and relations; every file is read through. Determinism and context budgets are not
    visible here.
    """
    subject = Subject(index, embedding, reason or Subject.reason)
    return [_result(name, check, subject) for name, check in _CHECKS]


def _result(name: str, check: Check, subject: Subject) -> CheckResult:
    problems: list[Problem] = []
    notes: list[str] = []
    try:
        for result in islice(check(subject), _PROBLEMS_KEPT):
            if isinstance(result, Note):
                notes.append(result.text)
            else:
                problems.append(subject.in_its_file(result))
    except _UNMADE as error:
        problems.append(Problem("the index", None, f"is too damaged to check ({in_words(error)})"))
    if not problems:
        return CheckResult(name, True, "; ".join(notes) or _claim(check))
    more = f"; and {len(problems) - _PROBLEMS_SHOWN} more" if len(problems) > _PROBLEMS_SHOWN else ""
    detail = "; ".join(map(str, problems[:_PROBLEMS_SHOWN])) + more
    return CheckResult(name, False, detail, tuple(problems))


def _claim(check: Check) -> str:
    """Return what holds when the check finds nothing: its docstring without "Check that"."""
    claim = re.sub(r"^Check (that|for) ", "", " ".join((check.__doc__ or "").split())).rstrip(".")
    return f"{claim[:1].lower()}{claim[1:]}"
