"""What a board offers to move: the declared options of a strategy and of an index as sliders, switches and choices."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import Field, dataclass, fields
from functools import reduce
from typing import Any

from leanrag_core.errors import InvalidConfig
from leanrag_core.indexing.aggregation.rules import parse_tau
from leanrag_core.messages.message import Message, message
from leanrag_core.retrieval.base import MAX_TOKENS, RERANK
from leanrag_core.retrieval.settings import choice_title, option_title
from leanrag_core.retrieval.variants import Setting
from leanrag_core.types.config import CLUSTER, RELATIONS, IndexConfig, within_bounds

SLIDER, SWITCH, CHOICE = "slider", "switch", "choice"
_EACH = 60  # values of a slider that has a stop at each whole number
_ROUND = (1, 1.5, 2, 2.5, 3, 4, 5, 6, 8)  # between powers of ten, where there are more
_LEAST_TOKENS = 250  # a context of fewer says nothing
_OF_INDEX = "index."
_TAU = 12  # the last stop of tau: beyond it hardly any relation is summarised


def number(value: Any) -> str:
    """Write the value of a slider."""
    return f"{value:,}" if isinstance(value, int | float) else str(value)


@dataclass(frozen=True)
class Control:
    """An option that can be moved. kind: SLIDER, SWITCH or CHOICE. stops: its values in order. of_index: needs another
    index. first: stands above the fold."""

    name: str
    kind: str
    stops: tuple[Any, ...]
    of_index: bool = False
    first: bool = True

    @property
    def key(self) -> str:
        """Its name among all controls: an index and a strategy may have options of the same name."""
        return f"{_OF_INDEX}{self.name}" if self.of_index else self.name

    @property
    def setting(self) -> Setting:
        """As the columns of a comparison name it."""
        return Setting(self.name, self.of_index)

    @property
    def title(self) -> Message:
        """Its title on screen."""
        return option_title(self.name, of_index=self.of_index)

    def shown(self, value: Any) -> Message:
        """Return a value as it is shown."""
        if self.kind == CHOICE:
            return choice_title(self.name, value)
        return message("plain", text=number(value))

    def place(self, value: Any) -> int | None:
        """Return the place of its stop at the value; None where it has none. A browser sends 1 for 1.0."""
        equal = (
            n
            for n, stop in enumerate(self.stops)
            if stop == value and isinstance(stop, bool) == isinstance(value, bool)
        )
        return next(equal, None)


def neighbours(
    controls: Sequence[Control], settings: Mapping[str, Any], moved: str = "", towards: int = 1
) -> Iterator[dict[str, Any]]:
    """Yield the settings that are likely next: the slider that was moved last goes on that way, then back; then the
    other controls of the strategy by one step. moved: its key. towards: 1 or -1."""
    shown = [each for each in controls if each.first and not each.of_index and each.kind != CHOICE]
    first = [(each, step) for each in shown if each.key == moved for step in (towards, 2 * towards, -towards)]
    for control, step in (*first, *((each, step) for each in shown for step in (1, -1) if each.key != moved)):
        place = control.stops.index(settings[control.key]) + step
        if 0 <= place < len(control.stops):
            yield {**settings, control.key: control.stops[place]}


def strategy_controls(config: type, held: Iterable[Mapping[str, Any]]) -> tuple[Control, ...]:
    """Return the controls of a strategy's options; texts of one's own have none. held: settings in use, at whose values
    sliders have stops too."""
    held, controls = list(held), []
    for spec in fields(config):
        if spec.name == RERANK:  # asks a server for each question of a set
            continue
        now = [values[spec.name] for values in held if spec.name in values]
        first = bool(spec.metadata.get("in_row")) or spec.name == MAX_TOKENS
        if isinstance(spec.default, bool):
            controls.append(Control(spec.name, SWITCH, (False, True), first=first))
        elif spec.metadata.get("choices"):
            controls.append(Control(spec.name, CHOICE, tuple(spec.metadata["choices"]), first=first))
        elif isinstance(spec.default, int | float) and spec.metadata.get("high") is not None:
            controls.append(Control(spec.name, SLIDER, _stops(spec, now), first=first))
    return tuple(controls)


def index_controls(config: IndexConfig, held: Iterable[Mapping[str, Any]], *, heuristic: bool) -> tuple[Control, ...]:
    """Return the controls of the index's first settings that change the hierarchy alone, such as clustersize and tau;
    what comes before the clusters is kept."""
    held, controls = list(held), []
    for spec in fields(config):
        if not spec.metadata.get("in_row") or spec.metadata.get("stage") not in (CLUSTER, RELATIONS):
            continue
        key = f"{_OF_INDEX}{spec.name}"
        now = [getattr(config, spec.name), *(values[key] for values in held if key in values)]
        if isinstance(spec.default, bool):
            controls.append(Control(spec.name, SWITCH, (False, True), of_index=True))
        elif spec.name == "tau":
            controls.append(Control(spec.name, SLIDER, _tau_stops(now, heuristic), of_index=True))
        elif isinstance(spec.default, int) and spec.metadata["high"] <= 10_000:  # a seed is no setting to be moved
            controls.append(Control(spec.name, SLIDER, _stops(spec, now), of_index=True))
    return tuple(controls)


def index_settings(config: IndexConfig, *, heuristic: bool) -> dict[str, Any]:
    """Return the values of the index at which its controls stand, by Control.key."""
    controls = index_controls(config, (), heuristic=heuristic)
    values = {each.key: getattr(config, each.name) for each in controls}
    return values | {f"{_OF_INDEX}tau": str(parse_tau(config.tau, heuristic))}


def split_settings(settings: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the options of the strategy and the settings of the index, each by its own name."""
    of_index = {key.removeprefix(_OF_INDEX): value for key, value in settings.items() if key.startswith(_OF_INDEX)}
    return {key: value for key, value in settings.items() if not key.startswith(_OF_INDEX)}, of_index


def _stops(spec: Field[Any], now: Sequence[Any]) -> tuple[Any, ...]:
    """Return each whole number, or round ones where these are many; fractions in twenty steps."""
    low, high = spec.metadata.get("low") or 0, spec.metadata["high"]
    values_in_use = {spec.default, *now}
    if isinstance(spec.default, float):
        steps = {round(low + (high - low) * step / 20, 4) for step in range(21)}
        return tuple(sorted(float(value) for value in steps | values_in_use))
    high = min(high, max(spec.metadata.get("scale") or high, *values_in_use))
    if high - low <= _EACH:
        return tuple(range(low, high + 1))
    least = _LEAST_TOKENS if spec.name.endswith("tokens") else 1
    round_ones = {int(part * 10**power) for power in range(len(str(high))) for part in _ROUND}
    ends = {high} if least > 1 else {low, high}
    return tuple(sorted({value for value in round_ones if max(low, least) <= value <= high} | values_in_use | ends))


def _tau_stops(now: Sequence[Any], heuristic: bool) -> tuple[str, ...]:
    """Return whole numbers as texts, and the rules in use behind the number that they begin with."""
    rules = {str(parse_tau(value, heuristic)) for value in now} | {str(value) for value in range(_TAU + 1)}

    def order(rule: str) -> tuple[float, int, str]:
        step = parse_tau(rule, heuristic).step(1)
        return (step if not isinstance(step, tuple) else float(_TAU + 1), len(rule), rule)

    return tuple(sorted(rules, key=order))


def settings_name(controls: Sequence[Control], settings: Mapping[str, Any], beside: Mapping[str, Any]) -> Message:
    """Return the name of a setting: what differs from the one beside it, such as "N 5, C 8"; the first two sliders
    where nothing does. settings, beside: values by Control.key."""
    differing = [each for each in controls if settings.get(each.key) != beside.get(each.key)]
    named = differing or [each for each in controls if each.kind == SLIDER][:2] or controls[:1]
    parts = [each.setting.words(settings[each.key]) for each in named[:3]]
    if len(named) > 3:
        parts[2:] = [message("board.more_settings", n=len(named) - 2)]
    return reduce(lambda first, rest: message("setting.list", first=first, rest=rest), parts)


def settings_link(settings: Mapping[str, Any], ground: Mapping[str, Any]) -> str:
    """Write the settings that differ from those of the ground, as links have them: "KEY=VALUE;...", "-" where none
    does. settings, ground: values by Control.key."""
    return ";".join(f"{key}={_written(value)}" for key, value in settings.items() if value != ground[key]) or "-"


def settings_of_link(text: str, controls: Sequence[Control], ground: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of that part of a link, by Control.key; those of the ground where it names none, or a value
    at which the control has no stop."""
    settings = dict(ground)
    known = {control.key: control for control in controls}
    for pair in text.split(";"):
        key, _, value = pair.partition("=")
        if key in known:
            settings[key] = next((stop for stop in known[key].stops if _written(stop) == value), settings[key])
    return settings


def _written(value: Any) -> str:
    return str(int(value)) if isinstance(value, bool) else str(value)


def values_of_links(texts: Sequence[str], config: type) -> list[dict[str, Any]]:
    """Return the values in links for which a slider may lack a stop, each by its Control.key; those that its option
    takes. config: of the strategy."""
    specs = {spec.name: spec for spec in fields(config)}
    specs |= {f"{_OF_INDEX}{spec.name}": spec for spec in fields(IndexConfig)}
    values = []
    for text in texts:
        for pair in filter(None, text.split(";")):
            key, _, written = pair.partition("=")
            value = _value_of_link(key, specs[key], written) if key in specs else None
            if value is not None:
                values.append({key: value})
    return values


def _value_of_link(key: str, spec: Field[Any], written: str) -> Any:
    """Return the number, or the rule of tau; None for what is neither, or out of bounds: links may be written by
    hand."""
    if key == f"{_OF_INDEX}tau":
        with suppress(InvalidConfig):
            return str(parse_tau(written, heuristic=False))
    if type(spec.default) in (int, float):
        with suppress(ValueError):
            number_ = int(written) if isinstance(spec.default, int) else float(written)
            return number_ if within_bounds(spec, number_) else None
    return None
