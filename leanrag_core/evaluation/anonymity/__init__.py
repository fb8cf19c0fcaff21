"""Names replaced by typed placeholders, so that a model cannot answer from memory; and put back (Youtu-GraphRAG, B)."""
