"""Youtu-GraphRAG's knowledge tree without a schema: the communities are perceived by meaning alone.

Source: Youtu-GraphRAG (Dong et al. 2025), table 3, "w/o Schema".
"""

from leanrag_core.indexing.part_base import PartTools
from leanrag_core.indexing.parts import youtu_tree
from leanrag_core.messages.message import message
from leanrag_core.types.index import Index
from leanrag_core.types.manifest import ENTITIES, RELATIONS, VECTORS
from leanrag_core.types.youtu import Schema, unbounded_schema

Config = youtu_tree.Config


class Part(youtu_tree.Part):
    """The steps of youtu_tree; no relation has a type, and no entity an attribute."""

    name = "youtu_plain_tree"
    title = message("part.youtu_plain_tree.title")
    help = message("part.youtu_plain_tree.help")
    needs: tuple[str, ...] = (ENTITIES, RELATIONS, VECTORS)

    def schema_of(self, index: Index, tools: PartTools) -> Schema:
        """Return a schema that bounds nothing."""
        return unbounded_schema(index.layers[0])
