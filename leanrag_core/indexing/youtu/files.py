"""A schema as files of an index part: tables alone, vectors among them."""

from pathlib import Path

import numpy as np
import pyarrow as pa

from leanrag_core.errors import PartDamaged
from leanrag_core.indexing.communities.files import VECTOR, vectors_in, with_vectors
from leanrag_core.storage.tables import read_table, write_table
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
        types=_plain(types),
        type_vectors=vectors_in(types),
        entity_type=entity_type,
        relation_type=relation_type,
        attributes=_plain(attributes),
        attribute_vectors=vectors_in(attributes),
        proposals=read_table(folder / _PROPOSALS),
        by_model=by_model,
    )


def _plain(table: pa.Table) -> pa.Table:
    return table.select([name for name in table.column_names if name != VECTOR]).replace_schema_metadata(None)
