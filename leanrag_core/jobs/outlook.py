"""What a build will have taken at its end: its forecast, put right by what it has taken so far.

A stage that has ended counts as it was. One under way goes on at its own calls a unit and tokens a call; one that has
not begun is as foreseen, in proportion to the entities: those to be expected from the names so far, then those counted.
Small counts are mixed with the forecast, as if the first three calls or chunks had gone as foreseen.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from leanrag_core.types.summary import StageState

_BELIEVED = 3.0  # calls as foreseen that the first true ones are mixed with
_HEAPS = 0.82  # distinct entities grow with this power of the chunks, as in the forecast
_SECONDS_A_TEXT = 0.02  # of the built-in embedding, before it has begun
_GROWING = ("embed", "cluster", "aggregate entities", "aggregate relations")  # go on, layer by layer, to the end


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
    """A stage that calls a model: as foreseen, so far, and at its end as it looks now."""

    stage: str
    foreseen: Amount
    so_far: Amount
    at_end: Amount


@dataclass(frozen=True)
class Outlook:
    """A build under way. seconds_left: None before there is anything to tell."""

    stages: tuple[StageOutlook, ...]
    seconds_left: float | None

    @property
    def so_far(self) -> Amount:
        """All that was taken."""
        return sum((stage.so_far for stage in self.stages), Amount())

    @property
    def at_end(self) -> Amount:
        """All that it will have taken."""
        return sum((stage.at_end for stage in self.stages), Amount())


def outlook(forecast: Mapping[str, Any], spent: Mapping[str, Any], stages: Sequence[StageState]) -> Outlook | None:
    """The outlook of a job with that forecast, that meter's reading and those stages; None without a forecast."""
    if not forecast.get("stages"):
        return None
    state_of = {stage.name: stage for stage in stages}
    taken = spent.get("by_stage", {})
    expected = float(forecast["entities"]["expected"])
    entities = state_of["merge"].total if _ended("merge", state_of) else _entities(state_of["extract"], expected)
    grown = entities / expected if entities and expected else 1.0
    found = []
    for cells in forecast["stages"]:
        name, foreseen, so_far = cells["stage"], _foreseen(cells), _so_far(taken.get(cells["stage"], {}))
        if _ended(name, state_of):
            calls = so_far.calls
        elif name == "extract":
            calls = so_far.calls + foreseen.calls * (1 - _unread(forecast, state_of[name]))
        elif name in _GROWING and name != "embed" and state_of[name].total:
            calls = so_far.calls + _ahead(state_of[name], so_far.calls)
        else:
            calls = max(so_far.calls, foreseen.calls * (grown if name in _GROWING else 1.0))
        found.append(StageOutlook(name, foreseen, so_far, _priced(calls, foreseen, so_far)))
    return Outlook(tuple(found), _seconds_left(forecast, found, state_of))


def _ended(name: str, state_of: Mapping[str, StageState]) -> bool:
    """Whether the stage makes no more calls. Those of the hierarchy take turns until the index is written."""
    after = {"extract": ("merge", "embed", "index"), "merge": ("embed", "index")}.get(name, ("index",))
    return any(state_of[one].status != "waiting" for one in after)


def _entities(extract: StageState, expected: float) -> float:
    """Entities at the end of the extraction: by Heaps' law from the names so far, mixed with the forecast."""
    if not (extract.found and extract.done):
        return expected
    grown = extract.found * (max(extract.total, extract.done) / extract.done) ** _HEAPS
    return (extract.done * grown + _BELIEVED * expected) / (extract.done + _BELIEVED)


def _foreseen(cells: Mapping[str, Any]) -> Amount:
    tokens = cells["prompt_tokens"]["expected"] + cells["completion_tokens"]["expected"]
    return Amount(cells["calls"]["expected"], tokens, cells["dollars"]["expected"])


def _so_far(usage: Mapping[str, Any]) -> Amount:
    tokens = usage.get("prompt_tokens", 0) + usage.get("completion_tokens", 0)
    return Amount(usage.get("calls", 0), tokens, usage.get("cost", 0.0))


def _unread(forecast: Mapping[str, Any], state: StageState) -> float:
    """Share of the chunks without stored answers that are done, the others being taken first."""
    stored = min(forecast["sampled"], forecast["chunks"])
    missing = forecast["chunks"] - stored
    return min(1.0, max(0.0, (state.done - stored) / missing)) if missing else 1.0


def _ahead(state: StageState, calls: float) -> float:
    """Calls for the units ahead, at the calls a unit so far; stored answers take none."""
    each = (calls + _BELIEVED) / (state.done + _BELIEVED)
    return max(0, state.total - state.done) * min(1.0, each)


def _priced(calls: float, foreseen: Amount, so_far: Amount) -> Amount:
    """Tokens and dollars of those calls: what was taken, and the rest at the price of a call so far."""
    ahead = max(0.0, calls - so_far.calls)

    def total(taken: float, expected: float) -> float:
        each = expected / foreseen.calls if foreseen.calls else 0.0
        return taken + ahead * (taken + _BELIEVED * each) / (so_far.calls + _BELIEVED)

    return Amount(calls, total(so_far.tokens, foreseen.tokens), total(so_far.dollars, foreseen.dollars))


def _seconds_left(
    forecast: Mapping[str, Any], found: Sequence[StageOutlook], state_of: Mapping[str, StageState]
) -> float | None:
    """Calls ahead at the calls a second so far (at first: as foreseen), and the texts that are embedded here."""
    if all(state.status == "waiting" for state in state_of.values()):
        return None
    made = sum(stage.so_far.calls for stage in found)
    ahead = sum(max(0.0, stage.at_end.calls - stage.so_far.calls) for stage in found)
    asking = sum(state_of[stage.stage].seconds for stage in found)
    foreseen = sum(stage.foreseen.calls for stage in found)
    expected = forecast["seconds"]["expected"] / foreseen if foreseen else 0.0
    each = (asking + _BELIEVED * expected) / (made + _BELIEVED) if made else expected
    left = ahead * each
    texts = state_of["embed"]
    if all(stage.stage != "embed" for stage in found) and state_of["index"].status == "waiting":
        entities = state_of["merge"].total or _entities(state_of["extract"], forecast["entities"]["expected"])
        slow = texts.seconds / texts.done if texts.done else _SECONDS_A_TEXT
        left += max(0.0, (texts.total or 1.1 * entities) - texts.done) * slow
    return left
