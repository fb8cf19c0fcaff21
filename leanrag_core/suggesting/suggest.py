"""All suggestions for an index, within a time."""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from leanrag_core.clustering.clusters import cluster
from leanrag_core.clustering.options import cluster_options
from leanrag_core.evaluation.gold import GoldQuestion
from leanrag_core.messages.message import Message, message
from leanrag_core.suggesting import cluster_sizes, reach
from leanrag_core.suggesting.reach import Asked, Retrieve
from leanrag_core.suggesting.thresholds import Thresholds
from leanrag_core.types.index import Index
from leanrag_core.types.manifest import HEURISTIC
from leanrag_core.types.suggestion import (
    CLUSTER_SIZE,
    TAU,
    TOP_C,
    TOP_N,
    SizeEvidence,
    Suggestion,
    Suggestions,
    TauEvidence,
)

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
    result = Suggestions(n, min(n, cluster_sizes.MOST_ENTITIES))
    sizes = _sizes(index, over(_SHARES[0]))
    notes: list[Message] = []
    suggested: list[Suggestion] = []
    best = None
    if sizes:
        best = cluster_sizes.best_size(sizes)
        suggested.append(_size_suggestion(index, sizes, best))
        if len(sizes) < len(cluster_sizes.SIZES):
            notes.append(message("suggest.sizes_left_out", largest=sizes[-1].cluster_size))
    else:
        notes.append(message("suggest.too_few_entities", n=n))
    result = replace(result, sizes=sizes)
    thresholds = _thresholds(index, best.cluster_size if best else None)
    if thresholds is not None and len(thresholds.strength):
        taus = thresholds.tried()
        chosen = thresholds.best(taus)
        suggested.append(_tau_suggestion(index, thresholds, taus, chosen))
        result = replace(result, taus=taus, quantiles=thresholds.quantiles())
    else:
        notes.append(message("suggest.no_relations"))
    asked = _asked(index, questions)
    if asked and not over(1.0)():
        has_gold = bool(asked[0].question.evidence)
        top_n = reach.tried_seeds(asked, n, retrieve, out_of_time=over(1.0))
        seeds = reach.fewest_with_enough(top_n)
        top_c = reach.tried_chunks(asked, seeds.value, retrieve)
        chunks = reach.fewest_with_enough(top_c)
        kind = "gold" if has_gold else "names"
        for name, row, tried in ((TOP_N, seeds, top_n), (TOP_C, chunks, top_c)):
            most = max(each.found for each in tried)
            reason = message(
                f"suggest.reason.{name}.{kind}",
                value=row.value,
                found=round(100 * row.found),
                most=round(100 * most),
                tokens=round(row.tokens),
                questions=len(asked),
            )
            suggested.append(Suggestion(name, str(row.value), "", reason))
        result = replace(result, top_n=top_n, top_c=top_c, n_questions=len(asked), has_gold=has_gold)
    else:
        notes.append(message("suggest.no_time_for_questions" if asked else "suggest.no_questions"))
    return replace(result, suggestions=tuple(suggested), notes=tuple(notes), seconds=round(clock() - began, 2))


def _sizes(index: Index, out_of_time: Callable[[], bool]) -> tuple[SizeEvidence, ...]:
    """Return the evidence for clustersize, from a sample of a large layer."""
    base = index.layers[0]
    vectors, ends, n = base.vectors, base.ends, len(base)
    if n > cluster_sizes.MOST_ENTITIES:
        rows = np.sort(np.random.default_rng(0).choice(n, cluster_sizes.MOST_ENTITIES, replace=False))
        place = np.full(n, -1, dtype=np.int64)
        place[rows] = np.arange(len(rows))
        ends = place[ends.reshape(-1, 2)]
        vectors, ends = vectors[rows], ends[(ends >= 0).all(axis=1)]
    options = cluster_options(index.manifest.config)
    return tuple(cluster_sizes.tried_sizes(vectors, ends, options, n, out_of_time=out_of_time))


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
