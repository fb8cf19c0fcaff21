"""The schema and the attributes by a language model: a seed is refined, then each chunk is read within its bounds.

Source: Youtu-GraphRAG, section 3.1. What fits no type comes back as a proposal with the occurrence that shows it, so
that accepting it later takes no further call.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from leanrag_core.errors import ReplyError
from leanrag_core.execution.executors import ThreadMap
from leanrag_core.indexing.aggregation.summary_reply import whole
from leanrag_core.indexing.communities.making import CALLS_AT_ONCE
from leanrag_core.indexing.part_base import PartTools
from leanrag_core.models.asking import read_json
from leanrag_core.models.base import Completion, LanguageModel
from leanrag_core.types.calls import JSON_NUMBER, JSON_TEXT, JSON_TEXTS, json_list, json_object
from leanrag_core.types.index import Index
from leanrag_core.types.job import Progress
from leanrag_core.types.rows import entries_of
from leanrag_core.types.youtu import KINDS

_SAMPLED = 5  # passages that the seed schema is refined with
_LIST_OF = {kind: f"{kind}_types" for kind in KINDS}
_SCHEMA_REPLY = json_object(**dict.fromkeys(_LIST_OF.values(), JSON_TEXTS))
_CHUNK_REPLY = json_object(
    attributes=json_list(json_object(entity=JSON_TEXT, type=JSON_TEXT, value=JSON_TEXT)),
    proposals=json_list(
        json_object(kind=JSON_TEXT, name=JSON_TEXT, entity=JSON_TEXT, value=JSON_TEXT, confidence=JSON_NUMBER)
    ),
)


@dataclass(frozen=True)
class ReadAttribute:
    """An attribute of an entity that a chunk states. entity: row in layer 0."""

    entity: int
    type: str
    value: str
    chunk: int


@dataclass(frozen=True)
class ReadProposal:
    """A new type that a chunk calls for, with what shows it."""

    kind: str
    name: str
    entity: int
    value: str
    confidence: float
    chunk: int


@dataclass(frozen=True)
class ChunkReading:
    """What the model read in a chunk."""

    attributes: tuple[ReadAttribute, ...] = ()
    proposals: tuple[ReadProposal, ...] = ()


def schema_text(types: Mapping[str, Sequence[str]]) -> str:
    """Return the schema as lines of a prompt. types: names by kind."""
    return "\n".join(f"{kind} types: {', '.join(types[kind]) or '(none)'}" for kind in KINDS)


def refined(
    index: Index, seed: Mapping[str, Sequence[str]], language: LanguageModel, tools: PartTools, *, most: int
) -> dict[str, list[str]]:
    """Return the seed schema as the model improves it; the seed itself where its reply cannot be used."""
    n_chunks = index.chunks.num_rows
    rows = sorted({place * n_chunks // _SAMPLED for place in range(_SAMPLED)})
    passages = "\n\n".join(index.chunk(row).text.strip() for row in rows)
    fields = {"schema": schema_text(seed), "passages": passages, "most": most}
    try:
        answer = tools.ask(language, "refine_schema", _read_schema, form=_SCHEMA_REPLY, keep=("most",), **fields)
    except ReplyError as error:
        tools.meter.add_fault(str(error))
        return {kind: list(names) for kind, names in seed.items()}
    return {kind: (names or list(seed[kind]))[:most] for kind, names in answer.items()}


def read_chunks(
    index: Index, types: Mapping[str, Sequence[str]], language: LanguageModel, tools: PartTools
) -> list[ChunkReading]:
    """Return what each chunk says within the bounds of the schema, in their order; nothing of one whose reply cannot be
    used.

    Replies come from the store of calls where they were given before. Raises BudgetSpent, Cancelled.
    """
    base, entities_in = index.layers[0], index.entity_chunks.tocsc()
    names, own_types = base.entities["name"].to_pylist(), base.entities["type"].to_pylist()
    n_chunks, schema = index.chunks.num_rows, schema_text(types)
    allowed = {name.casefold(): name for name in types["attribute"]}

    def read(chunk: int) -> ChunkReading:
        rows = entries_of(entities_in, chunk).tolist()
        if not rows:
            return ChunkReading()
        row_of = {names[row].casefold(): row for row in rows}
        listed = "\n".join(f"- {names[row]} ({own_types[row]})" for row in rows)
        try:
            return tools.ask(
                language,
                "extract_attributes",
                lambda reply: _read_chunk(reply, row_of, allowed, chunk),
                form=_CHUNK_REPLY,
                schema=schema,
                entities=listed,
                text=index.chunk(chunk).text,
            )
        except ReplyError as error:
            tools.meter.add_fault(str(error))
            return ChunkReading()

    readings: list[ChunkReading] = []
    for reading in ThreadMap(CALLS_AT_ONCE)(read, range(n_chunks)):
        readings.append(reading)
        tools.report(Progress("make", len(readings), n_chunks, "chunks"))
    return readings


def _read_schema(completion: Completion) -> dict[str, list[str]]:
    cells = read_json(whole(completion), tuple((name,) for name in _LIST_OF.values())).cells
    types = {}
    for kind, name in _LIST_OF.items():
        listed = cells.get(name)
        if not isinstance(listed, list):
            raise ReplyError("schema.reply_lists")
        texts = (_text(entry).lower() for entry in listed if isinstance(entry, str))
        types[kind] = list(dict.fromkeys(filter(None, texts)))
    return types


def _read_chunk(
    completion: Completion, row_of: Mapping[str, int], allowed: Mapping[str, str], chunk: int
) -> ChunkReading:
    """Read what the model says of one chunk. Raises ReplyError without the list of attributes.

    Entries on other entities, or of other types, are left out.
    """
    reply = read_json(whole(completion), (("attributes",),))
    new = reply.cells.get("proposals")
    attributes = []
    for entry in reply.list_of("attributes"):
        if not isinstance(entry, dict):
            continue
        entity, type_, value = (_text(entry.get(key)) for key in ("entity", "type", "value"))
        if entity.casefold() in row_of and type_.casefold() in allowed and value:
            attributes.append(ReadAttribute(row_of[entity.casefold()], allowed[type_.casefold()], value, chunk))
    proposals = [_proposal(entry, row_of, chunk) for entry in (new if isinstance(new, list) else ())]
    return ChunkReading(tuple(attributes), tuple(filter(None, proposals)))


def _proposal(entry: Any, row_of: Mapping[str, int], chunk: int) -> ReadProposal | None:
    if not isinstance(entry, dict):
        return None
    kind, name, entity, value = (_text(entry.get(key)) for key in ("kind", "name", "entity", "value"))
    confidence = entry.get("confidence")
    if kind not in KINDS or not name or entity.casefold() not in row_of or isinstance(confidence, bool):
        return None
    if not isinstance(confidence, int | float) or not 0 <= confidence <= 1:
        return None
    return ReadProposal(kind, name.lower(), row_of[entity.casefold()], value, float(confidence), chunk)


def _text(value: Any) -> str:
    return " ".join(str(value or "").split())
