"""Edits by hand of a base graph: a log that every build and update of the index replays."""

from dataclasses import dataclass
from typing import Annotated, Literal

from annotated_types import Interval, MaxLen

from leanrag_core.files.records import Count, ShortText, absent_at_default

Action = Literal["rename", "retype", "merge", "split", "delete", "delete-relation", "describe-relation"]
ACTIONS: tuple[Action, ...] = ("rename", "retype", "merge", "split", "delete", "delete-relation", "describe-relation")
MAX_EDITS = 10_000


@dataclass(frozen=True)
class Edit:
    """A change of entities or relations, which are known by their names.

    number: by which it is undone; numbers grow. name: of the entity as it is called when the edit's turn comes, or of
    one end of the relation. other: the new name, type or entity, or the relation's other end. documents: names of the
    documents whose mentions a split takes. text: a relation's new description.
    """

    number: Annotated[int, Interval(ge=1, le=2**53)]
    action: Action
    name: ShortText
    other: ShortText = absent_at_default("")
    documents: tuple[ShortText, ...] = absent_at_default(())
    text: Annotated[str, MaxLen(20_000)] = absent_at_default("")


@dataclass(frozen=True)
class EditLog:
    """All edits of an index, in the order in which they are replayed."""

    edits: tuple[Edit, ...] = ()

    @property
    def next_number(self) -> int:
        """The number of an edit that is added now."""
        return max((edit.number for edit in self.edits), default=0) + 1


NO_EDITS = EditLog()


@dataclass(frozen=True)
class EditOutcome:
    """What an edit of the log did when the index was made last. affected: mentions of entities and relations that it
    changed; none when it no longer applies."""

    number: int
    affected: Count

    @property
    def applies(self) -> bool:
        """Whether there was something to change."""
        return self.affected > 0
