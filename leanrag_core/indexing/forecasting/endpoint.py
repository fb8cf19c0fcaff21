"""Forecast of a build with a language model: what is known is counted (chunks, prompts, stored replies), the rest
estimated (growth.py)."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import mean

from leanrag_core.execution.executors import ThreadMap
from leanrag_core.indexing.build import in_build_order
from leanrag_core.indexing.chunking import chunk_documents
from leanrag_core.indexing.extraction.llm import LLMExtractor
from leanrag_core.indexing.forecasting.costs import embedding_stage, money
from leanrag_core.indexing.forecasting.growth import (
    entities_of_chunks,
    entities_of_tokens,
    layer_counts,
    relations_an_entity,
)
from leanrag_core.indexing.resolution.names import name_key
from leanrag_core.messages.message import message
from leanrag_core.models.registry import Models
from leanrag_core.models.remote import RemoteLanguageModel
from leanrag_core.text.tokens import count_tokens
from leanrag_core.types.config import IndexConfig, model_title
from leanrag_core.types.corpus import Chunk, Document
from leanrag_core.types.forecast import Forecast, Range, StageForecast, exactly
from leanrag_core.types.settings import Price

_LONG_DESCRIPTIONS = Range(0.0, 0.015, 0.05)  # share of entities
_REPLY = {"extract": 900, "merge": 250, "aggregate entities": 450, "aggregate relations": 60}  # tokens
_PROMPT = {"merge": 1500, "aggregate entities": 3000, "aggregate relations": 900}  # tokens
_SECONDS_A_CALL = Range(1.0, 4.0, 15.0)


@dataclass
class _Known:
    """What stored replies show. chunks: those that have all their replies.

    missing_first: chunks without a first reply; missing_texts: their texts, each once. missing_more: chunks that lack a
    later reply. saved: replies that are stored. pairs: names that are related.
    """

    chunks: int = 0
    missing_first: list[Chunk] = field(default_factory=list)
    missing_texts: int = 0
    missing_more: int = 0
    saved: int = 0
    names: set[str] = field(default_factory=set)
    pairs: set[tuple[str, str]] = field(default_factory=set)
    reply_tokens: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)


def forecast_endpoint_build(
    documents: Sequence[Document], config: IndexConfig, models: Models, *, dry_run: int = 0
) -> Forecast:
    """Forecast calls, tokens, money and time of a build of the documents, less what the call store holds.

    config: its model is one at the endpoint. dry_run: so many chunks, spread over all, are extracted first. Raises
    EndpointError.
    """
    model, settings = models.language(config.model), models.settings
    if not isinstance(model, RemoteLanguageModel):
        raise ValueError(f"{config.model} is no model at an endpoint")
    ordered = in_build_order(documents)
    chunks = chunk_documents(ordered, max_tokens=config.chunk_tokens, overlap_tokens=config.overlap_tokens)
    extractor = LLMExtractor.of(model, config, apply=ThreadMap(settings.concurrency))
    if dry_run and chunks:
        step = max(1, -(-len(chunks) // dry_run))
        extractor.extract(ordered, chunks[::step], lambda done: None)
    known = _known(chunks, extractor, model)
    entities = (
        entities_of_chunks(len(known.names), known.chunks, len(chunks))
        if known.chunks
        else entities_of_tokens(sum(chunk.tokens for chunk in chunks))
    )
    counts = layer_counts(entities, relations_an_entity(len(known.pairs), len(known.names)), config)
    price = settings.price(model.model)
    other = settings.price(model_title(config.aggregation_model)) if config.aggregation_model else price
    merges = Range(
        entities.low * _LONG_DESCRIPTIONS.low,
        entities.expected * _LONG_DESCRIPTIONS.expected,
        entities.high * _LONG_DESCRIPTIONS.high,
    )
    texts = entities + counts.clusters + exactly(len(chunks))
    stages = (
        _extraction(known, extractor, config, price),
        _stage("merge", merges, other),
        _stage("aggregate entities", counts.clusters, other),
        _stage("aggregate relations", counts.summaries, other),
        embedding_stage(texts, config, settings),
    )
    calls = sum((stage.calls for stage in stages), Range())
    a_call = _SECONDS_A_CALL if not any(known.seconds) else Range(*(mean(known.seconds) * f for f in (0.5, 1.0, 2.0)))
    each = a_call.scaled(1 / max(1, settings.concurrency))
    seconds = Range(calls.low * each.low, calls.expected * each.expected, calls.high * each.high) + exactly(5)
    basis = message("forecast.stored_answers", n=known.chunks) if known.chunks else message("forecast.nothing_read")
    return Forecast(len(chunks), known.chunks, entities, stages, seconds, basis)


def _known(chunks: Sequence[Chunk], extractor: LLMExtractor, model: RemoteLanguageModel) -> _Known:
    """Walk each chunk's stored replies as a build would, as far as they go."""
    known = _Known()
    asked: set[str] = set()
    for chunk in chunks:
        stored = extractor.stored_replies(chunk.text, model.recall)
        if not stored.replies:
            known.missing_first.append(chunk)
            asked.add(chunk.text)
            continue
        known.saved += len(stored.replies)
        known.missing_more += 0 if stored.complete else 1
        known.chunks += 1
        for reply, completion in stored.replies:
            known.reply_tokens.append(completion.usage.completion_tokens)
            known.seconds.append(completion.usage.seconds)
            known.names |= {name_key(mention.name) for mention in reply.mentions}
            for relation in reply.relations:
                ends = sorted((name_key(relation.source), name_key(relation.target)))
                known.names |= set(ends)
                known.pairs.add((ends[0], ends[1]))
    known.names.discard("")
    known.missing_texts = len(asked)
    return known


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
    return StageForecast("extract", calls, prompts, replies, money(prompts, replies, price), known.saved)


def _stage(name: str, calls: Range, price: Price) -> StageForecast:
    prompts, replies = calls.scaled(_PROMPT[name]), calls.scaled(_REPLY[name])
    return StageForecast(name, calls, prompts, replies, money(prompts, replies, price))
