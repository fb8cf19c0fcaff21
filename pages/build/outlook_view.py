"""Forecast and actual: of a running job what it will have taken by its end, of an ended one what it took."""

from leanrag_core.figures import numbers
from leanrag_core.jobs.state import Amount, Outlook, StageOutlook, outlook
from leanrag_core.messages.message import message as message_of
from leanrag_core.types.calls import NO_SPENDING, NO_USAGE
from leanrag_core.types.forecast import Range
from leanrag_core.types.job import JobState
from pages.common import markup, units
from pages.common.frame import message
from pages.common.messages import say, words


def live(job: JobState) -> None:
    """By stage: forecast, so far, and what it will be; a warning when the budget is too small."""
    ahead = outlook(job.kind, job.forecast, job.spending, job.stages)
    if ahead is None or job.forecast is None:
        return
    rows = [_live_row(job, stage) for stage in ahead.stages]
    forecast, so_far, at_end = job.forecast, ahead.so_far, ahead.at_end
    tokens = numbers.tokens(round(so_far.tokens)), numbers.tokens(round(at_end.tokens))
    rows.append((say("build.tokens"), tokens_of(forecast.tokens), *tokens))
    if forecast.dollars.high or so_far.dollars:
        rows.append(
            (
                say("build.cost"),
                money_of(forecast.dollars),
                numbers.money(so_far.dollars),
                numbers.money(at_end.dollars),
            )
        )
    whole = "" if ahead.seconds_left is None else numbers.duration(job.seconds + ahead.seconds_left)
    rows.append((say("build.time"), span(forecast.seconds), numbers.duration(job.seconds), whole or "–"))
    head = ("", *(say(f"build.outlook.{name}") for name in ("forecast", "so_far", "at_end")))
    table = markup.facts_table(head, rows, caption=say("build.outlook.caption"))
    markup.block(say("build.forecast"), table, say("build.outlook.updated"))
    warning = _budget_warning(job, ahead)
    if warning:
        message(warning)


def _live_row(job: JobState, stage: StageOutlook) -> tuple[str, str, str, str]:
    return (
        calls_title(job, stage.forecast.stage),
        counts(stage.forecast.calls),
        f"{stage.so_far.calls:,.0f}",
        f"{stage.at_end.calls:,.0f}",
    )


def calls_title(job: JobState, stage_name: str) -> str:
    """The head of a row on the calls of a stage."""
    return say("build.outlook.calls", stage=words(job.kind.stage(stage_name).title))


def _budget_warning(job: JobState, ahead: Outlook) -> str:
    """What to know when the budget will be spent before the end; empty when it is enough."""
    budget, at_end = job.budget, ahead.at_end
    lacking = []
    if budget.tokens and at_end.tokens > budget.tokens:
        needed, allowed = numbers.tokens(round(at_end.tokens)), numbers.tokens(budget.tokens)
        lacking.append(message_of("build.outlook.too_many_tokens", needed=needed, allowed=allowed))
    if budget.dollars and at_end.dollars > budget.dollars:
        needed, allowed = numbers.money(at_end.dollars), numbers.money(budget.dollars)
        lacking.append(message_of("build.outlook.too_many_dollars", needed=needed, allowed=allowed))
    if not lacking:
        return ""
    return say("build.outlook.budget_too_small", needs=tuple(lacking))


def has_forecast(job: JobState) -> bool:
    """Whether there is a forecast of calls to compare with what was taken."""
    return job.spending != NO_SPENDING and job.forecast is not None and bool(job.forecast.calling)


def ended(job: JobState) -> None:
    """By stage: forecast and actual of a job that is done; nothing where there was no forecast of calls."""
    forecast = job.forecast
    if forecast is None or not has_forecast(job):
        return
    taken = job.spending.by_stage
    rows = [
        (calls_title(job, stage.stage), counts(stage.calls), f"{taken.get(stage.stage, NO_USAGE).calls:,}")
        for stage in forecast.calling
    ]
    usage = job.spending.usage
    actual = Amount(usage.calls, usage.prompt_tokens + usage.completion_tokens, usage.cost)
    rows.append((say("build.outlook.all_calls"), counts(forecast.calls), f"{actual.calls:,}"))
    rows.append((say("build.tokens"), tokens_of(forecast.tokens), numbers.tokens(round(actual.tokens))))
    if forecast.dollars.high or actual.dollars:
        rows.append((say("build.cost"), money_of(forecast.dollars), numbers.money(actual.dollars)))
    rows.append((say("build.time"), span(forecast.seconds), numbers.duration(job.seconds)))
    head = ("", *(say(f"build.outlook.{name}") for name in ("forecast", "actual")))
    title = say("build.forecast_and_actual")
    markup.block(title, markup.facts_table(head, rows, caption=title))


def counts(range_: Range) -> str:
    """ "51 to 78"."""
    low, high = round(range_.low), round(range_.high)
    return units.span(f"{low:,}", f"{high:,}")


def tokens_of(range_: Range) -> str:
    """ "125 k to 184 k"."""
    low, high = numbers.tokens(round(range_.low)), numbers.tokens(round(range_.high))
    return units.span(low, high)


def money_of(range_: Range) -> str:
    """ "$0.12 to $0.30"."""
    low, high = numbers.money(range_.low), numbers.money(range_.high)
    return units.span(low, high)


def span(range_: Range) -> str:
    """ "11 s to 3 min"."""
    low, high = numbers.duration(range_.low), numbers.duration(range_.high)
    return units.span(low, high)
