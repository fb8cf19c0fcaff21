"""What a sweep takes: the first index of a base graph is built whole, others take what it has left in the stores."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from leanrag_core.evaluation.sweeps.stages import BASE_SETTINGS, STAGES, base_of, kept_stages, rebuilt_stages
from leanrag_core.indexing.forecasting.builtin import kept_seconds
from leanrag_core.indexing.forecasting.costs import embedding_stage
from leanrag_core.indexing.forecasting.growth import layer_counts, relations_an_entity
from leanrag_core.types.config import RELATIONS, IndexConfig, is_remote, settings_of_stages
from leanrag_core.types.forecast import ZERO, Forecast, Range
from leanrag_core.types.settings import Settings
from leanrag_core.types.sweep import PointForecast, SweepForecast, SweepSpec

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
    seconds = kept_seconds(corpus.tokens)
    if not is_remote(config.model) and not is_remote(config.embedding):
        return PointForecast(tuple(names), rebuilt, kept_stages(rebuilt), ZERO, ZERO, ZERO, seconds)
    counts = layer_counts(first.entities, relations_an_entity(0, 0), config)
    entities, relations = counts.clusters, counts.summaries
    if _clusters_of(config) in clustered:
        above = max(0.0, entities.expected - first.entities.expected / config.cluster_size)
        entities, relations = Range(0, above, above), Range(0, relations.expected / 2, relations.high)
    calls = entities + relations if is_remote(config.model) else ZERO
    if is_remote(config.embedding):
        calls += embedding_stage(entities, config, settings).calls
    fresh = first.calls + Range(first.saved, first.saved, first.saved)
    saved = Range(*(max(0.0, high - low) for high, low in zip(_bounds(fresh), _bounds(calls), strict=True)))
    share = calls.expected / fresh.expected if fresh.expected else 0.0
    seconds += calls.scaled(_SECONDS_A_CALL.expected / max(1, settings.concurrency))
    return PointForecast(
        tuple(names), rebuilt, kept_stages(rebuilt), calls, saved, first.dollars.scaled(share), seconds
    )


def _bounds(value: Range) -> tuple[float, float, float]:
    return value.low, value.expected, value.high


def _clusters_of(config: IndexConfig) -> IndexConfig:
    """Return settings that are equal where the base layer is clustered alike and its aggregated entities are asked for
    with the same prompts."""
    return replace(config, **{name: getattr(IndexConfig, name) for name in settings_of_stages(RELATIONS)})
