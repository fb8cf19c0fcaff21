"""The result of each column over a question set: cached; columns that call a model run only on request."""

from collections.abc import Sequence
from typing import Any

import streamlit as st

from leanrag_core.comparing.over_questions import SetResult, over_questions
from leanrag_core.errors import LeanRAGError, PartMissing
from leanrag_core.evaluation.gold import GoldQuestion
from leanrag_core.system.threads import BoundedCache
from leanrag_core.types.trace import Trace
from leanrag_core.workbench.questions import AskRequest
from pages.ask import part_view
from pages.common import buttons, markup, session
from pages.common.messages import message, say
from pages.compare.columns import Column

WANTED = "lr_compare_set"  # what a person asked for: the key of a column, or "tries"


def results_of(
    chosen: Sequence[Column], questions: Sequence[GoldQuestion], *, quiet: bool = False
) -> dict[str, SetResult]:
    """Return the results of the columns that can run at once or were requested; draw which others wait. quiet: draw
    nothing."""
    results: dict[str, SetResult] = {}
    waiting: list[str] = []
    for column in chosen:
        calls = column.ask("?").calls_model
        if calls and not is_kept(column, questions) and st.session_state.get(WANTED) != _key(column, questions):
            waiting.append(column.letter)
            continue
        try:
            results[column.letter] = result_of(column, questions)
        except PartMissing as error:
            if not quiet:
                part_view.offer(column.scope, column.summary, column.info, part_view.missing(error))
        except LeanRAGError as error:
            if not quiet:
                message(error, kind="error", title=say("set.column_failed", letter=column.letter))
    if waiting and not quiet:
        letters = say("ask.comma").join(waiting)
        message(say("set.would_call", letters=letters, n=len(questions)))
        for column in chosen:
            if column.letter in waiting:
                label = say("set.run_column", letter=column.letter, n=len(questions))
                key = f"set_run_{column.letter.lower()}"
                buttons.secondary(label, "play_arrow", key, want, _key(column, questions))
    return results


def want(key: Any) -> None:
    st.session_state[WANTED] = key


def _key(column: Column, questions: Sequence[GoldQuestion]) -> tuple[Any, ...]:
    return (*column.ask("").topic, len(questions), hash(tuple(questions)))


@st.cache_resource(show_spinner=False)
def _results() -> BoundedCache[tuple[Any, ...], SetResult]:
    return BoundedCache(64)


def is_kept(column: Column, questions: Sequence[GoldQuestion]) -> bool:
    return _key(column, questions) in _results()


def result_of(column: Column, questions: Sequence[GoldQuestion]) -> SetResult:
    """Return the column's result over the set; it is cached, since other columns' settings do not affect it."""

    def run() -> SetResult:
        index, bench = session.open_index(column.summary), session.workbench()
        place = st.empty()

        def retrieve(question: str) -> Trace:
            request = AskRequest(question, column.chosen.strategy, column.chosen.options, measured=True)
            return bench.questions.retrieve(index, request)

        def say_progress(n: int) -> None:
            if n % 5 == 0:
                place.html(str(markup.muted(say("set.running", letter=column.letter, n=n, questions=len(questions)))))

        def run_all() -> SetResult:
            return over_questions(index, questions, retrieve, say_progress)

        with bench.questions.naming_damage(index):
            result = part_view.with_quick_parts(column.scope, column.summary, "", run_all)
        place.empty()
        return result

    return _results().get_or_make(_key(column, questions), run)
