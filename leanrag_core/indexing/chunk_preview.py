"""The beginning of a document cut into chunks of several sizes, for a person who chooses one."""

import math
from dataclasses import dataclass

from leanrag_core.indexing.chunking import chunk_documents
from leanrag_core.types.corpus import Document, Span

SIZES = (64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048)
SHOWN = 8_000  # characters
_OVERLAP_SHARE = 8  # of a chunk's tokens, as in the paper: 128 of 1,024
_CUT = 2 * SHOWN  # characters that are cut, so that no cut within those shown depends on where the text was ended


@dataclass(frozen=True)
class ChunkPreview:
    """Chunks of a size. spans: those that begin within the text shown, as characters of it. whole: how many the whole
    document has, estimated."""

    max_tokens: int
    overlap_tokens: int
    spans: tuple[Span, ...]
    whole: int


def chunk_previews(document: Document, n_tokens: int) -> tuple[ChunkPreview, ...]:
    """Return the beginning of the document in chunks of each of SIZES, as a build would cut it. n_tokens: of the
    document.
    """
    beginning = Document(document.id, document.name, document.title, document.media_type, document.text[:_CUT])
    n_shown = min(SHOWN, len(document.text))
    previews = []
    for size in SIZES:
        overlap = size // _OVERLAP_SHARE
        chunks = chunk_documents([beginning], max_tokens=size, overlap_tokens=overlap)
        spans = tuple(Span(chunk.start, min(chunk.end, n_shown)) for chunk in chunks if chunk.start < n_shown)
        whole = len(chunks)
        if len(document.text) > _CUT:
            whole = max(1, math.ceil((n_tokens - overlap) / (size - overlap)))
        previews.append(ChunkPreview(size, overlap, spans, whole))
    return tuple(previews)
