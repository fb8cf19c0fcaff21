"""How many entities, clusters and relations a text will give.

Entities grow with the text by Heaps' law from the chunks whose replies are stored, or by a usual density where none is.
Clusters follow from entities (m = ceil(n / clustersize), layer by layer). How many pairs of clusters exceed tau follows
from a geometric distribution of lambda around its mean, which fits the four sample corpora; see benchmarks/README.md.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from leanrag_core.clustering.options import n_components
from leanrag_core.indexing.aggregation.rules import parse_tau
from leanrag_core.types.config import BUILTIN, MULTILINGUAL, IndexConfig, is_remote, model_title
from leanrag_core.types.forecast import MULTILINGUAL_TIMES, SECONDS_A_TEXT, ZERO, Range, StageForecast, exactly, grown
from leanrag_core.types.settings import Price, Settings

_TEXTS_A_CALL = 64
_TOKENS_A_TEXT = 80


def embedding_stage(texts: Range, config: IndexConfig, settings: Settings) -> StageForecast:
    """Return the embedding of so many texts; with a model on this machine it takes time alone."""
    if not is_remote(config.embedding):
        return StageForecast("embed", seconds=texts.scaled(SECONDS_A_TEXT * embedding_times(config.embedding)))
    calls, tokens = texts.scaled(1 / _TEXTS_A_CALL) + Range(1, 3, 6), texts.scaled(_TOKENS_A_TEXT)
    price = settings.price(model_title(config.embedding))
    return StageForecast("embed", calls, tokens, ZERO, money(tokens, ZERO, price))


def embedding_times(embedding: str) -> float:
    """Return how many times as long as with the built-in model a text takes, with a model on this machine."""
    return MULTILINGUAL_TIMES if embedding == MULTILINGUAL else 1.0


def money(prompts: Range, replies: Range, price: Price, share_cached: float = 0.0) -> Range:
    """Return US dollars of so many tokens of prompts and replies. share_cached: of the prompts' tokens."""

    def of(prompt: float, reply: float) -> float:
        return price.of(int(prompt), int(reply), int(share_cached * prompt))

    return Range(of(prompts.low, replies.low), of(prompts.expected, replies.expected), of(prompts.high, replies.high))


_DENSITY = Range(4.0, 12.0, 30.0)  # entities of 1,000 tokens, where nothing is known (published graphs: 4 to 28)
_NAMED_IN_A_FEW_LINES = 12.0  # entities; a short text may name more than its length says
_RELATIONS_AN_ENTITY = Range(0.8, 1.6, 3.0)
# Of the built-in engine, which takes every noun phrase for an entity. Measured: 1,240 to 1,460 entities in 20,000
# tokens of one subject, 3,100 to 12,600 in 115,000 to 147,000; 2.4 to 3.3 relations each.
_BY_RULES, _BY_RULES_TOKENS = Range(600.0, 1300.0, 2900.0), 20_000
_RELATIONS_BY_RULES = Range(2.3, 2.9, 3.4)
# Relations between clusters of a layer. Measured with clusters of 8 to 30 on ten graphs, found by rules and written by
# hand: .37 to .73 of all have their ends in two clusters, and they gather in few of the pairs: the number of a pair's
# relations (lambda) is as from a negative binomial distribution whose shape is so much, divided by the clusters.
_BETWEEN, _SHAPE = 0.6, 7.0


@dataclass(frozen=True)
class LayerCounts:
    """Aggregated entities and summarised relations of all layers."""

    clusters: Range
    summaries: Range


def entities_of_tokens(n_tokens: int, model: str) -> Range:
    """Estimate the entities that the model finds in a text of which only the length is known."""
    by_rules = model == BUILTIN
    usual = _BY_RULES.scaled(grown(1, _BY_RULES_TOKENS, n_tokens)) if by_rules else _DENSITY.scaled(n_tokens / 1000)
    return replace(usual, high=usual.high + _NAMED_IN_A_FEW_LINES) if n_tokens else usual


def entities_of_chunks(n_names: int, n_known: int, n_chunks: int) -> Range:
    """Estimate the entities of all chunks, when n_known of them (one at least) have n_names."""
    if n_known >= n_chunks:
        return exactly(n_names)
    expected = grown(n_names, n_known, n_chunks)
    spread = min(0.6, 0.6 / n_known**0.5 + 0.1)
    return Range(max(n_names, expected * (1 - spread)), expected, expected * (1 + spread))


def usual_relations(model: str) -> Range:
    """Return the relations for each entity that the model finds in a text of which nothing is known."""
    return _RELATIONS_BY_RULES if model == BUILTIN else _RELATIONS_AN_ENTITY


def relations_an_entity(n_relations: int, n_names: int) -> Range:
    """Return the relations for each entity, from those that are known; the usual number where no name is."""
    if not n_names:
        return _RELATIONS_AN_ENTITY
    per_name = n_relations / n_names
    return Range(0.7 * per_name, per_name, 1.4 * per_name)


def layer_counts(entities: Range, relations_each: Range, config: IndexConfig) -> LayerCounts:
    """Estimate the aggregated layers above so many entities with so many relations each."""
    pairs = zip(entities.bounds, relations_each.bounds, strict=True)
    bounds = [_aggregated(n, each, config) for n, each in pairs]
    return LayerCounts(Range(*(clusters for clusters, _ in bounds)), Range(*(summaries for _, summaries in bounds)))


@dataclass(frozen=True)
class SizeEffect:
    """What a clustersize would give above the base graph: layers with it, aggregated entities, summarised relations."""

    cluster_size: int
    layers: int
    aggregated: int
    summarised: int


@dataclass(frozen=True)
class SizeEffects:
    """entities: of the base graph. is_measured: those of an index of the same corpus and model, else estimated.
    n_chunks_read: from so many chunks; 0: from the tokens of the corpus."""

    entities: int
    is_measured: bool
    effects: tuple[SizeEffect, ...]
    n_chunks_read: int = 0


def effects_of_sizes(
    entities: float, relations_each: float, config: IndexConfig, sizes: Iterable[int]
) -> tuple[SizeEffect, ...]:
    """Return for each clustersize what a build over so many entities would give, all other settings being the same."""
    effects = []
    for size in sizes:
        clusters, summaries = _aggregated(entities, relations_each, replace(config, cluster_size=size))
        nodes, layers = max(1, round(entities)), 1
        while nodes > 1:
            nodes, layers = n_components(nodes, size), layers + 1
        effects.append(SizeEffect(size, layers, round(clusters), round(summaries)))
    return tuple(effects)


def _aggregated(entities: float, relations_an_entity: float, config: IndexConfig) -> tuple[float, float]:
    """Return aggregated entities and summarised relations of all layers."""
    rule = parse_tau(config.tau, config.model == BUILTIN)
    nodes, relations = max(1, round(entities)), entities * relations_an_entity
    clusters = summaries = 0.0
    layer = 1
    while nodes > 1:
        above = n_components(nodes, config.cluster_size)
        clusters += above
        pairs = above * (above - 1) / 2
        strength = _BETWEEN * relations / pairs if pairs else 0.0
        present = pairs * _above(0, strength, _SHAPE / above)
        step = rule.step(layer)
        summaries += (
            present * (1 - step[1]) if isinstance(step, tuple) else pairs * _above(step, strength, _SHAPE / above)
        )
        nodes, relations, layer = above, present, layer + 1
    return clusters, summaries


def _above(tau: float, mean: float, shape: float) -> float:
    """Return the share of pairs whose lambda exceeds tau, lambda being negative binomial with that mean and shape."""
    p = shape / (shape + mean)
    share, upto = p**shape, 0.0
    for n in range(int(tau) + 1):
        upto += share
        share *= (n + shape) / (n + 1) * (1 - p)
    return max(0.0, 1.0 - upto)
