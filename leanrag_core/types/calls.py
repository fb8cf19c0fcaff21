"""Calls of language models: what they use and may cost, how they are recorded, and what they made in an index."""

import math
import operator
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal, get_args

from leanrag_core.errors import InvalidConfig
from leanrag_core.files.records import absent_at_default

JsonSchema = dict[str, Any]
JSON_TEXT: JsonSchema = {"type": "string"}
JSON_NUMBER: JsonSchema = {"type": "number"}
JSON_WHOLE: JsonSchema = {"type": "integer"}


def json_list(items: JsonSchema) -> JsonSchema:
    """Return the form of a list of such items."""
    return {"type": "array", "items": items}


def json_object(**properties: JsonSchema) -> JsonSchema:
    """Return the form of an object that has all of those properties and no others."""
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


JSON_TEXTS = json_list(JSON_TEXT)


def object_schema(properties: Mapping[str, JsonSchema]) -> JsonSchema:
    """Return the schema of an object that has these properties, all of them and no others."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


@dataclass(frozen=True)
class PassageScores:
    """Scores of passages by a reranker. values: in the order of the passages; a higher one is better. n_cut: passages
    of which the model read the beginning alone; window: its tokens, 0 where nobody says."""

    values: tuple[float, ...]
    n_cut: int = 0
    window: int = 0


@dataclass(frozen=True)
class Usage:
    """What some work cost. Values add up with +, and - gives what came between two readings. cost is in US dollars.

    cached_tokens: of the prompts', those that a provider had read before; a meter counts them, while an index, a trace
    and an answer record the price of a list, which does not depend on what was asked a minute ago."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    cost: float = 0.0
    cached_tokens: int = absent_at_default(0)

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(*map(operator.add, _values(self), _values(other)))

    def __sub__(self, other: "Usage") -> "Usage":
        return Usage(*map(operator.sub, _values(self), _values(other)))


_values = operator.attrgetter(*(spec.name for spec in fields(Usage)))
NO_USAGE = Usage()


@dataclass(frozen=True)
class Budget:
    """What a job or question may spend; 0 means no limit. dollars: US dollars; tokens: prompt and completion together;
    calls: that an endpoint answered.

    Raises InvalidConfig for a budget that is not a number or is below zero.
    """

    dollars: float = 0.0
    tokens: int = 0
    calls: int = 0

    def __post_init__(self) -> None:
        if not (math.isfinite(self.dollars) and min(self.dollars, self.tokens, self.calls) >= 0):
            raise InvalidConfig("budget.invalid", dollars=self.dollars, tokens=self.tokens, calls=self.calls)


NO_BUDGET = Budget()


@dataclass(frozen=True)
class Spending:
    """A meter's reading. by_stage: usage of each stage's calls. reused: answers that were in the call store. faults:
    failed tries; last_faults: what was wrong with the last ones. cut: prompts that were cut to fit a model's window."""

    usage: Usage = NO_USAGE
    by_stage: Mapping[str, Usage] = field(default_factory=dict)
    reused: int = 0
    faults: int = 0
    last_faults: tuple[str, ...] = ()
    cut: int = 0


NO_SPENDING = Spending()


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


@dataclass(frozen=True)
class ChatMessage:
    """A message of a chat, as it was sent."""

    role: str
    content: str


@dataclass(frozen=True)
class CallRecord:
    """A reply (text, with its finish reason, tokens and seconds) or an embedding (vector, in base64). cached_tokens: of
    the prompt's.

    index: the one it was first made for. asked_again: the reply is to a complaint about an earlier one. messages: what
    was asked, of the calls that write an index; other calls keep none. at: seconds since 1970, UTC, set by the store.
    """

    model: str = ""
    task: str = ""
    index: str = ""
    text: str | None = absent_at_default()
    finish_reason: str | None = absent_at_default()
    prompt_tokens: int | None = absent_at_default()
    completion_tokens: int | None = absent_at_default()
    seconds: float | None = absent_at_default()
    asked_again: bool | None = absent_at_default()
    vector: str | None = absent_at_default()
    messages: tuple[ChatMessage, ...] = absent_at_default(())
    at: float = 0.0
    cached_tokens: int | None = absent_at_default()


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
