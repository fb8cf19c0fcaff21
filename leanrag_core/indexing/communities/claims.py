"""Claims (covariates) about entities, by a language model (GraphRAG, section 3.1.2). There is no built-in way."""

from typing import Any

import pyarrow as pa

from leanrag_core.errors import ReplyError
from leanrag_core.indexing.aggregation.summary_reply import whole
from leanrag_core.indexing.part_base import PartTools
from leanrag_core.models.asking import ask, read_json
from leanrag_core.models.base import Completion, LanguageModel
from leanrag_core.types.calls import JsonSchema
from leanrag_core.types.communities import CLAIM_SCHEMA
from leanrag_core.types.index import Index
from leanrag_core.types.job import Progress

TASK = "extract_claims"
CLAIMS_REPLY: JsonSchema = {
    "type": "object",
    "properties": {
        "claims": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"entity": {"type": "string"}, "claim": {"type": "string"}},
                "required": ["entity", "claim"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["claims"],
    "additionalProperties": False,
}


def extract_claims(index: Index, language: LanguageModel, tools: PartTools) -> pa.Table:
    """Extract the claims that each chunk makes about the entities in it, by entity; a table of CLAIM_SCHEMA. A chunk
    whose reply cannot be used has none. Raises BudgetSpent, Cancelled.
    """
    names = index.layers[0].entities["name"].to_pylist()
    prompt, entities_in = tools.prompts.of(TASK), index.entity_chunks.tocsc()
    n_chunks = index.chunks.num_rows
    claims: list[tuple[int, int, str]] = []
    for chunk in range(n_chunks):
        tools.report(Progress("make", chunk, n_chunks, "chunks"))
        rows = entities_in.indices[entities_in.indptr[chunk] : entities_in.indptr[chunk + 1]].tolist()
        if not rows:
            continue
        row_of = {names[row].casefold(): row for row in rows}
        tools.meter.require_budget()
        text = prompt.fill(entities="\n".join(f"- {names[row]}" for row in rows), text=index.chunk(chunk).text)
        try:
            asked = ask(
                language, [{"role": "user", "content": text}], _read, schema=CLAIMS_REPLY, task=prompt.fingerprint
            )
        except ReplyError as error:
            tools.meter.add_fault(str(error))
            continue
        claims += [(row_of[entity], chunk, claim) for entity, claim in asked.value if entity in row_of]
    claims.sort()
    columns = list(zip(*claims, strict=True)) if claims else [(), (), ()]
    return pa.table(dict(zip(CLAIM_SCHEMA.names, columns, strict=True)), schema=CLAIM_SCHEMA)


def _read(completion: Completion) -> list[tuple[str, str]]:
    reply = read_json(whole(completion), (("claims",),))
    listed = reply.cells.get("claims")
    if reply.breaks_off or not isinstance(listed, list):
        raise ReplyError("reply.broken_off")
    return [claim for entry in listed if (claim := _claim(entry)) is not None]


def _claim(entry: Any) -> tuple[str, str] | None:
    if not isinstance(entry, dict):
        return None
    entity, claim = (" ".join(str(entry.get(key) or "").split()) for key in ("entity", "claim"))
    return (entity.casefold(), claim) if entity and claim else None
