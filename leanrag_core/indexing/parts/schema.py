"""A schema of the index, and the attributes of its entities within the bounds of it.

Source: Youtu-GraphRAG (Dong et al. 2025), section 3.1.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from leanrag_core.errors import PartDamaged
from leanrag_core.indexing.communities.files import vectors_in, with_vectors, without_vectors
from leanrag_core.indexing.part_base import Options, PartBase, PartModels, PartTools, Proposal, model_forecast
from leanrag_core.indexing.youtu.schema_making import Limits, make_schema
from leanrag_core.messages.message import message
from leanrag_core.storage.tables import read_table, write_table
from leanrag_core.types.config import option
from leanrag_core.types.forecast import ZERO, Forecast, Range, StageForecast
from leanrag_core.types.index import Index
from leanrag_core.types.manifest import CHUNKS, ENTITIES, RELATIONS, VECTORS
from leanrag_core.types.youtu import Schema

_TYPES, _ATTRIBUTES, _PROPOSALS = "types.arrow", "attributes.arrow", "proposals.arrow"
_ENTITY_TYPE, _RELATION_TYPE = "entity_type.npy", "relation_type.npy"


def write_schema(folder: Path, schema: Schema) -> None:
    """Write the tables and arrays."""
    types = with_vectors(schema.types, schema.type_vectors)
    write_table(folder / _TYPES, types.replace_schema_metadata({"by_model": str(int(schema.by_model))}))
    write_table(folder / _ATTRIBUTES, with_vectors(schema.attributes, schema.attribute_vectors))
    write_table(folder / _PROPOSALS, schema.proposals)
    np.save(folder / _ENTITY_TYPE, schema.entity_type, allow_pickle=False)
    np.save(folder / _RELATION_TYPE, schema.relation_type, allow_pickle=False)


def read_schema(folder: Path, *, n_entities: int, n_relations: int) -> Schema:
    """Return the schema of that folder. Raises IndexDamaged, and PartDamaged when it is of an index of another size."""
    types, attributes = read_table(folder / _TYPES), read_table(folder / _ATTRIBUTES)
    by_model = (types.schema.metadata or {}).get(b"by_model") == b"1"
    entity_type = np.load(folder / _ENTITY_TYPE, allow_pickle=False)
    relation_type = np.load(folder / _RELATION_TYPE, allow_pickle=False)
    if (entity_type.shape, relation_type.shape) != ((n_entities,), (n_relations,)):
        raise PartDamaged("part.of_another_index", part="schema")
    return Schema(
        types=without_vectors(types),
        type_vectors=vectors_in(types),
        entity_type=entity_type,
        relation_type=relation_type,
        attributes=without_vectors(attributes),
        attribute_vectors=vectors_in(attributes),
        proposals=read_table(folder / _PROPOSALS),
        by_model=by_model,
    )


_SECONDS_AN_ENTITY = Range(0.0002, 0.001, 0.005)
_PROMPT_TOKENS, _REPLY_TOKENS = Range(400, 1500, 3000), Range(20, 300, 1200)  # of a chunk


@dataclass(frozen=True)
class Config(Options):
    """Bounds of the schema, and which proposed types belong to it."""

    most_types: int = option(40, low=1, high=200, help=message("part.schema.option.most_types"))
    frequency: int = option(3, low=1, high=1000, help=message("part.schema.option.frequency"))
    confidence: float = option(0.8, low=0.0, high=1.0, help=message("part.schema.option.confidence"))
    accept: str = option("", help=message("part.schema.option.accept"))


class Part(PartBase):
    """Types of entities, relations and attributes; attributes are nodes of the part, not of the base graph."""

    name = "schema"
    needs: tuple[str, ...] = (ENTITIES, RELATIONS, CHUNKS, VECTORS)
    writes_texts = True
    accepts = "accept"  # the option that holds what a person accepts of proposals()

    def forecast(self, index: Index, config: Config, models: PartModels) -> Forecast:
        """Estimate the seconds by the number of entities; with a language model a call for each chunk, and one for the
        schema.
        """
        seconds = Range(0.05, 0.5, 2.0) + _SECONDS_AN_ENTITY.scaled(len(index.layers[0]))
        n_calls = index.chunks.num_rows + 1
        prompts, replies = _PROMPT_TOKENS.scaled(n_calls), _REPLY_TOKENS.scaled(n_calls)
        stage = StageForecast("make", Range(n_calls, n_calls, n_calls), prompts, replies, ZERO)
        return model_forecast(seconds, models, stage, Range(0.2, 1.0, 4.0).scaled(n_calls))

    def build(self, index: Index, folder: Path, config: Config, tools: PartTools) -> None:
        """Write the schema; replies of an earlier attempt come from the store of calls."""
        limits = Limits(config.most_types, config.frequency, config.confidence, config.accept)
        write_schema(folder, make_schema(index, limits, tools))

    def read(self, folder: Path, index: Index) -> Schema:
        """Return the schema of the index. Raises PartDamaged."""
        return read_schema(folder, n_entities=len(index.layers[0]), n_relations=index.layers[0].relations.num_rows)

    def proposals(self, content: Schema) -> tuple[Proposal, ...]:
        """Return the types that are frequent and sure enough to be put before a person."""
        return tuple(
            Proposal(
                f"{row['kind']}:{row['name']}",
                message(
                    f"part.schema.proposal.{row['kind']}",
                    name=row["name"],
                    n=row["frequency"],
                    confidence=row["confidence"],
                    example=row["example"],
                ),
                row["accepted"],
            )
            for row in content.proposals.to_pylist()
        )
