"""From chunks to what they speak of: entities and relations, one extraction a chunk."""
