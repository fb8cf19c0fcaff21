"""Snapshots: earlier states of an index that are kept, what took their place, and how two states differ."""

from dataclasses import dataclass
from typing import Annotated, Literal

from annotated_types import MaxLen

from leanrag_core.files.records import Count, ShortText, absent_at_default
from leanrag_core.messages.message import Message, message
from leanrag_core.types.updating import LineageStep

KEPT_STATES = 5  # unnamed earlier states of an index that are kept
KEPT_BYTES = 2_000_000_000  # that the unnamed ones hold alone; the newest is kept in any case
MAX_NAME = 100

ChangeKind = Literal["update", "edit", "rewrite", "build", "restore", "copy"]


@dataclass(frozen=True)
class StateChange:
    """What was done to an index when the state before was kept. kind: copy where nothing was done, and a person kept
    the state. added, changed, removed: documents. edits: by hand, added or undone."""

    kind: ChangeKind
    added: Count = absent_at_default(0)
    changed: Count = absent_at_default(0)
    removed: Count = absent_at_default(0)
    edits: Count = absent_at_default(0)

    @classmethod
    def of(cls, step: LineageStep) -> "StateChange":
        """Return the change that a step of a lineage is."""
        kind: ChangeKind = "rewrite" if step.rewritten_from else "edit" if step.edits else "update"
        return cls(kind, step.added, step.changed, step.removed, step.edits)


@dataclass(frozen=True)
class StateRecord:
    """The record beside an earlier state. of: the id in its manifest. kept: when, ISO 8601, UTC. name: that a person
    gave it, else empty. undoable: whether undo may return to it: once at most, and never to a copy."""

    of: ShortText
    kept: ShortText
    change: StateChange
    name: Annotated[str, MaxLen(MAX_NAME)] = absent_at_default("")
    undoable: bool = absent_at_default(True)


@dataclass(frozen=True)
class Snapshot:
    """An earlier state of an index. number: the newest is the largest; free again when the state is gone. id: that its
    manifest has, the same for equal content. own_bytes: that it shares with no other state, and that deleting it frees.
    kept, change: empty and None where an older version kept it."""

    number: int
    id: str
    documents: int
    size_bytes: int
    own_bytes: int
    kept: str = ""
    change: StateChange | None = None
    name: str = ""
    undoable: bool = True

    @property
    def because(self) -> Message:
        """Return what was done to the index after it, in words."""
        if self.change is None:
            return message("snapshot.before.unknown")
        counts = {name: n for name, n in vars(self.change).items() if name in ("added", "changed", "removed")}
        return message(f"snapshot.before.{self.change.kind}", n=self.change.edits, **counts)
