"""Hierarchical aggregation: layers, aggregated entities and the relations between them."""
