"""An index built again with another tau: the job that makes it, and the way to it when it is done."""

import streamlit as st

from leanrag_core.errors import LeanRAGError
from leanrag_core.figures import numbers
from leanrag_core.types.config import IndexConfig
from leanrag_core.types.summary import IndexSummary
from pages.build import job_words
from pages.common import session, state
from pages.common.frame import message
from pages.common.html import draw, html
from pages.common.messages import say, words

_JOB = "lr_rebuild"  # in the session: the index at hand, the job that rebuilds it
_FAULT = "lr_rebuild_fault"


def start(summary: IndexSummary, config: IndexConfig) -> None:
    """A job builds the index's corpus with these settings, beside the index."""
    try:
        job_id = session.workbench().builds.start(summary.corpus_id, config, summary.name)
        session.endpoint_builds.clear()
        st.session_state[_JOB] = (summary.id, job_id)
    except LeanRAGError as error:
        st.session_state[_FAULT] = words(error)


def go_to(index_id: str) -> None:
    """That index is the one at hand; what was chosen in the other one is forgotten."""
    state.remember("index", index_id)
    for name in ("node", "rel", "focus"):
        state.remember(name, None)


def progress(index_id: str) -> None:
    """The job that rebuilds this index, while it is under way; then its index is opened."""
    fault = st.session_state.pop(_FAULT, "")
    if fault:
        message(fault, kind="error")
    of, job_id = st.session_state.get(_JOB, ("", ""))
    if of == index_id:
        live = session.workbench().jobs.job(job_id).live
        st.fragment(_line, run_every=0.5 if live else None)(job_id)


def _line(job_id: str) -> None:
    job = session.workbench().jobs.job(job_id)
    if job.status == "done" and job.result:
        st.session_state.pop(_JOB, None)
        go_to(job.result)
        st.rerun()
    if not job.live:
        message(job.error or job_words.ended(job), kind="error")
        return
    running = next((stage for stage in job.stages if stage.status == "running"), None)
    doing = words(job.kind.stage(running.name).doing) if running else say("explore.tau.starting")
    percent = f"{100 * job.share:.0f}"
    draw(
        html(
            '<div class="lr-small" role="status">{}</div><div class="lr-prog" role="progressbar" aria-label="{}" '
            'aria-valuenow="{}" aria-valuemin="0" aria-valuemax="100"><u style="width:{}%"></u></div>',
            say("explore.tau.under_way", doing=doing, share=numbers.share(job.share)),
            say("explore.tau.under_way", doing=doing, share=""),
            percent,
            percent,
        )
    )
