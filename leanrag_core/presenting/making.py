"""Makes a presentation of an index: its pictures, each question asked with each strategy, and what experiments
measured.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from leanrag_core.evaluation.gold import ChunkTexts, GoldQuestion, gold_ranking
from leanrag_core.evaluation.statistics import Interval, difference_interval, mean_interval
from leanrag_core.evaluation.tables import RECALL, TOKENS, questions_of, relative, scores_of
from leanrag_core.presenting import pictures
from leanrag_core.presenting.story import (
    AddedComparison,
    BridgeEvidence,
    Cost,
    Estimate,
    Measured,
    Presentation,
    PresentationPlan,
    PresentedIndex,
    PresentedQuestion,
    PresentedStrategy,
    Side,
    require_valid,
)
from leanrag_core.retrieval.base import strategies
from leanrag_core.retrieval.settings import all_settings
from leanrag_core.storage.history import record_of
from leanrag_core.types.calls import Usage
from leanrag_core.types.experiment import ExperimentResult, RunSpec
from leanrag_core.types.index import Index
from leanrag_core.types.job import Progress, Report, silent
from leanrag_core.types.rows import numbers
from leanrag_core.types.trace import Answer, RecordedRun, Trace, TraceRelation

Ask = Callable[[Index, str, PresentedStrategy], Answer]
_MOST_BRIDGES = 10
_MOST_TEXT = 1_600  # characters of an item that no context holds
BRIDGE_SHAPE = "arc"  # of the styles of relations between clusters
_DIGITS = 6


def make_presentation(
    index: Index,
    plan: PresentationPlan,
    ask: Ask,
    *,
    experiments: Sequence[ExperimentResult] = (),
    report: Report = silent,
) -> Presentation:
    """Return the presentation. ask: retrieves and answers. experiments: those that may have measured the same.

    Nothing in it depends on the clock or the machine: the same index, plan and answers give the same presentation.
    Raises InvalidConfig for a plan of which none can be made, and what `ask` raises.
    """
    require_valid(plan)
    chunks, total = ChunkTexts(index), len(plan.questions) * len(plan.strategies)
    presented: list[PresentedQuestion] = []
    for question in plan.questions:
        sides: list[Side] = []
        for strategy in plan.strategies:
            report(Progress("ask", len(presented) * len(plan.strategies) + len(sides), total, "questions"))
            sides.append(_side(index, question, ask(index, question.question, strategy), chunks))
        presented.append(PresentedQuestion(question.question, tuple(sides), len(question.evidence)))
    report(Progress("ask", total, total, "questions"))
    drawn = pictures.islands_of(index)
    islands, rows = drawn if drawn is not None else (None, np.zeros(0, dtype=np.int64))
    manifest, spent = index.manifest, index.report.usage
    return Presentation(
        title=" ".join(plan.title.split()),
        made=plan.made,
        index=PresentedIndex(
            id=manifest.id,
            name=manifest.name,
            corpus=manifest.corpus.name,
            kind=manifest.kind,
            model=str(manifest.config.model),
            embedding=manifest.embedding.name,
            layers=tuple(map(len, index.layers)),
            relations=tuple(layer.relations.num_rows for layer in index.layers),
        ),
        documents=pictures.documents_of(index),
        graph=pictures.graph_of(index, islands.layer, rows, islands.spots) if islands else None,
        islands=islands,
        hierarchy=pictures.hierarchy_of(index),
        strategies=plan.strategies,
        questions=tuple(presented),
        cost=Cost(spent.calls, spent.prompt_tokens, spent.completion_tokens, spent.cost),
        measured=measured(experiments, index.id, plan.strategies),
        notes={slide: text for slide, text in plan.notes.items() if text.strip()},
    )


def _side(index: Index, question: GoldQuestion, answer: Answer, chunks: ChunkTexts) -> Side:
    gold = None
    if question.evidence:
        gold = len(frozenset().union(*gold_ranking(question, answer.trace, chunks).context))
    run = _without_times(RecordedRun(answer.trace, answer))
    return Side(record_of(run), gold, _bridge_evidence(index, run.trace))


def compared(
    question: str, made: str, runs: Sequence[RecordedRun], *, gold: Sequence[int | None], n_gold: int
) -> AddedComparison:
    """Return a slide that compares these runs, with their whole contexts. made: the day, ISO 8601. gold: wanted
    passages that each context holds, None where none are known; n_gold: how many there are."""
    sides = tuple(Side(record_of(_without_times(run)), n_found, ()) for run, n_found in zip(runs, gold, strict=True))
    names = dict.fromkeys(run.trace.index.name for run in runs)
    return AddedComparison(question, ", ".join(names), made, sides, n_gold)


def _without_times(run: RecordedRun) -> RecordedRun:
    trace, answer = timeless(run.trace), run.answer
    kept = answer and replace(answer, trace=trace, usage=_timeless(answer.usage))
    return RecordedRun(trace, kept or None)


def timeless(trace: Trace) -> Trace:
    """Return the trace without what differs from one run to the next, and without texts that no slide shows."""
    in_context = trace.context.mark_of
    return replace(
        trace,
        usage=_timeless(trace.usage),
        steps=tuple(replace(step, milliseconds=0.0, usage=_timeless(step.usage)) for step in trace.steps),
        items=tuple(
            item if item.id in in_context else replace(item, text=item.text[:_MOST_TEXT]) for item in trace.items
        ),
        ranked_chunks=(),
    )


def _timeless(usage: Usage) -> Usage:
    return replace(usage, seconds=0.0)


def _bridge_evidence(index: Index, trace: Trace) -> tuple[BridgeEvidence, ...]:
    """Return what the strongest inter-cluster relations of the trace stand for."""
    arcs = sorted(bridges_of(trace), key=lambda relation: (-relation.strength, relation.id))
    return tuple(_unfolded(index, relation) for relation in arcs[:_MOST_BRIDGES] if relation.row is not None)


def bridges_of(trace: Trace) -> tuple[TraceRelation, ...]:
    """Return the relations of a trace between clusters, as its strategy draws them."""
    roles = {style.role for style in trace.styles if style.on == "relation" and style.shape == BRIDGE_SHAPE}
    return tuple(relation for relation in trace.relations if relation.role in roles and relation.layer)


def _unfolded(index: Index, relation: TraceRelation) -> BridgeEvidence:
    rows = [relation.row or 0]
    for number in range(relation.layer or 0, 0, -1):
        layer = index.layers[number]
        rows = sorted({int(member) for row in rows for member in layer.relation(row).members})
    owner, base = numbers(index.chunks["document"]), index.layers[0]
    documents_of = ({int(owner[chunk]) for chunk in base.relation(row).chunks} for row in rows)
    counts = Counter(document for documents in documents_of for document in documents)
    return BridgeEvidence(relation.id, len(rows), len(counts), max(counts.values(), default=0))


def measured(
    results: Sequence[ExperimentResult], index_id: str, strategies: Sequence[PresentedStrategy]
) -> tuple[Measured, ...]:
    """Return, of each strategy beside the first, the first complete experiment that ran both with these options on that
    index.

    index_id: the index's own, which an experiment records: an index that was built otherwise has another.
    """
    return tuple(
        first
        for place, beside in enumerate(strategies[1:], start=1)
        if (first := _first(results, index_id, strategies[0], beside, place)) is not None
    )


def _first(
    results: Sequence[ExperimentResult], index_id: str, first: PresentedStrategy, beside: PresentedStrategy, place: int
) -> Measured | None:
    for result in results:
        ours, theirs = (_run(result, index_id, strategy) for strategy in (first, beside))
        if result.is_complete and ours is not None and theirs is not None:
            return _measured(result, ours.key, theirs.key, place)
    return None


def _run(result: ExperimentResult, index_id: str, strategy: PresentedStrategy) -> RunSpec | None:
    return next((run for run in result.spec.runs if _is_same(result.versions, run, index_id, strategy)), None)


def _is_same(versions: Mapping[str, str], run: RunSpec, index_id: str, strategy: PresentedStrategy) -> bool:
    if versions.get(f"index {run.index}") != index_id or run.strategy != strategy.name:
        return False
    info = strategies().named(strategy.name)
    return all_settings(info, run.options) == all_settings(info, strategy.options)


def _measured(result: ExperimentResult, first: str, other: str, place: int) -> Measured | None:
    questions = questions_of(result)
    tokens = scores_of(result, TOKENS, questions)
    ratio = mean_interval(relative(tokens[first], tokens[other]), result.spec.seed)
    if ratio is None:
        return None
    if ratio.low is not None:  # its spread is right to first order alone, and no share of tokens is below 0
        ratio = replace(ratio, low=max(0.0, ratio.low))
    recall = scores_of(result, RECALL, questions)
    return Measured(
        experiment=result.spec.title,
        beside=place,
        questions=len(questions),
        tokens=_estimate(ratio),
        recall=_known(mean_interval(recall[first], result.spec.seed)),
        recall_beside=_known(mean_interval(recall[other], result.spec.seed)),
        difference=_known(difference_interval(recall[first], recall[other], result.spec.seed)),
    )


def _known(interval: Interval | None) -> Estimate | None:
    return None if interval is None else _estimate(interval)


def _estimate(interval: Interval) -> Estimate:
    low, high = (None if bound is None else round(bound, _DIGITS) for bound in (interval.low, interval.high))
    return Estimate(round(interval.value, _DIGITS), low, high, interval.n)


def known_estimate(interval: Interval | None) -> Estimate:
    """Return the estimate. Raises ValueError where there is none."""
    if interval is None:
        raise ValueError("a point of the board has a value")
    return _estimate(interval)
