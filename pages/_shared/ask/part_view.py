"""An index part that a strategy lacks: what making it takes, a button that makes it, and its progress."""

import streamlit as st

from leanrag_core.errors import LeanRAGError
from leanrag_core.figures import numbers
from leanrag_core.retrieval.base import StrategyInfo
from leanrag_core.types.forecast import Forecast
from leanrag_core.types.job import JobState
from leanrag_core.types.summary import IndexSummary
from pages._shared.common import markup, session
from pages._shared.common.html import draw, html
from pages._shared.common.messages import message, say, words
from pages._shared.common.scope import Scope

_EVERY = 1.0  # seconds between two looks at the job


def offer(scope: Scope, summary: IndexSummary, info: StrategyInfo, part: str) -> None:
    """The part that the strategy lacks: its job's progress, or what it takes and a button to make it. Parts that the
    strategy needs beside it follow by themselves; when all are there, the page is drawn again."""
    job = _job_of(summary, part)
    wanted = st.session_state.get(_key(scope))
    if job is None and wanted == (summary.id, info.name):
        job = _start(scope, summary, part)
    if job is not None:
        st.fragment(_progress, run_every=_EVERY)(scope, job.id, _title(summary, part))
        return
    try:
        states = {state.name: state for state in session.workbench().parts(summary.id)}
        forecast = session.workbench().forecast_part(session.open_index(summary), part)
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
    draw(html('<div class="lr-small lr-num">{}</div>', _takes(forecast)))
    st.button(
        say("part.make"),
        icon=":material/build:",
        key=scope.name("make_part"),
        help=say("part.make_hint"),
        on_click=_want,
        args=(scope, summary, info, part),
    )


def _title(summary: IndexSummary, part: str) -> str:
    """The part's title in the reader's language (that of its job is English), or its name for an index that is gone."""
    try:
        return next((words(state.title) for state in session.workbench().parts(summary.id) if state.name == part), part)
    except LeanRAGError:
        return part


def _key(scope: Scope) -> str:
    return scope.key("parts_wanted")


def _want(scope: Scope, summary: IndexSummary, info: StrategyInfo, part: str) -> None:
    st.session_state[_key(scope)] = (summary.id, info.name)
    _start(scope, summary, part)


def _start(scope: Scope, summary: IndexSummary, part: str) -> JobState | None:
    """The job that makes the part; none when it cannot begin, or when the last one ended without the part."""
    tried = scope.key("parts_tried")
    if st.session_state.get(tried) == (summary.id, part):
        st.session_state.pop(tried)
        st.session_state.pop(_key(scope), None)  # so that a person decides whether to try again
        return None
    try:
        job_id = session.workbench().start_part(summary.id, part)
        st.session_state[tried] = (summary.id, part)
        return session.workbench().job(job_id)
    except LeanRAGError as error:
        st.session_state.pop(_key(scope), None)
        message(error, kind="error")
        return None


def _job_of(summary: IndexSummary, part: str) -> JobState | None:
    """The job under way that makes that part, whoever began it."""
    return next((job for job in session.running_jobs() if _makes(job, summary, part)), None)


def _failed(summary: IndexSummary, part: str) -> JobState | None:
    """The last job that was to make that part, where it ended without it."""
    last = next((job for job in session.workbench().jobs() if _makes(job, summary, part)), None)
    return last if last is not None and last.status not in ("done", "cancelled") and not last.live else None


def _makes(job: JobState, summary: IndexSummary, part: str) -> bool:
    return job.kind.makes == "part" and (job.config.get("index"), job.config.get("part")) == (summary.id, part)


def _progress(scope: Scope, job_id: str, title: str) -> None:
    try:
        job = session.workbench().job(job_id)
    except LeanRAGError:  # deleted since
        st.rerun()
    if job.status == "done":
        st.session_state.pop(scope.key("parts_tried"), None)
    if not job.live:
        st.rerun()
    draw(
        markup.label(say("part.being_made", title=title), numbers.share(job.share)),
        html(
            '<div class="lr-prog" role="progressbar" aria-label="{}" aria-valuenow="{}" aria-valuemin="0" '
            'aria-valuemax="100"><u style="width:{}%"></u></div>',
            title,
            f"{100 * job.share:.0f}",
            f"{100 * job.share:.0f}",
        ),
        markup.muted(say("part.goes_on")),
    )


def _span(low: str, high: str) -> str:
    """From the one to the other, or one of them where both say the same."""
    return low if low == high else say("part.span", low=low, high=high)


def _takes(forecast: Forecast) -> str:
    """Time, and where a model is asked calls and money, in a sentence."""
    time = _span(numbers.duration(forecast.seconds.low), numbers.duration(forecast.seconds.high))
    if not forecast.calls.high:
        return say("part.takes", time=time)
    money = _span(numbers.money(forecast.dollars.low), numbers.money(forecast.dollars.high))
    calls = _span(f"{forecast.calls.low:,.0f}", f"{forecast.calls.high:,.0f}")
    return say("part.takes_calls", time=time, calls=calls, money=money)
