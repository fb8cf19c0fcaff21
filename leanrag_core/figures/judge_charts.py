"""Biases of a judge, towards the answer shown first and the longer answer; and how far judges agree."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from leanrag_core.figures.drawing import Axis, Drawing, Shape, fitted, marker, path, rect, text, text_width

_ROW, _TOP = 24, 8  # px
_HEIGHT, _LEFT, _BOTTOM = 284, 46, 48


@dataclass(frozen=True)
class BiasBar:
    """The share of wins of the answer shown first, from 0 to 1, with its interval. is_overall: drawn stronger."""

    name: str
    share: float
    low: float
    high: float
    shown: str
    is_overall: bool = False

    @property
    def is_biased(self) -> bool:
        """Tell whether the interval excludes a half."""
        return self.low > 0.5 or self.high < 0.5


def bias_bars(bars: Sequence[BiasBar], *, width: int, label: str, no_bias: str) -> Drawing:
    """Return a bar from one half for each criterion, with its interval. no_bias: what is written below the line at a
    half."""
    left = min(max((text_width(bar.name, 13) for bar in bars), default=0) + 20, 0.47 * width)
    spread = max([0.2, *(abs(end - 0.5) for bar in bars for end in (bar.low, bar.high, bar.share))])
    lowest = max(0.0, min([0.5, *(min(bar.low, bar.share) for bar in bars)]) - 0.02)
    axis = Axis(lowest, min(1.0, 0.5 + spread), left, width - 56)
    base = _TOP + _ROW * len(bars)
    middle = axis.at(0.5)
    shapes: list[Shape] = []
    for place, bar in enumerate(bars):
        y = _TOP + _ROW * (place + 0.5)
        weight = "650" if bar.is_overall else "400"
        shapes.append(text(0, y + 4.5, fitted(bar.name, left - 12, 13), size=13, title=bar.name, font_weight=weight))
        ends = sorted((middle, axis.at(bar.share)))
        look = {"fill": "left" if bar.is_biased else "base", "opacity": "1" if bar.is_overall else ".6"}
        title = f"{bar.name}: {bar.shown}"
        shapes.append(rect(ends[0], y - 6, ends[1] - ends[0], 12, radius=1, title=title, **look))
        line = f"M{axis.at(bar.low):.1f} {y:.1f}H{axis.at(bar.high):.1f}"
        shapes.append(path(line, stroke="text", stroke_width="1.6"))
        shapes.append(text(width - 2, y + 4.5, bar.shown, size=13, anchor="end", font_weight=weight))
    shapes.append(
        path(f"M{middle:.1f} {_TOP - 4}V{base + 2}", stroke="mute", stroke_width="1.2", stroke_dasharray="3 2")
    )
    room = text_width(no_bias, 12) / 2
    shapes.append(text(max(room, min(middle, width - room)), base + 18, no_bias, size=12, anchor="middle", fill="mute"))
    return Drawing(width, base + 26, label, tuple(shapes))


@dataclass(frozen=True)
class LengthPoint:
    """Win rate of answers of about one length. ratio: to the other's length, above 0; rate: 0 to 1; letter: of the
    system's column."""

    ratio: float
    rate: float
    letter: str
    name: str


@dataclass(frozen=True)
class CurvePoint:
    """A place of the fitted curve and its interval."""

    ratio: float
    rate: float
    low: float
    high: float


def length_curve(
    points: Sequence[LengthPoint],
    curve: Sequence[CurvePoint],
    *,
    width: int,
    label: str,
    ratio_title: str,
    ratio_names: Mapping[float, str],
) -> Drawing:
    """Draw the win rate against the ratio of lengths on a log scale; a sign for each point, the curve in its band.

    ratio_names: ratios that are written on the axis, such as 0.5: "half".
    """
    ratios = [*(each.ratio for each in points), *(each.ratio for each in curve)]
    reach = max([math.log(2), *(abs(math.log(ratio)) for ratio in ratios)])
    x = Axis(-reach, reach, _LEFT, width - 12)
    y = Axis(0.0, 1.0, _HEIGHT - _BOTTOM, 12)
    shapes: list[Shape] = []
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        dash = "4 3" if share == 0.5 else "none"
        line = f"M{_LEFT} {y.at(share):.1f}H{width - 12}"
        shapes.append(path(line, stroke="line", stroke_width="1", stroke_dasharray=dash))
        shapes.append(text(_LEFT - 8, y.at(share) + 4, f"{100 * share:.0f} %", size=12, anchor="end", fill="mute"))
    used_spans: list[tuple[float, float]] = []
    for ratio, name in sorted(ratio_names.items(), key=lambda item: abs(math.log(item[0]))):
        across, half = x.at(math.log(ratio)), text_width(name, 12) / 2
        across = min(max(across, _LEFT + half), width - half)
        ends = (across - half - 4, across + half + 4)
        if x.holds(math.log(ratio)) and not any(ends[0] < other[1] and other[0] < ends[1] for other in used_spans):
            used_spans.append(ends)
            shapes.append(text(across, _HEIGHT - 28, name, size=12, anchor="middle", fill="mute"))
    middle = (_LEFT + width - 12) / 2
    shapes.append(text(middle, _HEIGHT - 8, ratio_title, size=12, anchor="middle", fill="mute"))
    if curve:
        upper_edge = [f"{x.at(math.log(each.ratio)):.1f} {y.at(each.high):.1f}" for each in curve]
        back = [f"{x.at(math.log(each.ratio)):.1f} {y.at(each.low):.1f}" for each in reversed(curve)]
        band = f"M{'L'.join((*upper_edge, *back))}Z"
        shapes.append(path(band, fill="color-mix(in srgb,var(--lr-base) 20%,transparent)"))
        line = "L".join(f"{x.at(math.log(each.ratio)):.1f} {y.at(each.rate):.1f}" for each in curve)
        shapes.append(path(f"M{line}", stroke="text", stroke_width="2"))
    for each in points:
        sign = marker(each.letter, x.at(math.log(each.ratio)), y.at(each.rate), 3.6, fill_opacity=".8")
        shapes.append(replace(sign, title=f"{each.name}: {100 * each.rate:.0f} %"))
    return Drawing(width, _HEIGHT, label, tuple(shapes))


def agreement_matrix(
    names: Sequence[str], values: Mapping[tuple[int, int], float], *, width: int, label: str
) -> Drawing:
    """Draw the agreement of judges, from the diagonal (each with itself, dashed) to the right. values: by place of
    both."""
    left = min(max((text_width(name, 12.5) for name in names), default=0) + 14, 0.34 * width)
    step = min(66.0, (width - left) / max(1, len(names)))
    high, top = 27, 24
    shapes: list[Shape] = []
    for place, name in enumerate(names):
        x = left + step * (place + 0.5)
        short = fitted(name, step - 4, 11.5)
        shapes.append(text(x, 14, short, size=11.5, anchor="middle", title=name, fill="mute"))
        short = fitted(name, left - 10, 12.5)
        shapes.append(text(left - 8, top + high * (place + 0.5) + 4, short, size=12.5, anchor="end", title=name))
    for (row, column), value in sorted(values.items()):
        x, y = left + step * column, top + high * row
        number = min(4, max(0, int(5 * value)))
        title = f"{names[row]} / {names[column]}: {value:.2f}"
        dashed = {"stroke": "text", "stroke_width": "1.3", "stroke_dasharray": "4 2"} if row == column else {}
        shapes.append(rect(x + 1, y + 1, step - 2, high - 2, radius=3, title=title, fill=f"l{number}", **dashed))
        shown = f"{value:.2f}".replace("0.", ".", 1).replace("-", "−")
        ink = f"l{number}k"
        shapes.append(text(x + step / 2, y + high / 2 + 4.5, shown, size=13, anchor="middle", fill=ink))
    return Drawing(width, top + high * len(names) + 6, label, tuple(shapes))


@dataclass(frozen=True)
class LengthFit:
    """A logistic curve of winning over the logarithm of the ratio of lengths: at equal length and its interval, and by
    how much the odds to win are multiplied when the length doubles, and its interval."""

    equal: tuple[float, float, float]
    odds: tuple[float, float, float]


def fitted_curve(fit: LengthFit, *, reach: float, points: int = 41) -> tuple[CurvePoint, ...]:
    """Return the curve from 1 / reach to reach with its band; the errors of the two figures are taken as
    independent."""
    centre, centre_error = _logit_and_error(*fit.equal)
    slope, slope_low, slope_high = (math.log(max(value, 1e-9)) for value in fit.odds)
    slope_error = (slope_high - slope_low) / 2
    curve = []
    for place in range(points):
        doublings = math.log2(reach) * (2 * place / (points - 1) - 1)
        middle = centre + slope * doublings
        error = math.hypot(centre_error, slope_error * doublings)
        shares = [_share(middle + side * error) for side in (0, -1, 1)]
        curve.append(CurvePoint(2**doublings, *shares))
    return tuple(curve)


def _logit_and_error(value: float, low: float, high: float) -> tuple[float, float]:
    ends = [math.log(share / (1 - share)) for share in (min(max(end, 1e-6), 1 - 1e-6) for end in (value, low, high))]
    return ends[0], (ends[2] - ends[1]) / 2


def _share(log_odds: float) -> float:
    return 1 / (1 + math.exp(-max(-700.0, log_odds)))
