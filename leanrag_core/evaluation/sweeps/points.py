"""The points of a sweep's specification: checked, on a grid or drawn by a sampler with a seed."""

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from leanrag_core.errors import InvalidConfig
from leanrag_core.evaluation.measuring import measure_infos
from leanrag_core.indexing.aggregation.rules import parse_tau
from leanrag_core.indexing.forecasting.forecasts import kept_seconds
from leanrag_core.indexing.forecasting.growth import embedding_stage, layer_counts, usual_relations
from leanrag_core.jobs.kinds import BUILD
from leanrag_core.retrieval.base import strategies, strategy
from leanrag_core.types.config import (
    CHUNK,
    EMBED,
    EXTRACT,
    ONE_VALUE,
    RELATIONS,
    IndexConfig,
    is_remote,
    require_choice,
    settings_of_stages,
)
from leanrag_core.types.experiment import ExperimentSpec, Parameter, RunSpec
from leanrag_core.types.forecast import ZERO, Forecast, Range
from leanrag_core.types.settings import Settings
from leanrag_core.types.sweep import (
    GRID,
    INDEX,
    LATIN,
    LEVELS,
    RETRIEVAL,
    SAMPLERS,
    Axis,
    PointForecast,
    SweepForecast,
    SweepPoint,
    SweepSpec,
)

MAX_POINTS = 1000
_DIGITS = 6  # of fractions that a sampler draws


def points(spec: SweepSpec) -> tuple[SweepPoint, ...]:
    """Return the points, each once; of a grid in the order of its axes, the last changing fastest. Raises
    InvalidConfig for what could not be run."""
    _require_valid(spec)
    drawn = itertools.product(*(axis.values for axis in spec.axes)) if spec.sampler == GRID else _sampled(spec)
    listed = tuple({point.name: point for point in (_point(spec.axes, values) for values in drawn)}.values())
    for point in listed:  # a value out of its bounds is named before anything is built
        parse_tau(index_config(spec, point).tau, heuristic=False)
        strategy(spec.strategy, options_of(spec, point))
    return listed


def index_config(spec: SweepSpec, point: SweepPoint) -> IndexConfig:
    """Return the settings of the point's index. Raises InvalidConfig for a value out of its bounds."""
    of_index: dict[str, Any] = {axis.name: point.settings[axis.name] for axis in spec.axes if axis.level == INDEX}
    return replace(spec.config, **of_index)


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
    require_choice("sampler", spec.sampler, SAMPLERS)
    known = {info.name for info in measure_infos()}
    for option in ("measure", "cost"):
        require_choice(option, getattr(spec, option), sorted(known))
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
    require_choice("level", axis.level, LEVELS)
    known = known_axes(spec.strategy)[axis.level]
    if axis.name not in known:
        raise InvalidConfig("sweep.unknown_axis", axis=axis.name, level=axis.level, known=", ".join(known))
    is_range = axis.low is not None and axis.high is not None and axis.low <= axis.high
    if not axis.values and (spec.sampler == GRID or not is_range):
        raise InvalidConfig("sweep.axis_without_values", axis=axis.name)


def known_axes(strategy_name: str) -> Mapping[str, tuple[str, ...]]:
    """Return the names that an axis of each level may have. Raises InvalidConfig for an unknown strategy."""
    return {INDEX: ONE_VALUE, RETRIEVAL: tuple(spec.name for spec in fields(strategies().named(strategy_name).config))}


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


# What decides chunks and base graph; every other setting changes the hierarchy alone.
BASE_SETTINGS = settings_of_stages(CHUNK, EXTRACT, EMBED)
_HIERARCHY = ("cluster", "aggregate entities", "aggregate relations")
# Texts of the hierarchy are new where its clusters are; vectors of chunks and entities are kept.
_PARTLY = "embed"
STAGES = tuple(stage.name for stage in BUILD.stages)


def base_of(config: IndexConfig) -> IndexConfig:
    """Return a value that is equal for settings whose indexes have the same chunks and the same base graph."""
    return replace(IndexConfig(), **{name: getattr(config, name) for name in BASE_SETTINGS})


def rebuilt_stages(axes: Sequence[Axis]) -> tuple[str, ...]:
    """Return the stages that the axes change, in the order of a build; those of the vectors are computed for new texts
    alone.

    Empty where every axis is one of the retrieval.
    """
    names = {axis.name for axis in axes if axis.level == INDEX}
    if not names:
        return ()
    if names & set(BASE_SETTINGS):
        return STAGES
    return tuple(stage for stage in STAGES if stage in (*_HIERARCHY, _PARTLY, "index"))


def kept_stages(rebuilt: Sequence[str]) -> tuple[str, ...]:
    """Return the stages of a build that are not among those."""
    return tuple(stage for stage in STAGES if stage not in rebuilt)


_SECONDS_A_QUESTION = Range(0.005, 0.02, 0.2)  # retrieval without a model at an endpoint
_SECONDS_A_CALL = Range(1.0, 4.0, 15.0)


@dataclass(frozen=True)
class SweptCorpus:
    """The corpus of a sweep. first: the forecast of a build from nothing but what is stored now."""

    documents: int
    tokens: int
    first: Callable[[IndexConfig], Forecast]


def sweep_forecast(
    spec: SweepSpec,
    points_of: Mapping[IndexConfig, Sequence[str]],
    corpus: SweptCorpus | None,
    settings: Settings,
    *,
    n_points: int,
    n_questions: int,
    asks_model: bool,
) -> SweepForecast:
    """Forecast the sweep. points_of: names of the points of each index. corpus: None where no index is built."""
    n_retrievals = n_points * n_questions
    each = _SECONDS_A_CALL.scaled(1 / max(1, settings.concurrency)) if asks_model else _SECONDS_A_QUESTION
    builds: list[PointForecast] = []
    first_of: dict[IndexConfig, Forecast] = {}
    clustered: set[IndexConfig] = set()
    for config, names in points_of.items() if corpus else ():
        assert corpus is not None
        base = base_of(config)
        if base not in first_of:
            first_of[base] = corpus.first(config)
            builds.append(_first(names, first_of[base]))
        else:
            builds.append(_later(names, spec, config, first_of[base], corpus, settings, clustered))
        clustered.add(_clusters_of(config))
    return SweepForecast(
        points=n_points,
        builds=tuple(builds),
        questions=n_retrievals,
        question_seconds=each.scaled(n_retrievals),
        asks_model=asks_model,
        first=next(iter(first_of.values()), None),
    )


def _first(names: Sequence[str], forecast: Forecast) -> PointForecast:
    saved = Range(forecast.saved, forecast.saved, forecast.saved)
    return PointForecast(tuple(names), STAGES, (), forecast.calls, saved, forecast.dollars, forecast.seconds)


def _later(
    names: Sequence[str],
    spec: SweepSpec,
    config: IndexConfig,
    first: Forecast,
    corpus: SweptCorpus,
    settings: Settings,
    clustered: set[IndexConfig],
) -> PointForecast:
    rebuilt = rebuilt_stages([axis for axis in spec.axes if axis.name not in BASE_SETTINGS])
    seconds = kept_seconds(corpus.tokens, config.embedding)
    if not is_remote(config.model) and not is_remote(config.embedding):
        return PointForecast(tuple(names), rebuilt, kept_stages(rebuilt), ZERO, ZERO, ZERO, seconds)
    counts = layer_counts(first.entities, usual_relations(config.model), config)
    entities, relations = counts.clusters, counts.summaries
    if _clusters_of(config) in clustered:
        above = max(0.0, entities.expected - first.entities.expected / config.cluster_size)
        entities, relations = Range(0, above, above), Range(0, relations.expected / 2, relations.high)
    calls = entities + relations if is_remote(config.model) else ZERO
    if is_remote(config.embedding):
        calls += embedding_stage(entities, config, settings).calls
    fresh = first.calls + Range(first.saved, first.saved, first.saved)
    saved = Range(*(max(0.0, high - low) for high, low in zip(fresh.bounds, calls.bounds, strict=True)))
    share = calls.expected / fresh.expected if fresh.expected else 0.0
    seconds += calls.scaled(_SECONDS_A_CALL.expected / max(1, settings.concurrency))
    return PointForecast(
        tuple(names), rebuilt, kept_stages(rebuilt), calls, saved, first.dollars.scaled(share), seconds
    )


def _clusters_of(config: IndexConfig) -> IndexConfig:
    """Return settings that are equal where the base layer is clustered alike and its aggregated entities are asked for
    with the same prompts."""
    return replace(config, **{name: getattr(IndexConfig, name) for name in settings_of_stages(RELATIONS)})
