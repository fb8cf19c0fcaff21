"""How a thing of an index came about: by which rule, and by which calls of a language model."""

from dataclasses import dataclass
from typing import Literal

from leanrag_core.types.written_call import Kind

How = Literal[
    "by_model",
    "by_builtin",
    "instead",
    "merged",
    "joined",
    "promoted",
    "cut",
    "imported",
    "by_hand",
    "not_recorded",
]


@dataclass(frozen=True)
class RecordedCall:
    """A model call as an index has recorded it. number: of all `total` calls, in the order in which the build used
    their replies. model: its name. key: in the store of calls, where prompt, reply and seconds are. chunk: row of the
    chunk that it read, for a call of that kind."""

    number: int
    total: int
    kind: Kind
    model: str
    key: str
    prompt_tokens: int
    completion_tokens: int
    cost: float
    chunk: int | None = None


@dataclass(frozen=True)
class MadeBy:
    """What made a chunk, an entity or a relation.

    how: "by_model" wrote the text; "by_builtin": the built-in writer did; "instead": it did so in the place of a model
    whose reply could not be used; "merged": from what was extracted of `sources` chunks, by name or by both ends;
    "joined": the descriptions of `sources` relations in a row, since lambda does not exceed tau; "promoted": a cluster
    of one, unchanged; "cut": a chunk; "imported", of `engine`; "by_hand"; "not_recorded": by a model, before calls were
    recorded. engine: who extracted or wrote. calls: that wrote or read it, in order.
    """

    how: How
    engine: str = ""
    sources: int = 0
    strength: int = 0
    tau: float | None = None
    calls: tuple[RecordedCall, ...] = ()
