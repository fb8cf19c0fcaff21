"""From documents to an index: parse, chunk, extract, merge, aggregate, check."""
