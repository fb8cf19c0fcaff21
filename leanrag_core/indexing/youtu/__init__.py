"""Youtu-GraphRAG's index: a schema, attributes bounded by it, and communities by dual perception (section 3)."""
