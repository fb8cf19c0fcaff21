"""Forecast of an LLM build: what is known is counted (chunks, prompts, stored replies), the rest estimated.

Entities grow with the text by Heaps' law from the chunks whose replies are stored, or by a usual density where none is.
Clusters follow from entities (m = ceil(n / clustersize), layer by layer). How many pairs of clusters exceed tau follows
from a geometric distribution of lambda around its mean, which fits the four sample corpora; see benchmarks/README.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import mean

from leanrag_core.clustering.options import n_components
from leanrag_core.execution.threads import ThreadMap
from leanrag_core.indexing.aggregation.threshold import parse_tau
from leanrag_core.indexing.build import in_build_order
from leanrag_core.indexing.chunking import chunk_documents
from leanrag_core.indexing.extraction.llm import LLMExtractor
from leanrag_core.indexing.resolution.names import name_key
from leanrag_core.models.registry import Models
from leanrag_core.models.remote import RemoteLanguageModel
from leanrag_core.tokens import count_tokens
from leanrag_core.types.config import IndexConfig
from leanrag_core.types.corpus import Chunk, Document
from leanrag_core.types.forecast import Forecast, Range, StageForecast, grown
from leanrag_core.types.model_names import BUILTIN, model_title
from leanrag_core.types.settings import Price

_DENSITY = Range(4.0, 12.0, 30.0)  # entities of 1,000 tokens, where nothing is known (published graphs: 4 to 28)
_RELATIONS_AN_ENTITY = Range(0.8, 1.6, 3.0)
_BETWEEN = 0.7  # share of relations whose ends lie in two clusters
_LONG_DESCRIPTIONS = Range(0.0, 0.015, 0.05)  # share of entities
_REPLY = {"extract": 900, "merge": 250, "aggregate entities": 450, "aggregate relations": 60}  # tokens
_PROMPT = {"merge": 1500, "aggregate entities": 3000, "aggregate relations": 900}  # tokens
_SECONDS_A_CALL = Range(1.0, 4.0, 15.0)
_TEXTS_A_CALL = 64


@dataclass
class _Known:
    """What stored replies tell."""

    chunks: int = 0
    missing_first: list[Chunk] = field(default_factory=list)
    missing_texts: int = 0  # of the missing first ones, the same text again not counted
    missing_more: int = 0
    saved: int = 0
    names: set[str] = field(default_factory=set)
    pairs: set[tuple[str, str]] = field(default_factory=set)
    reply_tokens: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)


def forecast(
    documents: Sequence[Document], config: IndexConfig, models: Models, *, dry_run: int = 0
) -> Forecast | None:
    """Calls, tokens, money and time of a build of the documents, less what the call store holds; None for the built-in
    engine. dry_run: so many chunks, spread over all, are extracted first. Raises EndpointError."""
    model, settings = models.language(config.model), models.settings
    if not isinstance(model, RemoteLanguageModel):
        return None
    ordered = in_build_order(documents)
    chunks = chunk_documents(ordered, max_tokens=config.chunk_tokens, overlap_tokens=config.overlap_tokens)
    extractor = LLMExtractor.of(model, config, apply=ThreadMap(settings.concurrency))
    if dry_run and chunks:
        step = max(1, -(-len(chunks) // dry_run))
        extractor.extract(ordered, chunks[::step], lambda done: None)
    known = _known(chunks, extractor, model)
    n = len(chunks)
    entities = _entities(known, n, sum(chunk.tokens for chunk in chunks))
    per_entity = _relations_an_entity(known)
    price = settings.price(model.model)
    other = settings.price(model_title(config.aggregation_model)) if config.aggregation_model else price
    clusters, summaries = Range(), Range()
    for bound, density in zip(
        ("low", "expected", "high"), (per_entity.low, per_entity.expected, per_entity.high), strict=True
    ):
        made, told = _layers(getattr(entities, bound), density, config)
        clusters, summaries = _with(clusters, bound, made), _with(summaries, bound, told)
    merges = Range(
        entities.low * _LONG_DESCRIPTIONS.low,
        entities.expected * _LONG_DESCRIPTIONS.expected,
        entities.high * _LONG_DESCRIPTIONS.high,
    )
    stages = [
        _extraction(known, extractor, config, price),
        _stage("merge", merges, other),
        _stage("aggregate entities", clusters, other),
        _stage("aggregate relations", summaries, other),
    ]
    if config.embedding != BUILTIN:
        texts = entities + clusters + Range(n, n, n)
        calls = texts.scaled(1 / _TEXTS_A_CALL) + Range(1, 3, 6)
        tokens = texts.scaled(80)
        stages.append(
            StageForecast(
                "embed", calls, tokens, Range(), _money(tokens, Range(), settings.price(_name(config.embedding)))
            )
        )
    total = sum((stage.calls for stage in stages), Range())
    a_call = _SECONDS_A_CALL if not any(known.seconds) else Range(*(mean(known.seconds) * f for f in (0.5, 1.0, 2.0)))
    seconds = Range(
        *(
            getattr(total, bound) * getattr(a_call, bound) / max(1, settings.concurrency) + 5
            for bound in ("low", "expected", "high")
        )
    )
    return Forecast(n, known.chunks, entities, tuple(stages), seconds)


def _name(model: str) -> str:
    return model_title(model)


def _with(range_: Range, bound: str, value: float) -> Range:
    return Range(**{**range_.__dict__, bound: value})


def _known(chunks: Sequence[Chunk], extractor: LLMExtractor, model: RemoteLanguageModel) -> _Known:
    """Walks each chunk's stored replies as a build would, as far as they go."""
    known = _Known()
    asked: set[str] = set()
    for chunk in chunks:
        stored = extractor.stored_replies(chunk.text, model.recall)
        if not stored.found:
            known.missing_first.append(chunk)
            asked.add(chunk.text)
            continue
        known.saved += len(stored.found)
        known.missing_more += 0 if stored.complete else 1
        known.chunks += 1
        for reply, completion in stored.found:
            known.reply_tokens.append(completion.usage.completion_tokens)
            known.seconds.append(completion.usage.seconds)
            known.names |= {name_key(one.name) for one in reply.mentions}
            for one in reply.relations:
                ends = sorted((name_key(one.source), name_key(one.target)))
                known.names |= set(ends)
                known.pairs.add((ends[0], ends[1]))
    known.names.discard("")
    known.missing_texts = len(asked)
    return known


def _entities(known: _Known, n_chunks: int, n_tokens: int) -> Range:
    if known.chunks >= n_chunks:
        exact = float(len(known.names))
        return Range(exact, exact, exact)
    if known.chunks:
        expected = grown(len(known.names), known.chunks, n_chunks)
        spread = min(0.6, 0.6 / known.chunks**0.5 + 0.1)
        return Range(max(len(known.names), expected * (1 - spread)), expected, expected * (1 + spread))
    return _DENSITY.scaled(n_tokens / 1000)


def _relations_an_entity(known: _Known) -> Range:
    if not known.names:
        return _RELATIONS_AN_ENTITY
    each = len(known.pairs) / len(known.names)
    return Range(0.7 * each, each, 1.4 * each)


def _layers(entities: float, relations_an_entity: float, config: IndexConfig) -> tuple[float, float]:
    """Aggregated entities and summarised relations of all layers."""
    rule = parse_tau(config.tau, False)
    nodes, relations = max(1, round(entities)), entities * relations_an_entity
    clusters = summaries = 0.0
    layer = 1
    while nodes > 1:
        above = n_components(nodes, config.cluster_size)
        clusters += above
        pairs = above * (above - 1) / 2
        strength = _BETWEEN * relations / pairs if pairs else 0.0
        present = pairs * strength / (1 + strength)
        summaries += present * _share_above(rule.step(layer), strength)
        nodes, relations, layer = above, present, layer + 1
    return clusters, summaries


def _share_above(step: float | tuple[str, float], strength: float) -> float:
    """Share of the joined pairs whose lambda exceeds tau, lambda being geometric with that mean."""
    if isinstance(step, tuple):
        return 1.0 - step[1]
    return float((strength / (1 + strength)) ** int(step))


def _extraction(known: _Known, extractor: LLMExtractor, config: IndexConfig, price: Price) -> StageForecast:
    missing = len(known.missing_first)
    rounds = config.gleaning_rounds
    more = Range(min(rounds, 1), min(rounds, 1) + 0.4 * max(0, rounds - 1), rounds)
    # The same text again is the same call, unless both are asked at one time.
    calls = (
        Range(known.missing_texts, missing, missing * 1.2)
        + Range(more.low * known.missing_texts, more.expected * missing, more.high * missing)
        + Range(0, known.missing_more, known.missing_more)
    )
    first = sum(count_tokens(extractor.first_messages(chunk.text)[0]["content"]) for chunk in known.missing_first)
    reply = mean(known.reply_tokens) if known.reply_tokens else _REPLY["extract"]
    prompts = Range(first, first, first * 1.2) + more.scaled(first + missing * reply)
    replies = calls.scaled(reply)
    return StageForecast("extract", calls, prompts, replies, _money(prompts, replies, price), known.saved)


def _stage(name: str, calls: Range, price: Price) -> StageForecast:
    prompts, replies = calls.scaled(_PROMPT[name]), calls.scaled(_REPLY[name])
    return StageForecast(name, calls, prompts, replies, _money(prompts, replies, price))


def _money(prompts: Range, replies: Range, price: Price) -> Range:
    return Range(
        price.of(int(prompts.low), int(replies.low)),
        price.of(int(prompts.expected), int(replies.expected)),
        price.of(int(prompts.high), int(replies.high)),
    )
