"""The subject of a board, and what each of its settings finds over the question set; results are cached."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from leanrag_core.comparing import board, board_controls
from leanrag_core.comparing.board import QuestionScorer, SetScores
from leanrag_core.errors import LeanRAGError
from leanrag_core.evaluation.gold import GoldQuestion
from leanrag_core.execution.background import LatestWork
from leanrag_core.retrieval.base import RERANK, StrategyInfo
from leanrag_core.retrieval.settings import official_settings
from leanrag_core.system.threads import BoundedCache
from leanrag_core.types.index import Index
from leanrag_core.types.manifest import HEURISTIC, IMPORTED
from leanrag_core.types.summary import IndexSummary
from pages.ask import part_view
from pages.common import session, state
from pages.common.messages import words
from pages.common.quicker_runs import TURNS
from pages.compare import board_state
from pages.compare.board_state import Session
from pages.compare.columns import Column

KEPT = 400  # cached results, one per setting
_TRIALS = 12  # cached indexes
_AHEAD_AFTER = 0.15  # seconds; by then the answer has reached the browser
_IDLE_WITHIN, _LOOK_EVERY = 10.0, 0.02  # seconds, while pages of other sessions are drawn


@dataclass(frozen=True)
class Board:
    """The subject of a board. ground: the official settings and those of the index; start: the settings of column A.
    key: of index, system and set, for caches."""

    summary: IndexSummary
    index: Index
    info: StrategyInfo
    questions: tuple[GoldQuestion, ...]
    controls: tuple[board_controls.Control, ...]
    ground: Mapping[str, Any]
    start: Mapping[str, Any]
    key: tuple[object, ...]

    def name(self, settings: Mapping[str, Any], beside: Mapping[str, Any]) -> str:
        """Return the name of a setting, by what differs from another one."""
        return words(board_controls.settings_name(self.controls, settings, beside))

    def now(self) -> dict[str, Any]:
        """Return the settings that the sliders show."""
        return board_state.read(board_state.NOW, self.controls, self.ground, self.start)

    def pinned(self) -> dict[str, Any]:
        """Return the pinned settings."""
        return board_state.read(board_state.PINNED, self.controls, self.ground, self.start)

    def remember(self, name: str, settings: Mapping[str, Any]) -> None:
        """Store settings in the session and in the page's link. name: NOW or PINNED of board_state."""
        state.remember(name, board_controls.settings_link(settings, self.ground))

    def options(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Return the settings that are options of the system."""
        return board_controls.split_settings(settings)[0]

    def of_index(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Return the index settings that differ from those of column A's index."""
        return board_controls.split_settings(
            {key: value for key, value in settings.items() if value != self.ground[key]}
        )[1]

    def index_of(self, settings: Mapping[str, Any]) -> Index:
        """Return the index with these settings: the column's own, else a trial made from kept stages."""
        of_index = self.of_index(settings)
        if not of_index:
            return self.index
        topic = (*self.key[:2], tuple(sorted(of_index.items())))
        return _trials().get_or_make(topic, lambda: session.workbench().trials.make(self.index, of_index))

    def index_id(self, settings: Mapping[str, Any]) -> str:
        """Return the id of the index with these settings, "" for the column's own."""
        index = self.index_of(settings)
        return "" if index is self.index else index.folder_name

    def summary_of(self, settings: Mapping[str, Any]) -> IndexSummary:
        """Return the summary of the index with these settings."""
        other = self.index_id(settings)
        return session.workbench().indexes.summary(other) if other else self.summary

    def scored(self, settings: Mapping[str, Any]) -> tuple[SetScores, float]:
        """Return what the settings find over the set, and how many seconds the measurement took."""

        def run() -> tuple[SetScores, float]:
            began = time.perf_counter()
            index = self.index_of(settings)
            with session.workbench().questions.naming_damage(index):
                scores = part_view.with_quick_parts(
                    board_state.PARTS, self.summary_of(settings), "", lambda: self._score(index, settings)
                )
            return scores, time.perf_counter() - began

        return _results().get_or_make(self._topic(settings), run)

    def _score(self, index: Index, settings: Mapping[str, Any]) -> SetScores:
        retrieve = session.workbench().questions.retriever(
            index, self.info.name, self.options(settings), context_alone=True
        )
        # If another slider was moved meanwhile, state.memory ends this run at the next question.
        return _scorer(self.key, self.questions).score(retrieve, state.memory)

    def scored_column(self, column: Column) -> SetScores | None:
        """Return what a column with another system finds over the set; None if it cannot be asked at once."""
        if (
            column.info.name == self.info.name
            or column.base.id != self.summary.id
            or column.changed
            or column.info.calls_model
            or column.chosen.options.get(RERANK)
        ):
            return None

        def run() -> tuple[SetScores, float]:
            questions = session.workbench().questions
            retrieve = questions.retriever(self.index, column.info.name, column.chosen.options, context_alone=True)
            return _scorer(self.key, self.questions).score(retrieve), 0.0

        try:
            return _results().get_or_make((*self.key, column.ask("").topic), run)[0]
        except LeanRAGError:  # the side-by-side view says what that column lacks
            return None

    def read_ahead(self, board_session: Session) -> None:
        """Measure the likely next moves in a thread until a slider is moved; pause while pages are drawn."""
        results, scorer, asking = _results(), _scorer(self.key, self.questions), session.workbench().questions
        waiting = []
        for settings in board_controls.neighbours(
            self.controls, self.now(), board_session.moved, board_session.towards
        ):
            topic = self._topic(settings)
            if topic not in results:
                waiting.append((topic, self.index_of(settings), self.options(settings)))

        def work(look: Callable[[], None]) -> None:
            board.prepare()
            for topic, index, options in waiting:
                if not _until_idle(look):
                    return
                began = time.perf_counter()
                try:
                    retrieve = asking.retriever(index, self.info.name, options, context_alone=True)
                    results.keep(topic, (scorer.score(retrieve, look), time.perf_counter() - began))
                except LeanRAGError:  # shown when somebody moves there
                    return

        if waiting:
            _ahead().begin(work, after_seconds=_AHEAD_AFTER)

    def _topic(self, settings: Mapping[str, Any]) -> tuple[object, ...]:
        return (*self.key, tuple(sorted(settings.items())))


def board_of(chosen: Sequence[Column], info: StrategyInfo, questions: tuple[GoldQuestion, ...]) -> Board:
    """Return the board of a system on the index of column A."""
    summary = chosen[0].base
    index = session.open_index(summary)
    official = official_settings(info)
    start = {**official, **(chosen[0].chosen.options if chosen[0].info.name == info.name else {})}
    config, heuristic = index.manifest.config, index.manifest.kind == HEURISTIC
    links = [state.recall(board_state.NOW), state.recall(board_state.PINNED)]
    linked = board_controls.values_of_links(links, info.config)
    listed = board_controls.strategy_controls(info.config, [start, *linked])
    ground, start = ({control.key: each[control.key] for control in listed} for each in (official, start))
    if index.manifest.kind != IMPORTED and index.manifest.corpus.id:
        defaults = board_controls.index_settings(config, heuristic=heuristic)
        tried = board_controls.index_settings(replace(config.checked(), **chosen[0].changed), heuristic=heuristic)
        ground, start = ground | defaults, start | tried
        listed += board_controls.index_controls(config, [defaults, tried, *linked], heuristic=heuristic)
    key = (summary.id, summary.created, info.name, hash(questions))
    return Board(summary, index, info, questions, listed, ground, start, key)


def end_read_ahead() -> None:
    """End the measurement of the likely next moves."""
    _ahead().end()


def _until_idle(look: Callable[[], None]) -> bool:
    """Wait until no session's page is being drawn; return False if that takes too long."""
    deadline = time.monotonic() + _IDLE_WITHIN
    while True:
        look()
        if TURNS.is_idle or time.monotonic() > deadline:
            return TURNS.is_idle
        time.sleep(_LOOK_EVERY)


@st.cache_resource(show_spinner=False)
def _trials() -> BoundedCache[tuple[Any, ...], Index]:
    return BoundedCache(_TRIALS)


@st.cache_resource(show_spinner=False)
def _results() -> BoundedCache[tuple[Any, ...], tuple[SetScores, float]]:
    return BoundedCache(KEPT)


@st.cache_resource(show_spinner=False, max_entries=4)
def _scorer(key: tuple[object, ...], _questions: tuple[GoldQuestion, ...]) -> QuestionScorer:
    return QuestionScorer(_questions)


@st.cache_resource(show_spinner=False)
def _ahead() -> LatestWork:
    return LatestWork()
