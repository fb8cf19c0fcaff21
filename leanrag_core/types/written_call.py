"""Which call of a language model wrote which part of an index."""

from dataclasses import dataclass
from typing import Literal, get_args

from leanrag_core.types.usage import Usage

Kind = Literal["extract", "condense", "entity", "relation"]
KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True)
class CallMade:
    """A call whose reply was used. key: of the reply in the store of calls, empty for a model that keeps none."""

    key: str
    usage: Usage


@dataclass(frozen=True)
class WrittenCall:
    """What a call wrote. kind: "extract" read a chunk, "condense" shortened a description, "entity" and "relation"
    wrote an aggregated one. target: id of the chunk, entity or relation. layer: of the target, 0 for a chunk."""

    kind: Kind
    layer: int
    target: str
    call: CallMade
