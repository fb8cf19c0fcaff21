"""Settings, points and figures of a sweep in words."""

from collections.abc import Sequence
from statistics import fmean

from leanrag_core.evaluation.sweeps.points import shown_value
from leanrag_core.evaluation.tables import scores_for_mean
from leanrag_core.types.config import IndexConfig
from leanrag_core.types.experiment import Parameter
from leanrag_core.types.sweep import PointResult
from pages.common import forms
from pages.common.messages import known, say
from pages.evaluate import measure_words


def axis_title(name: str) -> str:
    """A setting, or what came out, as the head of an axis."""
    code = f"evaluate.sweep.axis.{name}"
    if known(code):
        return say(code)
    if measure_words.is_measure(name):
        return measure_words.title_of(name)
    return forms.title_of(name, IndexConfig if name in forms.option_fields(IndexConfig) else None)


def mean_of(result: PointResult, measure: str) -> float | None:
    """The mean of a measure at a point."""
    scores = scores_for_mean(measure, lambda name: result.scores.get(name, ()))
    known = [score for score in scores if score is not None]
    return fmean(known) if known else None


def number(value: Parameter, order: Sequence[Parameter]) -> float:
    """A setting as a number: itself, that of its digits, or its place among the values."""
    if isinstance(value, bool) or value is None:
        return float(order.index(value))
    if isinstance(value, int | float):
        return float(value)
    try:
        return float(value)
    except ValueError:
        return float(order.index(value))


def point_title(result: PointResult) -> str:
    """The settings of a point with their titles, such as "clustersize 20, tau 3"."""
    return ", ".join(f"{axis_title(name)} {shown_value(value)}" for name, value in result.point.settings.items())
