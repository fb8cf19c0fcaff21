"""The line in the sidebar that tells of builds under way, on every page."""

from collections.abc import Sequence
from pathlib import Path

import streamlit as st
from markupsafe import Markup

from leanrag_core.errors import LeanRAGError
from leanrag_core.figures import numbers
from leanrag_core.types.summary import JobState
from pages._shared.common import forms, session, state
from pages._shared.common.html import draw, html

_EVERY = 2.0  # seconds between two looks
_MOST = 3  # builds with a line of their own
_LIVE = ("queued", "running")
_ENDED = {"done": "is built", "stopped": "stopped at its budget", "cancelled": "was cancelled"}


def line(jobs: Sequence[JobState], build_page: Path, *, first: bool) -> None:
    """A line for each of these jobs, with its share and a link to Build, drawn anew while they live. first: there is no
    index yet, so that the page is drawn again when one of them has ended."""
    if jobs:
        st.fragment(_lines, run_every=_EVERY)(tuple(job.id for job in jobs), build_page, first)


def _lines(job_ids: Sequence[str], build_page: Path, first: bool) -> None:
    jobs = []
    for job_id in job_ids:
        try:
            jobs.append(session.workbench().job(job_id))
        except LeanRAGError:  # deleted since
            continue
    if first and any(job.status == "done" for job in jobs):
        st.rerun()
    with st.container(key="running_jobs", gap="xsmall"):
        for job in jobs[:_MOST]:
            if st.button(
                forms.plain(_said(job)),
                key=f"running_{job.id}",
                type="tertiary",
                icon=":material/construction:",
                on_click=state.remember,
                args=("job", job.id),
            ):
                st.switch_page(build_page)
            if job.status in _LIVE:
                draw(_bar(job))
        if len(jobs) > _MOST:
            draw(html('<div class="lr-side">and {}</div>', numbers.counted(len(jobs) - _MOST, "more build")))


def _said(job: JobState) -> str:
    if job.status == "running":
        return f"Building {job.title}, {numbers.share(job.share)}"
    if job.status == "queued":
        return f"{job.title} is about to be built"
    return f"{job.title} {_ENDED.get(job.status, 'could not be built')}"


def _bar(job: JobState) -> Markup:
    percent = f"{100 * job.share:.0f}"
    return html(
        '<div class="lr-prog thin" role="progressbar" aria-label="Share of the build of {}" '
        'aria-valuenow="{}" aria-valuemin="0" aria-valuemax="100"><u style="width:{}%"></u></div>',
        job.title,
        percent,
        percent,
    )
