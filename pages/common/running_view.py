"""The sidebar's lines about running jobs, on every page."""

from collections.abc import Sequence
from pathlib import Path

import streamlit as st
from markupsafe import Markup

from leanrag_core.errors import LeanRAGError
from leanrag_core.figures import numbers
from leanrag_core.messages.catalog import sentence
from leanrag_core.messages.message import message
from leanrag_core.types.job import JobState
from pages.common import buttons, dialogs, forms, markup, session, state
from pages.common.html import draw, html
from pages.common.messages import known, say

_EVERY = 2.0  # seconds between two drawings
_MOST = 3  # most jobs with a line of their own
_AWAITED = "lr_awaited_index"  # the job whose index will be chosen once it is built


def choose_when_built(job_id: str) -> None:
    """Let the sidebar of Build choose the index of the job, the one begun or shown last, once it is built."""
    st.session_state[_AWAITED] = job_id


def choose_built() -> None:
    """Choose the awaited index if it is built. Called before the sidebar is drawn."""
    job_id = st.session_state.get(_AWAITED)
    if job_id is None:
        return
    try:
        job = session.workbench().jobs.job(job_id)
    except LeanRAGError:  # its record was deleted
        del st.session_state[_AWAITED]
        return
    if not job.live:
        del st.session_state[_AWAITED]
        if job.result:
            state.remember("index", job.result)


def line(jobs: Sequence[JobState], build_page: Path, *, first: bool) -> None:
    """Draw a line for each of these jobs, with its progress and a link to Build, and redraw it while they run.

    first: there is no index yet; the page is redrawn when a job has made one.
    """
    if jobs:
        st.fragment(_lines, run_every=_EVERY)(tuple(job.id for job in jobs), build_page, first)


def _lines(job_ids: Sequence[str], build_page: Path, first: bool) -> None:
    jobs = []
    for job_id in job_ids:
        try:
            jobs.append(session.workbench().jobs.job(job_id))
        except LeanRAGError:  # deleted meanwhile
            continue
    if first and any(job.status == "done" and job.builds_index for job in jobs):
        dialogs.refresh()
    with st.container(key="running_jobs", gap="xsmall"):
        for job in jobs[:_MOST]:
            if buttons.tertiary(
                forms.plain(_words(job)), "construction", f"running_{job.id}", state.remember, "job", job.id
            ):
                st.switch_page(build_page)
            if job.live:
                draw(_bar(job))
        if len(jobs) > _MOST:
            code = "running.more" if all(job.builds_index for job in jobs) else "running.more_jobs"
            draw(html('<div class="lr-side">{}</div>', say(code, n=len(jobs) - _MOST)))


def _words(job: JobState) -> str:
    wording = job.kind.wording
    codes = {
        "running": wording.running,
        "queued": wording.queued,
        "done": wording.done,
        "stopped": "job.stopped_by_server" if job.stopped_by_server else "job.stopped",
        "cancelled": "job.cancelled",
    }
    code = codes.get(job.status, wording.failed)
    # The share is not broken at the end of a line.
    return say(code, title=_title(job), share=numbers.share(job.share).replace(" ", "\u00a0"))


def _title(job: JobState) -> str:
    """Return the job's title, which is stored in English; the title of an index part in it is in the reader's
    language."""
    code = f"part.{job.config.get('part', '')}.title"
    return job.title.replace(sentence(message(code)), say(code), 1) if known(code) else job.title


def _bar(job: JobState) -> Markup:
    name = say("running.share" if job.builds_index else "running.share_of_job", title=_title(job))
    return markup.progress_bar(name, job.share, "thin")
