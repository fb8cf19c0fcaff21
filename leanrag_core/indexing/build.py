"""From documents to an index, stage by stage: chunk, extract and merge, embed, cluster and aggregate, write."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np

from leanrag_core.clustering.options import cluster_options
from leanrag_core.errors import EmptyCorpus, IndexChanged, LeanRAGError
from leanrag_core.execution.choice import HERE, Executor
from leanrag_core.execution.threads import ThreadMap
from leanrag_core.indexing.aggregation.hierarchy import Hierarchy, Start, build_hierarchy, fresh_clusters
from leanrag_core.indexing.aggregation.rules import aggregation_rules
from leanrag_core.indexing.assembly import Origin, assemble, corpus_tables
from leanrag_core.indexing.build_models import BuildModels
from leanrag_core.indexing.chunking import chunk_documents
from leanrag_core.indexing.manifest import edits_fingerprint, id_of
from leanrag_core.indexing.reference.records import ReferenceGraph
from leanrag_core.indexing.stages.base_graph import (
    BaseGraph,
    extract_base_graph,
    graph_fingerprint,
    imported_base_graph,
)
from leanrag_core.indexing.updating.before import Before
from leanrag_core.models.base import EmbeddingModel, LanguageModel
from leanrag_core.prompts.book import PromptBook
from leanrag_core.storage.bounds import require_unit_rows
from leanrag_core.storage.layout import read_edits, read_manifest, rename_index, write_index
from leanrag_core.storage.stages import StageStore
from leanrag_core.storage.staging import build_lock, staged
from leanrag_core.types.config import IndexConfig
from leanrag_core.types.corpus import Document, Refusal
from leanrag_core.types.editing import NO_EDITS, EditLog
from leanrag_core.types.graph import Layer
from leanrag_core.types.imported import NO_EXTRAS, ImportedExtras, ImportedGraph
from leanrag_core.types.index import Index
from leanrag_core.types.manifest import HEURISTIC, IMPORTED, NO_CORPUS, CorpusName
from leanrag_core.types.progress import Progress, Report, silent


def build_index(
    documents: Sequence[Document],
    config: IndexConfig,
    out: Path,
    *,
    embedding: EmbeddingModel,
    language: LanguageModel | None = None,
    aggregation: LanguageModel | None = None,
    reference: ReferenceGraph | None = None,
    workers: int = 1,
    executor: Executor = HERE,
    stages: StageStore | None = None,
    in_store: bool = False,
    name: str = "",
    corpus: CorpusName = NO_CORPUS,
    refusals: Sequence[Refusal] = (),
    edits: EditLog | None = None,
    before: Before | None = None,
    report: Report = silent,
) -> Path:
    """Writes an index of the documents to `out`; a build that fails changes nothing there.

    Documents are taken in the order of their names, so that the order of an upload does not matter. language None
    chooses the built-in extractor and writer; aggregation None takes the same model for both. reference: a
    graph of these documents that takes the place of an extractor, and of the writer where its texts fit. workers:
    language-model calls at a time. executor: reads, embeds and clusters with the built-in models, here or elsewhere.
    stages: results of earlier builds are taken from it, those of this one added. None of the three changes anything in
    the index. in_store: `out` is a folder of the program's own store. edits: by hand, replayed on what is extracted; by
    default those of the index that is replaced. before: the index that is updated. Raises FolderRefused when `out`
    holds anything but an index, EmptyCorpus when there is no text to index, WorkersLost or ClusterUnavailable when
    workers elsewhere are not there, IndexChanged when another process has changed the index before meanwhile.
    """
    ordered = in_build_order(documents)
    if not ordered:
        raise EmptyCorpus("build.no_documents")
    models = BuildModels(
        embedding,
        language,
        aggregation or language,
        PromptBook(config.prompts),
        ThreadMap(workers),
        executor,
        stages,
        reference,
    )
    extractor = models.extractor(config)
    log = read_edits(out) if edits is None else edits
    deciding = replace(
        models.deciding(ordered, config, extractor.fingerprint),
        edits=edits_fingerprint(log),
        lineage=before.lineage if before else (),
    )
    origin = Origin(deciding, extractor.kind, name, corpus, tuple(refusals))
    waits = Progress("parse", 0, len(ordered), "documents", waiting=True)

    def make() -> Index:
        return _build(ordered, config, models, origin, report, log, before)

    _write(out, origin, make, waits, report, in_store=in_store, edits=log, before=before)
    return out


def build_from_graph(
    imported: ImportedGraph,
    config: IndexConfig,
    out: Path,
    *,
    source: str,
    embedding: EmbeddingModel,
    aggregation: LanguageModel | None = None,
    workers: int = 1,
    executor: Executor = HERE,
    stages: StageStore | None = None,
    in_store: bool = False,
    name: str = "",
    report: Report = silent,
) -> Path:
    """Writes an index over a base graph that was made elsewhere to `out`; a build that fails changes nothing there.

    Chunks are those of the import, so chunk_tokens and overlap_tokens of the settings have no effect. source: name of
    the importer. The rest: see build_index().
    """
    if not imported.graph.entities.num_rows:
        raise EmptyCorpus("build.no_entities")
    models = BuildModels(
        embedding, aggregation, aggregation, PromptBook(config.prompts), ThreadMap(workers), executor, stages
    )
    tables = corpus_tables(imported.documents, imported.chunks)
    fingerprint = f"import-{source}/{graph_fingerprint(imported, tables)}"
    origin = Origin(models.deciding(imported.documents, config, fingerprint), IMPORTED, name)

    def make() -> Index:
        base = imported_base_graph(imported, models, report)
        chunk_vectors = models.chunk_vectors([chunk.text for chunk in imported.chunks])
        require_unit_rows(chunk_vectors, "chunks")
        hierarchy = hierarchy_over(base, config, models, heuristic=False, report=report)
        report(Progress("index", 0, 0, "files"))
        return assemble(origin, tables, chunk_vectors, base, hierarchy)

    waits = Progress("read", 0, 0, waiting=True)
    _write(out, origin, make, waits, report, in_store=in_store, extras=imported.extras)
    return out


def _write(
    out: Path,
    origin: Origin,
    make: Callable[[], Index],
    waits: Progress,
    report: Report,
    *,
    in_store: bool,
    extras: ImportedExtras = NO_EXTRAS,
    edits: EditLog = NO_EDITS,
    before: Before | None = None,
) -> None:
    """The index that make() gives is in `out`; or that of another process, if it was built while this one waited.

    Raises IndexChanged where the index to be updated is another one by then.
    """
    with build_lock(out, waiting=lambda: report(waits)) as waited:
        if waited and _is_built(out, origin):
            return
        if before is not None and read_manifest(out).id != before.index.id:
            raise IndexChanged("update.changed_meanwhile", index=before.index.manifest.name)
        keeps = bool(origin.deciding.lineage) or _was_changed(out)
        with staged(out, in_store=in_store, keeps_earlier=keeps) as staging:
            write_index(staging, make(), extras, edits)
            n_files = sum(1 for _ in staging.iterdir())
            report(Progress("index", n_files, n_files, "files"))


def _was_changed(out: Path) -> bool:
    """Whether the index that is replaced was updated or edited, so that a person may want it back."""
    try:
        manifest = read_manifest(out)
    except LeanRAGError:
        return False
    return bool(manifest.lineage or manifest.edits)


def _is_built(out: Path, origin: Origin) -> bool:
    """Whether the index is there by now; if so, under its name."""
    try:
        manifest = read_manifest(out)
    except LeanRAGError:
        return False
    if manifest.id != id_of(origin.deciding):
        return False
    if origin.name and manifest.name != origin.name:
        rename_index(out, origin.name)
    return True


def in_build_order(documents: Sequence[Document]) -> list[Document]:
    """Each document once, by name and id."""
    by_id = {document.id: document for document in documents}
    return sorted(by_id.values(), key=lambda document: (document.name, document.id))


def _build(
    documents: list[Document],
    config: IndexConfig,
    models: BuildModels,
    origin: Origin,
    report: Report,
    edits: EditLog,
    before: Before | None,
) -> Index:
    report(Progress("parse", len(documents), len(documents), "documents"))
    report(Progress("chunk", 0, 0, "chunks"))
    chunks = chunk_documents(documents, max_tokens=config.chunk_tokens, overlap_tokens=config.overlap_tokens)
    if not chunks:
        raise EmptyCorpus("build.no_text")
    report(Progress("chunk", len(chunks), len(chunks), "chunks"))
    tables = corpus_tables(documents, chunks)
    with ThreadPoolExecutor(1) as beside:  # reading keeps one processor busy, so chunks are embedded meanwhile
        texts = [chunk.text for chunk in chunks]
        if before:
            embedding = beside.submit(before.chunk_vectors, texts, models)
        else:
            embedding = beside.submit(models.chunk_vectors, texts)
        base = extract_base_graph(documents, chunks, tables, models.extractor(config), models, report, edits)
        chunk_vectors = embedding.result()
    require_unit_rows(chunk_vectors, "chunks")
    heuristic = origin.kind == HEURISTIC
    start = before.start(models) if before else Start(models.embedder(), models.writer())
    hierarchy = hierarchy_over(base, config, models, heuristic=heuristic, report=report, start=start)
    report(Progress("index", 0, 0, "files"))

    def fresh(layer: Layer) -> np.ndarray:
        return fresh_clusters(layer, cluster_options(config), models.executor.apply).labels

    changes = before.changes(chunks, hierarchy, start, fresh) if before else None
    return assemble(origin, tables, chunk_vectors, base, hierarchy, changes)


def hierarchy_over(
    base: BaseGraph,
    config: IndexConfig,
    models: BuildModels,
    *,
    heuristic: bool,
    report: Report,
    start: Start | None = None,
) -> Hierarchy:
    """The hierarchy over the base graph, as the settings ask for it. start: what is known already."""
    return build_hierarchy(
        base.graph,
        start or Start(models.embedder(), models.writer()),
        cluster_options(config),
        aggregation_rules(config, heuristic=heuristic),
        report=report,
        apply=models.apply if models.aggregation else map,  # threads do not speed the built-in writer up
        executor=models.executor.apply,
    )
