"""Merging names of the same thing: from extractions of chunks to the base graph G0."""

from leanrag_core.indexing.resolution.merge import Resolution, resolve
from leanrag_core.indexing.resolution.names import entity_id, name_key, relation_id, tidy_name

__all__ = ["Resolution", "entity_id", "name_key", "relation_id", "resolve", "tidy_name"]
