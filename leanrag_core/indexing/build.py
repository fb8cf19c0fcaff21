"""The walk of documents through the house: chunk, extract, merge, embed, cluster, aggregate, store."""

import re
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from leanrag_core.clustering.options import ClusterOptions
from leanrag_core.errors import EmptyCorpus, LeanRAGError
from leanrag_core.execution.choice import HERE, Executor
from leanrag_core.execution.threads import ThreadMap
from leanrag_core.indexing.aggregation.builtin_writer import BuiltinWriter
from leanrag_core.indexing.aggregation.embedding import OnceEmbedder
from leanrag_core.indexing.aggregation.hierarchy import Hierarchy, build_hierarchy
from leanrag_core.indexing.aggregation.llm_writer import LLMWriter
from leanrag_core.indexing.aggregation.writer import AggregationWriter
from leanrag_core.indexing.chunking import chunk_documents
from leanrag_core.indexing.describe import count_layers
from leanrag_core.indexing.extraction.base import Extractor
from leanrag_core.indexing.extraction.builtin import BuiltinExtractor
from leanrag_core.indexing.extraction.llm import LLMExtractor
from leanrag_core.indexing.identity import index_id
from leanrag_core.indexing.manifest import manifest_of, what_decides
from leanrag_core.indexing.resolution import resolve
from leanrag_core.indexing.resolution.condense import condense
from leanrag_core.indexing.telling import HierarchyTelling, read_so_far
from leanrag_core.messages.catalog import sentence
from leanrag_core.models.base import EmbeddingModel, LanguageModel
from leanrag_core.models.embed_task import embed_task
from leanrag_core.prompts.book import PromptBook
from leanrag_core.storage.bounds import require_unit_rows
from leanrag_core.storage.layout import CHROMA, read_manifest, rename_index, write_index
from leanrag_core.storage.search_connection import Connect, SearchPlace
from leanrag_core.storage.search_writer import write_safely
from leanrag_core.storage.staging import staged, turn_to_build
from leanrag_core.types.config import IndexConfig
from leanrag_core.types.corpus import Chunk, Document, Refusal
from leanrag_core.types.extraction import Drop
from leanrag_core.types.index import CHUNK_SCHEMA, DOCUMENT_SCHEMA, Index
from leanrag_core.types.progress import Progress, Report, silent
from leanrag_core.types.usage import NO_USAGE, Usage

_EXAMPLES_KEPT = 200  # of the drops of one stage, listed in the report; all are counted
_WHOLE_CHUNK = re.compile(r"chunk \S+")  # drops of these are all listed: they can be asked for again


def build_index(
    documents: Sequence[Document],
    config: IndexConfig,
    out: Path,
    *,
    embedding: EmbeddingModel,
    language: LanguageModel | None = None,
    aggregation: LanguageModel | None = None,
    workers: int = 1,
    executor: Executor = HERE,
    connect: Connect | None = None,
    in_store: bool = False,
    name: str = "",
    corpus: dict[str, str] | None = None,
    refusals: Sequence[Refusal] = (),
    report: Report = silent,
) -> Path:
    """An index of the documents stands in `out`, complete, or nothing has changed there.

    Documents are taken in the order of their names, so that the order of an upload does not matter. language None
    chooses the built-in extractor and writer; aggregation None takes the same model for both. workers: language-model
    calls at a time. executor: reads, embeds and clusters with the built-in models, here or elsewhere. Neither changes
    anything in the index. connect: to the server that holds the search index, instead of files in `out`. in_store:
    `out` is a folder of the program's own store. Raises FolderRefused when `out` holds anything but an index,
    EmptyCorpus when there is no text to index, WorkersLost or ClusterUnavailable when workers elsewhere are not there.
    """
    ordered = in_build_order(documents)
    if not ordered:
        raise EmptyCorpus("there are no documents to index: add some that have text")
    models = _Models(
        embedding, language, aggregation or language, PromptBook(config.prompts), ThreadMap(workers), executor
    )
    waits = Progress("parse", 0, len(ordered), "documents", "waits for another build of the same index")
    with turn_to_build(out, waiting=lambda: report(waits)) as waited:
        if waited and _stands(out, ordered, config, models, name):
            return out
        _build(ordered, config, out, models, name, corpus or {}, refusals, connect, in_store, report)
    return out


def _stands(out: Path, documents: list[Document], config: IndexConfig, models: "_Models", name: str) -> bool:
    """Whether the index that is to be built stands there by now, under its name."""
    try:
        manifest = read_manifest(out)
    except LeanRAGError:
        return False
    if manifest["id"] != index_id(models.made_of(documents, config, models.extractor(config))):
        return False
    if name and manifest["name"] != name:
        rename_index(out, name)
    return True


def _build(
    documents: list[Document],
    config: IndexConfig,
    out: Path,
    models: "_Models",
    name: str,
    corpus: dict[str, str],
    refusals: Sequence[Refusal],
    connect: Connect | None,
    in_store: bool,
    report: Report,
) -> None:
    with staged(out, in_store=in_store) as staging:
        index = _make(documents, config, models, name, corpus, refusals, report)
        write_index(staging, index)
        write_safely(
            SearchPlace(staging, staging / CHROMA),
            index,
            lambda done, total: report(Progress("index", done, total, "vectors")),
            connect=connect,
        )


def in_build_order(documents: Sequence[Document]) -> list[Document]:
    """Each document once, by name and id."""
    return sorted({document.id: document for document in documents}.values(), key=lambda one: (one.name, one.id))


@dataclass(frozen=True)
class _Models:
    """What writes and embeds in one build."""

    embedding: EmbeddingModel
    language: LanguageModel | None
    aggregation: LanguageModel | None
    prompts: PromptBook
    apply: ThreadMap
    executor: Executor

    def embedder(self) -> OnceEmbedder:
        """Who embeds, each text once. A model at an endpoint is asked from here, whoever does the rest."""
        task = embed_task(self.embedding) if self.executor.apart else None
        return OnceEmbedder(self.embedding.embed) if task is None else OnceEmbedder(task, self.executor.apply)

    def chunk_vectors(self, texts: list[str]) -> np.ndarray:
        """(n_chunks, d) vectors of the chunks."""
        if embed_task(self.embedding) is None:
            return self.embedding.embed(texts)  # all at once: it has as many calls in flight as the endpoint bears
        return self.embedder()(texts, lambda done: None)

    def extractor(self, config: IndexConfig) -> Extractor:
        """Who finds entities and relations."""
        if self.language is None:
            return BuiltinExtractor(self.executor.apply if self.executor.apart else map)
        return LLMExtractor.of(self.language, config, apply=self.apply)

    def made_of(self, documents: Sequence[Document], config: IndexConfig, extractor: Extractor) -> dict[str, Any]:
        """All that decides the index."""
        written = [model.fingerprint if model else "none" for model in (self.language, self.aggregation)]
        return what_decides(documents, config, extractor.fingerprint, self.embedding, *written)

    def writer(self) -> AggregationWriter:
        """Who writes aggregated entities and relations."""
        return BuiltinWriter() if self.aggregation is None else LLMWriter(self.aggregation, prompts=self.prompts)


def _make(
    documents: list[Document],
    config: IndexConfig,
    models: _Models,
    name: str,
    corpus: dict[str, str],
    refusals: Sequence[Refusal],
    report: Report,
) -> Index:
    report(Progress("parse", len(documents), len(documents), "documents"))
    report(Progress("chunk", 0, 0, "chunks"))
    chunks = chunk_documents(documents, max_tokens=config.chunk_tokens, overlap_tokens=config.overlap_tokens)
    if not chunks:
        raise EmptyCorpus("the documents have no text to index: add some that have")
    report(Progress("chunk", len(chunks), len(chunks), "chunks"))

    extractor = models.extractor(config)
    report(Progress("extract", 0, len(chunks), "chunks"))
    with ThreadPoolExecutor(1) as beside:  # reading keeps one processor busy, so chunks are embedded meanwhile
        embedded = beside.submit(models.chunk_vectors, [chunk.text for chunk in chunks])
        extractions = extractor.extract(
            documents,
            chunks,
            lambda done: report(read_so_far(extractor, done, len(chunks))),
        )
        chunk_vectors = embedded.result()
    require_unit_rows(chunk_vectors, "chunks")
    heuristic = extractor.kind == "heuristic graph"
    report(Progress("merge", 0, 0, "entities"))
    merged = resolve(extractions, chunks, heuristic=heuristic)
    condensed = condense(merged.graph, models.aggregation, models.prompts, apply=models.apply)
    base, merge_usage = condensed.graph, condensed.usage
    merged = replace(merged, graph=base, drops=(*merged.drops, *condensed.drops))
    n_entities = base.entities.num_rows
    named, n_relations = ", ".join(base.entities["name"][:3].to_pylist()), base.relations.num_rows
    report(Progress("merge", n_entities, n_entities, "entities", named, found=n_entities, relations=n_relations))
    if n_entities == 0:
        raise EmptyCorpus("nothing in the documents names an entity: add documents with running text")

    telling = HierarchyTelling(report)
    hierarchy = build_hierarchy(
        base,
        cluster_size=config.cluster_size,
        tau=config.tau,
        size_cap=config.size_cap,
        seed=config.seed,
        concatenation_tokens=config.concatenation_tokens,
        embed=models.embedder(),
        writer=models.writer(),
        apply=models.apply,
        executor=models.executor.apply,
        clustering=_clustering(config),
        heuristic=heuristic,
        report=telling.progress,
        written=telling.written,
    )
    report(Progress("index", 0, 0, "vectors"))

    extraction_drops = [drop for extraction in extractions for drop in extraction.drops]
    refused = [Drop("parse", refusal.name, sentence(refusal.reason)) for refusal in refusals]
    drops = [*refused, *extraction_drops, *merged.drops, *hierarchy.drops]
    usage = sum((extraction.usage for extraction in extractions), NO_USAGE) + merge_usage + hierarchy.usage
    made_of = models.made_of(documents, config, extractor)
    manifest = manifest_of(made_of, len(documents), len(chunks), hierarchy.layers, extractor.kind, name, corpus)
    index = Index(
        manifest=manifest,
        documents=_documents_table(documents),
        chunks=_chunks_table(documents, chunks),
        layers=hierarchy.layers,
        chunk_vectors=chunk_vectors,
        report=_report(drops, merged.aliases, hierarchy, extractions_empty(extractions), usage),
    )
    by_builtin = sum(drop.by_builtin for drop in drops)
    told = {"builtin_texts": by_builtin} if by_builtin else {}
    return replace(index, manifest={**manifest, **told, "layers": count_layers(index)})


def _clustering(config: IndexConfig) -> ClusterOptions:
    return ClusterOptions(
        cluster_size=config.cluster_size,
        cap=config.cap_by if config.size_cap else "none",
        smoothing=config.smoothing,
        neighbours=config.neighbours,
        space=config.space,
        join_singletons=config.singletons == "join",
        seed=config.seed,
    )


def extractions_empty(extractions: Sequence[Any]) -> list[str]:
    """Ids of the chunks in which nothing was found."""
    return [extraction.chunk_id for extraction in extractions if not extraction.mentions]


def _documents_table(documents: list[Document]) -> pa.Table:
    columns: dict[str, list[Any]] = {
        name: [getattr(document, name) for document in documents] for name in DOCUMENT_SCHEMA.names
    }
    for name in ("pages", "headings", "boilerplate"):  # the cells of a span or heading are its attributes
        columns[name] = [[vars(part) for part in parts] for parts in columns[name]]
    return pa.table(columns, schema=DOCUMENT_SCHEMA)


def _chunks_table(documents: list[Document], chunks: list[Chunk]) -> pa.Table:
    row_of = {document.id: row for row, document in enumerate(documents)}
    columns = {
        "id": [chunk.id for chunk in chunks],
        "document": np.array([row_of[chunk.document_id] for chunk in chunks], dtype=np.int32),
        "start": np.array([chunk.start for chunk in chunks], dtype=np.int32),
        "end": np.array([chunk.end for chunk in chunks], dtype=np.int32),
        "tokens": np.array([chunk.tokens for chunk in chunks], dtype=np.int32),
    }
    return pa.table(columns, schema=CHUNK_SCHEMA)


def _report(
    drops: Sequence[Drop], aliases: dict[str, str], hierarchy: Hierarchy, empty_chunks: list[str], usage: Usage
) -> dict[str, Any]:
    counted = Counter(drop.stage for drop in drops)
    listed: dict[str, list[dict[str, str]]] = {}
    examples: Counter[str] = Counter()
    for drop in drops:
        shown, is_chunk = listed.setdefault(drop.stage, []), _WHOLE_CHUNK.fullmatch(drop.item) is not None
        if is_chunk or examples[drop.stage] < _EXAMPLES_KEPT:
            shown.append({"item": drop.item, "reason": drop.reason})
            examples[drop.stage] += not is_chunk
    spent = asdict(usage)
    spent.pop("seconds")  # clock time would make two equal builds differ
    return {
        "drops": dict(sorted(counted.items())),
        "dropped": listed,
        "aliases": dict(sorted(aliases.items())),
        "empty_chunks": empty_chunks,
        "clustering": hierarchy.clustering,
        "usage": spent,
    }
