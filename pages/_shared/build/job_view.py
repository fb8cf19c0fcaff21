"""A build under way, or ended: stages, rate, time left, what is being written; cancel and resume."""

from collections.abc import Sequence

import streamlit as st
from markupsafe import Markup

from leanrag_core.errors import JobNotFound, LeanRAGError
from leanrag_core.figures import numbers
from leanrag_core.figures.build_counts import counts_so_far
from leanrag_core.models.metering import Budget
from leanrag_core.types.model_names import model_title
from leanrag_core.types.summary import JobState, StageState
from pages._shared.build import outlook_view
from pages._shared.common import frame, markup, session, state, widgets
from pages._shared.common.frame import message, page_path
from pages._shared.common.html import draw, html, joined

_MOVED = "lr_job_moved"  # another job is to be shown
_FAULT = "lr_job_fault"  # why a wish about a job could not be met
_STARTS_WITHIN = 4.0  # seconds; a job that is queued for longer waits for others
_LISTED = 6  # of what was written last
_SILENT = 30.0  # seconds without a heartbeat
_NOTHING = 0.0005  # seconds that are not worth a number
_PLACES = ("first", "second", "third")
_KIND_OF = {  # what a stage writes
    "extract": "found",
    "merge": "merged",
    "aggregate entities": "aggregated",
    "aggregate relations": "relation",
}
_DOING = {
    "parse": "Reading documents",
    "chunk": "Cutting chunks",
    "extract": "Extracting entities and relations",
    "merge": "Merging names of the same thing",
    "embed": "Embedding descriptions",
    "cluster": "Clustering a layer",
    "aggregate entities": "Aggregating entities",
    "aggregate relations": "Aggregating relations",
    "index": "Writing the index",
}


def is_live(job: JobState) -> bool:
    """Whether the job may still change by itself."""
    return job.status in ("queued", "running")


def show(job_id: str) -> None:
    """The job, drawn anew every second while it lives; when it ends the whole page is drawn once more."""
    try:
        job = session.workbench().job(job_id)
    except JobNotFound as error:
        message(str(error), kind="error")
        return
    live = is_live(job)
    with st.container(key="job_panel"):
        st.fragment(_panel, run_every=1.0 if live else None)(job_id, live)


def _panel(job_id: str, was_live: bool) -> None:
    job = session.workbench().job(job_id)
    if st.session_state.pop(_MOVED, False) or (was_live and not is_live(job)):
        st.rerun()
    with st.container(border=True, key=f"job_{job.id}"):
        _headline(job)
    if job.status == "unknown":
        return
    if job.status == "running":
        draw(markup.tiles((one.title, f"{one.value:,}", one.note) for one in counts_so_far(job)))
    if job.status != "running" and not (job.status == "done" and outlook_view.has_forecast(job)):
        markup.block("Stages", _stages(job))  # nothing to stand beside them
        return
    left, right = st.columns([7, 5], gap="large")
    with left:
        markup.block("Stages", _stages(job))
    with right:
        if job.status == "running":
            markup.block("Written just now", _feed(job))
            outlook_view.live(job)
        else:
            outlook_view.ended(job)


def _feed(job: JobState) -> Markup:
    """What was found and written last, or what is waited for."""
    if not job.recent:
        return html('<div class="lr-feed now"><div class="lr-muted">{}</div></div>', _awaited(job))
    lines = joined(
        html(
            '<div><span class="k">{}</span><span class="w">{}</span></div>',
            _KIND_OF.get(one.stage, one.stage),
            one.text,
        )
        for one in job.recent[:_LISTED]
    )
    return html('<div class="lr-feed now">{}</div>', lines)


def _awaited(job: JobState) -> str:
    if job.current == "extract" and frame.uses_endpoint(job.config):
        return f"The first answers of {model_title(str(job.config.get('model', '')))} are awaited."
    return "The documents are being read; names are listed here as they are found."


def _subject(job: JobState) -> Markup:
    """Which index is built, and from what."""
    try:
        corpus = session.workbench().corpus(job.corpus_id)
    except LeanRAGError:
        return markup.label(f"Index {job.title}", "its corpus has been deleted")
    documents = numbers.counted(corpus.documents, "document")
    return markup.label(f"Index {job.title}", f"from the corpus {corpus.name}, {documents}")


def _headline(job: JobState) -> None:
    if job.status == "unknown":
        message(job.error)
        return
    draw(_subject(job))
    running = next((stage for stage in job.stages if stage.status == "running"), None)
    title, pace = _title(job, running), _pace(job, running)
    draw(html('<div class="lr-big"><b>{}</b><span>{}</span></div>', title, pace))
    ended = "" if is_live(job) else " ended"
    draw(
        html(
            '<div class="lr-prog{}" role="progressbar" aria-label="Share of the whole build" '
            'aria-valuenow="{:.0f}" aria-valuemin="0" aria-valuemax="100">'
            '<u style="width:{:.1f}%"></u></div>'
            '<div class="lr-small lr-muted">{}</div>',
            ended,
            job.share * 100,
            job.share * 100,
            _about(job),
        )
    )
    # In a row of their own, from the left: a button that gives way to another one moves none.
    if job.status != "stopped":
        with st.container(horizontal=True, gap="small"):
            _buttons(job)
    fault = st.session_state.pop(_FAULT, "")
    if fault:
        message(fault, kind="error")
    if job.spent:
        spent_line(job)
    if job.status == "running" and job.heard > _SILENT:
        message(
            f"The build has not reported for {numbers.duration(job.heard)}. If it does not go on, cancel and resume it."
        )
    if job.status == "stopped":
        message(job.error, title="The budget is spent.")
        resume_with_budget(job)
    if job.status == "failed":
        message(job.error, kind="error", title="What went wrong.")
        if job.details:
            with st.expander("Technical details"):
                st.code(job.details, language=None)


def _title(job: JobState, running: StageState | None) -> str:
    if job.status == "queued" and job.seconds > _STARTS_WITHIN:
        place = _place(job.id, _waiting(session.running_jobs()))
        return f"{job.title} waits for its turn{', ' if place else ''}{place}"
    if job.status == "queued":
        return f"Starting the build of {job.title}"
    if job.status == "running":
        return f"{_DOING.get(running.name, running.name) if running else 'Starting'}, {numbers.share(job.share)}"
    ending = {
        "done": "is built",
        "failed": "could not be built",
        "cancelled": "was cancelled",
        "stopped": "stopped at its budget",
    }
    return f"{job.title} {ending.get(job.status, 'was interrupted')}"


def _place(job_id: str, waiting: list[str]) -> str:
    """Where the job stands among those that wait: "second of 3"; empty for the only one."""
    if job_id not in waiting or len(waiting) < 2:
        return ""
    number = waiting.index(job_id)
    said = _PLACES[number] if number < len(_PLACES) else f"number {number + 1:,}"
    return f"{said} of {len(waiting):,}"


def _waiting(jobs: Sequence[JobState]) -> list[str]:
    """Ids of the jobs that wait, in the order in which they will begin."""
    return sorted(one.id for one in jobs if one.status == "queued")


def other_title(job: JobState, live: Sequence[JobState]) -> str:
    """A line on another job that is under way, with its place when it waits."""
    if job.status == "running":
        return f"Also running: {job.title}, {numbers.share(job.share)}"
    place = _place(job.id, _waiting(live))
    return f"Waiting: {job.title}{', ' if place else ''}{place}"


def _pace(job: JobState, running: StageState | None) -> str:
    if job.status == "done":
        return numbers.duration(job.seconds)
    if not is_live(job):
        last = next((stage for stage in reversed(job.stages) if stage.status != "waiting"), None)
        return f"after {numbers.duration(job.seconds)}, during {last.name}" if last else ""
    if running is None:
        return ""
    said = []
    if running.total:
        said.append(f"{running.done:,} of {running.total:,} {running.unit}".strip())
        said.append(numbers.rate(running.done, running.seconds))
    said.append(numbers.time_left(job.seconds_left))
    return ", ".join(part for part in said if part)


def _about(job: JobState) -> str:
    config = job.config
    facts = [
        f"clustersize {config.get('cluster_size')}",
        f"tau {config.get('tau') or 'chosen from the data'}",
        f"chunks of {config.get('chunk_tokens', 0):,} tokens with {config.get('overlap_tokens', 0):,} of overlap",
    ]
    remote = frame.uses_endpoint(config)
    if remote:
        facts.insert(0, model_title(str(config.get("model", ""))))
    again = "asks only for what is missing" if remote else "starts it from the beginning, with the same settings"
    tail = {
        "done": "",
        "queued": " Two builds run at a time." if job.seconds > _STARTS_WITHIN else "",
        "stopped": " Every answer is kept.",
        "failed": " Nothing half-finished is left behind.",
        "cancelled": f" Nothing half-finished is left behind. Resuming {again}.",
        "interrupted": f" The build's process ended before it was done. Resuming {again}.",
    }.get(job.status, " Safe to close: the build goes on.")
    return f"{', '.join(facts)}. Started {numbers.day(job.started)}.{tail}"


def _cancel(job_id: str) -> None:
    try:
        session.workbench().cancel(job_id)
    except LeanRAGError as error:
        st.session_state[_FAULT] = str(error)


def _resume(job_id: str, budget: Budget | None = None) -> None:
    """Before the page is drawn again, so that no redrawing can swallow the click."""
    try:
        state.remember("job", session.workbench().resume(job_id, budget=budget))
    except LeanRAGError as error:
        st.session_state[_FAULT] = str(error)
    else:
        st.session_state[_MOVED] = True


def _resume_with(job_id: str) -> None:
    """Goes on with the budget of the fields."""
    keys = (widgets.key_of(f"more_{what}_{job_id}") for what in ("dollars", "tokens"))
    dollars, tokens = (st.session_state[key] for key in keys)
    _resume(job_id, Budget(float(dollars), int(tokens)))


def _buttons(job: JobState) -> None:
    if is_live(job):
        st.button("Cancel", icon=":material/close:", key=f"cancel_{job.id}", on_click=_cancel, args=(job.id,))
    elif job.status == "done" and job.result:
        for page, title, icon in (("explore", "Explore", "account_tree"), ("ask", "Ask", "forum")):
            if st.button(
                title,
                icon=f":material/{icon}:",
                key=f"{page}_{job.id}",
                on_click=state.remember,  # before the sidebar's own widget is drawn
                args=("index", job.result),
            ):
                st.switch_page(page_path(page))
    else:
        st.button("Resume", icon=":material/play_arrow:", key=f"resume_{job.id}", on_click=_resume, args=(job.id,))


def spent_line(job: JobState) -> None:
    """What the build has cost so far, how much was reused, and the last faults of the server."""
    usage = job.spent.get("usage", {})
    tokens = usage.get("prompt_tokens", 0) + usage.get("completion_tokens", 0)
    said = [numbers.counted(usage.get("calls", 0), "call"), f"{numbers.tokens(tokens)} tokens"]
    said[-1] += f" of {numbers.tokens(job.budget['tokens'])}" if job.budget.get("tokens") else ""
    if usage.get("cost") or job.budget.get("dollars"):
        of = f" of {numbers.money(job.budget['dollars'])}" if job.budget.get("dollars") else ""
        said.append(f"{numbers.money(usage.get('cost', 0.0))}{of}")
    said.append(f"{numbers.counted(job.spent.get('reused', 0), 'answer')} reused")
    faults = job.spent.get("faults", 0)
    said += [numbers.counted(faults, "fault")] if faults else []
    draw(html('<div class="lr-spent"><b>Spent</b> {}</div>', ", ".join(said)))
    last = job.spent.get("last_faults", ())
    if last:
        with st.expander("Latest faults of the server; these calls are repeated"):
            lines = joined(html("<div>{}</div>", text) for text in reversed(last))
            draw(html('<div class="lr-feed">{}</div>', lines))


def resume_with_budget(job: JobState) -> None:
    """A larger budget for the rest, and the button that goes on."""
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom"):
        widgets.remembered(
            f"more_dollars_{job.id}",
            2 * float(job.budget.get("dollars", 0.0)),
            lambda mount: st.number_input(
                "US dollars for the rest",
                min_value=0.0,
                value=mount.value,
                step=1.0,
                format="%.2f",
                key=mount.key,
                on_change=mount.changed,
                width=190,
            ),
            parse=float,
            key=f"more_dollars_{job.id}",
        )
        widgets.remembered(
            f"more_tokens_{job.id}",
            2 * int(job.budget.get("tokens", 0)),
            lambda mount: st.number_input(
                "Tokens for the rest",
                min_value=0,
                value=mount.value,
                step=100_000,
                key=mount.key,
                on_change=mount.changed,
                width=190,
            ),
            parse=int,
            key=f"more_tokens_{job.id}",
        )
        resume = f"resume_{job.id}"
        st.button("Resume", icon=":material/play_arrow:", key=resume, on_click=_resume_with, args=(job.id,))
    said = "This budget is for the rest alone, without what was already spent. 0 means no limit."
    draw(html('<div class="lr-hint">{}</div>', said))


def _stages(job: JobState) -> Markup:
    rows: list[Markup] = []
    for stage in job.stages:
        status = "stopped" if stage.status == "running" and not is_live(job) else stage.status
        share = 100.0 if status == "done" else 100 * stage.done / stage.total if stage.total else 0.0
        before = "" if stage.done == stage.total else f"{stage.done:,} of "
        amount = before + numbers.of_unit(stage.total, stage.unit) if stage.total else ""
        time = numbers.duration(stage.seconds) if stage.seconds > _NOTHING and status != "waiting" else ""
        rows.append(
            html(
                '<div class="lr-st {}"><span class="lr-ic {}" role="img" aria-label="{}"></span>'
                '<span class="n">{}</span>'
                '<span class="tr"><u style="width:{:.1f}%"></u></span>'
                '<span class="v">{}</span><span class="r">{}</span></div>',
                status,
                status,
                status,
                stage.name.capitalize(),
                min(100.0, share),
                amount,
                time,
            )
        )
    return joined(rows)


def no_index() -> None:
    """What a page says that needs an index when there is none: what is being built, or how to build one."""
    live = session.running_jobs()
    if live:
        message("No index yet. The first one is being built.")
        show(live[0].id)
        return
    draw(html('<div class="lr-empty">No index yet. Build one from a corpus: the built-in models need no key.</div>'))
    with st.container(horizontal=True, gap="small"):
        if st.button("Build an index", type="primary", key="primary_build_first", icon=":material/construction:"):
            st.switch_page(page_path("build"))
        if st.button("Add documents", icon=":material/upload_file:", key="add_first"):
            st.switch_page(page_path("library"))
