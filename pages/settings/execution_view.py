"""Who does the work of a build: threads, processes or a Dask cluster, which is contacted only after a click."""

import os
from dataclasses import replace

import streamlit as st

from leanrag_core.errors import LeanRAGError
from leanrag_core.execution.cluster import PROGRAM, SCHEDULER, ClusterStatus, Difference, read_cluster_status
from leanrag_core.figures import numbers
from leanrag_core.messages.catalog import joined_sentences
from leanrag_core.types.settings import DASK, PROCESSES, THREADS, Execution, Settings
from pages.common import choices, forms, markup, session, state, widgets
from pages.common.html import draw, html
from pages.common.messages import message, say
from pages.settings import settings_form

_KINDS = (THREADS, PROCESSES, DASK)
_WISH = "lr_wishes_dask"  # the visit of the page on which Dask was chosen without an address
_LAST = "lr_last_scheduler"  # the address that was removed from the settings together with Dask
_NAMED = 3  # most workers named in a row of the table


def panel(settings: Settings) -> None:
    """Draw the choice with its fields; a change is saved once it makes a valid setting."""
    kept = settings.execution
    chosen = DASK if st.session_state.get(_WISH) == state.memory().visit else kept.kind
    _choice(chosen)
    if chosen == DASK:
        _scheduler(kept)
    else:
        _workers(kept)
    settings_form.fault("execution")
    with st.container(gap="xsmall"):
        draw(html('<div class="lr-small lr-muted">{}</div>', say("settings.work.same_index")))
        if chosen == DASK:
            draw(html('<div class="lr-small lr-muted">{}</div>', say("settings.work.trust")))
    if chosen == DASK:
        _test(kept)


def _choice(chosen: str) -> None:
    titles = {kind: _title(kind) for kind in _KINDS}
    with st.container(gap="xsmall"):
        widgets.show(
            "set_execution",
            chosen,
            lambda mount: choices.segmented_control(
                say("settings.work.done_by"), titles, mount.value, **mount.wired, width="stretch"
            ),
            _choose,
            form=widgets.labels(titles),
        )
        draw(markup.hint(say(f"settings.work.{chosen}.hint")))


def _title(kind: str) -> str:
    return say(f"settings.work.{kind}")


def _kept() -> Execution:
    """Return the saved setting; the default if the file cannot be read, which keep() will report."""
    try:
        return session.workbench().settings.read().execution
    except LeanRAGError:
        return Execution()


def _choose(kind: str) -> None:
    """Save threads and processes at once, and Dask if an address is known; otherwise Dask waits for an address."""
    kept = _kept()
    settings_form.forgive("scheduler")
    st.session_state[_WISH] = None
    if kept.scheduler:
        st.session_state[_LAST] = kept.scheduler
    scheduler = st.session_state.get(_LAST, "") if kind == DASK else ""
    if kind == DASK and not scheduler:
        st.session_state[_WISH] = state.memory().visit
    else:
        settings_form.change("execution", lambda now: replace(now.execution, kind=kind, scheduler=scheduler))


def _workers(kept: Execution) -> None:
    spec = forms.option_fields(Execution)["workers"]
    with st.container(gap="xsmall"):
        min_value, max_value = spec.metadata["low"], spec.metadata["high"]
        widgets.show(
            "set_workers",
            kept.workers,
            lambda mount: st.number_input(
                _title(kept.kind), min_value=min_value, max_value=max_value, value=mount.value, step=1, **mount.wired
            ),
            lambda workers: settings_form.change("execution", lambda now: replace(now.execution, workers=workers)),
        )
        draw(markup.hint(say("settings.work.cores", cores=os.cpu_count() or 1)))


def _scheduler(kept: Execution) -> None:
    settings_form.address_field(
        say("settings.work.scheduler"),
        "scheduler",
        kept.scheduler,
        settings_form.SCHEDULER,
        _keep_scheduler,
        example=settings_form.SCHEDULER.example,
        hint=say("settings.work.scheduler_hint"),
    )
    if kept.kind != DASK:
        message(say("settings.work.still", kind=_title(kept.kind).lower()))


def _test(kept: Execution) -> None:
    status = settings_form.look_button(
        "cluster", "scheduler", kept.scheduler, read_cluster_status, key="test_cluster", disabled=kept.kind != DASK
    )
    if status is not None:
        show_cluster(status)


def _keep_scheduler(wanted: str) -> None:
    kept = _kept()
    if wanted:
        st.session_state[_WISH] = None
        settings_form.change("execution", lambda now: replace(now.execution, kind=DASK, scheduler=wanted))
    elif kept.kind == DASK:
        problem = say("settings.work.address_needed")
        settings_form.refuse("scheduler", problem, shown="")


def show_cluster(status: ClusterStatus | str) -> None:
    """Draw how many workers there are, and which of them cannot do the work. status: a text if the cluster was not
    reached."""
    if isinstance(status, str):
        message(status, kind="error", title=say("settings.work.no_cluster"))
        return
    if not status.workers:
        message(say("settings.work.no_workers", scheduler=status.scheduler))
    else:
        workers = say("settings.work.workers", n=status.workers)
        threads, duration = say("settings.work.n_threads", n=status.threads), numbers.duration(status.seconds)
        values = {"scheduler": status.scheduler, "time": duration}
        parts = [say("settings.work.answers", workers=workers, threads=threads, **values)]
        parts += [say("settings.work.all_fit")] if status.fit else []
        message(joined_sentences(parts), kind="good" if status.fit else "note")
    if status.workers < status.threads:
        draw(html('<div class="lr-small">{}</div>', say("settings.work.one_thread")))
    if status.silent:
        message(say("settings.work.silent", n=len(status.silent)), kind="error")
    if status.differences:
        _show_differences(status)


def _show_differences(status: ClusterStatus) -> None:
    lacking = [difference for difference in status.differences if difference.library == PROGRAM]
    if lacking:
        message(say("settings.work.program_missing"), kind="error")
    if len(lacking) < len(status.differences):
        message(say("settings.work.other_versions"), kind="error")
    rows = [
        (difference.library, difference.here, difference.there, _places(difference, status))
        for difference in status.differences
    ]
    head = ("", *(say(f"settings.work.{name}") for name in ("here", "there", "on")))
    draw(markup.facts_table(head, rows, caption=say("settings.work.versions")))


def _places(difference: Difference, status: ClusterStatus) -> str:
    """Return the machines of a difference: the scheduler, and the workers by number or by name."""
    workers = [place for place in difference.where if place != SCHEDULER]
    names = [say("settings.work.the_scheduler")] if SCHEDULER in difference.where else []
    if workers and len(workers) == status.workers:
        names.append(say("settings.work.all_workers" if status.workers > 1 else "settings.work.the_worker"))
    elif workers:
        listed = say("ask.comma").join(workers[:_NAMED])
        more = len(workers) - _NAMED
        names.append(say("settings.work.more", listed=listed, n=more) if more > 0 else listed)
    return say("ask.comma").join(names)
