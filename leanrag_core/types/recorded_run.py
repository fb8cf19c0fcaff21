"""A question with its retrieval and its answer, as they are kept in a file: shown again without an index or a model."""

from dataclasses import dataclass

from leanrag_core.types.trace import Answer, Trace

FORMAT, VERSION = "leanrag-run", 1


@dataclass(frozen=True)
class RecordedRun:
    """A trace and, where there is one, the answer from it. format, version: of the file."""

    trace: Trace
    answer: Answer | None = None
    format: str = FORMAT
    version: int = VERSION
