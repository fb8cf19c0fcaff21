"""Finds entities and relations in chunks; one extraction per chunk."""
