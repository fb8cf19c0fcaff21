"""Upper layers written again by a language model: names, summaries and sentences; clusters and base graph stay."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import pyarrow as pa

from leanrag_core.errors import InvalidConfig
from leanrag_core.indexing.aggregation.embedding import OnceEmbedder
from leanrag_core.indexing.aggregation.hierarchy import base_kinds, embedded, remember_layers
from leanrag_core.indexing.aggregation.layer_step import LayerStep, RelationCounts, StageProgress
from leanrag_core.indexing.aggregation.relations import lift_counts
from leanrag_core.indexing.aggregation.rules import aggregation_rules, released_depth
from leanrag_core.indexing.aggregation.writer import AggregationWriter
from leanrag_core.indexing.build import build_report
from leanrag_core.indexing.manifest import manifest_of
from leanrag_core.indexing.stages.base_graph import Findings
from leanrag_core.indexing.updating.kept_texts import ENTITIES, RELATIONS, listed_drops, recorded_calls
from leanrag_core.models.base import LanguageModel
from leanrag_core.storage.layout import calls_table
from leanrag_core.types.build_report import BuildReport, LayerClusters, Spent
from leanrag_core.types.calls import Usage, WrittenCall
from leanrag_core.types.config import IndexConfig, is_remote
from leanrag_core.types.extraction import Drop
from leanrag_core.types.graph import Layer
from leanrag_core.types.index import CHUNK_SCHEMA, CorpusTables, Index
from leanrag_core.types.job import Report, silent
from leanrag_core.types.manifest import Deciding
from leanrag_core.types.settings import Apply
from leanrag_core.types.updating import LayerChange, LineageStep, UpdateReport

_OF_LAYER = re.compile(r"layer (\d+)\b")


@dataclass(frozen=True, eq=False)
class Rewriting:
    """What is to be written again: the layers of the index from from_layer up to the root, by that model.

    Raises InvalidConfig where that cannot be done (see require_rewritable).
    """

    index: Index
    model: str
    from_layer: int = 1

    def __post_init__(self) -> None:
        require_rewritable(self.index, self.from_layer)
        if not is_remote(self.model):
            raise InvalidConfig("rewrite.no_model", name=self.model)

    @property
    def config(self) -> IndexConfig:
        """The settings of the index that is made."""
        config = self.index.manifest.config.checked()
        return replace(config, aggregation_model="" if self.model == config.model else self.model)

    @property
    def written_before(self) -> str:
        """The name of the model that has written the upper layers so far."""
        config = self.index.manifest.config
        return config.aggregation_model or config.model

    def progress(self, report: Report) -> StageProgress:
        """Return the progress of the work, whose size is known."""
        above = self.index.layers[self.from_layer :]
        nodes, relations = sum(map(len, above)), sum(layer.relations.num_rows for layer in above)
        return StageProgress(report, {"embed": nodes, ENTITIES: nodes, RELATIONS: relations})


def top_layer(index: Index) -> int:
    """Return the number of the highest layer, that of the root."""
    return len(index.layers) - 1


def require_rewritable(index: Index, from_layer: int = 1) -> None:
    """Raise InvalidConfig for an index without aggregated layers, one that this program did not build, a layer that it
    does not have, and a part of the layers where it cannot be told what the others have lost."""
    manifest, report = index.manifest, index.report
    if not manifest.extractor:
        raise InvalidConfig("rewrite.not_built_here", index=manifest.name)
    if top_layer(index) < 1:
        raise InvalidConfig("rewrite.no_layers", index=manifest.name)
    if not 1 <= from_layer <= top_layer(index):
        raise InvalidConfig("rewrite.no_such_layer", layer=from_layer, index=manifest.name, top=top_layer(index))
    unlisted = any(report.drops.get(stage, 0) > len(report.dropped.get(stage, ())) for stage in (ENTITIES, RELATIONS))
    if from_layer > 1 and (unlisted or manifest.config.lacking):
        raise InvalidConfig("rewrite.all_or_none", index=manifest.name)


@dataclass(frozen=True, eq=False)
class RewrittenLayers:
    """All layers of the index, those that are written again among them. drops, usage, calls: of these; counts: by the
    layer's number."""

    layers: tuple[Layer, ...]
    drops: tuple[Drop, ...]
    usage: Usage
    calls: tuple[WrittenCall, ...]
    counts: dict[int, RelationCounts]


def rewritten_layers(
    rewriting: Rewriting,
    writer: AggregationWriter,
    embedder: OnceEmbedder | None,
    progress: StageProgress,
    *,
    apply: Apply = map,
) -> RewrittenLayers:
    """Write the layers again from the lowest up, so that each is written from the new texts of the one below (eq. 4 and
    5). Clusters, promoted entities and lambda stay. embedder: None for a forecast, which keeps the vectors.
    """
    index, manifest = rewriting.index, rewriting.index.manifest
    rules = aggregation_rules(manifest.config, heuristic=manifest.heuristic)
    depth = released_depth(len(index.layers[0]), manifest.config.cluster_size)
    layers = [_bare(layer) for layer in index.layers[: rewriting.from_layer]]
    kinds, kind_counts = base_kinds(layers[0])
    drops, usage, calls = list[Drop](), Usage(), list[WrittenCall]()
    counts: dict[int, RelationCounts] = {}
    for number, before in enumerate(index.layers[1:], start=1):
        below = layers[number - 1]
        step = LayerStep(below, writer, rules, apply, progress, depth)
        if number >= rewriting.from_layer:
            writer.prepare(tuple(layers), below.parent)
            graph = step.run(kinds, kind_counts)
            drops += step.drops
            usage, counts[number] = usage + step.usage, step.counts
            calls += step.calls
            vectors = before.vectors if embedder is None else embedded(graph, number, embedder, progress).vectors
            layers.append(Layer(graph.entities, graph.relations, number, vectors, before.parent))
        kind_counts = lift_counts(kind_counts, step.groups)
    progress.finish()
    return RewrittenLayers(tuple(layers), tuple(drops), usage, tuple(calls), counts)


def _bare(layer: Layer) -> Layer:
    """Return the layer with the columns that a build makes, and no others."""
    graph = layer.bare()
    return Layer(graph.entities, graph.relations, layer.number, layer.vectors, layer.parent)


def rewritten_index(
    rewriting: Rewriting,
    model: LanguageModel,
    writer: AggregationWriter,
    embedder: OnceEmbedder,
    report: Report = silent,
    *,
    apply: Apply = map,
) -> Index:
    """Return the index in memory, with what the model wrote; the index itself where nothing changes.

    The same index and the same replies give the same bytes. model: whose fingerprint is recorded; the writer asks it.
    """
    index, first = rewriting.index, rewriting.from_layer
    remember_layers(embedder, index.layers)
    rewritten = rewritten_layers(rewriting, writer, embedder, rewriting.progress(report), apply=apply)
    if index.manifest.aggregation_model == model.fingerprint and _says_the_same(index.layers, rewritten.layers):
        return index
    kept_drops = tuple(_drops_below(index, first))
    manifest = index.manifest
    step = LineageStep(index.id, rewritten_from=first, written_before=rewriting.written_before)
    deciding = Deciding(
        corpus_fingerprint=manifest.corpus_fingerprint,
        config=rewriting.config,
        extractor=manifest.extractor,
        embedding=manifest.embedding,
        language_model=manifest.language_model,
        aggregation_model=model.fingerprint,
        edits=manifest.edits,
        lineage=(*manifest.lineage, step),
    )
    drops = (*kept_drops, *rewritten.drops)
    calls = _calls(index, first, rewritten.calls)
    tables = CorpusTables(index.documents, index.chunks.select(CHUNK_SCHEMA.names).cast(CHUNK_SCHEMA))
    return Index(
        manifest=manifest_of(
            deciding,
            rewritten.layers,
            tables,
            drops,
            kind=manifest.kind,
            name=manifest.name,
            corpus=manifest.corpus,
        ),
        documents=tables.documents,
        chunks=tables.chunks,
        layers=rewritten.layers,
        chunk_vectors=index.chunk_vectors,
        report=_report(rewriting, rewritten, drops, calls),
        calls=calls,
    )


def _says_the_same(before: Sequence[Layer], after: Sequence[Layer]) -> bool:
    pairs = ((was.bare(), now) for was, now in zip(before, after, strict=True))
    return all(was.entities.equals(now.entities) and was.relations.equals(now.relations) for was, now in pairs)


def _drops_below(index: Index, first: int) -> Iterator[Drop]:
    """Yield what the report lists as lost of aggregated layers below `first`, whose texts stay."""
    pairs = {
        f"{names[left]} / {names[right]}"
        for layer in index.layers[1:first]
        for names in [layer.entities["name"].to_pylist()]
        for left, right in layer.ends.tolist()
    }
    for drop in listed_drops(index.report):
        layer = _OF_LAYER.match(drop.item)
        if int(layer[1]) < first if layer else drop.item in pairs:
            yield drop


def _calls(index: Index, first: int, new_calls: Sequence[WrittenCall]) -> pa.Table | None:
    """Return the calls that wrote what the index holds now; None where earlier calls of a model were not recorded."""
    written_by_model = index.manifest.aggregation_model not in ("", "none")
    if index.calls is None and (index.manifest.language_model not in ("", "none") or written_by_model):
        return None
    recorded = recorded_calls(index.calls)
    kept = [call for call in recorded if call.kind not in ("entity", "relation") or call.layer < first]
    return calls_table([*kept, *new_calls])


def _report(
    rewriting: Rewriting, rewritten: RewrittenLayers, drops: Sequence[Drop], calls: pa.Table | None
) -> BuildReport:
    index, before = rewriting.index, rewriting.index.report
    clustering = tuple(_recounted(row, rewritten.counts) for row in before.clustering)
    rewriting_report = build_report(drops, Findings(), clustering, Usage(), _changes(rewriting, rewritten))
    new_report = rewriting_report.after(before, without=(ENTITIES, RELATIONS))
    return replace(
        before,
        drops=new_report.drops,
        dropped=new_report.dropped,
        usage=_spent(index, rewritten, calls),
        clustering=clustering,
        update=new_report.update,
    )


def _spent(index: Index, rewritten: RewrittenLayers, calls: pa.Table | None) -> Spent:
    """Return what the texts of the index have cost. calls: that wrote them; None where they were not recorded."""
    if calls is None:
        before, new = index.report.usage, rewritten.usage
        return Spent(
            before.calls + new.calls,
            before.prompt_tokens + new.prompt_tokens,
            before.completion_tokens + new.completion_tokens,
            before.cost + new.cost,
        )
    columns = (calls[name].to_pylist() for name in ("prompt_tokens", "completion_tokens", "cost"))
    prompts, replies, costs = (sum(column) for column in columns)
    return Spent(calls.num_rows, prompts, replies, float(costs))


def _recounted(row: LayerClusters, counts: dict[int, RelationCounts]) -> LayerClusters:
    """Return the record of a layer's clusters with what is said of the relations between them."""
    new = counts.get(row.layer or 0)
    if new is None:
        return row
    return replace(
        row,
        tau=new.tau,
        summarised=new.summarised,
        concatenated=new.concatenated,
        descriptions_cut=new.descriptions_cut,
    )


def _changes(rewriting: Rewriting, rewritten: RewrittenLayers) -> UpdateReport:
    """Return which texts have changed; clusters are the same, so none is new or gone."""
    index, first = rewriting.index, rewriting.from_layer
    changes = []
    for (_, was), (_, now) in zip(pairwise(index.layers), pairwise(rewritten.layers), strict=True):
        columns = ["name", "description"]
        pairs = zip(was.entities.select(columns).to_pylist(), now.entities.select(columns).to_pylist(), strict=True)
        kept = sum(left == right for left, right in pairs)
        changes.append(LayerChange(now.number, kept, len(now) - kept, 0, 0))
    clusters = [layer.entities["promoted"].to_pylist().count(False) for layer in rewritten.layers[1:]]
    sentences = [layer.relations["kind"].to_pylist().count("summarised") for layer in rewritten.layers[1:]]
    outdated = index.report.update.outdated if index.report.update else ()
    below = {
        id_
        for layer in rewritten.layers[1:first]
        for table in (layer.entities, layer.relations)
        for id_ in table["id"].to_pylist()
    }
    return UpdateReport(
        layers=tuple(changes),
        texts_kept=sum(clusters[: first - 1]),
        texts_written=sum(clusters[first - 1 :]),
        sentences_kept=sum(sentences[: first - 1]),
        sentences_written=sum(sentences[first - 1 :]),
        outdated=tuple(id_ for id_ in outdated if id_ in below),
        rewritten_from=first,
    )
