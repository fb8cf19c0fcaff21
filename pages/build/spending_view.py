"""What a job has spent, and a larger budget for the rest of one that stopped."""

from collections.abc import Callable

import streamlit as st

from leanrag_core.figures import numbers
from leanrag_core.types.calls import NO_SPENDING, Budget
from leanrag_core.types.job import JobState
from pages.build import budget_form
from pages.common import widgets
from pages.common.html import draw, html, joined
from pages.common.messages import say


def line(job: JobState) -> None:
    """What the job has cost so far, how much was reused, and the last faults of the server; nothing where no model at
    an endpoint is used."""
    if job.spending == NO_SPENDING:
        return
    usage, budget = job.spending.usage, job.budget
    tokens = numbers.tokens(usage.prompt_tokens + usage.completion_tokens)
    parts = [
        say("build.spent.calls", n=usage.calls),
        _of(say("library.tokens", tokens=tokens), numbers.tokens(budget.tokens) if budget.tokens else ""),
    ]
    if usage.cost or budget.dollars:
        parts.append(_of(numbers.money(usage.cost), numbers.money(budget.dollars) if budget.dollars else ""))
    parts.append(say("build.spent.reused", n=job.spending.reused))
    parts += [say("build.spent.faults", n=job.spending.faults)] if job.spending.faults else []
    listed = say("ask.comma").join(parts)
    draw(html('<div class="lr-spent"><b>{}</b> {}</div>', say("build.spent"), listed))
    if job.spending.last_faults:
        with st.expander(say("build.spent.latest_faults")):
            lines = joined(html("<div>{}</div>", text) for text in reversed(job.spending.last_faults))
            draw(html('<div class="lr-feed">{}</div>', lines))


def _of(amount: str, limit: str) -> str:
    return say("build.spent.of", amount=amount, limit=limit) if limit else amount


def resume_with_budget(job: JobState, resume: Callable[[str, Budget], None]) -> None:
    """A larger budget for the rest, and the button that goes on. resume: called with the job's id."""
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom"):
        name = f"more_dollars_{job.id}"
        budget_form.dollars(name, say("build.spent.more_dollars"), 2 * job.budget.dollars, key=name, width=190)
        name = f"more_tokens_{job.id}"
        budget_form.tokens(name, say("build.spent.more_tokens"), 2 * job.budget.tokens, key=name, width=190)
        key = f"resume_{job.id}"
        st.button(say("job.resume"), icon=":material/play_arrow:", key=key, on_click=_resume, args=(job.id, resume))
    hint = say("build.spent.more_hint")
    draw(html('<div class="lr-hint">{}</div>', hint))


def _resume(job_id: str, resume: Callable[[str, Budget], None]) -> None:
    """Goes on with the budget of the fields."""
    keys = (widgets.key_of(f"more_{what}_{job_id}") for what in ("dollars", "tokens"))
    dollars, tokens = (st.session_state[key] for key in keys)
    resume(job_id, Budget(float(dollars), int(tokens)))
