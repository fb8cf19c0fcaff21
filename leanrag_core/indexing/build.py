"""From documents to an index, stage by stage: chunk, extract and merge, embed, cluster and aggregate, write."""

from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from leanrag_core.clustering.options import cluster_options
from leanrag_core.errors import Cancelled, EmptyCorpus, IndexChanged, IndexNotFound, LeanRAGError
from leanrag_core.indexing.aggregation.hierarchy import Hierarchy, Start, build_hierarchy, fresh_clusters
from leanrag_core.indexing.aggregation.rules import aggregation_rules
from leanrag_core.indexing.build_models import BuildModels
from leanrag_core.indexing.chunking import chunks_of_build
from leanrag_core.indexing.manifest import corpus_fingerprint, edits_fingerprint, id_of, manifest_of
from leanrag_core.indexing.stages.base_graph import (
    BaseGraph,
    Findings,
    extract_base_graph,
    graph_fingerprint,
    imported_base_graph,
    imported_graph,
)
from leanrag_core.indexing.updating.before import Before
from leanrag_core.messages.catalog import sentence
from leanrag_core.storage.layout import calls_table, read_edits, read_manifest, rename_index, write_index
from leanrag_core.storage.staging import build_lock, give_names, staged
from leanrag_core.storage.tables import require_unit_rows
from leanrag_core.types.build_report import BuildReport, DroppedItem, LayerClusters, Spent
from leanrag_core.types.calls import Usage
from leanrag_core.types.config import IndexConfig
from leanrag_core.types.corpus import Chunk, Document, Refusal
from leanrag_core.types.extraction import Drop
from leanrag_core.types.graph import Layer
from leanrag_core.types.imported import NO_EXTRAS, ImportedExtras, ImportedGraph
from leanrag_core.types.index import (
    CHUNK_SCHEMA,
    DOCUMENT_SCHEMA,
    FOLDER,
    PREFORMATTED,
    READ_ANYWAY,
    CorpusTables,
    Index,
)
from leanrag_core.types.job import Progress, Report, silent
from leanrag_core.types.manifest import HEURISTIC, IMPORTED, NO_CORPUS, CorpusName, Deciding
from leanrag_core.types.snapshots import StateChange
from leanrag_core.types.updating import NO_EDITS, EditLog, UpdateReport

_OF_HIERARCHY = frozenset(("cluster", "aggregate entities", "aggregate relations"))  # stages of a build
_TELL_SECONDS = 1.0  # between two reports on embedded chunks
_EXAMPLES_KEPT = 200  # drops of one stage that the report lists; all are counted


@dataclass(frozen=True)
class Origin:
    """Where an index comes from. deciding: all that decides what it holds; kind: "heuristic graph" or "LLM graph"."""

    deciding: Deciding
    kind: str
    name: str = ""
    corpus: CorpusName = NO_CORPUS
    refusals: tuple[Refusal, ...] = ()


def assemble(
    origin: Origin,
    tables: CorpusTables,
    chunk_vectors: np.ndarray,
    base: BaseGraph,
    hierarchy: Hierarchy,
    update: UpdateReport | None = None,
) -> Index:
    """Make the index in memory. chunk_vectors: (n_chunks, d) float32. update: the changes, for an updated index."""
    refused = [Drop("parse", refusal.name, sentence(refusal.reason)) for refusal in origin.refusals]
    drops = [*refused, *base.report.drops, *hierarchy.drops]
    kind, name, corpus = origin.kind, origin.name, origin.corpus
    return Index(
        manifest=manifest_of(origin.deciding, hierarchy.layers, tables, drops, kind=kind, name=name, corpus=corpus),
        documents=tables.documents,
        chunks=tables.chunks,
        layers=hierarchy.layers,
        chunk_vectors=chunk_vectors,
        report=build_report(drops, base.report, hierarchy.clustering, base.report.usage + hierarchy.usage, update),
        calls=calls_table([*base.calls, *hierarchy.calls]),
    )


def corpus_tables(documents: Sequence[Document], chunks: Sequence[Chunk]) -> CorpusTables:
    """Return the documents and chunks as the index holds them."""
    return CorpusTables(_documents_table(documents), _chunks_table(documents, chunks))


def _documents_table(documents: Sequence[Document]) -> pa.Table:
    columns: dict[str, list[Any]] = {
        name: [getattr(document, name) for document in documents] for name in DOCUMENT_SCHEMA.names
    }
    for name in ("pages", "headings", "boilerplate"):  # the cells of a span or heading are its attributes
        columns[name] = [[vars(part) for part in parts] for parts in columns[name]]
    table = pa.table(columns, schema=DOCUMENT_SCHEMA)
    if any(document.read_anyway for document in documents):
        read_anyway = pa.array([document.read_anyway for document in documents], type=pa.list_(pa.string()))
        table = table.append_column(READ_ANYWAY, read_anyway)
    if any(document.preformatted for document in documents):
        spans = [[vars(span) for span in document.preformatted] for document in documents]
        table = table.append_column(PREFORMATTED, pa.array(spans, type=PREFORMATTED.type))
    if any(document.folder for document in documents):
        table = table.append_column(FOLDER, pa.array([document.folder for document in documents], type=pa.string()))
    return table


def _chunks_table(documents: Sequence[Document], chunks: Sequence[Chunk]) -> pa.Table:
    row_of = {document.id: row for row, document in enumerate(documents)}
    columns = {
        "id": [chunk.id for chunk in chunks],
        "document": np.array([row_of[chunk.document_id] for chunk in chunks], dtype=np.int32),
        "start": np.array([chunk.start for chunk in chunks], dtype=np.int32),
        "end": np.array([chunk.end for chunk in chunks], dtype=np.int32),
        "tokens": np.array([chunk.tokens for chunk in chunks], dtype=np.int32),
    }
    return pa.table(columns, schema=CHUNK_SCHEMA)


def build_report(
    drops: Sequence[Drop],
    findings: Findings,
    clustering: Sequence[LayerClusters],
    usage: Usage,
    update: UpdateReport | None = None,
) -> BuildReport:
    """Return the report of a build. Drops of whole chunks are all listed, of others the first of each stage."""
    counted = Counter(drop.stage for drop in drops)
    listed: dict[str, list[DroppedItem]] = {}
    examples: Counter[str] = Counter()
    for drop in drops:
        shown = listed.setdefault(drop.stage, [])
        if drop.chunk or examples[drop.stage] < _EXAMPLES_KEPT:
            shown.append(DroppedItem(drop.item, drop.reason, drop.chunk, drop.by_builtin))
            examples[drop.stage] += not drop.chunk
    return BuildReport(
        drops=dict(counted),
        dropped={stage: tuple(items) for stage, items in listed.items()},
        aliases=findings.aliases,
        empty_chunks=tuple(findings.empty_chunks),
        clustering=tuple(clustering),
        usage=Spent(usage.calls, usage.prompt_tokens, usage.completion_tokens, usage.cost),
        edits=findings.edits,
        update=update,
    )


@dataclass(frozen=True)
class BuildRequest:
    """Which index is built, and where.

    documents: taken in the order of their names, so that the order of an upload does not matter; empty for a graph
    that was made elsewhere. out: the folder. name, corpus: for the index's record. in_store: `out` is a folder of the
    program's own store. refusals: files that could not be read, for the report. edits: by hand, replayed on what is
    extracted; by default those of the index that is replaced. before: the index that is updated.
    """

    documents: Sequence[Document]
    config: IndexConfig
    out: Path
    name: str = ""
    corpus: CorpusName = NO_CORPUS
    in_store: bool = False
    refusals: Sequence[Refusal] = ()
    edits: EditLog | None = None
    before: Before | None = None


def build_index(request: BuildRequest, models: BuildModels, report: Report = silent) -> None:
    """Write the index of the request's documents to its folder; a build that fails changes nothing there.

    Raises FolderRefused when the folder holds anything but an index, EmptyCorpus when there is no text to index,
    WorkersLost or ClusterUnavailable when workers elsewhere are not there, IndexChanged when another process has
    changed the index before meanwhile.
    """
    ordered, config, before = in_build_order(request.documents), request.config, request.before
    if not ordered:
        raise EmptyCorpus("build.no_documents")
    models = models.configured(config)
    extractor = models.extractor(config)
    log = read_edits(request.out) if request.edits is None else request.edits
    deciding = replace(
        models.deciding(ordered, config, extractor.fingerprint),
        edits=edits_fingerprint(log),
        lineage=before.lineage if before else (),
    )
    origin = Origin(deciding, extractor.kind, request.name, request.corpus, tuple(request.refusals))
    waits = Progress("parse", 0, len(ordered), "documents", waiting=True)
    request = replace(request, documents=ordered, edits=log)
    _write(request, origin, lambda: _build(request, models, origin, report), waits, report)


def build_from_graph(
    imported: ImportedGraph, source: str, request: BuildRequest, models: BuildModels, report: Report = silent
) -> None:
    """Write an index over a base graph that was made elsewhere to the request's folder; a build that fails changes
    nothing there.

    Chunks are those of the import, so chunk_tokens and overlap_tokens of the settings have no effect. source: name of
    the importer.
    """
    if not imported.graph.entities.num_rows:
        raise EmptyCorpus("build.no_entities")
    tables = corpus_tables(imported.documents, imported.chunks)
    fingerprint = f"import-{source}/{graph_fingerprint(imported, tables)}"
    _build_over(imported, fingerprint, request, models, report)


def rebuild_imported(index: Index, request: BuildRequest, models: BuildModels, report: Report = silent) -> None:
    """Build an imported index again over the base graph that it holds, with the request's settings. Its record equals
    that of an import of the same files with those settings.
    """
    _build_over(imported_graph(index), index.manifest.extractor, request, models, report, before=index.report)


def _build_over(
    imported: ImportedGraph,
    fingerprint: str,
    request: BuildRequest,
    models: BuildModels,
    report: Report,
    *,
    before: BuildReport | None = None,
) -> None:
    """Write the index over an imported graph. fingerprint: of the graph. before: the report of the graph's first
    import, whose drops and aliases still hold.
    """
    config, models = request.config, models.configured(request.config)
    tables = corpus_tables(imported.documents, imported.chunks)
    origin = Origin(models.deciding(imported.documents, config, fingerprint), IMPORTED, request.name)

    def make() -> Index:
        base = imported_base_graph(imported, models, report)
        embedded = _ChunksEmbedded(len(imported.chunks))
        with ThreadPoolExecutor(1) as beside:
            texts = [chunk.text for chunk in imported.chunks]
            embedding = beside.submit(models.chunk_vectors, texts, embedded.count)
            chunk_vectors = embedded.awaited(embedding, report, base.graph.entities.num_rows)
        require_unit_rows(chunk_vectors, "chunks")
        hierarchy = hierarchy_over(base, config, models, heuristic=False, report=embedded.counting(report))
        report(Progress("index", 0, 0, "files"))
        index = assemble(origin, tables, chunk_vectors, base, hierarchy)
        if before is None:
            return index
        # Of what was left out when the graph was first read, an index lists only examples.
        report_of_both = index.report.after(before, without=_OF_HIERARCHY)
        return replace(index, report=replace(report_of_both, aliases=before.aliases))

    _write(request, origin, make, Progress("read", 0, 0, waiting=True), report, imported.extras)


def _write(
    request: BuildRequest,
    origin: Origin,
    make: Callable[[], Index],
    waits: Progress,
    report: Report,
    extras: ImportedExtras = NO_EXTRAS,
) -> None:
    """Write the index that make() gives, unless another process has built it while this one waited.

    Raises IndexChanged where the index to be updated has been replaced meanwhile.
    """
    out, before = request.out, request.before
    with build_lock(out, waiting=lambda: report(waits)) as waited:
        try:
            there = read_manifest(out)
        except LeanRAGError:
            there = None
        if waited and there is not None and there.id == id_of(origin.deciding):
            if origin.name and there.name != origin.name:
                rename_index(out, origin.name)
            return
        if before is not None and read_manifest(out).id != before.index.id:
            raise IndexChanged("update.changed_meanwhile", index=before.index.manifest.name)
        # What was updated or edited a person may want back.
        was_changed = there is not None and bool(there.lineage or there.edits)
        keeps = StateChange.of(before.step) if before else StateChange("build") if was_changed else None
        with staged(out, in_store=request.in_store, keeps=keeps) as staging:
            write_index(staging, make(), extras, request.edits or NO_EDITS, replaced=out)
            if before is not None:
                give_names(staging, read_manifest(out))  # which may have changed since it was read
            n_files = sum(1 for _ in staging.iterdir())
            report(Progress("index", n_files, n_files, "files"))


def in_build_order(documents: Sequence[Document]) -> list[Document]:
    """Return each document once, sorted by name and id."""
    by_id = {document.id: document for document in documents}
    return sorted(by_id.values(), key=lambda document: (document.name, document.id))


def _build(request: BuildRequest, models: BuildModels, origin: Origin, report: Report) -> Index:
    """Return the index of the request, whose documents are in order and whose edits are known."""
    documents, config, before = request.documents, request.config, request.before
    report(Progress("parse", len(documents), len(documents), "documents"))
    report(Progress("chunk", 0, 0, "chunks"))
    chunks = chunks_of_build(documents, config)
    if not chunks:
        raise EmptyCorpus("build.no_text")
    report(Progress("chunk", len(chunks), len(chunks), "chunks"))
    tables = corpus_tables(documents, chunks)
    with ThreadPoolExecutor(1) as beside:  # reading keeps one processor busy, so chunks are embedded meanwhile
        texts, embedded = [chunk.text for chunk in chunks], _ChunksEmbedded(len(chunks))
        if before:
            embedding = beside.submit(before.chunk_vectors, texts, models, embedded.count)
        else:
            embedding = beside.submit(models.chunk_vectors, texts, embedded.count)
        extractor, edits = models.extractor(config), request.edits or NO_EDITS
        try:
            base = extract_base_graph(documents, chunks, tables, extractor, models, report, edits)
            chunk_vectors = embedded.awaited(embedding, report, base.graph.entities.num_rows)
        except BaseException:
            embedded.stop()  # leaving waits for the thread, which may have most of the chunks before it
            raise
    require_unit_rows(chunk_vectors, "chunks")
    heuristic = origin.kind == HEURISTIC
    start = before.start(models) if before else Start(models.embedder(), models.writer(heuristic=heuristic))
    hierarchy = hierarchy_over(base, config, models, heuristic=heuristic, report=embedded.counting(report), start=start)
    report(Progress("index", 0, 0, "files"))

    def fresh(layer: Layer) -> np.ndarray:
        """Return the (entities,) int cluster of each entity of the layer, as a build from nothing has it."""
        return fresh_clusters(layer, cluster_options(config), models.executor.apply).labels

    changes = before.changes(chunks, hierarchy, start, fresh) if before else None
    return assemble(origin, tables, chunk_vectors, base, hierarchy, changes)


class _ChunksEmbedded:
    """Counts the chunks that have their vectors; in the stage `embed` they come before all other texts."""

    def __init__(self, total: int) -> None:
        self._total, self._done, self._stopped = total, 0, False

    def count(self, done: int) -> None:
        """Note that so many chunks are embedded; called by the thread that embeds them, which ends here when the build
        has failed."""
        if self._stopped:
            raise Cancelled("job.cancel_requested")
        self._done = done

    def stop(self) -> None:
        """Embed no more chunks than those under way."""
        self._stopped = True

    def awaited(self, embedding: Future[np.ndarray], report: Report, entities: int) -> np.ndarray:
        """Wait for the vectors, (n_chunks, d), and report meanwhile how many are ready. entities: number of texts that
        follow.
        """
        while not embedding.done():
            report(Progress("embed", self._done, self._total + entities, "texts"))
            wait([embedding], timeout=_TELL_SECONDS)
        return embedding.result()

    def counting(self, report: Report) -> Report:
        """Return the report for a hierarchy, whose texts are counted after the chunks."""

        def told(progress: Progress) -> None:
            if progress.stage == "embed":
                done, total = progress.done + self._total, progress.total + self._total
                progress = replace(progress, done=done, total=total)
            report(progress)

        return told


def hierarchy_over(
    base: BaseGraph,
    config: IndexConfig,
    models: BuildModels,
    *,
    heuristic: bool,
    report: Report,
    start: Start | None = None,
) -> Hierarchy:
    """Build the hierarchy over the base graph, as the settings ask for it. start: what is known already."""
    return build_hierarchy(
        base.graph,
        start or Start(models.embedder(), models.writer(heuristic=heuristic)),
        cluster_options(config),
        aggregation_rules(config, heuristic=heuristic),
        report=report,
        # Threads do not speed the built-in writer up.
        apply=models.apply if models.aggregation or models.rewriters else map,
        executor=models.executor.apply,
    )


def is_built(out: Path, config: IndexConfig, documents: Sequence[Document]) -> bool:
    """Return whether the folder holds the index of these documents with these settings."""
    try:
        manifest = read_manifest(out)
    except IndexNotFound:
        return False
    fingerprint = corpus_fingerprint(in_build_order(documents))
    return manifest.config.is_of(config) and manifest.corpus_fingerprint == fingerprint
