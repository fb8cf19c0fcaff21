"""Who does the work of a build: threads, processes or a Dask cluster, which is looked at on a click alone."""

import os
from dataclasses import replace

import streamlit as st

from leanrag_core.errors import LeanRAGError
from leanrag_core.execution.cluster_status import PROGRAM, SCHEDULER, ClusterStatus, Difference
from leanrag_core.figures import numbers
from leanrag_core.types.execution import DASK, PROCESSES, THREADS, Execution
from leanrag_core.types.settings import Settings
from pages._shared.common import addresses, forms, markup, session, state, widgets
from pages._shared.common.frame import message
from pages._shared.common.html import draw, html
from pages._shared.settings import settings_form

_TITLES = {THREADS: "Threads", PROCESSES: "Processes", DASK: "Dask cluster"}
_SAID = {
    THREADS: "One process of this machine reads, embeds and clusters. Nothing to set up, and the least memory.",
    PROCESSES: "Processes of this machine read, embed and cluster. For many cores: each takes some 370 MB.",
    DASK: "The workers of a Dask cluster read, embed and cluster. This machine hands out the work, calls language "
    "models and writes the index.",
}
_TRUST = (
    "Connecting means trust: the scheduler and its workers can run code on this machine, as this machine does on them. "
    "Use one of your own, on a private network. Nothing connects before you test it or build."
)
_WISH = "lr_wishes_dask"  # Dask was chosen, and has no address yet: on which visit of the page
_LAST = "lr_last_scheduler"  # the address that the settings dropped with Dask
_NAMED = 3  # workers that a row of the table names


def panel(settings: Settings) -> None:
    """The choice with what belongs to it; a change is kept as soon as it makes a valid setting."""
    kept = settings.execution
    chosen = DASK if st.session_state.get(_WISH) == state.memory().visit else kept.kind
    _choice(chosen)
    if chosen == DASK:
        _scheduler(kept)
    else:
        _workers(kept)
    settings_form.fault("execution")
    with st.container(gap="xsmall"):
        draw(
            html(
                '<div class="lr-small lr-muted">The index is the same with each, byte for byte. A build uses what is '
                "chosen here when it starts. More in docs/scale.md.</div>"
            )
        )
        if chosen == DASK:
            draw(html('<div class="lr-small lr-muted">{}</div>', _TRUST))
    if chosen == DASK:
        _test(kept)


def _choice(chosen: str) -> None:
    with st.container(gap="xsmall"):
        widgets.show(
            "set_execution",
            chosen,
            lambda mount: st.segmented_control(
                "Builds are done by",
                list(_TITLES),
                default=mount.value,
                format_func=lambda kind: _TITLES[kind],
                key=mount.key,
                required=True,
                width="stretch",
                on_change=mount.changed,
            ),
            _choose,
        )
        draw(html('<div class="lr-hint">{}</div>', _SAID[chosen]))


def _kept() -> Execution:
    """What the file holds now; of one that does not read, keep() will tell."""
    try:
        return session.workbench().settings().execution
    except LeanRAGError:
        return Execution()


def _choose(kind: str) -> None:
    """Threads and processes are kept at once; so is Dask where an address is known, else it waits for one."""
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
        widgets.show(
            "set_workers",
            kept.workers,
            lambda mount: st.number_input(
                _TITLES[kept.kind],
                min_value=spec.metadata["low"],
                max_value=spec.metadata["high"],
                value=mount.value,
                step=1,
                key=mount.key,
                on_change=mount.changed,
            ),
            lambda workers: settings_form.change("execution", lambda now: replace(now.execution, workers=workers)),
        )
        draw(
            html(
                '<div class="lr-hint">0 means one for each processor core: {} on this machine.</div>',
                os.cpu_count() or 1,
            )
        )


def _scheduler(kept: Execution) -> None:
    settings_form.address_field(
        "Scheduler",
        "scheduler",
        kept.scheduler,
        addresses.SCHEDULER,
        _keep_scheduler,
        example=addresses.SCHEDULER.example,
        hint="tcp://HOST:8786, or tls:// with certificates. The cluster decides how many workers there are.",
    )
    if kept.kind != DASK:
        message(f"Builds still go to {_TITLES[kept.kind].lower()} until an address is entered.")


def _test(kept: Execution) -> None:
    seen = settings_form.look_button(
        "cluster",
        "scheduler",
        kept.scheduler,
        session.workbench().cluster_status,
        key="test_cluster",
        disabled=kept.kind != DASK,
    )
    if seen is not None:
        show_cluster(seen)


def _keep_scheduler(wanted: str) -> None:
    kept = _kept()
    if wanted:
        st.session_state[_WISH] = None
        settings_form.change("execution", lambda now: replace(now.execution, kind=DASK, scheduler=wanted))
    elif kept.kind == DASK:
        problem = "a cluster needs the address of its scheduler: write one, or choose threads or processes"
        settings_form.refuse("scheduler", problem, stands="")


def show_cluster(seen: ClusterStatus | str) -> None:
    """How many workers there are, and which of them cannot do the work; a text says why nothing was found."""
    if isinstance(seen, str):
        message(seen, kind="error", title="No cluster.")
        return
    if not seen.workers:
        message(f"The scheduler answers, and has no workers: start some with 'dask worker {seen.scheduler}'.")
    else:
        crew = f"{numbers.counted(seen.workers, 'worker')} with {numbers.counted(seen.threads, 'thread')}"
        fit = " All have the same Python and packages as this machine." if seen.fit else ""
        message(
            f"The scheduler at {seen.scheduler} answers in {numbers.duration(seen.seconds)}: {crew}.{fit}",
            kind="good" if seen.fit else "note",
        )
    if seen.workers < seen.threads:
        draw(html('<div class="lr-small">Start workers with --nthreads 1: each reads one batch at a time.</div>'))
    if seen.silent:
        message(
            f"{numbers.counted(len(seen.silent), 'worker')} did not say in time what they have; one of them may hang.",
            kind="error",
        )
    if seen.differences:
        _show_differences(seen)


def _show_differences(seen: ClusterStatus) -> None:
    lacking = [difference for difference in seen.differences if difference.library == PROGRAM]
    if lacking:
        message(
            "Part of the cluster does not find this program, or finds another version: start every process in its "
            "folder, or with PYTHONPATH naming it.",
            kind="error",
        )
    if len(lacking) < len(seen.differences):
        message("Part of the cluster has other versions. Install the same requirements everywhere.", kind="error")
    rows = [
        (difference.library, difference.here, difference.there, _places(difference, seen))
        for difference in seen.differences
    ]
    draw(markup.facts_table(("", "Here", "There", "On"), rows, caption="Other versions on the cluster"))


def _places(difference: Difference, seen: ClusterStatus) -> str:
    """The scheduler, and the workers by number or by name."""
    workers = [place for place in difference.where if place != SCHEDULER]
    names = ["scheduler"] if SCHEDULER in difference.where else []
    if workers and len(workers) == seen.workers:
        names.append("all workers" if seen.workers > 1 else "the worker")
    elif workers:
        more = f" and {len(workers) - _NAMED:,} more" if len(workers) > _NAMED else ""
        names.append(", ".join(workers[:_NAMED]) + more)
    return ", ".join(names)
