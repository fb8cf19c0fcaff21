"""Presentations: a story of one index that is stored whole, shown and exported without the index."""
