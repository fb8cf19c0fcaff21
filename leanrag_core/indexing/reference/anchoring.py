"""From quotes to places in documents, and from places to chunks of any size."""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from leanrag_core.indexing.reference.records import Quote
from leanrag_core.text.words import whole_words
from leanrag_core.types.corpus import Chunk, Document, Span

_BLANKS = re.compile(r"\s+")


def collapsed(text: str) -> str:
    """Return the text with each run of white space as one blank."""
    return _BLANKS.sub(" ", text).strip()


class QuotedText:
    """A document's text in which quotes are looked up without regard to white space."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def _words(self) -> list[Span]:
        return [Span(word.start(), word.end()) for word in re.finditer(r"\S+", self.text)]

    @cached_property
    def _collapsed(self) -> str:
        return " ".join(self.text[word.start : word.end] for word in self._words)

    @cached_property
    def _starts(self) -> list[int]:
        """Where each word begins in the collapsed text."""
        starts, place = [], 0
        for word in self._words:
            starts.append(place)
            place += word.end - word.start + 1
        return starts

    def spans(self, quote: str) -> list[Span]:
        """Return every place of the quote, in order."""
        quoted, found = collapsed(quote), list[Span]()
        place = self._collapsed.find(quoted) if quoted else -1
        while place >= 0:
            after = place + len(quoted)
            found.append(Span(self._offset(place), self._offset(after - 1) + 1))
            place = self._collapsed.find(quoted, after)
        return found

    def _offset(self, place: int) -> int:
        """Return the offset in the text of a character of the collapsed text that is no blank."""
        word = bisect_left(self._starts, place + 1) - 1
        return self._words[word].start + place - self._starts[word]

    def names(self, pattern: re.Pattern[str]) -> list[Span]:
        """Return every place of a name, in order."""
        return [Span(match.start(), match.end()) for match in pattern.finditer(self.text)]


def name_pattern(name: str) -> re.Pattern[str]:
    """Return a pattern that finds the name as whole words, white space collapsed; capitals count in abbreviations
    alone.
    """
    return re.compile(whole_words(name), 0 if name.isupper() else re.IGNORECASE)


class Anchors:
    """Looks quotes and names up in documents and gives the chunks that they overlap."""

    def __init__(self, documents: Iterable[Document], chunks: Sequence[Chunk] = ()) -> None:
        self._texts = {document.name: QuotedText(document.text) for document in documents}
        names = {document.id: document.name for document in documents}
        self._chunks: Mapping[str, list[Chunk]] = defaultdict(list)
        for chunk in chunks:
            self._chunks[names[chunk.document_id]].append(chunk)

    def holds(self, quote: Quote) -> bool:
        """Return whether the document is there and holds the quote."""
        return quote.document in self._texts and bool(self._texts[quote.document].spans(quote.quote))

    def quote_chunks(self, quotes: Iterable[Quote]) -> list[Chunk]:
        """Return the chunks that overlap a quote, in the corpus's order."""
        return self._overlapping(
            (quote.document, span)
            for quote in quotes
            if quote.document in self._texts
            for span in self._texts[quote.document].spans(quote.quote)
        )

    def name_chunks(self, names: Iterable[str]) -> list[Chunk]:
        """Return the chunks that hold a name as whole words, in the corpus's order."""
        patterns = [name_pattern(name) for name in names if name.strip()]
        return self._overlapping(
            (document, span)
            for document, text in self._texts.items()
            for pattern in patterns
            for span in text.names(pattern)
        )

    def _overlapping(self, places: Iterable[tuple[str, Span]]) -> list[Chunk]:
        by_document: dict[str, list[Span]] = defaultdict(list)
        for document, span in places:
            by_document[document].append(span)
        overlapping = {
            chunk.position: chunk
            for document, spans in by_document.items()
            for chunk in self._chunks.get(document, ())
            if any(chunk.start < span.end and span.start < chunk.end for span in spans)
        }
        return [overlapping[position] for position in sorted(overlapping)]
