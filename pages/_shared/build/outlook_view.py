"""Forecast beside truth: while a build goes on, what it will have taken by its end; afterwards, what it took."""

from leanrag_core.figures import numbers
from leanrag_core.jobs.outlook import Amount, Outlook, outlook
from leanrag_core.types.forecast import Range
from leanrag_core.types.summary import JobState
from pages._shared.common import markup
from pages._shared.common.frame import message

_LIVE = ("", "Forecast", "So far", "By the end")
_ENDED = ("", "Forecast", "Actual")


def live(job: JobState) -> None:
    """By stage: forecast, so far, and what it will be; a warning when the budget will not do."""
    found = outlook(job.forecast, job.spent, job.stages)
    if found is None:
        return
    rows = [
        (
            f"{stage.stage.capitalize()}, calls",
            counts(Range(**cells["calls"])),
            f"{stage.so_far.calls:,.0f}",
            f"{stage.at_end.calls:,.0f}",
        )
        for stage, cells in zip(found.stages, job.forecast["stages"], strict=True)
    ]
    tokens, dollars, seconds = _totals(job)
    so_far, at_end = found.so_far, found.at_end
    rows.append(
        ("Tokens", tokens_of(tokens), numbers.tokens(round(so_far.tokens)), numbers.tokens(round(at_end.tokens)))
    )
    if dollars.high or so_far.dollars:
        rows.append(("Cost", money_of(dollars), numbers.money(so_far.dollars), numbers.money(at_end.dollars)))
    whole = "" if found.seconds_left is None else numbers.duration(job.seconds + found.seconds_left)
    rows.append(("Time", span(seconds), numbers.duration(job.seconds), whole or "–"))
    markup.block(
        "Forecast", markup.facts_table(_LIVE, rows, caption="Forecast and so far"), "updated as the build goes on"
    )
    short = _short_of(job, found)
    if short:
        message(short)


def _short_of(job: JobState, found: Outlook) -> str:
    """What to know when the budget will be spent before the end; empty when it is enough."""
    budget, at_end = job.budget, found.at_end
    lacking = []
    if budget.get("tokens") and at_end.tokens > budget["tokens"]:
        lacking.append(
            f"{numbers.tokens(round(at_end.tokens))} tokens where {numbers.tokens(budget['tokens'])} are allowed"
        )
    if budget.get("dollars") and at_end.dollars > budget["dollars"]:
        lacking.append(f"{numbers.money(at_end.dollars)} where {numbers.money(budget['dollars'])} are allowed")
    if not lacking:
        return ""
    return f"The budget is too small: the build needs about {' and '.join(lacking)}. It stops there; resume it later."


def has_forecast(job: JobState) -> bool:
    """Whether there is a forecast to hold against what was taken."""
    return bool(job.spent.get("usage") and job.forecast.get("stages"))


def ended(job: JobState) -> None:
    """By stage: forecast and actual of a build that is done; nothing where there was no forecast."""
    taken, stages = job.spent.get("by_stage", {}), job.forecast.get("stages", ())
    if not has_forecast(job):
        return
    rows = [
        (
            f"{cells['stage'].capitalize()}, calls",
            counts(Range(**cells["calls"])),
            f"{taken.get(cells['stage'], {}).get('calls', 0):,}",
        )
        for cells in stages
    ]
    usage = job.spent["usage"]
    tokens, dollars, seconds = _totals(job)
    actual = Amount(usage["calls"], usage["prompt_tokens"] + usage["completion_tokens"], usage["cost"])
    calls = sum((Range(**cells["calls"]) for cells in stages), Range())
    rows.append(("All calls", counts(calls), f"{actual.calls:,}"))
    rows.append(("Tokens", tokens_of(tokens), numbers.tokens(round(actual.tokens))))
    if dollars.high or actual.dollars:
        rows.append(("Cost", money_of(dollars), numbers.money(actual.dollars)))
    rows.append(("Time", span(seconds), numbers.duration(job.seconds)))
    markup.block("Forecast and actual", markup.facts_table(_ENDED, rows, caption="Forecast and actual"))


def _totals(job: JobState) -> tuple[Range, Range, Range]:
    """Forecast tokens, dollars and seconds of the whole build."""
    stages = job.forecast["stages"]
    tokens = sum((Range(**one[name]) for one in stages for name in ("prompt_tokens", "completion_tokens")), Range())
    return tokens, sum((Range(**one["dollars"]) for one in stages), Range()), Range(**job.forecast["seconds"])


def counts(range_: Range) -> str:
    """ "51 to 78"."""
    low, high = round(range_.low), round(range_.high)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def tokens_of(range_: Range) -> str:
    """ "125 k to 184 k"."""
    low, high = numbers.tokens(round(range_.low)), numbers.tokens(round(range_.high))
    return numbers.span(low, high)


def money_of(range_: Range) -> str:
    """ "$0.12 to $0.30"."""
    low, high = numbers.money(range_.low), numbers.money(range_.high)
    return numbers.span(low, high)


def span(range_: Range) -> str:
    """ "11 s to 3 min"."""
    low, high = numbers.duration(range_.low), numbers.duration(range_.high)
    return numbers.span(low, high)
