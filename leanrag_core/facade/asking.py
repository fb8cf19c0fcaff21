"""Questions to an index, answers, recorded runs."""

import string
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np

from leanrag_core.comparing.side_by_side import Comparison
from leanrag_core.facade.services import Services
from leanrag_core.facade.taking_index import takes_index
from leanrag_core.retrieval.base import StrategyList, strategies
from leanrag_core.storage.recorded_runs import read_run, write_run
from leanrag_core.types.index import Index
from leanrag_core.types.progress import Report, silent
from leanrag_core.types.recorded_run import RecordedRun
from leanrag_core.types.spending import Budget
from leanrag_core.types.trace import Answer, Trace, TraceStep


class Asking(Services):
    """Questions to an index, answers, recorded runs. See Workbench."""

    def strategies(self) -> StrategyList:
        """The strategies that can answer a question, LeanRAG first, and the files that hold none."""
        return strategies()

    @takes_index
    def retrieve(
        self,
        index: Index,
        /,
        question: str,
        strategy_name: str = "leanrag",
        *,
        budget: Budget | None = None,
        report: Report = silent,
        cancelled: Callable[[], None] | None = None,
        on_step: Callable[[TraceStep], None] | None = None,
        **options: Any,
    ) -> Trace:
        """What the strategy retrieves for the question. on_step hears of each step of a strategy of several calls.

        Raises InvalidConfig, ModelMismatch, PartMissing, and for strategies that call a model BudgetSpent and what
        `cancelled` raises.
        """
        return self._questions.retrieve(
            index,
            question,
            strategy_name,
            options,
            budget=budget,
            report=report,
            cancelled=cancelled,
            on_step=on_step,
        )

    def asks_model(self, index_model: str) -> bool:
        """Whether a language model is asked about indexes that were built with that one; none is by the built-in
        engine."""
        return self._questions.asks_model(index_model)

    @takes_index
    def naming_damage(self, index: Index) -> AbstractContextManager[None]:
        """An error of the block becomes IndexDamaged where a file of the index turns out to have been changed."""
        return self._questions.naming_damage(index)

    @takes_index
    def read_ahead(self, index: Index) -> None:
        """The search index of a large base layer is read; not the model that embeds questions. Raises SearchIndexFailed
        when it does not answer."""
        self._questions.read_ahead(index)

    def choose_search_server(self) -> None:
        """Search indexes are asked where the settings say."""
        self._questions.choose_search_server()

    @takes_index
    def question_vector(self, index: Index, question: str) -> np.ndarray:
        """(d,) unit vector of the question by the model that the index was built with. Raises InvalidConfig for a
        question that is empty or too long, ModelMismatch."""
        return self._questions.question_vector(index, question)

    @takes_index
    def answer(self, index: Index, trace: Trace) -> Answer:
        """The answer to a trace's question: the strategy's own, else from the context alone."""
        return self._questions.answer(index, trace)

    @takes_index
    def kept_answer(self, index: Index, trace: Trace) -> Answer | None:
        """answer() where no model at an endpoint needs to be asked: None when one would be."""
        return self._questions.kept_answer(index, trace)

    @takes_index
    def stream_answer(self, index: Index, trace: Trace, on_text: Callable[[str], None]) -> Answer:
        """answer(), piece by piece where a language model writes it; extractive answers come in one piece."""
        return self._questions.stream_answer(index, trace, on_text)

    @takes_index
    def ask(self, index: Index, /, question: str, strategy_name: str = "leanrag", **options: Any) -> Answer:
        """Retrieve and answer."""
        return self.answer(index, self.retrieve(index, question, strategy_name, **options))

    @takes_index
    def compare(self, index: Index, question: str, *strategy_names: str, answers: bool = False) -> Comparison:
        """The strategies on one question side by side, as columns A, B, ... answers: they answer as well."""
        letters = string.ascii_uppercase[: len(strategy_names)]
        traces = {
            letter: self.retrieve(index, question, name) for letter, name in zip(letters, strategy_names, strict=True)
        }
        answered = {letter: self.answer(index, trace) for letter, trace in traces.items()} if answers else {}
        return Comparison(traces, answered)

    def save_run(self, path: Path, trace: Trace, answer: Answer | None = None) -> None:
        """Writes a recorded run, which open_run() reads without index and model. Raises StorageFailed."""
        write_run(path, RecordedRun(trace, answer))

    def open_run(self, path: Path) -> RecordedRun:
        """The recorded run of that file. Raises RunNotFound, RunTooNew, RecordDamaged."""
        return read_run(path)
