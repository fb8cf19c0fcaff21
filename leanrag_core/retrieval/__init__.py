"""From a question to a trace: seeds, climb, lowest common ancestor, relations, chunks, context."""
