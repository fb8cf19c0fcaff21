"""Build: settings, the running job, its report, and the indexes."""

import streamlit as st

from leanrag_core.errors import JobNotFound
from leanrag_core.figures import numbers
from leanrag_core.types.job import JobState
from pages.build import (
    build_report,
    engine_form,
    forecast_card,
    index_actions,
    index_table,
    job_view,
    job_words,
    settings_form,
    snapshots_view,
    suggest_view,
)
from pages.common import buttons, forms, markup, running_view, session, state
from pages.common.frame import enter, heading
from pages.common.html import draw, html
from pages.common.messages import language, message, say

_EARLIER = 12  # most jobs that are listed
_URL = (
    *("index", "corpus", "job", "group", index_actions.TICKED, snapshots_view.COMPARED),
    *engine_form.URL,
    *forecast_card.URL,
)


def page() -> None:
    running_view.choose_built()
    enter("build")
    workbench = session.workbench()
    corpora, jobs = workbench.corpora.all(), workbench.jobs.all()
    heading(say("page.build"), say("build.facts"))
    if not corpora:
        draw(html('<div class="lr-empty">{}</div>', say("build.no_corpus")))
        return
    _job_panel(jobs)
    left, right = st.columns([7, 4], gap="large")
    with left:
        form = settings_form.show(corpora)
        suggest_view.fold(form.corpus_id)
    with right:
        corpus = next(corpus for corpus in corpora if corpus.id == form.corpus_id)
        forecast_card.card(corpus, form.config, form.engine, jobs, fault=form.fault)
    index_actions.deleted()
    indexes = session.index_list().indexes
    if indexes:
        index_table.show(indexes)
    else:
        draw(html('<div class="lr-empty">{}</div>', say("build.no_index")))
    _earlier(jobs)
    state.publish([*_URL, *(f"b_{field}" for field in settings_form.NAMES)])


def _job_panel(jobs: list[JobState]) -> None:
    """Draw the job that the URL names, else a running one; the report of an ended job can be closed."""
    wanted = state.recall("job")
    live = [job for job in jobs if job.live]
    if not wanted and live:
        wanted = live[0].id
        state.remember("job", wanted)
    if not wanted:
        return
    try:
        job = session.workbench().jobs.job(wanted)
    except JobNotFound as error:
        message(error, kind="error")
        state.forget("job")
        return
    job_view.show(job.id)
    if job.status == "done" and job.builds_index:
        build_report.show(job)
    build_report.log_fold(job)
    others = sorted((other for other in live if other.id != job.id), key=lambda job: (job.status == "queued", job.id))
    with st.container(horizontal=True, gap="small"):
        for other in others:
            label = forms.plain(job_words.other_title(other, live))
            buttons.tertiary(label, "", f"other_{other.id}", state.remember, "job", other.id)
        if not job.live:
            close = say("build.close_report")
            buttons.tertiary(close, "", "away", state.remember, "job", None)
    draw(html('<hr class="lr-rule">') + markup.label(say("build.new")))


def _earlier(jobs: list[JobState]) -> None:
    """Draw the ended jobs, which can be opened again."""
    ended = [job for job in jobs if not job.live and job.id != state.recall("job")]
    if not ended:
        return
    builds = all(job.builds_index or job.status == "unknown" for job in ended)
    with st.expander(
        say("build.earlier_builds" if builds else "build.earlier_jobs", n=len(ended)), icon=":material/history:"
    ):
        for job in ended[:_EARLIER]:
            listed = (job.title, say(f"job.status.{job.status}"), numbers.day(job.started, language()))
            label = forms.plain(say("ask.comma").join(listed))
            buttons.tertiary(label, "", f"earlier_{job.id}", state.remember, "job", job.id)


page()
