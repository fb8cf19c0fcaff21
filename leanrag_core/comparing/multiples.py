"""One question at several values of one setting: which values, how deep the seeds meet, and what the values change."""

import re
from collections.abc import Sequence
from dataclasses import Field, dataclass
from typing import Any

from leanrag_core.figures import numbers
from leanrag_core.messages.message import Message, message
from leanrag_core.retrieval.variants import Setting
from leanrag_core.types.config import within_bounds
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Trace

LEAST, MOST = 2, 7  # values at a time
_USUAL = 5
_FACTORS = (1.0, 0.6, 2.0, 0.4, 0.25, 3.0, 1.5, 4.0)  # of the value in use, in the order in which they are taken
_TAUS = ("1", "2", "3", "5", "8")


@dataclass(frozen=True)
class Cell:
    """What the question has at one value. gold: pieces found, None where no gold is known. depth: layers from the root
    down to where the seeds meet, None where they do not."""

    value: Any
    in_use: bool
    tokens: int
    gold: int | None
    depth: int | None


@dataclass(frozen=True)
class Finding:
    """What the values show. claim: what is written in bold, rest: the sentence after it."""

    claim: Message
    rest: Message | None = None


def usual_values(spec: Field[Any], value: Any) -> tuple[Any, ...]:
    """Return five values of a setting around the one in use, in order; all of a choice or a switch. spec: of its
    configuration."""
    choices = spec.metadata.get("choices") or ()
    if isinstance(spec.default, bool):
        return (False, True)
    if choices:
        return tuple(choices)[:MOST]
    if spec.default is None:  # tau: a rule as text, empty where the data choose it
        own = "" if value is None else str(value)
        return tuple(dict.fromkeys([*([own] if own not in _TAUS else []), *_TAUS]))[:_USUAL]
    low, high = spec.metadata.get("low"), spec.metadata.get("high")
    values: list[Any] = []
    for factor in _FACTORS:
        drawn = float(f"{value * factor:.2g}") if factor != 1.0 else value
        drawn = drawn if isinstance(spec.default, float) else round(drawn)
        drawn = max(drawn, low) if low is not None else drawn
        drawn = min(drawn, high) if high is not None else drawn
        if drawn not in values:
            values.append(drawn)
        if len(values) == _USUAL:
            break
    return tuple(sorted(values))


def parts_of(text: str) -> list[str]:
    """Return what a person wrote between commas, also Chinese ones, each once."""
    return list(dict.fromkeys(part.strip() for part in re.split("[,，、;；]", text) if part.strip()))


def values_of(text: str, spec: Field[Any]) -> tuple[Any, ...] | None:
    """Return the values that a person wrote, see parts_of(); None where they are not two to seven of the setting's
    kind and within its bounds."""
    parts = parts_of(text)
    if not LEAST <= len(parts) <= MOST:
        return None
    if not isinstance(spec.default, int | float):
        choices = spec.metadata.get("choices") or ()
        return tuple(parts) if not choices or set(parts) <= set(choices) else None
    try:
        values = [type(spec.default)(part.replace("\u202f", "")) for part in parts]
    except ValueError:
        return None
    return tuple(sorted(set(values))) if all(within_bounds(spec, value) for value in values) else None


def depth_of(trace: Trace, index: Index) -> int | None:
    """Return how many layers below the root the seeds meet: 0 at the root itself; None where the trace has no common
    ancestor, the highest of several."""
    layers = [item.layer for item in trace.with_role("lca") if item.layer is not None]
    return len(index.layers) - 1 - max(layers) if layers else None


def depth_words(depth: int | None) -> Message:
    """Return where the seeds meet, in words."""
    if depth is None:
        return message("multiples.no_ancestor")
    return message("multiples.below_root", n=depth) if depth else message("multiples.root_itself")


def finding(setting: Setting, cells: Sequence[Cell]) -> Finding:
    """Return what the values show: the one that finds most, at what price; or that nothing but the shape changes."""
    used = next((cell for cell in cells if cell.in_use), cells[0])
    fewest = min(cells, key=lambda cell: cell.tokens)
    if len({(cell.tokens, cell.gold, cell.depth) for cell in cells}) == 1:
        return Finding(message("multiples.nothing_changes", setting=setting.title))
    at = message("multiples.fewest", at=setting.words(fewest.value), tokens=fewest.tokens)
    known = [(cell.gold, cell) for cell in cells if cell.gold is not None]
    if not known:
        most = max(cells, key=lambda cell: cell.tokens)
        span = {"least": fewest.tokens, "most": most.tokens}
        return Finding(
            message("multiples.tokens_alone", first=setting.words(fewest.value), last=setting.words(most.value), **span)
        )
    most_gold = max(gold for gold, _ in known)
    best = min((cell for gold, cell in known if gold == most_gold), key=lambda cell: cell.tokens)
    more = most_gold - (used.gold or 0)
    if more > 0:
        change = best.tokens / max(1, used.tokens) - 1
        share = numbers.share(abs(change))
        code = "multiples.more_gold_more" if change >= 0 else "multiples.more_gold_fewer"
        return Finding(message(code, at=setting.words(best.value), n=more, share=share), at if fewest != best else None)
    if len({gold for gold, _ in known}) == 1:
        return Finding(message("multiples.same_gold", n=most_gold), at)
    lost = [setting.words(cell.value) for gold, cell in known if gold < most_gold]
    return Finding(message("multiples.used_is_best", at=setting.words(used.value), n=most_gold, lost=len(lost)), at)
