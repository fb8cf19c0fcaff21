"""Which documents a scope holds, and an index cut to them: what an index of them alone would hold, as nearly as the
stored one allows.

Entities and relations that the documents do not mention go. Texts that rest on other documents too are made anew from
what is inside, and embedded. The stored clusters, with the members that are left, become layers again: the hierarchy is
aggregated over them by the built-in writer, which takes over every stored text whose sources are all the same.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from leanrag_core.clustering.clusters import cluster_sizes
from leanrag_core.clustering.options import ClusterFacts, Clustering, ClusterOptions, cluster_options
from leanrag_core.errors import InvalidConfig
from leanrag_core.indexing.aggregation.builtin_writer import BuiltinWriter
from leanrag_core.indexing.aggregation.embedding import Embed, OnceEmbedder
from leanrag_core.indexing.aggregation.hierarchy import Start, build_hierarchy, remember_layers
from leanrag_core.indexing.aggregation.rules import aggregation_rules
from leanrag_core.indexing.manifest import count_layers, counts_of
from leanrag_core.indexing.updating.kept_texts import KeptTexts
from leanrag_core.scoping.as_of import (
    GraphThen,
    InsideTexts,
    Quotes,
    graph_then,
    left_out,
    replaced_columns,
    texts_then,
)
from leanrag_core.storage.counted_columns import chunks_with_places, entities_with_tokens, relations_with_tokens
from leanrag_core.text.dates import date_of_text
from leanrag_core.types.config import BUILTIN
from leanrag_core.types.graph import ENTITY_SCHEMA, RELATION_SCHEMA, Graph, Layer
from leanrag_core.types.index import CHUNK_TOKENS, FOLDER, Cut, Index
from leanrag_core.types.manifest import HEURISTIC
from leanrag_core.types.rows import Lists, numbers, place_of_each, with_column
from leanrag_core.types.scope import NOTHING_LEFT_OUT, Data, DocumentData, Scope, ScopedDocument
from leanrag_core.types.settings import Apply

_HEAD = 2_000  # characters of a text in which its date is looked for


def documents_of(index: Index) -> tuple[ScopedDocument, ...]:
    """Return what the index itself knows of each document, by row: its folder, and the date that its text gives."""
    import pyarrow.compute as pc

    table = index.documents
    heads = pc.utf8_slice_codeunits(table["text"], 0, _HEAD).to_pylist()
    folders = table[FOLDER].to_pylist() if FOLDER in table.column_names else [""] * table.num_rows
    rows = zip(table["id"].to_pylist(), table["name"].to_pylist(), folders, heads, strict=True)
    return tuple(ScopedDocument(id_, name, folder or "", date=date_of_text(head)) for id_, name, folder, head in rows)


def with_data(documents: tuple[ScopedDocument, ...], data: Data) -> tuple[ScopedDocument, ...]:
    """Return the documents with their tags and dates set by hand or read from files. data: by document id."""
    if not data:
        return documents
    none = DocumentData()
    known = ((document, data.get(document.id, none)) for document in documents)
    return tuple(replace(document, tags=each.tags, date=each.date or document.date) for document, each in known)


def rows_in(scope: Scope, documents: tuple[ScopedDocument, ...]) -> np.ndarray:
    """Return the rows of the documents that the scope holds, ascending, (k,) int64; documents: of all rows.

    Raises InvalidConfig for a document, folder or tag that none of them has, and for a scope that holds none.
    """
    names = {name for document in documents for name in (document.id, document.name)}
    folders = {part for document in documents for part in _folders_of(document)}
    tags = {tag for document in documents for tag in document.tags}
    asked = (
        ("scope.unknown_document", scope.documents, names),
        ("scope.unknown_folder", tuple(folder.strip("/") for folder in scope.folders), folders),
        ("scope.unknown_tag", scope.tags, tags),
    )
    for code, wanted, known in asked:
        unknown = [name for name in wanted if name not in known]
        if unknown:
            raise InvalidConfig(code, name=unknown[0])
    rows = [row for row, document in enumerate(documents) if scope.holds(document)]
    if not rows:
        undated = sum(not document.date for document in documents)
        raise InvalidConfig("scope.holds_nothing", undated=undated, total=len(documents))
    return np.array(rows, dtype=np.int64)


def _folders_of(document: ScopedDocument) -> list[str]:
    """Return the document's folder and those above it."""
    parts = document.folder.split("/") if document.folder else []
    return ["/".join(parts[:n]) for n in range(len(parts) + 1)]


def cut_index(
    index: Index, documents: np.ndarray, scope: Scope, embed: Embed, dates: Sequence[str] | None = None
) -> Index:
    """Return the index of those documents, as of the scope's date. It is the index itself where these are all its
    documents and there is no date; where the date leaves out nothing of all documents, it keeps the index's tables and
    parts.

    documents: (k,) int rows, ascending. embed: by the index's own model; of texts that the index does not have. dates:
    of all documents, by row, empty where they are not known. Raises InvalidConfig where the graph names nothing in
    these documents.
    """
    whole, everything = index, len(documents) == index.documents.num_rows
    if everything and not scope.as_of:
        return index
    owner = numbers(index.chunks["document"])
    chunks = np.flatnonzero(np.isin(owner, documents))
    if scope.as_of:
        dated = dates or [""] * index.documents.num_rows
        then = texts_then(index, documents, scope.as_of, dated, embed)
        index, chunks = then.index, np.setdiff1d(chunks, sorted(then.emptied))
    base = _base_graph(index, chunks)
    gone = NOTHING_LEFT_OUT
    if scope.as_of:
        row_of = {row: place for place, row in enumerate(chunks.tolist())}
        quotes = Quotes(
            date_of=lambda chunk: dated[owner[chunks[chunk]]],
            text_of=lambda chunk: whole.chunk(int(chunks[chunk])).text,
            left_of=lambda chunk: index.chunk(int(chunks[chunk])).text,
            changed=frozenset(row_of[row] for row in then.changed - then.emptied),
        )
        of_day = graph_then(base.graph, scope.as_of, quotes)
        base, gone = _base_then(base, of_day), left_out(then, of_day)
        if everything and not gone.n:
            return replace(whole, cut=_whole_cut(whole, scope))
    if not len(base.entities):
        raise InvalidConfig("scope.no_entities", n=len(documents))
    layers = _layers_over(index, base, embed)
    cut = Cut(
        whole=whole,
        scope=scope,
        documents=documents,
        chunks=chunks,
        entities=base.entities,
        relations=base.relations,
        rewritten=base.rewritten,
        regrouped=_written_again(index, layers),
        left_out=gone,
    )
    return _assembled(index, cut, layers, dated if scope.as_of else None)


def _whole_cut(index: Index, scope: Scope) -> Cut:
    """Return the cut that leaves all of the index."""
    base = index.layers[0]
    return Cut(
        whole=index,
        scope=scope,
        documents=np.arange(index.documents.num_rows),
        chunks=np.arange(index.chunks.num_rows),
        entities=np.arange(len(base)),
        relations=np.arange(base.relations.num_rows),
        rewritten=frozenset(),
        regrouped=frozenset(),
    )


def _assembled(index: Index, cut: Cut, layers: tuple[Layer, ...], dates: Sequence[str] | None) -> Index:
    """Return the index of the layers. dates: of all documents, where it is as of a date."""
    chunks = index.chunks.take(pa.array(cut.chunks))
    owner = np.searchsorted(cut.documents, numbers(chunks["document"])).astype(np.int32)
    chunks = with_column(chunks, "document", owner)
    of_day = [] if dates is None else [cut.scope.as_of, *dates]
    inside = [*index.documents["id"].take(pa.array(cut.documents)).to_pylist(), *of_day]
    digest = hashlib.sha256("\n".join(inside).encode())
    counted = count_layers(layers)
    view = replace(
        index,
        manifest=replace(
            index.manifest,
            id=f"{index.manifest.id}-in-{digest.hexdigest()[:12]}",
            counts=counts_of(counted, len(cut.documents), len(cut.chunks)),
            layers=counted,
            files={},
        ),
        documents=index.documents.take(pa.array(cut.documents)),
        chunks=chunks,
        layers=layers,
        chunk_vectors=np.asarray(index.chunk_vectors)[cut.chunks],
        path=None,
        calls=None,
        cut=cut,
    )
    if CHUNK_TOKENS in chunks.column_names:
        return view
    return replace(view, chunks=chunks_with_places(view.documents, chunks))


@dataclass(frozen=True, eq=False)
class _Base:
    """The base graph inside. entities, relations: rows of the whole index's, ascending. rewritten: ids of those whose
    texts are made anew."""

    graph: Graph
    entities: np.ndarray
    relations: np.ndarray
    rewritten: frozenset[str]


def _base_graph(index: Index, chunks: np.ndarray) -> _Base:
    """Return what the chunks mention. chunks: (k,) int64 rows, ascending."""
    base = index.layers[0]
    row_inside = place_of_each(chunks, index.chunks.num_rows)
    mentions = _Inside(Lists(base.entities["chunks"]), row_inside)
    entities = np.flatnonzero(mentions.n_inside > 0)
    place = place_of_each(entities, len(base))
    stated = _Inside(Lists(base.relations["chunks"]), row_inside)
    relations = np.flatnonzero((stated.n_inside > 0) & (place[base.ends] >= 0).all(axis=1))
    texts = InsideTexts(lambda row: index.chunk(int(chunks[row])).text)
    entity_table = base.entities.select(ENTITY_SCHEMA.names).take(pa.array(entities))
    mixed = np.flatnonzero((mentions.n_inside < mentions.n)[entities])
    descriptions, findings = entity_table["description"].to_pylist(), entity_table["findings"].to_pylist()
    names = entity_table["name"].to_pylist()
    for row in mixed.tolist():
        descriptions[row] = texts.entity(names[row], descriptions[row], mentions.of(int(entities[row])))
        findings[row] = []
    entity_table = replaced_columns(
        entity_table,
        ENTITY_SCHEMA,
        description=descriptions,
        findings=findings,
        chunks=[mentions.of(row) for row in entities.tolist()],
    )
    relation_table = base.relations.select(RELATION_SCHEMA.names).take(pa.array(relations))
    mixed_relations = np.flatnonzero((stated.n_inside < stated.n)[relations])
    ends = place[base.ends[relations]]
    statements, keywords = relation_table["description"].to_pylist(), relation_table["keywords"].to_pylist()
    for row in mixed_relations.tolist():
        of_row = stated.of(int(relations[row]))
        statements[row] = texts.relation([names[end] for end in ends[row].tolist()], statements[row], of_row)
        keywords[row] = texts.keywords(keywords[row] or (), of_row)
    share = (stated.n_inside / np.maximum(1, stated.n))[relations]  # of the mentions, whose weights add up
    relation_table = replaced_columns(
        relation_table,
        RELATION_SCHEMA,
        source=ends[:, 0],
        target=ends[:, 1],
        weight=(base.weights[relations] * share).astype(np.float32),
        description=statements,
        keywords=keywords,
        chunks=[stated.of(row) for row in relations.tolist()],
    )
    rewritten = [*entity_table["id"].take(pa.array(mixed)).to_pylist()]
    rewritten += relation_table["id"].take(pa.array(mixed_relations)).to_pylist()
    return _Base(Graph(entity_table, relation_table), entities, relations, frozenset(rewritten))


def _layers_over(index: Index, base: _Base, embed: Embed) -> tuple[Layer, ...]:
    """Return the hierarchy over what is left of the base graph: the index's clusters and texts, and built-in texts
    where a cluster has lost members."""
    config, heuristic = index.manifest.config.checked(), index.manifest.kind == HEURISTIC
    embedder = OnceEmbedder(embed)
    remember_layers(embedder, index.layers)
    # The report lists only the first losses: where it does not list all, a built-in text cannot be told from others.
    listed = index.manifest.builtin_texts <= index.report.listed_by_builtin
    writer = KeptTexts(
        BuiltinWriter(of_mentions=heuristic),
        index.layers if listed else index.layers[:1],
        index.report,
        relations=lambda layer: not heuristic or config.writer != BUILTIN,
        exact=True,
        calls=index.calls,
    )
    hierarchy = build_hierarchy(
        base.graph,
        Start(embedder, writer, StoredClusters(index.layers, base.entities)),
        cluster_options(config),
        # The stored clusters say where the recursion ends.
        replace(aggregation_rules(config, heuristic=heuristic), stop_rule="root", max_layers="root"),
    )
    return tuple(_with_tokens(layer) for layer in hierarchy.layers)


def _base_then(base: _Base, then: GraphThen) -> _Base:
    """Return the base graph as of a day."""
    rows = base.entities[then.entities], base.relations[then.relations]
    return _Base(then.graph, *rows, base.rewritten | then.rewritten)


class _Inside:
    """The chunks of entities or of relations. n, n_inside: (rows,) int64, how many each has, and how many inside."""

    def __init__(self, lists: Lists, row_inside: np.ndarray) -> None:
        """Count the chunks. row_inside: (chunks,) int64, the row that each chunk has inside, -1 outside."""
        self._lists, self._row_inside = lists, row_inside
        offsets = np.asarray(lists.offsets, dtype=np.int64)
        inside = np.concatenate([[0], np.cumsum(row_inside[lists.values] >= 0)])
        self.n, self.n_inside = np.diff(offsets), inside[offsets[1:]] - inside[offsets[:-1]]

    def of(self, row: int) -> list[int]:
        """Return the rows inside of that thing's chunks, ascending."""
        rows = self._row_inside[self._lists[row]]
        return sorted(rows[rows >= 0].tolist())


class StoredClusters:
    """Groups each layer by the stored clusters of what is left of it; called once a layer, from the base up.

    A stored layer in which nothing would be joined is skipped: it would repeat the one below.
    """

    def __init__(self, layers: Sequence[Layer], rows: np.ndarray) -> None:
        """Take the stored layers. rows: (k,) int rows of the base entities that are left, ascending."""
        self._layers, self._rows, self._number = layers, rows, 0

    def __call__(self, below: Layer, options: ClusterOptions, apply: Apply) -> Clustering:
        labels = np.arange(len(below))
        while self._number + 1 < len(self._layers) and len(np.unique(labels)) == len(below):
            above = np.asarray(self._layers[self._number].parent)[self._rows]
            self._rows, labels = np.unique(above, return_inverse=True)
            self._number += 1
        if len(np.unique(labels)) == len(below):  # of an index without a root of its own
            labels = np.zeros(len(below), dtype=np.int64)
        sizes = cluster_sizes(labels)
        facts = ClusterFacts(
            nodes=len(labels),
            components=sizes.clusters,
            likelihood=None,
            **vars(sizes),
            neighbours_inside=1.0,
            relations_inside=None,
            covariance="",
        )
        return Clustering(labels.astype(np.int32), facts)


def _with_tokens(layer: Layer) -> Layer:
    counted = entities_with_tokens(layer.entities), relations_with_tokens(layer.relations)
    return replace(layer, entities=counted[0], relations=counted[1])


def _written_again(index: Index, layers: Sequence[Layer]) -> frozenset[str]:
    """Return ids of the aggregated entities whose texts the index does not have."""
    stored = {text for layer in index.layers[1:] for text in layer.entities["description"].to_pylist()}
    rows = (
        pair
        for layer in layers[1:]
        for pair in zip(*(layer.entities[name].to_pylist() for name in ("id", "description", "promoted")), strict=True)
    )
    return frozenset(id_ for id_, text, promoted in rows if not promoted and text not in stored)
