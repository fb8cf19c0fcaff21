"""An index part that a strategy lacks: made at once if that takes seconds; else its forecast, a button that makes it,
and the progress."""

from collections.abc import Callable, Sequence
from typing import TypeVar

import streamlit as st

from leanrag_core.errors import LeanRAGError, PartMissing
from leanrag_core.figures import numbers
from leanrag_core.retrieval.base import StrategyInfo
from leanrag_core.types.forecast import Forecast
from leanrag_core.types.job import JobState
from leanrag_core.types.summary import IndexSummary
from pages.ask import asking
from pages.common import buttons, dialogs, markup, session
from pages.common.html import draw, html
from pages.common.messages import message, say, span, words
from pages.common.scope import Scope

_EVERY = 1.0  # seconds between two looks at the job
_QUICK_SECONDS = 5.0  # forecast up to which a part is made without a click
_Retrieved = TypeVar("_Retrieved")


def with_quick_parts(
    scope: Scope, summary: IndexSummary, question: str, retrieve: Callable[[], _Retrieved]
) -> _Retrieved:
    """Return what retrieve() returns. First make the parts it lacks, if that takes seconds and calls no model;
    made_line() then reports them. Raises PartMissing for a part that takes longer, and any error of making one."""
    made_parts: list[tuple[str, float]] = []
    while True:
        try:
            return retrieve()
        except PartMissing as error:
            part = missing(error)
            if part in (name for name, _ in made_parts) or not _is_quick(summary, part):
                raise
            bench, title = session.workbench(), _title(summary, part)
            with st.spinner(say("part.making_first", part=title)):
                record = bench.parts.build(session.open_index(summary), part)
            made_parts.append((part, record.seconds))
            st.session_state[scope.key("parts_made")] = (summary.id, question, tuple(made_parts))


def made_line(scope: Scope, summary: IndexSummary, question: str) -> None:
    """Draw a line about the parts that were made for this question without a click."""
    index, asked_question, made_parts = st.session_state.get(scope.key("parts_made"), ("", "", ()))
    if (index, asked_question) == (summary.id, question):
        named = [
            say("part.in_time", part=_title(summary, name), time=numbers.duration(each)) for name, each in made_parts
        ]
        draw(markup.muted(say("part.made_first", n=len(made_parts), parts=say("ask.comma").join(named))))


def missing(error: PartMissing) -> str:
    """Return the name of the part that is missing."""
    return str(error.message.values.get("part", ""))


def _is_quick(summary: IndexSummary, part: str) -> bool:
    """Return whether the part can be made in seconds, without a model, and without waiting for a job at the same
    index."""
    for job in session.running_jobs():
        if job.config.get("index") == summary.id or (job.builds_index and job.corpus_id == summary.corpus_id):
            return False
    try:
        forecasts = _forecasts(summary, _with_needs(summary, part))
    except LeanRAGError:  # offer() shows the error
        return False
    seconds = sum(forecast.seconds.expected for forecast in forecasts)
    return seconds <= _QUICK_SECONDS and not any(forecast.calls.high for forecast in forecasts)


def _with_needs(summary: IndexSummary, part: str) -> list[str]:
    """Return the part, preceded by the required parts that the index lacks."""
    lacking = {state.name: state for state in session.workbench().parts.lacking(session.open_index(summary))}
    return [*(need for need in lacking[part].needs if need in lacking), part] if part in lacking else [part]


def _forecasts(summary: IndexSummary, names: Sequence[str]) -> list[Forecast]:
    return [session.workbench().parts.forecast(session.open_index(summary), name) for name in names]


def offer(scope: Scope, summary: IndexSummary, info: StrategyInfo, part: str, *, ask_again: str = "") -> None:
    """Draw the part that the strategy lacks: its job's progress, or its forecast and buttons that make it, alone or
    with all others. Further missing parts of the strategy follow automatically; when all are there, the page is
    redrawn. ask_again: a question that a person has already asked; it is then asked even if that calls a model."""
    job = _job_of(summary, part)
    wanted = st.session_state.get(_key(scope))
    if job is None and wanted == (summary.id, info.name):
        job = _start(scope, summary, part)
    if job is not None:
        st.fragment(_progress, run_every=_EVERY)(scope, job.id, _title(summary, part), ask_again)
        return
    try:
        states = {state.name: state for state in session.workbench().parts.all(session.open_index(summary))}
        lacking = [state.name for state in session.workbench().parts.lacking(session.open_index(summary))]
        takes = _takes(_forecasts(summary, _with_needs(summary, part)))
        all_take = _takes(_forecasts(summary, lacking))
    except LeanRAGError as error:
        message(error, kind="error")
        return
    title = words(states[part].title) if part in states else part
    failed = _failed(summary, part)
    if failed is not None and failed.error is not None:
        message(words(failed.error), kind="error", title=say("part.not_made_before"))
    message(say("part.needed", strategy=words(info.title), part=title), title=say("part.not_made"))
    if part in states:
        draw(markup.muted(words(states[part].help)))
    draw(html('<div class="lr-small lr-num">{}</div>', takes))
    with st.container(horizontal=True, gap="small"):
        key = scope.name("make_part")
        buttons.secondary(say("part.make"), "build", key, _want, scope, summary, info, part, help=say("part.make_hint"))
        if len(lacking) > 1:
            label, key = say("part.make_all", n=len(lacking)), scope.name("make_all_parts")
            buttons.tertiary(label, "", key, _want_all, scope, summary, info, part, lacking, help=all_take)


def _title(summary: IndexSummary, part: str) -> str:
    """Return the part's title in the reader's language (the job's title is English), or its name if the index is
    gone."""
    try:
        return next(
            (
                words(state.title)
                for state in session.workbench().parts.all(session.open_index(summary))
                if state.name == part
            ),
            part,
        )
    except LeanRAGError:
        return part


def _key(scope: Scope) -> str:
    return scope.key("parts_wanted")


def _want(scope: Scope, summary: IndexSummary, info: StrategyInfo, part: str) -> None:
    st.session_state[_key(scope)] = (summary.id, info.name)
    _start(scope, summary, part)


def _want_all(scope: Scope, summary: IndexSummary, info: StrategyInfo, part: str, lacking: Sequence[str]) -> None:
    """Start jobs that make all parts that the index lacks, this one first. For callbacks."""
    _want(scope, summary, info, part)
    begun = {str(job.config.get("part")) for job in session.running_jobs() if job.config.get("index") == summary.id}
    try:
        for name in lacking:
            if name not in begun:
                session.workbench().parts.start(summary.id, name)
    except LeanRAGError as error:
        message(error, kind="error")


def _start(scope: Scope, summary: IndexSummary, part: str) -> JobState | None:
    """Start the job that makes the part and return it; None if it cannot begin, or if the last one ended without the
    part."""
    tried = scope.key("parts_tried")
    if st.session_state.get(tried) == (summary.id, part):
        st.session_state.pop(tried)
        st.session_state.pop(_key(scope), None)  # a person decides whether to try again
        return None
    try:
        job_id = session.workbench().parts.start(summary.id, part)
        st.session_state[tried] = (summary.id, part)
        return session.workbench().jobs.job(job_id)
    except LeanRAGError as error:
        st.session_state.pop(_key(scope), None)
        message(error, kind="error")
        return None


def _job_of(summary: IndexSummary, part: str) -> JobState | None:
    """Return the running job that makes that part, whoever started it."""
    return next((job for job in session.running_jobs() if _makes(job, summary, part)), None)


def _failed(summary: IndexSummary, part: str) -> JobState | None:
    """Return the last job for that part if it ended without the part."""
    last = next((job for job in session.workbench().jobs.all() if _makes(job, summary, part)), None)
    return last if last is not None and last.status not in ("done", "cancelled") and not last.live else None


def _makes(job: JobState, summary: IndexSummary, part: str) -> bool:
    return job.kind.makes == "part" and (job.config.get("index"), job.config.get("part")) == (summary.id, part)


def _progress(scope: Scope, job_id: str, title: str, ask_again: str) -> None:
    try:
        job = session.workbench().jobs.job(job_id)
    except LeanRAGError:  # the index was deleted meanwhile
        dialogs.refresh()
        return
    if job.status == "done":
        st.session_state.pop(scope.key("parts_tried"), None)
        if ask_again:
            asking.want(scope, ask_again)
    if not job.live:
        dialogs.refresh()
    draw(
        markup.label(say("part.being_made", title=title), numbers.share(job.share)),
        markup.progress_bar(title, job.share),
        markup.muted(say("part.goes_on")),
    )


def _takes(forecasts: Sequence[Forecast]) -> str:
    """Return in a sentence the total time, and if a model is asked the calls and the cost."""
    seconds, calls, dollars = (
        (sum(each.low for each in ranges), sum(each.high for each in ranges))
        for ranges in (
            [forecast.seconds for forecast in forecasts],
            [forecast.calls for forecast in forecasts],
            [forecast.dollars for forecast in forecasts],
        )
    )
    time = span(*map(numbers.duration, seconds))
    if not calls[1]:
        return say("part.takes", time=time)
    money = span(*map(numbers.money, dollars))
    return say("part.takes_calls", time=time, calls=span(*(f"{n:,.0f}" for n in calls)), money=money)
