"""What a job will have taken at its end: its forecast, corrected by what it has taken so far.

A stage that has ended counts as it was. A running one goes on at its own calls a unit and tokens a call; one that has
not begun is as forecast, in proportion to the entities: those to be expected from the names so far, then those counted.
Small counts are mixed with the forecast, as if the first three calls or chunks had gone as forecast.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from leanrag_core.types.calls import NO_USAGE, Spending, Usage
from leanrag_core.types.forecast import SECONDS_A_TEXT, Forecast, StageForecast, grown
from leanrag_core.types.job import CHUNKS, ENTITIES, UNITS, JobKind, StageState

_PRIOR = 3.0  # calls as forecast that the first real ones are mixed with
_TEXTS_AN_ENTITY = 1.1  # entities of layer 0 and of those above


@dataclass(frozen=True)
class Amount:
    """What calls take. dollars: US dollars."""

    calls: float = 0.0
    tokens: float = 0.0
    dollars: float = 0.0

    def __add__(self, other: "Amount") -> "Amount":
        return Amount(self.calls + other.calls, self.tokens + other.tokens, self.dollars + other.dollars)


@dataclass(frozen=True)
class StageOutlook:
    """A stage that calls a model: as forecast, so far, and at its end as it looks now."""

    forecast: StageForecast
    expected: Amount
    so_far: Amount
    at_end: Amount


@dataclass(frozen=True)
class Outlook:
    """A running job. seconds_left: None before anything is known."""

    stages: tuple[StageOutlook, ...]
    seconds_left: float | None

    @property
    def so_far(self) -> Amount:
        """What all stages have taken so far."""
        return sum((stage.so_far for stage in self.stages), Amount())

    @property
    def at_end(self) -> Amount:
        """What all stages will have taken at the end."""
        return sum((stage.at_end for stage in self.stages), Amount())


def outlook(
    kind: JobKind, forecast: Forecast | None, spending: Spending, states: Sequence[StageState]
) -> Outlook | None:
    """Forecast the rest of a job from its forecast, the meter's reading and its stages; None where no model is
    called."""
    if forecast is None or not forecast.calling:
        return None
    stages = _Stages(kind, states)
    expected = forecast.entities.expected
    entities = stages.entities(expected)
    ratio = entities / expected if entities and expected else 1.0
    outlooks = []
    for planned in forecast.calling:
        at_start, so_far = _expected(planned), _so_far(spending.by_stage.get(planned.stage, NO_USAGE))
        calls = stages.calls_at_end(forecast, planned.stage, at_start, so_far, ratio)
        outlooks.append(StageOutlook(planned, at_start, so_far, _priced(calls, at_start, so_far)))
    return Outlook(tuple(outlooks), _seconds_left(forecast, outlooks, stages))


class _Stages:
    """The stages of a job by name; one that is not there has not begun."""

    def __init__(self, kind: JobKind, states: Sequence[StageState]) -> None:
        self.kind, self.states = kind, states
        self._state_of: Mapping[str, StageState] = {state.name: state for state in states}

    def state(self, name: str) -> StageState:
        return self._state_of.get(name, StageState(name, "waiting"))

    def ended(self, name: str) -> bool:
        """Return whether the stage makes no more calls."""
        names = [stage.name for stage in self.kind.stages]
        after = self.kind.stage(name).ended_by or (names[names.index(name) + 1 :] if name in names else ())
        return any(self.state(later).status != "waiting" for later in after)

    def entities(self, expected: float) -> float:
        """Estimate the entities at the end of the extraction: counted, or by Heaps' law from the names so far, mixed
        with the forecast."""
        if self.ended("merge"):
            return self.state("merge").total
        extract = self.state("extract")
        if not (extract.found and extract.done):
            return expected
        n = grown(extract.found, extract.done, max(extract.total, extract.done))
        return (extract.done * n + _PRIOR * expected) / (extract.done + _PRIOR)

    def calls_at_end(self, forecast: Forecast, name: str, at_start: Amount, so_far: Amount, ratio: float) -> float:
        """Estimate the calls that the stage will have made. ratio: of entities to be expected now to those of the
        forecast."""
        grows_with, state = self.kind.stage(name).calls, self.state(name)
        if self.ended(name):
            return so_far.calls
        if grows_with == CHUNKS:
            return so_far.calls + at_start.calls * (1 - _share_read(forecast, state))
        if grows_with == UNITS and state.total:
            return so_far.calls + _calls_ahead(state, so_far.calls)
        return max(so_far.calls, at_start.calls * (ratio if grows_with in (ENTITIES, UNITS) else 1.0))


def _expected(stage: StageForecast) -> Amount:
    tokens = stage.prompt_tokens.expected + stage.completion_tokens.expected
    return Amount(stage.calls.expected, tokens, stage.dollars.expected)


def _so_far(usage: Usage) -> Amount:
    return Amount(usage.calls, usage.prompt_tokens + usage.completion_tokens, usage.cost)


def _share_read(forecast: Forecast, state: StageState) -> float:
    """Return the share of the chunks without stored answers that are done, the others being taken first."""
    stored = min(forecast.sampled, forecast.chunks)
    missing = forecast.chunks - stored
    return min(1.0, max(0.0, (state.done - stored) / missing)) if missing else 1.0


def _calls_ahead(state: StageState, calls: float) -> float:
    """Estimate the calls for the units ahead, at the calls a unit so far; stored answers take none."""
    each = (calls + _PRIOR) / (state.done + _PRIOR)
    return max(0, state.total - state.done) * min(1.0, each)


def _priced(calls: float, expected: Amount, so_far: Amount) -> Amount:
    """Estimate tokens and dollars of those calls: what was taken, and the rest at the price of a call so far."""
    ahead = max(0.0, calls - so_far.calls)

    def total(taken: float, planned: float) -> float:
        each = planned / expected.calls if expected.calls else 0.0
        return taken + ahead * (taken + _PRIOR * each) / (so_far.calls + _PRIOR)

    return Amount(calls, total(so_far.tokens, expected.tokens), total(so_far.dollars, expected.dollars))


def _seconds_left(forecast: Forecast, outlooks: Sequence[StageOutlook], stages: _Stages) -> float | None:
    """Estimate the seconds left: calls ahead at the calls a second so far (at first: as forecast), and the texts
    that are embedded here."""
    if all(state.status == "waiting" for state in stages.states):
        return None
    made = sum(stage.so_far.calls for stage in outlooks)
    ahead = sum(max(0.0, stage.at_end.calls - stage.so_far.calls) for stage in outlooks)
    asking = sum(stages.state(stage.forecast.stage).seconds for stage in outlooks)
    planned = sum(stage.expected.calls for stage in outlooks)
    expected = forecast.seconds.expected / planned if planned else 0.0
    each = (asking + _PRIOR * expected) / (made + _PRIOR) if made else expected
    left = ahead * each
    embeds_here = any(stage.name == "embed" for stage in stages.kind.stages) and all(
        stage.forecast.stage != "embed" for stage in outlooks
    )
    if embeds_here and not stages.ended("embed"):
        texts = stages.state("embed")
        entities = stages.state("merge").total or stages.entities(forecast.entities.expected)
        slow = texts.seconds / texts.done if texts.done else SECONDS_A_TEXT
        left += max(0.0, (texts.total or _TEXTS_AN_ENTITY * entities) - texts.done) * slow
    return left
