"""Passages and entities that a retrieval should have found, located in an index."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from leanrag_core.evaluation.gold import ChunkTexts, GoldQuestion, normalised
from leanrag_core.figures.passages import passage_place
from leanrag_core.types.index import Index

_EDGE = 8  # words of a quote that lies across the border of two chunks
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Gold:
    """Something that should be found. kind: "passage" or "entity". rows: of the chunks that hold the passage, or of the
    entity in layer 0; empty where the index lacks it. quote: the words that matter, exactly; of an entity its name."""

    kind: str
    quote: str
    rows: tuple[int, ...]
    document: str = ""
    title: str = ""
    page: int | None = None

    def name(self, language: str = "en") -> str:
        """Return how it is listed."""
        if self.kind == "entity":
            return self.quote
        return passage_place(self.title, self.page, self.rows[0] if self.rows else None, language)


class GoldFinder:
    """Locates quotes in the chunks of one index. chunks: their texts, which are normalised once."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._rows: dict[str, list[int]] = {}
        self.chunks = ChunkTexts(index)
        by_title: dict[str, list[int]] = {}
        names, titles = (index.documents[column].to_pylist() for column in ("name", "title"))
        for row, document in enumerate(index.chunks["document"].to_pylist()):
            self._rows.setdefault(names[document], []).append(row)
            by_title.setdefault(titles[document], []).append(row)
        self._rows = by_title | self._rows

    def of_question(self, question: GoldQuestion) -> tuple[Gold, ...]:
        """Return the gold evidence of the question, each passage once."""
        passages = [self.passage(evidence.document, evidence.quote) for evidence in question.evidence]
        return tuple(dict.fromkeys(passages))

    def passage(self, document: str, quote: str) -> Gold:
        """Find the chunks of that document which hold the quote; where none holds all of it, those that hold its
        ends."""
        wanted = normalised(quote)
        candidates = self._rows.get(document, [])
        rows = [row for row in candidates if wanted in self.chunks.text(row)]
        if not rows:
            words = wanted.split()
            ends = (" ".join(words[:_EDGE]), " ".join(words[-_EDGE:]))
            rows = [
                row for row in candidates if len(words) > _EDGE and any(end in self.chunks.text(row) for end in ends)
            ]
        if not rows:
            return Gold("passage", quote, (), document, document)
        return self.chunk(rows[0], quote=quote, rows=tuple(rows))

    def chunk(self, row: int, *, quote: str = "", rows: Sequence[int] = ()) -> Gold:
        """Return the passage in that row of the chunks."""
        chunk, document = self._index.chunk(row), self._index.chunk_cells.value("document", row)
        name, title = (self._index.document_cells.value(cell, document) for cell in ("name", "title"))
        page = self._index.page_of(document, chunk.start)
        return Gold("passage", quote, tuple(rows) or (row,), name, title, page)

    def at(self, document: str, character: int) -> Gold:
        """Return the chunk of that document which begins at that character, else the last one that begins before it."""
        starts = self._index.chunk_cells["start"]
        before = [row for row in self._rows.get(document, []) if starts[row].as_py() <= character]
        return self.chunk(before[-1]) if before else Gold("passage", "", (), document, document)

    def entity(self, name: str) -> Gold:
        """Find the entity of that name in layer 0, whatever its capitals."""
        layer = self._index.layers[0]
        wanted = name.casefold().strip()
        rows = [row for row, each in enumerate(layer.entities["name"].to_pylist()) if each.casefold() == wanted]
        return Gold("entity", layer.entity_cells.value("name", rows[0]) if rows else name.strip(), tuple(rows[:1]))

    def named(self, text: str) -> Gold:
        """Find the entity of that name; where there is none, the chunks of all documents that hold the text."""
        entity = self.entity(text)
        if entity.rows:
            return entity
        rows = self.rows_with(text)
        return self.chunk(rows[0], quote=text.strip(), rows=rows) if rows else Gold("passage", text.strip(), ())

    def marked(self, mark: str) -> Gold | None:
        """Find what a link names: "entity:NAME", "chunk:CHARACTER:DOCUMENT" or "text:WORDS"; None for anything else."""
        kind, _, rest = mark.partition(":")
        if kind == "entity" and rest:
            return self.entity(rest)
        if kind == "text" and rest.strip():
            return self.named(rest)
        character, _, document = rest.partition(":")
        if kind == "chunk" and character.isdecimal() and len(character) < 12 and document:
            return self.at(document, int(character))
        return None

    def chunk_mark(self, row: int) -> str:
        """Return the mark by which links name that chunk: its place in its document, which other indexes have too."""
        document = self._index.chunk_cells.value("document", row)
        start = self._index.chunk_cells.value("start", row)
        return f"chunk:{start}:{self._index.document_cells.value('name', document)}"

    def rows_with(self, text: str, limit: int | None = None) -> list[int]:
        """Return the rows of the chunks that hold the text, whatever its capitals, punctuation and spaces."""
        wanted, rows = normalised(text), list[int]()
        for document in self._documents_with_words(text) if wanted else ():
            name = self._index.document_cells.value("name", document)
            for row in self._rows[name]:
                owner = self._index.chunk_cells.value("document", row)
                if owner == document and wanted in self.chunks.text(row):
                    rows.append(row)
                    if len(rows) == limit:
                        return rows
        return rows

    def documents_with(self, text: str) -> list[int]:
        """Return the rows of the documents that hold the words of the text in their order, chunks or not."""
        pattern = re.compile(r"\W+".join(map(re.escape, _WORD.findall(text))), re.IGNORECASE)
        cells = self._index.document_cells["text"]
        return [row for row in self._documents_with_words(text) if pattern.search(cells[row].as_py())]

    def _documents_with_words(self, text: str) -> list[int]:
        """Return the rows of the documents that hold every word of the text."""
        import pyarrow.compute as pc

        words = sorted(set(_WORD.findall(text)), key=lambda word: (-len(word), word))
        documents = np.arange(self._index.documents.num_rows if words else 0)
        texts = self._index.documents["text"]
        for word in words:
            hits = pc.match_substring(texts.take(pa.array(documents)), word, ignore_case=True)
            documents = documents[hits.to_numpy()]
        return [int(row) for row in documents]
