"""Documents and chunks with exact positions, made of passages of other systems."""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from leanrag_core.importing.rows import Drops
from leanrag_core.indexing.chunking import chunk_documents, chunk_id
from leanrag_core.indexing.parsing.blocks import clean, one_line, shown_name
from leanrag_core.indexing.parsing.language import detect_language
from leanrag_core.text.tokens import count_tokens
from leanrag_core.types.corpus import Chunk, Document, Span

WINDOW_TOKENS, OVERLAP_TOKENS = 512, 64  # of documents that come without passages
_BETWEEN = "\n\n"
_MAX_CHARACTERS = 200_000  # of a passage


@dataclass(frozen=True)
class ImportedDocument:
    """A document of another system. text: empty where only its passages are known."""

    id: str
    name: str = ""
    title: str = ""
    text: str = ""


@dataclass(frozen=True)
class Passage:
    """A chunk of another system. document: id of its document; empty where none is named."""

    place: str
    id: str
    text: str
    document: str = ""


@dataclass(frozen=True)
class Sources:
    """Documents in the order of a build, and their chunks. chunk_of: ids of passages to ids of chunks.

    named_chunks, named_documents: ids that the other system gave, to those of the index.
    """

    documents: tuple[Document, ...]
    chunks: tuple[Chunk, ...]
    chunk_of: dict[str, str]
    named_chunks: dict[str, str] = field(default_factory=dict)
    named_documents: dict[str, str] = field(default_factory=dict)


def sources_of(
    documents: Iterable[ImportedDocument], passages: Iterable[Passage], drops: Drops, *, name: str
) -> Sources:
    """Make every passage a chunk of its document.

    A document's own text is taken where it holds all its passages; else it is put together from them. Documents without
    passages are cut into windows. name: of the document of passages that name none.
    """
    known: dict[str, ImportedDocument] = {}
    for row in documents:
        if row.id in known:
            drops.add(f"document {row.id[:80]}", "import.id_twice")
        else:
            known[row.id] = row
    grouped = _by_document(passages, drops)
    document_by_id: dict[str, Document] = {}
    named_documents: dict[str, str] = {}
    spans: dict[str, dict[str, Span]] = defaultdict(dict)  # by document, then by passage
    for id_ in dict.fromkeys([*known, *grouped]):
        described = known.get(id_, ImportedDocument(id_, id_ or name))
        placed = _placed(clean(described.text), grouped.get(id_, []))
        if not any(character.isalnum() for character in placed.text):
            continue
        document = _document(described, placed.text)
        if id_ and id_ != described.name:
            named_documents[id_] = document.id
        document_by_id.setdefault(document.id, document)
        spans[document.id].update(placed.spans)
    ordered = tuple(sorted(document_by_id.values(), key=lambda document: (document.name, document.id)))
    chunks: list[Chunk] = []
    chunk_of: dict[str, str] = {}
    for document in ordered:
        document_chunks = _chunks(document, spans[document.id], len(chunks)) or [
            replace(chunk, position=len(chunks) + place) for place, chunk in enumerate(windows(document))
        ]
        by_span = {(chunk.start, chunk.end): chunk.id for chunk in document_chunks}
        chunk_of |= {passage: by_span[span.start, span.end] for passage, span in spans[document.id].items()}
        chunks += document_chunks
    named = {
        passage.id: chunk_of[passage.id] for rows in grouped.values() for passage in rows if passage.id != passage.place
    }
    return Sources(ordered, tuple(chunks), chunk_of, named, named_documents)


def windows(document: Document) -> list[Chunk]:
    """Cut the document into windows of the usual size."""
    return chunk_documents([document], max_tokens=WINDOW_TOKENS, overlap_tokens=OVERLAP_TOKENS)


def document_of_text(name: str, title: str, text: str) -> Document:
    """Make a document that holds the text, which is clean."""
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    return Document(f"doc-{digest}", shown_name(name), title, "text", text, language=detect_language(text))


def _document(described: ImportedDocument, text: str) -> Document:
    title = one_line(described.title) or one_line(described.name) or one_line(described.id)
    return document_of_text(described.name or described.title or described.id or "unnamed", title[:160], text)


def _by_document(passages: Iterable[Passage], drops: Drops) -> dict[str, list[Passage]]:
    grouped: dict[str, list[Passage]] = {}
    passage_ids: set[str] = set()
    for passage in passages:
        text = clean(passage.text).strip()
        if not any(character.isalnum() for character in text):
            drops.add(passage.place, "import.no_text")
        elif passage.id in passage_ids:
            drops.add(passage.place, "import.id_twice")
        else:
            if len(text) > _MAX_CHARACTERS:
                drops.add(passage.place, "import.text_cut", limit=_MAX_CHARACTERS)
                text = text[:_MAX_CHARACTERS].strip()
            passage_ids.add(passage.id)
            grouped.setdefault(passage.document, []).append(replace(passage, text=text))
    return grouped


@dataclass(frozen=True)
class _Placed:
    """A document's text, and where its passages lie in it."""

    text: str
    spans: dict[str, Span]


def _placed(text: str, passages: Sequence[Passage]) -> _Placed:
    spans: dict[str, Span] = {}
    after = 0
    for passage in passages:
        start = text.find(passage.text, after)
        if start < 0:
            break
        spans[passage.id] = Span(start, start + len(passage.text))
        after = start + 1  # passages may overlap, and each begins behind the one before it
    else:
        return _Placed(text, spans)
    spans, length = {}, 0
    for passage in passages:
        spans[passage.id] = Span(length, length + len(passage.text))
        length += len(passage.text) + len(_BETWEEN)
    return _Placed(_BETWEEN.join(passage.text for passage in passages), spans)


def _chunks(document: Document, spans: dict[str, Span], first: int) -> list[Chunk]:
    """Return the document's chunks by their places; passages of two documents with the same text may share one."""
    ordered = sorted({(span.start, span.end) for span in spans.values()})
    return [
        Chunk(
            chunk_id(document.id, start, end),
            document.id,
            first + place,
            start,
            end,
            count_tokens(document.text[start:end]),
            document.text[start:end],
        )
        for place, (start, end) in enumerate(ordered)
    ]
