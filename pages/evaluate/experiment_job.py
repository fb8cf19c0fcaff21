"""The job that runs an experiment: its progress, and what it made."""

import streamlit as st

from leanrag_core.errors import JobNotFound
from leanrag_core.types.job import JobState
from pages.build import job_view
from pages.common import session, state
from pages.common.messages import message, say
from pages.evaluate import experiments, places

KINDS = ("experiment", "sweep")


def show() -> None:
    """The job that the link names, else one that runs; an ended one can be closed."""
    wanted = state.recall(places.JOB)
    jobs = [job for job in session.running_jobs() if job.kind.name in KINDS]
    if not wanted and not jobs:
        return
    try:
        job = session.workbench().jobs.job(wanted) if wanted else jobs[0]
    except JobNotFound as error:
        message(error, kind="error")
        state.remember(places.JOB, None)
        return
    job_view.show(job.id)
    if not job.live:
        _ended(job)


def _ended(job: JobState) -> None:
    with st.container(horizontal=True, gap="small"):
        if job.status == "done" and job.result and job.kind.name == "experiment":
            st.button(
                say("evaluate.history.show"),
                icon=":material/table_chart:",
                key="job_results",
                on_click=_show,
                args=(job.result,),
            )
        st.button(
            say("evaluate.job_close"),
            icon=":material/close:",
            type="tertiary",
            key="job_close",
            on_click=state.remember,
            args=(places.JOB, None),
        )


def _show(experiment: str) -> None:
    experiments.show(experiment)
    state.remember(places.JOB, None)
    state.remember(places.TAB, None)
