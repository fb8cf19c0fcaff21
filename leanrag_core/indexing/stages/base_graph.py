"""From documents and chunks to the base graph G0 (section 2, steps 2 and 3), taken from the store where it is kept."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from leanrag_core.errors import EmptyCorpus, RecordDamaged
from leanrag_core.files.records import absent_at_default, from_json, to_json
from leanrag_core.indexing.build_models import BuildModels
from leanrag_core.indexing.condensing import condense
from leanrag_core.indexing.editing import Replay
from leanrag_core.indexing.extraction.gathered import Extractor
from leanrag_core.indexing.resolution import MERGE_RULES, resolve
from leanrag_core.storage.layout import read_imported
from leanrag_core.storage.stages import StageStore, stage_key
from leanrag_core.types.calls import NO_USAGE, Usage, WrittenCall
from leanrag_core.types.corpus import Chunk, Document
from leanrag_core.types.extraction import Drop, Extraction
from leanrag_core.types.graph import ENTITY_SCHEMA, RELATION_SCHEMA, Graph
from leanrag_core.types.imported import ImportedGraph
from leanrag_core.types.index import CorpusTables, Index
from leanrag_core.types.job import Progress, Report
from leanrag_core.types.manifest import HEURISTIC
from leanrag_core.types.updating import NO_EDITS, EditLog, EditOutcome

STAGE = "base graph"
_MAX_RECORD_BYTES = 1 << 30
_NAMES_SHOWN = 3
PART_CHARACTERS = 100_000_000  # of chunks, whose mentions are merged in one pass over what was extracted


@dataclass(frozen=True)
class Findings:
    """What the report says of a base graph. aliases: other forms of a name, to the name that is shown. empty_chunks:
    ids of the chunks in which nothing was found. edits: what each edit by hand changed."""

    drops: tuple[Drop, ...] = ()
    aliases: dict[str, str] = field(default_factory=dict)
    empty_chunks: tuple[str, ...] = ()
    usage: Usage = NO_USAGE
    edits: tuple[EditOutcome, ...] = absent_at_default(())


@dataclass(frozen=True, eq=False)
class BaseGraph:
    """G0 and how it came about. calls: of a language model, in the order of chunks, entities and relations."""

    graph: Graph
    report: Findings
    calls: tuple[WrittenCall, ...] = ()


def extract_base_graph(
    documents: Sequence[Document],
    chunks: Sequence[Chunk],
    tables: CorpusTables,
    extractor: Extractor,
    models: BuildModels,
    report: Report,
    edits: EditLog = NO_EDITS,
) -> BaseGraph:
    """Return the base graph of the chunks. tables: documents and chunks as the index holds them. edits: by hand,
    replayed.

    What the built-in engine finds follows from documents and chunks alone, so its graph is looked up before anything is
    read. A language model's follows from its replies, which come from the store of calls where they were given before.
    Raises EmptyCorpus when nothing names an entity.
    """
    report(Progress("extract", 0, len(chunks), "chunks"))
    store = None if models.language or models.aggregation else models.stages
    key = _key(extractor, tables, edits) if store else b""
    base = _kept(store, key) if store else None
    if base is None:
        extractions = extractor.extract(
            documents, chunks, lambda done: report(_extracted(extractor, done, len(chunks)))
        )
        report(Progress("merge", 0, 0, "entities"))
        base = _merged(extractions, chunks, extractor, models, Replay(edits, documents, chunks))
        if store:
            store.put(STAGE, key, _packed(base))
    else:
        report(_counted("extract", len(chunks), "chunks", base.graph))
    n_entities = base.graph.entities.num_rows
    report(_counted("merge", n_entities, "entities", base.graph))
    if n_entities == 0:
        raise EmptyCorpus("build.no_entities")
    return base


def imported_base_graph(imported: ImportedGraph, models: BuildModels, report: Report) -> BaseGraph:
    """Return the base graph of an import, long descriptions condensed as those of a build."""
    condensed = condense(imported.graph, models.aggregation, models.prompts, apply=models.apply)
    named = set(condensed.graph.entities["chunks"].combine_chunks().flatten().to_pylist())
    empty = tuple(chunk.id for chunk in imported.chunks if chunk.position not in named)
    findings = Findings((*imported.drops, *condensed.drops), dict(imported.aliases), empty, condensed.usage)
    report(_counted("merge", condensed.graph.entities.num_rows, "entities", condensed.graph))
    return BaseGraph(condensed.graph, findings, condensed.calls)


def imported_graph(index: Index) -> ImportedGraph:
    """Return the graph that an imported index was made of, as it holds it: descriptions are condensed already, and what
    was left out when it was read is in its report. Raises IndexDamaged."""
    assert index.path is not None  # it was read from the disk
    return ImportedGraph(
        tuple(index.document(row) for row in range(index.documents.num_rows)),
        tuple(index.chunk(row) for row in range(index.chunks.num_rows)),
        index.layers[0].bare(),
        extras=read_imported(index.path),
    )


def graph_fingerprint(imported: ImportedGraph, tables: CorpusTables) -> str:
    """Return the hash of an imported graph with its documents and chunks, and what is kept beside it."""
    parts = (tables.documents, tables.chunks, imported.graph.entities, imported.graph.relations)
    beside = (to_json(imported.extras),) if imported.extras else ()
    return stage_key("import", MERGE_RULES, *map(_stream, parts), *beside).hex()[:16]


def _extracted(extractor: Extractor, done: int, total: int) -> Progress:
    """Return the progress: chunks done, the names that were found last, and how much was found in all."""
    n_names, n_relations = len(extractor.names), extractor.n_relations
    made = extractor.news.take()
    return Progress("extract", done, total, "chunks", extractor.latest, found=n_names, relations=n_relations, made=made)


def _counted(stage: str, done: int, unit: str, graph: Graph) -> Progress:
    """Return the progress of a finished stage, with what the graph holds."""
    names = ", ".join(graph.entities["name"][:_NAMES_SHOWN].to_pylist())
    n_entities, n_relations = graph.entities.num_rows, graph.relations.num_rows
    made = graph if stage == "merge" else None
    return Progress(stage, done, done, unit, names, found=n_entities, relations=n_relations, made=made)


def _merged(
    extractions: Sequence[Extraction],
    chunks: Sequence[Chunk],
    extractor: Extractor,
    models: BuildModels,
    replay: Replay,
) -> BaseGraph:
    passed = _Passed(extractions, replay)
    n_parts = 1 if replay.changes else 1 + sum(len(chunk.text) for chunk in chunks) // PART_CHARACTERS
    merged = resolve(passed, chunks, heuristic=extractor.kind == HEURISTIC, n_parts=n_parts)
    condensed = condense(replay.rows(merged.graph), models.aggregation, models.prompts, apply=models.apply)
    usage = passed.usage + condensed.usage
    drops = (*passed.drops, *merged.drops, *condensed.drops)
    findings = Findings(drops, merged.aliases, tuple(passed.empty), usage, replay.outcomes)
    return BaseGraph(condensed.graph, findings, (*passed.calls, *condensed.calls))


class _Passed:
    """The extractions under the names that the edits give, and what the first pass over them tells for the report.

    empty: ids of the chunks in which nothing was found.
    """

    def __init__(self, extractions: Iterable[Extraction], replay: Replay) -> None:
        self._extractions, self._replay, self._begun = extractions, replay, False
        self.drops: list[Drop] = []
        self.usage = NO_USAGE
        self.empty: list[str] = []
        self.calls: list[WrittenCall] = []

    def __iter__(self) -> Iterator[Extraction]:
        is_first, self._begun = not self._begun, True
        for extraction in self._extractions:
            if is_first:
                self.drops += extraction.drops
                self.usage = self.usage + extraction.usage
                self.empty += [] if extraction.mentions else [extraction.chunk_id]
                self.calls += (WrittenCall("extract", 0, extraction.chunk_id, call) for call in extraction.calls)
            yield self._replay.extraction(extraction)


def _key(extractor: Extractor, tables: CorpusTables, edits: EditLog) -> bytes:
    by_hand = (to_json(edits),) if edits.edits else ()
    parts = map(_stream, (tables.documents, tables.chunks))
    return stage_key(STAGE, extractor.fingerprint, MERGE_RULES, *parts, *by_hand)


def _kept(store: StageStore, key: bytes) -> BaseGraph | None:
    content = store.get(key)
    if content is None:
        return None
    try:
        return _unpacked(content)
    except (ValueError, RecordDamaged, pa.ArrowException):  # written by another version of the program
        store.forget([key])
        return None


def _packed(base: BaseGraph) -> bytes:
    """Return the record on one line, then the two tables."""
    return b"\n".join([to_json(base.report), _stream(base.graph.entities) + _stream(base.graph.relations)])


def _unpacked(content: bytes) -> BaseGraph:
    record, _, tables = content.partition(b"\n")
    findings = from_json(Findings, record, max_bytes=_MAX_RECORD_BYTES)
    source = pa.BufferReader(tables)
    entities, relations = pa.ipc.open_stream(source).read_all(), pa.ipc.open_stream(source).read_all()
    if not entities.schema.equals(ENTITY_SCHEMA) or not relations.schema.equals(RELATION_SCHEMA):
        raise ValueError("the tables have other columns")
    return BaseGraph(Graph(entities, relations), findings)


def _stream(table: pa.Table) -> bytes:
    """Return the table as an Arrow stream; equal tables give equal bytes."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table.combine_chunks())
    content: bytes = sink.getvalue().to_pybytes()
    return content
