"""Suggested values of clustersize, tau, top-N and top-C for an index, with the evidence that was tried for each."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from leanrag_core.clustering.clusters import cluster, dimensions
from leanrag_core.clustering.options import Clustering, ClusterOptions, cluster_options, n_components
from leanrag_core.evaluation.gold import GoldQuestion, gold_ranking
from leanrag_core.indexing.aggregation.relations import group_relations
from leanrag_core.messages.message import Message, message
from leanrag_core.queries.islands import best_tau
from leanrag_core.types.graph import component_of_each
from leanrag_core.types.index import Index
from leanrag_core.types.manifest import HEURISTIC
from leanrag_core.types.rows import place_of_each
from leanrag_core.types.suggestion import (
    CLUSTER_SIZE,
    TAU,
    TOP_C,
    TOP_N,
    LambdaQuantile,
    ReachEvidence,
    SizeEvidence,
    Suggestion,
    Suggestions,
    TauEvidence,
)
from leanrag_core.types.trace import Trace

SIZES = (5, 8, 12, 16, 20, 25, 30, 40, 60)
MOST_ENTITIES = 3_000  # that are clustered; more would take longer than a person waits
_SAMPLE_SHARE = 0.8
_LEAST_CLUSTERS = 3  # in a sample; with fewer, any clustering agrees with any other
_EQUAL_FIT = 0.15  # of the span of all BICs: sizes this near to the lowest fit about as well
PAPER_SIZE = 20


def tried_sizes(
    vectors: np.ndarray, ends: np.ndarray, options: ClusterOptions, n_entities: int, *, out_of_time: Callable[[], bool]
) -> Iterator[SizeEvidence]:
    """Yield the evidence for each size of SIZES that the layer is large enough for, until the time is over.

    vectors: (n, d) float32, unit rows, of all entities or a sample. ends: (r, 2) int rows that relations join.
    n_entities: of the whole layer.
    """
    n = len(vectors)
    kept = round(_SAMPLE_SHARE * n)
    draw = np.random.default_rng([options.seed, n])
    first, second = (np.sort(draw.choice(n, kept, replace=False)) for _ in range(2))
    _, in_first, in_second = np.intersect1d(first, second, return_indices=True)
    for size in SIZES:
        if n_components(kept, size) < _LEAST_CLUSTERS or out_of_time():
            return
        sized = replace(options, cluster_size=size)
        first_clusters, other = (cluster(vectors[rows], sized) for rows in (first, second))
        likelihood, bic = _fit(first_clusters, sized, kept)
        counts = _layer_counts(n_entities, size)
        yield SizeEvidence(
            cluster_size=size,
            likelihood=likelihood,
            bic=bic,
            stability=round(_agreement(first_clusters.labels[in_first], other.labels[in_second]), 4),
            relations_inside=_inside(first_clusters.labels, first, ends, n),
            layers=len(counts) + 1,
            aggregated=sum(counts),
        )


def best_size(tried: tuple[SizeEvidence, ...]) -> SizeEvidence:
    """Choose, of the sizes that fit about as well as the best by BIC, the most stable one; of all sizes where there
    is no BIC.

    tried: at least one.
    """
    scores = [size.bic for size in tried if size.bic is not None]
    fitting = list(tried)
    if scores:
        worst_fitting = min(scores) + _EQUAL_FIT * (max(scores) - min(scores))
        fitting = [size for size in tried if size.bic is not None and size.bic <= worst_fitting]
    return max(fitting, key=lambda size: (size.stability, -abs(size.cluster_size - PAPER_SIZE)))


def _fit(clustering: Clustering, options: ClusterOptions, n: int) -> tuple[float | None, float | None]:
    """Return the mean log likelihood, and BIC for each entity: means, weights and one covariance are the parameters."""
    likelihood = clustering.facts.likelihood
    if likelihood is None or options.reference is not None:
        return likelihood, None
    k, m = dimensions(n, options.space), clustering.facts.components
    parameters = m * k + (m - 1) + k * (k + 1) / 2
    return likelihood, round(-2 * likelihood + parameters * float(np.log(n)) / n, 4)


def _agreement(labels: np.ndarray, other: np.ndarray) -> float:
    """Return the adjusted Rand index of two clusterings. labels, other: (n,) int, of the same entities."""
    from sklearn.metrics import adjusted_rand_score

    return float(adjusted_rand_score(labels, other))


def _inside(labels: np.ndarray, rows: np.ndarray, ends: np.ndarray, n: int) -> float | None:
    """Return the share of relations within a cluster; None without relations between these rows.

    labels: (m,) int clusters of the sampled entities. rows: (m,) int rows of these in the layer of n. ends: (r, 2)
    int rows that relations join.
    """
    label_of = np.full(n, -1, dtype=np.int64)
    label_of[rows] = labels
    pairs = label_of[ends]
    pairs = pairs[(pairs >= 0).all(axis=1)] if len(pairs) else pairs
    return round(float((pairs[:, 0] == pairs[:, 1]).mean()), 4) if len(pairs) else None


def _layer_counts(n_entities: int, size: int) -> list[int]:
    """Count the aggregated entities of each layer above the base."""
    counts = []
    while n_entities > 1:
        n_entities = n_components(n_entities, size)
        counts.append(n_entities)
    return counts


N_VALUES, C_VALUES = (3, 5, 8, 10, 15, 20, 30), (1, 2, 3, 5, 8, 10, 15, 20)
DEFAULT_C = 5
_ENOUGH = 0.95  # of what the largest value finds

Retrieve = Callable[[str, int, int], Trace]  # question, top-N, top-C


@dataclass(frozen=True)
class Asked:
    """A question and what its context should hold: its gold quotes, or any of these chunks, by row."""

    question: GoldQuestion
    chunks: frozenset[int] = frozenset()


def tried_seeds(
    asked: Sequence[Asked], n_entities: int, retrieve: Retrieve, *, out_of_time: Callable[[], bool]
) -> tuple[ReachEvidence, ...]:
    """Return for each top-N the tokens of the context, and the share of the evidence in it, until the time is over;
    at least one top-N is tried. n_entities: of layer 0."""
    rows: list[ReachEvidence] = []
    for n_seeds in N_VALUES:
        if rows and (n_seeds > n_entities or out_of_time()):
            break
        traces = [retrieve(each.question.question, n_seeds, DEFAULT_C) for each in asked]
        tokens = float(np.mean([trace.context.tokens for trace in traces]))
        shares = [_in_context(each, trace) for each, trace in zip(asked, traces, strict=True)]
        rows.append(ReachEvidence(n_seeds, round(tokens, 1), round(float(np.mean(shares)), 4)))
    return tuple(rows)


def tried_chunks(asked: Sequence[Asked], n_seeds: int, retrieve: Retrieve) -> tuple[ReachEvidence, ...]:
    """Return for each top-C the tokens of the context, and the share of the evidence in so many chunks."""
    traces = [retrieve(each.question.question, n_seeds, C_VALUES[-1]) for each in asked]
    rows = []
    for n_chunks in C_VALUES:
        tokens = float(np.mean([_tokens(trace, n_chunks) for trace in traces]))
        shares = [_in_chunks(each, trace, n_chunks) for each, trace in zip(asked, traces, strict=True)]
        rows.append(ReachEvidence(n_chunks, round(tokens, 1), round(float(np.mean(shares)), 4)))
    return tuple(rows)


def fewest_with_enough(tried: Sequence[ReachEvidence]) -> ReachEvidence:
    """Return the smallest value that finds nearly as much as any does. tried: at least one."""
    most = max(row.found for row in tried)
    return next(row for row in tried if row.found >= _ENOUGH * most)


def _tokens(trace: Trace, n_chunks: int) -> float:
    """Return tokens of the context with so many of its chunks."""
    chunks = [item.tokens for section in trace.context.sections if section.letter == "C" for item in section.items]
    return trace.context.tokens - sum(chunks[n_chunks:])


def _in_context(asked: Asked, trace: Trace) -> float:
    if asked.question.evidence:
        return gold_ranking(asked.question, trace, None).recall
    return float(any(item.row in asked.chunks for item in trace.passages))


def _in_chunks(asked: Asked, trace: Trace, n_chunks: int) -> float:
    if asked.question.evidence:
        ranking = gold_ranking(asked.question, trace, None)
        return len(frozenset().union(*ranking.ranked[:n_chunks])) / ranking.n
    return float(any(item.row in asked.chunks for item in trace.passages[:n_chunks]))


_TAUS = (0, 1, 2, 3, 4, 5, 6, 8, 10, 13, 16, 20, 25, 32, 40, 50, 64, 80, 100)
_QUANTILES = (0.25, 0.5, 0.75, 0.9, 0.95, 1.0)


class Thresholds:
    """The pairs of clusters that relations of layer 0 join, by lambda.

    ends: (r, 2) rows of layer 0. labels: (n,) the cluster of each entity.
    """

    def __init__(self, ends: np.ndarray, labels: np.ndarray) -> None:
        """Group the relations by pairs of clusters. ends: (r, 2) int rows of layer 0. labels: (n,) int."""
        self.n_clusters = int(labels.max()) + 1
        groups = group_relations(ends, np.ones(len(ends), dtype=np.float32), labels, self.n_clusters)
        self.strength = groups.strength
        self.pairs = np.stack([groups.left, groups.right], axis=1)

    def quantiles(self) -> tuple[LambdaQuantile, ...]:
        """Return quantiles of lambda; none without pairs."""
        if not len(self.strength):
            return ()
        return tuple(LambdaQuantile(share, float(np.quantile(self.strength, share))) for share in _QUANTILES)

    def tried(self) -> tuple[TauEvidence, ...]:
        """Return the evidence for each tau from 0 up to the first above which no relation is left."""
        rows = []
        for tau in _TAUS:
            kept = self.strength > tau
            rows.append(TauEvidence(tau, int(kept.sum()), round(self._connected(self.pairs[kept]), 4)))
            if not kept.any():
                break
        return tuple(rows)

    def _connected(self, pairs: np.ndarray) -> float:
        """Return the share of clusters in the largest connected part. pairs: (p, 2) int clusters that are linked."""
        return float(np.bincount(component_of_each(self.n_clusters, pairs)).max() / self.n_clusters)


SECONDS = 30.0  # that a person waits
_MOST_QUESTIONS = 16
_MOST_CLUSTERED_AGAIN = 20_000  # entities; above, tau is looked at with the clusters that the index has
_SHARES = (0.55, 0.65)  # of the time, after which sizes and thresholds are done
_UPPER_TAU = "q0.75"  # above layer 1 of a heuristic graph, where nearly every pair exceeds any number


def suggest(
    index: Index,
    questions: Sequence[GoldQuestion],
    *,
    retrieve: Retrieve,
    seconds: float = SECONDS,
    clock: Callable[[], float] = time.monotonic,
) -> Suggestions:
    """Suggest clustersize, tau, top-N and top-C from the index's data, with the evidence.

    questions: about the index's documents; those with gold evidence are taken if there are any. Without any the
    names of related entities are asked. seconds: no new step begins after them. The same index and questions give the
    same suggestions, as far as the time allows the same steps.
    """
    began = clock()

    def over(share: float) -> Callable[[], bool]:
        return lambda: clock() - began > share * seconds

    n = len(index.layers[0])
    result = Suggestions(n, min(n, MOST_ENTITIES))
    sizes = _sizes(index, over(_SHARES[0]))
    notes: list[Message] = []
    suggested: list[Suggestion] = []
    best = None
    if sizes:
        best = best_size(sizes)
        suggested.append(_size_suggestion(index, sizes, best))
        if len(sizes) < len(SIZES):
            notes.append(message("suggest.sizes_left_out", largest=sizes[-1].cluster_size))
    else:
        notes.append(message("suggest.too_few_entities", n=n))
    result = replace(result, sizes=sizes)
    thresholds = _thresholds(index, best.cluster_size if best else None)
    if thresholds is not None and len(thresholds.strength):
        taus = thresholds.tried()
        chosen = best_tau(taus, thresholds.n_clusters)
        suggested.append(_tau_suggestion(index, thresholds, taus, chosen))
        result = replace(result, taus=taus, quantiles=thresholds.quantiles())
    else:
        notes.append(message("suggest.no_relations"))
    asked = _asked(index, questions)
    if asked and not over(1.0)():
        has_gold = bool(asked[0].question.evidence)
        top_n = tried_seeds(asked, n, retrieve, out_of_time=over(1.0))
        seeds = fewest_with_enough(top_n)
        top_c = tried_chunks(asked, seeds.value, retrieve)
        chunks = fewest_with_enough(top_c)
        kind = "gold" if has_gold else "names"
        suggested.append(_reach_suggestion(TOP_N, seeds, top_n, kind, len(asked)))
        suggested.append(_reach_suggestion(TOP_C, chunks, top_c, kind, len(asked)))
        result = replace(result, top_n=top_n, top_c=top_c, n_questions=len(asked), has_gold=has_gold)
    else:
        notes.append(message("suggest.no_time_for_questions" if asked else "suggest.no_questions"))
    return replace(result, suggestions=tuple(suggested), notes=tuple(notes), seconds=round(clock() - began, 2))


def _sizes(index: Index, out_of_time: Callable[[], bool]) -> tuple[SizeEvidence, ...]:
    """Return the evidence for clustersize, from a sample of a large layer."""
    base = index.layers[0]
    vectors, ends, n = base.vectors, base.ends, len(base)
    if n > MOST_ENTITIES:
        rows = np.sort(np.random.default_rng(0).choice(n, MOST_ENTITIES, replace=False))
        ends = place_of_each(rows, n)[ends.reshape(-1, 2)]
        vectors, ends = vectors[rows], ends[(ends >= 0).all(axis=1)]
    options = cluster_options(index.manifest.config)
    return tuple(tried_sizes(vectors, ends, options, n, out_of_time=out_of_time))


def _thresholds(index: Index, cluster_size: int | None) -> Thresholds | None:
    """Return the relations of layer 1 with clusters of that size; with those of the index where they have that size
    anyway, or where clustering again would take too long."""
    base, config = index.layers[0], index.manifest.config
    if len(index.layers) < 2 or not len(base.ends):
        return None
    labels = base.parent
    if cluster_size not in (None, config.cluster_size) and len(base) <= _MOST_CLUSTERED_AGAIN:
        options = replace(cluster_options(config), cluster_size=cluster_size)
        labels = cluster(base.vectors, options).labels
    return Thresholds(base.ends, labels)


def _size_suggestion(index: Index, sizes: tuple[SizeEvidence, ...], best: SizeEvidence) -> Suggestion:
    reason = message(
        "suggest.reason.cluster_size" if len(sizes) > 1 else "suggest.reason.only_cluster_size",
        stability=f"{best.stability:.2f}",
        most=f"{max(size.stability for size in sizes):.2f}",
        layers=best.layers,
        aggregated=best.aggregated,
    )
    return Suggestion(CLUSTER_SIZE, str(best.cluster_size), str(index.manifest.config.cluster_size), reason)


def _tau_suggestion(
    index: Index, thresholds: Thresholds, taus: tuple[TauEvidence, ...], chosen: TauEvidence
) -> Suggestion:
    reason = message(
        "suggest.reason.tau",
        tau=chosen.tau,
        summarised=chosen.summarised,
        pairs=len(thresholds.strength),
        clusters=thresholds.n_clusters,
        connected=round(100 * chosen.connected),
        all=round(100 * taus[0].connected),
    )
    value = f"{chosen.tau},{_UPPER_TAU}" if index.manifest.kind == HEURISTIC else str(chosen.tau)
    return Suggestion(TAU, value, str(index.manifest.config.tau or ""), reason)


def _reach_suggestion(
    name: str, chosen: ReachEvidence, tried: Sequence[ReachEvidence], kind: str, n_questions: int
) -> Suggestion:
    """Suggest the chosen value, with how much of the gold evidence, or of the named entities, it reaches. kind: of the
    questions, "gold" or "names"."""
    reason = message(
        f"suggest.reason.{name}.{kind}",
        value=chosen.value,
        found=round(100 * chosen.found),
        most=round(100 * max(each.found for each in tried)),
        tokens=round(chosen.tokens),
        questions=n_questions,
    )
    return Suggestion(name, str(chosen.value), "", reason)


def _asked(index: Index, questions: Sequence[GoldQuestion]) -> tuple[Asked, ...]:
    """Return the questions with gold evidence, else questions made of the index's own relations."""
    gold = [question for question in questions if question.evidence]
    if not gold:
        return _pairs(index)
    step = max(1, -(-len(gold) // _MOST_QUESTIONS))  # from the whole list: sets are often ordered by kind
    return tuple(Asked(question) for question in gold[::step])


def _pairs(index: Index) -> tuple[Asked, ...]:
    """Make questions of the names of two related entities; a chunk that states the relation should be found."""
    base = index.layers[0]
    names = base.entities["name"]
    asked: list[Asked] = []
    step = max(1, len(base.ends) // (2 * _MOST_QUESTIONS))
    for row in range(0, len(base.ends), step):
        chunks = frozenset(base.relation(row).chunks)
        if chunks and len(asked) < _MOST_QUESTIONS:
            source, target = (names[int(end)].as_py() for end in base.ends[row])
            asked.append(Asked(GoldQuestion(f"pair-{row}", f"{source}, {target}"), chunks))
    return tuple(asked)
