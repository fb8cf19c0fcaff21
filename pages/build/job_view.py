"""A running or ended job of any kind: stages, rate, time left, recent output; cancel and resume."""

import time
from collections.abc import Callable
from contextlib import suppress

import streamlit as st
from markupsafe import Markup

from leanrag_core.errors import JobNotFound, LeanRAGError
from leanrag_core.figures import numbers
from leanrag_core.figures.lines import figures_of, summary_of
from leanrag_core.messages.catalog import joined_sentences
from leanrag_core.types.batches import BatchProgress
from leanrag_core.types.calls import NO_SPENDING, Budget
from leanrag_core.types.config import model_title
from leanrag_core.types.job import JobState
from leanrag_core.types.summary import CorpusSummary
from pages.build import build_charts, forecast_card, growing_view, job_words
from pages.common import buttons, dialogs, frame, markup, running_view, session, state, widgets
from pages.common.frame import page_button
from pages.common.html import draw, html, joined
from pages.common.messages import kept_fault, message, say, show_fault, words


def spending_line(job: JobState) -> None:
    """Draw the job's cost so far, how much was reused, and the server's latest errors; nothing without an endpoint's
    model."""
    if job.spending == NO_SPENDING:
        return
    usage, budget = job.spending.usage, job.budget
    tokens = numbers.tokens(usage.prompt_tokens + usage.completion_tokens)
    parts = [
        _of(say("build.spent.calls", n=usage.calls), f"{budget.calls:,}" if budget.calls else ""),
        _of(say("library.tokens", tokens=tokens), numbers.tokens(budget.tokens) if budget.tokens else ""),
    ]
    if usage.cached_tokens:
        parts.append(say("build.spent.cached", tokens=numbers.tokens(usage.cached_tokens)))
    if usage.cost or budget.dollars:
        parts.append(_of(numbers.money(usage.cost), numbers.money(budget.dollars) if budget.dollars else ""))
    if usage.seconds and usage.completion_tokens:
        parts.append(say("build.spent.speed", speed=usage.completion_tokens / usage.seconds))
    parts.append(say("build.spent.reused", n=job.spending.reused))
    parts += [say("build.spent.faults", n=job.spending.faults)] if job.spending.faults else []
    parts += [say("build.spent.cut", n=job.spending.cut)] if job.spending.cut else []
    # The process ends before a server has answered; how much of such a call is paid only the server knows.
    parts += [say("build.spent.in_flight")] if job.status == "cancelled" else []
    listed = say("ask.comma").join(parts)
    draw(markup.lead(say("build.spent"), listed, "lr-spent"))
    if job.spending.last_faults:
        with st.expander(say("build.spent.latest_faults")):
            lines = joined(html("<div>{}</div>", text) for text in reversed(job.spending.last_faults))
            draw(html('<div class="lr-feed">{}</div>', lines))


def _of(amount: str, limit: str) -> str:
    return say("build.spent.of", amount=amount, limit=limit) if limit else amount


def resume_with_budget(job: JobState, resume: Callable[[str, Budget], None]) -> None:
    """Draw the fields for a larger budget, and the button that resumes. resume: takes the job's id and the budget."""
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom"):
        budget = job.budget
        if budget.calls:
            name, label = f"more_calls_{job.id}", say("build.spent.more_calls")
            forecast_card.count_field(name, label, 2 * budget.calls, step=forecast_card.CALLS_STEP, key=name, width=190)
        else:
            name, label = f"more_dollars_{job.id}", say("build.spent.more_dollars")
            forecast_card.dollars_field(name, label, 2 * budget.dollars, key=name, width=190)
            name, label = f"more_tokens_{job.id}", say("build.spent.more_tokens")
            forecast_card.count_field(
                name, label, 2 * budget.tokens, step=forecast_card.TOKENS_STEP, key=name, width=190
            )
        key = f"resume_{job.id}"
        buttons.secondary(say("job.resume"), "play_arrow", key, _resume_with, job.id, resume)
    hint = say("build.spent.more_hint")
    draw(markup.hint(hint))


def _resume_with(job_id: str, resume: Callable[[str, Budget], None]) -> None:
    """Resume with the budget of the fields."""
    keys = (widgets.key_of(f"more_{limit}_{job_id}") for limit in ("dollars", "tokens", "calls"))
    dollars, tokens, calls = (st.session_state.get(key, 0) for key in keys)  # some of the fields may be missing
    resume(job_id, Budget(float(dollars), int(tokens), int(calls)))


_MOVED = "lr_job_moved"  # the panel shall show another job
_FAULT = "lr_job_fault"  # why a request about a job failed
_LISTED = 6  # most recent lines that are shown
_SILENT = 30.0  # seconds without a heartbeat
_NOTHING = 0.0005  # seconds; anything shorter is not shown as a number


def show(job_id: str) -> None:
    """Draw the job, every second while it runs; redraw the whole page when it ends."""
    try:
        job = session.workbench().jobs.job(job_id)
    except JobNotFound as error:
        message(error, kind="error")
        return
    live = job.live
    if live and job.builds_index:
        running_view.choose_when_built(job_id)  # also after a reload, which forgets who began it
    with st.container(key="job_panel"):
        st.fragment(_panel, run_every=1.0 if live else None)(job_id, live)


def _panel(job_id: str, was_live: bool) -> None:
    job = session.workbench().jobs.job(job_id)
    if st.session_state.pop(_MOVED, False) or (was_live and not job.live):
        dialogs.refresh()
    with st.container(border=True, key=f"job_{job.id}"):
        _headline(job)
    if job.status == "unknown":
        return
    figures = figures_of(job)
    if job.status == "running" and figures:
        draw(markup.tiles((words(figure.title), f"{figure.value:,}", words(figure.note)) for figure in figures))
    if job.status == "done" and (facts := summary_of(job)):
        rows = [(words(fact.title), fact.value) for fact in facts]
        title = say("job.result")
        markup.block(title, markup.facts_table(("", ""), rows, caption=title))
    left, right = st.columns([7, 5], gap="large")
    with left:
        markup.block(say("job.stages"), _stages(job))
    with right:
        growing_view.show(job)
        if job.status == "running":
            markup.block(say("job.written_now"), _feed(job))
            build_charts.live(job)
        elif job.status == "done":
            build_charts.ended(job)


def _feed(job: JobState) -> Markup:
    """Return the latest findings and texts of the job as HTML, or what it waits for."""
    if not job.recent:
        return html('<div class="lr-feed now"><div class="lr-muted">{}</div></div>', _awaited(job))
    template = '<div><span class="k">{}</span><span class="w">{}</span></div>'
    lines = joined(
        html(template, _label(job, written.stage), job_words.written(job, written)) for written in job.recent[:_LISTED]
    )
    return html('<div class="lr-feed now">{}</div>', lines)


def _label(job: JobState, stage_name: str) -> str:
    """Return the label of a text that the stage wrote."""
    stage = job.kind.stage(stage_name)
    return words(stage.writes or stage.title)


def _awaited(job: JobState) -> str:
    if all(stage.name != "extract" for stage in job.stages):
        return say("job.listed_here")
    if job.current == "extract" and frame.uses_endpoint(job.config):
        return say("job.answers_awaited", model=model_title(str(job.config.get("model", ""))))
    return say("job.names_listed")


def _subject(job: JobState) -> Markup:
    """Return as HTML what the job works on; for a build its index and corpus."""
    subject = job_words.of_job(job, job.kind.wording.subject)
    if not job.builds_index or not job.corpus_id:  # an import has no corpus
        return markup.label(subject)
    try:
        corpus = session.workbench().corpora.summary(job.corpus_id)
    except LeanRAGError:
        return markup.label(subject, say("job.corpus_deleted"))
    return markup.label(subject, say("job.from_corpus", corpus=corpus.name, documents=_documents(job, corpus)))


def _documents(job: JobState, corpus: CorpusSummary) -> str:
    """Return the number of documents in the job's index; while there is none, those of the corpus."""
    n_documents = corpus.documents
    if job.status == "done" and job.result:
        with suppress(LeanRAGError):  # it was deleted since
            n_documents = session.workbench().indexes.summary(job.result).documents
    return say("count.documents", n=n_documents)


def _headline(job: JobState) -> None:
    if job.status == "unknown":
        message(job.error or "")
        return
    draw(_subject(job))
    running = next((stage for stage in job.stages if stage.status == "running"), None)
    title, pace = job_words.title(job, running), job_words.pace(job, running)
    draw(html('<div class="lr-big"><b>{}</b><span>{}</span></div>', title, pace))
    ended, kind = "" if job.live else "ended", "build" if job.builds_index else "other"
    draw(markup.progress_bar(say(f"job.share.{kind}"), job.share, ended), markup.muted(job_words.about(job)))
    # In a row of their own, aligned left, so that replacing a button moves no other.
    at_budget = job.status == "stopped" and not job.stopped_by_server
    if not at_budget:
        with st.container(horizontal=True, gap="small"):
            _buttons(job)
    show_fault(_FAULT)
    spending_line(job)
    if job.batch is not None:
        _batch_note(job.batch)
    if job.status == "running" and job.heard > _SILENT:
        silence = numbers.duration(job.heard)
        message(say(f"job.silent.{kind}", time=silence))
    if job.stopped_by_server:
        message(job.error or "", title=say("job.server_pauses"))
    if at_budget:
        message(job.error or "", title=say("job.budget_spent"))
        resume_with_budget(job, _resume)
    if job.status == "failed":
        message(job.error or "", kind="error", title=say("job.went_wrong"))
        if job.details:
            with st.expander(say("job.details")):
                st.code(job.details, language=None)


def _batch_note(batch: BatchProgress) -> None:
    """Draw which batches are waited for, since when, and that the page may be closed."""
    ago = numbers.duration(max(0.0, time.time() - batch.since))
    waits = say("job.batch.cancelled" if batch.cancelled else "job.batch", n=batch.batches, time=ago)
    note = waits if batch.cancelled else joined_sentences([waits, say("job.batch.goes_on")])
    draw(html('<div class="lr-notes"><div>{}</div></div>', note))


def _resume(job_id: str, budget: Budget | None = None) -> None:
    """Resume the job before the page is redrawn, so that no redrawing can lose the click."""
    with kept_fault(_FAULT):
        state.remember("job", session.workbench().resume(job_id, budget=budget))
        st.session_state[_MOVED] = True


def _buttons(job: JobState) -> None:
    if job.live:
        cancel = kept_fault(_FAULT)(session.workbench().jobs.cancel)
        buttons.secondary(say("job.cancel"), "close", f"cancel_{job.id}", cancel, job.id)
    elif job.status == "done":
        if not (job.builds_index and job.result):
            return
        for page, title, icon in (("explore", say("page.explore"), "account_tree"), ("ask", say("page.ask"), "forum")):
            page_button(page, title, icon, f"{page}_{job.id}", state.remember, "index", job.result)
    else:
        buttons.secondary(say("job.resume"), "play_arrow", f"resume_{job.id}", _resume, job.id)


def _stages(job: JobState) -> Markup:
    rows = []
    for stage in job.stages:
        status = "stopped" if stage.status == "running" and not job.live else stage.status
        share = 100.0 if status == "done" else 100 * stage.done / stage.total if stage.total else 0.0
        amount = job_words.amount(stage)
        time = numbers.duration(stage.seconds) if stage.seconds > _NOTHING and status != "waiting" else ""
        rows.append(
            html(
                '<div class="lr-st {}"><span class="lr-ic {}" role="img" aria-label="{}"></span>'
                '<span class="n">{}</span><span class="tr"><u style="width:{:.1f}%"></u></span>'
                '<span class="v">{}</span><span class="r">{}</span></div>',
                status,
                status,
                say(f"job.stage.{status}"),
                words(job.kind.stage(stage.name).title),
                min(100.0, share),
                amount,
                time,
            )
        )
    return joined(rows)


def no_index() -> None:
    """Draw what a page shows if there is no index: the running build, or how to start one."""
    builds = [job for job in session.running_jobs() if job.builds_index]
    if builds:
        message(joined_sentences([say("frame.no_index"), say("frame.first_is_built")]))
        show(builds[0].id)
        return
    draw(html('<div class="lr-empty">{}</div>', say("frame.how_to_begin")))
    with st.container(horizontal=True, gap="small"):
        label, key = say("frame.build_an_index"), "primary_build_first"
        page_button("build", label, "construction", key, look=buttons.primary)
        page_button("library", say("frame.add_documents"), "upload_file", "add_first")
