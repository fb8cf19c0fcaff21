"""What is known of a question set without reading its questions."""

from collections.abc import Mapping
from dataclasses import dataclass, field

UPLOADED, WRITTEN, GENERATED, SHIPPED = "uploaded", "written", "generated", "shipped"
ORIGINS = (UPLOADED, WRITTEN, GENERATED, SHIPPED)


@dataclass(frozen=True)
class QuestionSetInfo:
    """A question set for lists. kinds: how many questions of each kind, "" for those without one. n_evidence,
    n_answers: how many have gold evidence, and a gold answer. corpus_id: the corpus that it asks about, "" where
    unknown. origin: of ORIGINS; about: for a generated set, how it was made."""

    id: str
    title: str
    n: int
    kinds: Mapping[str, int] = field(default_factory=dict)
    n_evidence: int = 0
    n_answers: int = 0
    corpus_id: str = ""
    origin: str = UPLOADED
    about: str = ""

    @property
    def is_shipped(self) -> bool:
        """Whether it comes with the program and cannot be deleted."""
        return self.origin == SHIPPED
