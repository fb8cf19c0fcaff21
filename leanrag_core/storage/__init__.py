"""What lies on disk: indexes, the search index, corpora."""
