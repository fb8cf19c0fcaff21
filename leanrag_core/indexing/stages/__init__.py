"""Stages of a build whose results are kept: sentences that were read, vectors of texts, the base graph.

What each rests on, and so when it is computed again:

- a batch of sentences (extraction.english_reading): rules and spaCy model, the blocks of one document, and the titles
  of other documents that they name;
- a vector (kept.py): the built-in model, its runtime, and the text;
- the base graph (base_graph.py): documents, chunks, extractor, rules of merging; for a language model also the replies.

Names are settled over all documents, so a chunk's final mentions rest on the whole corpus: what is kept of a chunk is
what was read in it before that. Replies and vectors of models at an endpoint are kept as calls (storage.calls), where
they can be listed and deleted. The hierarchy is kept as the index.
"""
