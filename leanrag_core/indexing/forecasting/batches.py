"""What a build takes when its calls are sent in batch files: half the price, and up to a day for each round of them."""

from dataclasses import replace

from leanrag_core.clustering.options import n_components
from leanrag_core.messages.message import message
from leanrag_core.types.batches import PRICE_SHARE, ROUND_SECONDS
from leanrag_core.types.config import IndexConfig
from leanrag_core.types.forecast import Forecast, Range, StageForecast

_FASTEST_ROUND, _USUAL_ROUND = 60.0, 3600.0  # seconds
_MORE_ROUNDS = 2  # of replies that cannot be used


def as_batches(forecast: Forecast, config: IndexConfig) -> Forecast:
    """Return the forecast of the same build with its language-model calls in batch files; embeddings are still
    requested directly.
    """
    rounds = batch_rounds(forecast.entities.expected, config)
    seconds = Range(rounds * _FASTEST_ROUND, rounds * _USUAL_ROUND, (rounds + _MORE_ROUNDS) * ROUND_SECONDS)
    basis = message("forecast.as_batches", n=rounds, more=rounds + _MORE_ROUNDS)
    return replace(forecast, stages=tuple(_stage(stage) for stage in forecast.stages), seconds=seconds, basis=basis)


def batch_rounds(entities: float, config: IndexConfig) -> int:
    """Return how many batches are waited for, one after the other, when all replies can be used: one for extraction,
    one for each round of gleaning, one for long descriptions, and two for each layer above so many entities.
    """
    nodes, layers = max(1, round(entities)), 0
    while nodes > 1:
        nodes, layers = n_components(nodes, config.cluster_size), layers + 1
    return 1 + config.gleaning_rounds + 1 + 2 * layers


def _stage(stage: StageForecast) -> StageForecast:
    calls_a_language_model = stage.seconds is None and stage.stage != "embed"
    return replace(stage, dollars=stage.dollars.scaled(PRICE_SHARE)) if calls_a_language_model else stage
