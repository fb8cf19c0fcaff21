"""The points of a sweep's specification: checked, on a grid or drawn by a sampler with a seed."""

import hashlib
import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np

from leanrag_core.errors import InvalidConfig
from leanrag_core.evaluation.base import measure_infos
from leanrag_core.files.records import json_bytes, to_json
from leanrag_core.indexing.aggregation.threshold import parse_tau
from leanrag_core.retrieval.base import strategies, strategy
from leanrag_core.types.config import ONE_VALUE, IndexConfig
from leanrag_core.types.experiment import ExperimentSpec, Parameter, RunSpec
from leanrag_core.types.sweep import GRID, INDEX, LATIN, LEVELS, RETRIEVAL, SAMPLERS, Axis, SweepPoint, SweepSpec

MAX_POINTS = 1000
_SLUG = 40  # characters of the title in an id
_DIGITS = 6  # of fractions that a sampler draws


def points(spec: SweepSpec) -> tuple[SweepPoint, ...]:
    """Return the points, each once; of a grid in the order of its axes, the last changing fastest. Raises
    InvalidConfig for what could not be run."""
    _require_valid(spec)
    drawn = _grid(spec.axes) if spec.sampler == GRID else _sampled(spec)
    listed = tuple({point.name: point for point in map(_point, itertools.repeat(spec.axes), drawn)}.values())
    for point in listed:  # a value out of its bounds is named before anything is built
        parse_tau(index_config(spec, point).tau, heuristic=False)
        strategy(spec.strategy, options_of(spec, point))
    return listed


def index_config(spec: SweepSpec, point: SweepPoint) -> IndexConfig:
    """Return the settings of the point's index. Raises InvalidConfig for a value out of its bounds."""
    return replace(spec.config, **_of_level(spec, point, INDEX))


def options_of(spec: SweepSpec, point: SweepPoint) -> Mapping[str, Parameter]:
    """Return the options of the point's retrieval."""
    index_axes = {axis.name for axis in spec.axes if axis.level == INDEX}
    return {**spec.options, **{name: value for name, value in point.settings.items() if name not in index_axes}}


def changes_index(spec: SweepSpec) -> bool:
    """Return whether an axis changes the index."""
    return any(axis.level == INDEX for axis in spec.axes)


def experiment_of(spec: SweepSpec, folder_of: Mapping[str, str]) -> ExperimentSpec:
    """Return the experiment that asks the questions at every point. folder_of: each point's index, by the point's
    name."""
    runs = tuple(
        RunSpec(point.name, folder_of[point.name], spec.strategy, options_of(spec, point)) for point in points(spec)
    )
    return ExperimentSpec(spec.title, spec.question_set, runs, answers=spec.answers, mode=spec.mode, seed=spec.seed)


def sweep_id(spec: SweepSpec, inputs: Mapping[str, str]) -> str:
    """Return an id that is the same for the same specification on the same inputs: digests of the documents or the
    index, and of the questions."""
    slug = re.sub(r"[^a-z0-9]+", "-", spec.title.lower()).strip("-")[:_SLUG].strip("-")
    digest = hashlib.sha256(to_json(spec) + json_bytes(dict(inputs))).hexdigest()[:12]
    return f"{slug}-{digest}" if slug else digest


def shown_value(value: Parameter) -> str:
    """Return the value as names of points have it."""
    if value is None:
        return "default"
    if isinstance(value, bool):
        return "on" if value else "off"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _require_valid(spec: SweepSpec) -> None:
    if not spec.title.strip():
        raise InvalidConfig("sweep.no_title")
    if bool(spec.corpus) == bool(spec.index):
        raise InvalidConfig("sweep.corpus_or_index")
    if spec.index and changes_index(spec):
        raise InvalidConfig("sweep.index_needs_corpus", axes=", ".join(a.name for a in spec.axes if a.level == INDEX))
    if not spec.axes:
        raise InvalidConfig("sweep.no_axes")
    if spec.sampler not in SAMPLERS:
        raise InvalidConfig("option.not_a_choice", option="sampler", value=spec.sampler, choices=", ".join(SAMPLERS))
    known = {info.name for info in measure_infos()}
    for option in ("measure", "cost"):
        if getattr(spec, option) not in known:
            raise InvalidConfig(
                "option.not_a_choice", option=option, value=getattr(spec, option), choices=", ".join(sorted(known))
            )
    names = [axis.name for axis in spec.axes]
    for axis in spec.axes:
        _require_axis(spec, axis)
        if names.count(axis.name) > 1:
            raise InvalidConfig("sweep.same_axis", axis=axis.name)
    count = spec.n_points
    if spec.sampler == GRID:
        count = int(np.prod([float(len(axis.values)) for axis in spec.axes]))
    if not 1 <= count <= MAX_POINTS:
        raise InvalidConfig("sweep.number_of_points", n=count, limit=MAX_POINTS)


def _require_axis(spec: SweepSpec, axis: Axis) -> None:
    if axis.level not in LEVELS:
        raise InvalidConfig("option.not_a_choice", option="level", value=axis.level, choices=", ".join(LEVELS))
    known = known_axes(spec.strategy)[axis.level]
    if axis.name not in known:
        raise InvalidConfig("sweep.unknown_axis", axis=axis.name, level=axis.level, known=", ".join(known))
    is_range = axis.low is not None and axis.high is not None and axis.low <= axis.high
    if not axis.values and (spec.sampler == GRID or not is_range):
        raise InvalidConfig("sweep.axis_without_values", axis=axis.name)


def known_axes(strategy_name: str) -> Mapping[str, tuple[str, ...]]:
    """Return the names that an axis of each level may have. Raises InvalidConfig for an unknown strategy."""
    config = strategies().named(strategy_name).config
    return {
        INDEX: ONE_VALUE,
        RETRIEVAL: tuple(spec.name for spec in fields(config)),
    }


def _grid(axes: Sequence[Axis]) -> list[tuple[Parameter, ...]]:
    return list(itertools.product(*(axis.values for axis in axes)))


def _sampled(spec: SweepSpec) -> list[tuple[Parameter, ...]]:
    """Draw the values of n points from the unit cube, whose places are (n_points, n_axes)."""
    if spec.sampler == LATIN:
        from scipy.stats import qmc

        places = qmc.LatinHypercube(len(spec.axes), rng=np.random.default_rng(spec.seed)).random(spec.n_points)
    else:
        places = np.random.default_rng(spec.seed).random((spec.n_points, len(spec.axes)))
    return [tuple(_value_at(axis, float(x)) for axis, x in zip(spec.axes, row, strict=True)) for row in places]


def _value_at(axis: Axis, place: float) -> Parameter:
    """Return the axis's value at a place from 0 up to 1: each listed value has an equal part of it."""
    if axis.values:
        return axis.values[min(len(axis.values) - 1, int(place * len(axis.values)))]
    assert axis.low is not None
    assert axis.high is not None
    if isinstance(axis.low, int) and isinstance(axis.high, int):
        return axis.low + min(axis.high - axis.low, int(place * (axis.high - axis.low + 1)))
    return round(axis.low + place * (axis.high - axis.low), _DIGITS)


def _point(axes: Sequence[Axis], values: Sequence[Parameter]) -> SweepPoint:
    settings = dict(zip((axis.name for axis in axes), values, strict=True))
    return SweepPoint(", ".join(f"{name} {shown_value(value)}" for name, value in settings.items()), settings)


def _of_level(spec: SweepSpec, point: SweepPoint, level: str) -> dict[str, Any]:
    return {axis.name: point.settings[axis.name] for axis in spec.axes if axis.level == level}
