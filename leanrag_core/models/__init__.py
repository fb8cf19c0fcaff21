"""Language and embedding models, each vendor in one file."""
