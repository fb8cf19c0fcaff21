"""Documents to chunks: token windows with exact character positions (section 2.1 of the method)."""

import hashlib
import math
import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace

from leanrag_core.text.tokens import count_tokens, token_offsets
from leanrag_core.types.config import IndexConfig
from leanrag_core.types.corpus import Chunk, Document, Span

_BREAK = re.compile(r"\n\n|[.!?][\"')\]]*\s|[。！？]")
_FINAL_SHARE = 0.25  # a window may end early, at a sentence's end within its last quarter


def chunk_documents(documents: Sequence[Document], *, max_tokens: int, overlap_tokens: int) -> list[Chunk]:
    """Return windows of at most max_tokens, neighbours sharing about overlap_tokens, in the order of the documents.

    Every character of a document but white space at the ends of a window is in some chunk. A window ends at the end of
    a sentence or paragraph when one lies in its last quarter.
    """
    chunks: list[Chunk] = []
    for document in documents:
        for start, end in _windows(document.text, max_tokens, overlap_tokens):
            text, id_ = document.text[start:end], chunk_id(document.id, start, end)
            chunks.append(Chunk(id_, document.id, len(chunks), start, end, count_tokens(text), text))
    return chunks


def chunks_of_build(documents: Sequence[Document], config: IndexConfig) -> list[Chunk]:
    """Return the chunks that a build with these settings makes of the documents. A setting of chunking acts here."""
    return chunk_documents(documents, max_tokens=config.chunk_tokens, overlap_tokens=config.overlap_tokens)


def chunk_id(document_id: str, start: int, end: int) -> str:
    """Return the id of the chunk of that document and span."""
    return f"chunk-{hashlib.sha256(f'{document_id}:{start}:{end}'.encode()).hexdigest()[:16]}"


def _windows(text: str, max_tokens: int, overlap_tokens: int) -> list[tuple[int, int]]:
    offsets = token_offsets(text)
    n_tokens = len(offsets) - 1
    windows: list[tuple[int, int]] = []
    first = 0
    while first < n_tokens:
        last = min(first + max_tokens, n_tokens)
        begin = offsets[first]
        end = offsets[last] if last == n_tokens else _good_end(text, offsets, first, last)
        end = max(end, offsets[first + 1])  # a window that ends inside its first token would lose the rest of it
        while last > first + 1 and count_tokens(text[begin:end].strip()) > max_tokens:
            last -= 1  # cut out of its context a text can take more tokens
            end = min(end, offsets[last])
        trimmed = text[begin:end]
        start = begin + len(trimmed) - len(trimmed.lstrip())
        stop = end - (len(trimmed) - len(trimmed.rstrip()))
        if start < stop and (not windows or stop > windows[-1][1]):  # else all of it is in the window before
            if windows and windows[-1][0] == start:
                windows.pop()  # this window holds all of it
            windows.append((start, stop))
        if end >= len(text):
            break
        next_token = bisect_right(offsets, end) - 1  # the token that the next character belongs to
        first = max(next_token - overlap_tokens, first + 1)
        if offsets[first] <= begin:
            first = next_token
    return windows


def _good_end(text: str, offsets: list[int], first: int, last: int) -> int:
    """Return the last end of a sentence in the final part of the window, else the window's own end."""
    limit = offsets[last]
    earliest = offsets[last - max(1, int((last - first) * _FINAL_SHARE))]
    ends = [match.end() for match in _BREAK.finditer(text, earliest, limit)]
    if ends:
        return ends[-1]
    space = max(text.rfind(" ", earliest, limit), text.rfind("\n", earliest, limit))
    return space + 1 if space > 0 else limit


SIZES = (64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048)
SHOWN = 8_000  # characters
_OVERLAP_SHARE = 8  # of a chunk's tokens, as in the paper: 128 of 1,024
_CUT = 2 * SHOWN  # characters that are cut into chunks, so that no chunk shown depends on where the text was cut off


@dataclass(frozen=True)
class ChunkPreview:
    """Chunks of a size. spans: those that begin within the text shown, as characters of it. whole: how many the whole
    document has, estimated."""

    max_tokens: int
    overlap_tokens: int
    spans: tuple[Span, ...]
    whole: int


def chunk_previews(document: Document, n_tokens: int, config: IndexConfig) -> tuple[ChunkPreview, ...]:
    """Return the beginning of the document in chunks of each of SIZES, as a build with these settings would cut it. At
    their own size chunks have their overlap, at any other the paper's share. n_tokens: of the document.
    """
    beginning = Document(document.id, document.name, document.title, document.media_type, document.text[:_CUT])
    n_shown = min(SHOWN, len(document.text))
    previews = []
    for size in SIZES:
        overlap = config.overlap_tokens if size == config.chunk_tokens else size // _OVERLAP_SHARE
        chunks = chunks_of_build([beginning], replace(config, chunk_tokens=size, overlap_tokens=overlap))
        spans = tuple(Span(chunk.start, min(chunk.end, n_shown)) for chunk in chunks if chunk.start < n_shown)
        whole = len(chunks)
        if len(document.text) > _CUT:
            whole = max(1, math.ceil((n_tokens - overlap) / (size - overlap)))
        previews.append(ChunkPreview(size, overlap, spans, whole))
    return tuple(previews)
