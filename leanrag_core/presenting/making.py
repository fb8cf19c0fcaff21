"""Makes a presentation of an index: its pictures, and each question asked with each strategy and answered."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from leanrag_core.evaluation.chunk_texts import ChunkTexts
from leanrag_core.evaluation.gold import GoldQuestion
from leanrag_core.evaluation.gold_ranking import gold_ranking
from leanrag_core.presenting import pictures
from leanrag_core.presenting.measured import measured
from leanrag_core.presenting.plan import PresentationPlan, require_valid
from leanrag_core.presenting.story import (
    BridgeEvidence,
    Cost,
    Presentation,
    PresentedIndex,
    PresentedQuestion,
    PresentedStrategy,
    Side,
)
from leanrag_core.storage.recorded_runs import record_of
from leanrag_core.types.experiment import ExperimentResult
from leanrag_core.types.index import Index
from leanrag_core.types.progress import Progress, Report, silent
from leanrag_core.types.recorded_run import RecordedRun
from leanrag_core.types.rows import numbers
from leanrag_core.types.trace import Answer, Trace, TraceRelation
from leanrag_core.types.usage import Usage

Ask = Callable[[Index, str, PresentedStrategy], Answer]
_MOST_BRIDGES = 10
_MOST_TEXT = 1_600  # characters of an item that no context holds
BRIDGE_SHAPE = "arc"  # of the styles of relations between clusters


def make_presentation(
    index: Index,
    plan: PresentationPlan,
    ask: Ask,
    *,
    experiments: Sequence[ExperimentResult] = (),
    report: Report = silent,
) -> Presentation:
    """The presentation. ask: retrieves and answers. experiments: those that may have measured the same.

    Nothing in it depends on the clock or the machine: the same index, plan and answers give the same presentation.
    Raises InvalidConfig for a plan of which none can be made, and what `ask` raises.
    """
    require_valid(plan)
    chunks, total = ChunkTexts(index), len(plan.questions) * len(plan.strategies)
    asked: list[PresentedQuestion] = []
    for question in plan.questions:
        sides: list[Side] = []
        for strategy in plan.strategies:
            report(Progress("ask", len(asked) * len(plan.strategies) + len(sides), total, "questions"))
            sides.append(_side(index, question, ask(index, question.question, strategy), chunks))
        asked.append(PresentedQuestion(question.question, tuple(sides), len(question.evidence)))
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
        questions=tuple(asked),
        cost=Cost(spent.calls, spent.prompt_tokens, spent.completion_tokens, spent.cost),
        measured=measured(experiments, index.id, plan.strategies),
        notes={slide: text for slide, text in plan.notes.items() if text.strip()},
    )


def _side(index: Index, question: GoldQuestion, answer: Answer, chunks: ChunkTexts) -> Side:
    gold = None
    if question.evidence:
        gold = len(frozenset().union(*gold_ranking(question, answer.trace, chunks).context))
    trace = timeless(answer.trace)
    run = RecordedRun(trace, replace(answer, trace=trace, usage=_timeless(answer.usage)))
    return Side(record_of(run), gold, _bridge_evidence(index, trace))


def timeless(trace: Trace) -> Trace:
    """The trace without what differs from one run to the next, and without texts that no slide shows."""
    in_context = {item.ref for section in trace.context.sections for item in section.items}
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
    """What the strongest inter-cluster relations of the trace stand for."""
    arcs = sorted(bridges_of(trace), key=lambda relation: (-relation.strength, relation.id))
    return tuple(_unfolded(index, relation) for relation in arcs[:_MOST_BRIDGES] if relation.row is not None)


def bridges_of(trace: Trace) -> tuple[TraceRelation, ...]:
    """The relations of a trace between clusters, as its strategy draws them."""
    roles = {style.role for style in trace.styles if style.on == "relation" and style.shape == BRIDGE_SHAPE}
    return tuple(relation for relation in trace.relations if relation.role in roles and relation.layer)


def _unfolded(index: Index, relation: TraceRelation) -> BridgeEvidence:
    rows = [relation.row or 0]
    for number in range(relation.layer or 0, 0, -1):
        layer = index.layers[number]
        rows = sorted({int(member) for row in rows for member in layer.relation(row).members})
    owner = numbers(index.chunks["document"])
    counts: dict[int, int] = {}
    for row in rows:
        for document in {int(owner[chunk]) for chunk in index.layers[0].relation(row).chunks}:
            counts[document] = counts.get(document, 0) + 1
    return BridgeEvidence(relation.id, len(rows), len(counts), max(counts.values(), default=0))
