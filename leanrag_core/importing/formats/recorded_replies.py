"""Recorded replies of LightRAG or nano-graphrag: the graph that their extractions hold, without the graph they made.

A folder with kv_store_llm_response_cache.json (or mock_cache.json) and kv_store_text_chunks.json, or one .txt file with
the text. Each reply goes to the chunk that it names, else to the chunk with most of its names.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from leanrag_core.errors import ImportFailed
from leanrag_core.importing.graph import ImportedEntity, ImportedRelation, graph_of
from leanrag_core.importing.rows import Drops, file_text, store_rows
from leanrag_core.importing.sources import ImportedDocument, Sources, sources_of
from leanrag_core.importing.working_folder import (
    CACHE,
    CHUNKS,
    ParsedReply,
    folder_sources,
    parsed_replies,
    recorded_replies,
    working_folder,
)
from leanrag_core.indexing.parsing.blocks import shown_name
from leanrag_core.messages.message import message
from leanrag_core.types.imported import ImportedGraph

_CACHES = (CACHE, "mock_cache.json")


class Importer:
    """See importing.base."""

    name = "recorded-replies"
    title = message("import.recorded_replies.title")
    help = message("import.recorded_replies.help")

    def recognises(self, path: Path) -> bool:
        """Return whether there are recorded replies of extraction and no graph beside them."""
        cache = _cache(path)
        if cache is None or working_folder(path) is not None or cache.stat().st_size > 200_000_000:
            return False
        return any(reply.is_extraction for reply in recorded_replies(cache))

    def read(self, path: Path) -> ImportedGraph:
        """Read the graph of all replies of extraction."""
        cache = _cache(path)
        if cache is None:
            raise ImportFailed("import.no_file", folder=str(path), name=CACHE)
        drops, folder = Drops(), cache.parent
        name = shown_name(folder.resolve().name)
        sources = _sources(folder, drops, name)
        text_of_chunk = {chunk.id: chunk.text for chunk in sources.chunks}
        texts = {foreign: text_of_chunk.get(id_, "") for foreign, id_ in sources.chunk_of.items()}
        replies = parsed_replies(recorded_replies(cache), texts)
        if not replies:
            raise ImportFailed("import.no_replies", file=shown_name(cache.name))
        n_placed = sum(bool(reply.chunk) for reply in replies)
        return graph_of(
            _entities(replies),
            _relations(replies),
            sources,
            drops,
            name=f"Descriptions in {name}",
            format_name=self.name,
            notes=(message("import.replies_placed", n=len(replies), placed=n_placed),),
        )


def _cache(path: Path) -> Path | None:
    if path.is_file():
        return path if path.name in _CACHES else None
    return next((path / name for name in _CACHES if (path / name).is_file()), None)


def _sources(folder: Path, drops: Drops, name: str) -> Sources:
    chunks = store_rows(folder / CHUNKS)
    texts = sorted(folder.glob("*.txt"))
    if chunks or len(texts) != 1:
        return folder_sources(folder, chunks, drops, name)
    sources = sources_of([ImportedDocument("", texts[0].name, "", file_text(texts[0]))], (), drops, name=name)
    windows = {chunk.id: chunk.id for chunk in sources.chunks}  # the windows are ours, so their ids are
    return Sources(sources.documents, sources.chunks, windows)


def _entities(replies: Sequence[ParsedReply]) -> Iterator[ImportedEntity]:
    for reply in replies:
        place, passages = f"reply {reply.key[:40]}", (reply.chunk,) if reply.chunk else ()
        known = {mention.name.casefold() for mention in reply.mentions}
        for mention in reply.mentions:
            yield ImportedEntity(place, mention.name, "", mention.type, mention.description, passages)
        for relation in reply.relations:  # an end that the reply lists as no entity
            for end in (relation.source, relation.target):
                if end.casefold() not in known:
                    known.add(end.casefold())
                    yield ImportedEntity(place, end, "", "unknown", relation.description, passages)


def _relations(replies: Sequence[ParsedReply]) -> Iterator[ImportedRelation]:
    for reply in replies:
        passages = (reply.chunk,) if reply.chunk else ()
        for relation in reply.relations:
            yield ImportedRelation(
                f"reply {reply.key[:40]}",
                relation.source,
                relation.target,
                relation.description,
                relation.keywords,
                relation.strength,
                passages,
            )
