"""A retrieval in progress: what its steps took, what the reader should know, and the trace that is made of them."""

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from leanrag_core.messages.message import Message, message
from leanrag_core.retrieval.base import Query, StrategyBase, recorded_options, trace_index
from leanrag_core.retrieval.tools import Tools
from leanrag_core.types.calls import NO_USAGE, Usage
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Context, Style, Trace, TraceItem, TraceRelation, TraceStep


def link(source: str, target: str, role: str, made: str) -> TraceRelation:
    """Return a link between two items of those ids, which stands for no relation of an index."""
    return TraceRelation(f"{source}-{target}", source, target, role, None, made, 1.0, "")


class Retrieval:
    """A question that a strategy works on.

    options: the strategy's Config. title: of the strategy, which may have one for each of its modes. search: how the
    vectors were searched. notes: what the reader should know. milliseconds, usage: what each step took, by name.
    """

    def __init__(self, strategy: StrategyBase[Any], query: Query, index: Index, tools: Tools) -> None:
        self.strategy, self.query, self.index, self.tools = strategy, query, index, tools
        self.options = strategy.config
        self.title, self.search = strategy.title, "exact"
        self.notes: list[Message] = []
        self.milliseconds: dict[str, float] = {}
        self.usage: dict[str, Usage] = {}
        self._spent = tools.meter.read().usage if strategy.calls_model else NO_USAGE
        self._last = time.perf_counter()

    def lap(self, name: str) -> None:
        """Add the time and usage since the last lap to that step; a step may have several laps."""
        now = time.perf_counter()
        self.milliseconds[name] = self.milliseconds.get(name, 0.0) + (now - self._last) * 1000
        self._last = now
        # Questions that run at the same time share a meter; a strategy that calls no model must not count their calls.
        if self.strategy.calls_model:
            spent = self.tools.meter.read().usage
            self.usage[name] = self.usage.get(name, NO_USAGE) + (spent - self._spent)
            self._spent = spent

    def note(self, note: Message | None) -> None:
        """Add a note, once."""
        if note is not None and note not in self.notes:
            self.notes.append(note)

    def step(
        self,
        name: str,
        caption: Message,
        items: Sequence[TraceItem | str] = (),
        relations: Sequence[TraceRelation | str] = (),
        title: Message | None = None,
    ) -> TraceStep:
        """Return the step of that name, with what its laps took. items, relations: what it lights up, or their ids.

        title: else the message "strategy.step.name", with the names of the strategy and of the step.
        """
        return TraceStep(
            name,
            title or message(f"{self.strategy.name}.step.{name}"),
            caption,
            tuple(item if isinstance(item, str) else item.id for item in items),
            tuple(each if isinstance(each, str) else each.id for each in relations),
            self.usage.get(name, NO_USAGE),
            self.milliseconds.get(name, 0.0),
        )

    def announce(self, step: TraceStep) -> TraceStep:
        """Pass the finished step to the listener, and return it."""
        self.tools.on_step(step)
        return step

    def context_trace(self, context: Context, passages: Sequence[TraceItem]) -> Trace:
        """Return the trace of tools that want the context alone: it and its passages."""
        return self.trace(context, steps=(), styles=(), items=passages)

    def trace(
        self,
        context: Context,
        steps: Sequence[TraceStep],
        styles: Sequence[Style],
        items: Sequence[TraceItem],
        relations: Sequence[TraceRelation] = (),
        ranked_chunks: Sequence[int] | np.ndarray = (),
    ) -> Trace:
        """Return the trace. items, relations: all that is drawn. ranked_chunks: rows of the candidates, best first;
        many of them as an array, (k,) int, which is read at once."""
        spent = sum(self.usage.values(), NO_USAGE)
        return Trace(
            question=self.query.text,
            strategy=self.strategy.name,
            title=self.title,
            parameters=recorded_options(self.options),
            items=tuple(items),
            relations=tuple(relations),
            context=context,
            steps=tuple(steps),
            styles=tuple(styles),
            index=trace_index(self.index),
            notes=tuple(self.notes),
            usage=spent if spent.calls else NO_USAGE,
            ranked_chunks=tuple(
                ranked_chunks.tolist() if isinstance(ranked_chunks, np.ndarray) else map(int, ranked_chunks)
            ),
            search=self.search,
        )
