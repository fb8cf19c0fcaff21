"""What a job has spent, and a larger budget for the rest of one that stopped."""

from collections.abc import Callable

import streamlit as st

from leanrag_core.figures import numbers
from leanrag_core.types.job import JobState
from leanrag_core.types.spending import NO_SPENDING, Budget
from pages._shared.common import widgets
from pages._shared.common.html import draw, html, joined


def line(job: JobState) -> None:
    """What the job has cost so far, how much was reused, and the last faults of the server; nothing where no model at
    an endpoint is used."""
    if job.spending == NO_SPENDING:
        return
    usage, budget = job.spending.usage, job.budget
    parts = [
        numbers.counted(usage.calls, "call"),
        f"{numbers.tokens(usage.prompt_tokens + usage.completion_tokens)} tokens",
    ]
    parts[-1] += f" of {numbers.tokens(budget.tokens)}" if budget.tokens else ""
    if usage.cost or budget.dollars:
        of_budget = f" of {numbers.money(budget.dollars)}" if budget.dollars else ""
        parts.append(f"{numbers.money(usage.cost)}{of_budget}")
    parts.append(f"{numbers.counted(job.spending.reused, 'answer')} reused")
    parts += [numbers.counted(job.spending.faults, "fault")] if job.spending.faults else []
    draw(html('<div class="lr-spent"><b>Spent</b> {}</div>', ", ".join(parts)))
    if job.spending.last_faults:
        with st.expander("Latest faults of the server; these calls are repeated"):
            lines = joined(html("<div>{}</div>", text) for text in reversed(job.spending.last_faults))
            draw(html('<div class="lr-feed">{}</div>', lines))


def resume_with_budget(job: JobState, resume: Callable[[str, Budget], None]) -> None:
    """A larger budget for the rest, and the button that goes on. resume: called with the job's id."""
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom"):
        widgets.remembered(
            f"more_dollars_{job.id}",
            2 * job.budget.dollars,
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
            2 * job.budget.tokens,
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
        key = f"resume_{job.id}"
        st.button("Resume", icon=":material/play_arrow:", key=key, on_click=_resume, args=(job.id, resume))
    hint = "This budget is for the rest alone, without what was already spent. 0 means no limit."
    draw(html('<div class="lr-hint">{}</div>', hint))


def _resume(job_id: str, resume: Callable[[str, Budget], None]) -> None:
    """Goes on with the budget of the fields."""
    keys = (widgets.key_of(f"more_{what}_{job_id}") for what in ("dollars", "tokens"))
    dollars, tokens = (st.session_state[key] for key in keys)
    resume(job_id, Budget(float(dollars), int(tokens)))
