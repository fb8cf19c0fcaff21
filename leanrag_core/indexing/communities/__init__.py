"""Communities of a graph and their reports: what the index parts of GraphRAG and HiRAG are made by."""
