"""Reranking: the first candidates of any strategy that ranks passages are put in the order of a reranker's scores.

It is one step for all strategies, after their own: it chooses as many passages as they did, and fills the same section
of the context within the same budget.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from leanrag_core.errors import BudgetSpent, CallFailed, EndpointError, InvalidConfig
from leanrag_core.messages.message import Message, message
from leanrag_core.retrieval.base import RERANK, Query, Strategy
from leanrag_core.retrieval.budgets import SectionForm, section
from leanrag_core.retrieval.context import CHUNKS, joined_sections, passage_line, passage_section
from leanrag_core.retrieval.passages import PASSAGE, passage_items
from leanrag_core.retrieval.tools import Tools
from leanrag_core.types.calls import NO_USAGE, Usage
from leanrag_core.types.index import Index
from leanrag_core.types.trace import PASSAGE_ROLE, Context, Trace, TraceItem, TraceStep

STEP = "rerank"
_CONTEXT = "context"  # the step before which reranking comes

Place = tuple[int, int, int]  # of a passage: row of its document, start, end


def retrieved(strategy: Strategy, query: Query, index: Index, tools: Tools) -> Trace:
    """Return what the strategy retrieves, its passages reranked where its options say so. Raises InvalidConfig where
    they do and no reranker is set."""
    n = getattr(getattr(strategy, "config", None), RERANK, 0)
    if n and tools.reranker is None:
        raise InvalidConfig("rerank.no_server")
    # The candidates beyond the passages are known to whole traces alone.
    trace = strategy.retrieve(query, index, replace(tools, context_alone=False) if n else tools)
    return _Reranking(trace, index, tools, n).trace() if n else trace


@dataclass(frozen=True)
class _Candidate:
    item: TraceItem
    row: int
    score: float | None = None


@dataclass(frozen=True, eq=False)
class _Reranking:
    before: Trace
    index: Index
    tools: Tools
    n: int

    def trace(self) -> Trace:
        """Return the trace with its passages reranked; with a note, and as it was, where nothing could be scored."""
        started, spent = time.perf_counter(), self.tools.meter.read().usage
        passages_before = passage_section(self.before)
        candidates = self._candidates()
        if passages_before is None or not candidates or not self.before.passages:
            return self._unchanged(message("rerank.no_passages"), started)
        assert self.tools.reranker is not None  # or retrieved() had refused
        question = self.before.question
        try:
            self.tools.cancelled()
            scores = self.tools.reranker.scores(question, [each.item.text for each in candidates])
        except (EndpointError, CallFailed, BudgetSpent) as error:
            if self.tools.measured:
                raise
            return self._unchanged(message("rerank.failed", reason=error.message), started)
        scored = [replace(each, score=score) for each, score in zip(candidates, scores.values, strict=True)]
        # Rounded, so that a last bit of a server's arithmetic decides no order; ties stay as they were.
        order = sorted(range(len(scored)), key=lambda place: (-round(scored[place].score or 0.0, 6), place))
        ranked = [scored[place] for place in order]
        usage = self.tools.meter.read().usage - spent
        trace = self._reranked(ranked, order, started, usage)
        if not scores.n_cut:
            return trace
        note = message("rerank.cut", n=scores.n_cut, of=len(candidates), window=scores.window)
        return replace(trace, notes=(*trace.notes, note))

    def _candidates(self) -> list[_Candidate]:
        """Return the first passages of the strategy's own ranking: those it took as they are in the trace, then, in
        rank order, the candidates beyond them."""
        known = {_place(item): item for item in self.before.passages}
        rows = list(self.before.ranked_chunks)
        of_row = {self._place_of(row): row for row in rows}
        own_candidates = [_Candidate(item, of_row.get(place, item.row or 0)) for place, item in known.items()]
        rows_beyond = [row for row in rows if self._place_of(row) not in known][: max(0, self.n - len(own_candidates))]
        others = [
            _Candidate(item, row) for item, row in zip(passage_items(self.index, rows_beyond), rows_beyond, strict=True)
        ]
        return [*own_candidates, *others][: self.n]

    def _place_of(self, row: int) -> Place:
        chunk = self.index.chunk(row)
        return self.index.chunk_cells.value("document", row), chunk.start, chunk.end

    def _reranked(self, ranked: Sequence[_Candidate], order: Sequence[int], started: float, usage: Usage) -> Trace:
        before = self.before
        n_passages = len(before.passages)
        beyond = [_Candidate(item, item.row or 0) for item in before.passages[len(ranked) :]]
        passages = [
            replace(
                each.item,
                rank=rank,
                reranked=None if each.score is None else round(each.score, 6),
                reason=_reason(each, order[rank - 1] + 1) if each.score is not None else each.item.reason,
            )
            for rank, each in enumerate([*ranked, *beyond][:n_passages], start=1)
        ]
        ids = {item.id for item in (*before.nodes, *passages)}
        entered = len({item.id for item in passages} - {item.id for item in before.passages})
        caption = message("rerank.caption", n=len(ranked), model=self._name, taken=n_passages, entered=entered)
        step = self._step(caption, passages, started, usage)
        rows = [each.row for each in ranked]
        moved = set(rows)
        styles = before.styles if before.style(PASSAGE_ROLE) or not entered else (*before.styles, PASSAGE)
        nodes = tuple(
            item if item.parent is None or item.parent in ids else replace(item, parent=None) for item in before.nodes
        )
        return replace(
            before,
            items=(*nodes, *passages),
            relations=tuple(each for each in before.relations if each.source in ids and each.target in ids),
            context=self._context(passages),
            steps=self._with_step(step, ids),
            styles=styles,
            usage=before.usage + usage if before.usage.calls else before.usage,
            ranked_chunks=(*rows, *(row for row in before.ranked_chunks if row not in moved)),
        )

    def _context(self, passages: Sequence[TraceItem]) -> Context:
        """Return the context with those passages in the place of the former ones, within the same budget."""
        old_section = passage_section(self.before)
        assert old_section is not None
        heading = old_section.text.partition("\n")[0] + "\n" if old_section.text else CHUNKS.heading
        words = (old_section.title, old_section.phrase or CHUNKS.phrase, old_section.noun or CHUNKS.noun)
        form = SectionForm(old_section.name, *words, old_section.letter, old_section.colour, heading, CHUNKS.nouns)
        new_section = section(form, [passage_line(self.index, item) for item in passages], old_section.budget)
        return joined_sections(*(new_section if each is old_section else each for each in self.before.context.sections))

    def _with_step(self, step: TraceStep, ids: set[str]) -> tuple[TraceStep, ...]:
        """Return the steps with that one before the context's, all without what is no longer in the trace."""
        removed_ids = {item.id for item in self.before.items} - ids
        kept_relations = {
            each.id
            for each in self.before.relations
            if each.source not in removed_ids and each.target not in removed_ids
        }
        steps = [
            replace(
                each,
                items=tuple(id_ for id_ in each.items if id_ in ids),
                relations=tuple(id_ for id_ in each.relations if id_ in kept_relations),
            )
            for each in self.before.steps
        ]
        return _inserted(steps, step)

    @property
    def _name(self) -> str:
        return self.tools.reranker.name if self.tools.reranker is not None else ""

    def _step(self, caption: Message, items: Sequence[TraceItem], started: float, usage: Usage) -> TraceStep:
        milliseconds = (time.perf_counter() - started) * 1000
        ids = tuple(item.id for item in items)
        return TraceStep(STEP, message("rerank.step"), caption, ids, (), usage, milliseconds)

    def _unchanged(self, note: Message, started: float) -> Trace:
        """Return the trace with its own ranking, and a note that says why."""
        steps = self.before.steps
        if steps:
            steps = _inserted(steps, self._step(note, (), started, NO_USAGE))
        return replace(self.before, steps=steps, notes=(*self.before.notes, note))


def _inserted(steps: Sequence[TraceStep], step: TraceStep) -> tuple[TraceStep, ...]:
    if not steps:  # the context alone was wanted
        return ()
    place = next((number for number, each in enumerate(steps) if each.name == _CONTEXT), len(steps))
    return (*steps[:place], step, *steps[place:])


def _place(item: TraceItem) -> Place:
    assert item.source is not None  # or it were no passage
    return item.source.document_row, item.source.start, item.source.end


def _reason(candidate: _Candidate, before: int) -> Message:
    """Return why the passage is here: its score, its place before, and the strategy's own reason."""
    score, own_reason = round(candidate.score or 0.0, 4), candidate.item.reason
    if own_reason is None:
        return message("rerank.reason", score=score, before=before)
    return message("rerank.reason_own", score=score, before=before, own=own_reason)
