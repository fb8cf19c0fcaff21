"""What a build will take, found before it is started: by the built-in engine, or guessed for models of an endpoint.

Calls that are sent in batch files cost half the price, and take up to a day for each round of them.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import mean

from leanrag_core.clustering.options import n_components
from leanrag_core.execution.executors import ThreadMap
from leanrag_core.indexing.build import in_build_order
from leanrag_core.indexing.chunking import chunks_of_build
from leanrag_core.indexing.extraction.builtin import ReadBefore
from leanrag_core.indexing.extraction.llm import LLMExtractor
from leanrag_core.indexing.forecasting.growth import (
    embedding_stage,
    embedding_times,
    entities_of_chunks,
    entities_of_tokens,
    layer_counts,
    money,
    relations_an_entity,
    usual_relations,
)
from leanrag_core.indexing.names import name_key
from leanrag_core.indexing.stages.kept import n_kept
from leanrag_core.jobs.kinds import BUILD
from leanrag_core.messages.message import message
from leanrag_core.models.base import EmbeddingModel
from leanrag_core.models.endpoint import Endpoint
from leanrag_core.models.registry import Models
from leanrag_core.models.remote import RemoteLanguageModel
from leanrag_core.models.speeds import Speed
from leanrag_core.storage.stages import StageStore
from leanrag_core.text.tokens import count_tokens
from leanrag_core.types.batches import PRICE_SHARE, ROUND_SECONDS
from leanrag_core.types.calls import NO_SPENDING
from leanrag_core.types.config import BUILTIN, IndexConfig, is_remote, model_title
from leanrag_core.types.corpus import Chunk, Document
from leanrag_core.types.forecast import Forecast, Range, StageForecast, exactly
from leanrag_core.types.index import Index
from leanrag_core.types.job import JobState
from leanrag_core.types.roles import AGGREGATION, EMBEDDINGS, EXTRACTION
from leanrag_core.types.rows import numbers
from leanrag_core.types.settings import Price, Settings

# Of the built-in engine: on a slow machine with letters that the embedding spells out one by one, and on a fast one.
_TOKENS_A_SECOND = (250.0, 2500.0)
_FIXED_SECONDS = 8.0  # to load models and to start a process
_BUILDS = 10  # latest builds, which show the speed
_LEAST_TOKENS = 1000  # a smaller corpus shows no speed
_KEPT_TOKENS_A_SECOND = (20_000.0, 60_000.0)  # of a build whose chunks are all kept: the hierarchy alone is made
_KEPT_FIXED_SECONDS = (1.0, 3.0)  # of such a build: a process, and the embedding model for aggregated entities
_EMBEDDING_SHARE = next(stage.share for stage in BUILD.stages if stage.name == "embed")
_SLOWEST, _FASTEST = 0.8, 1.2  # share of the speeds of earlier builds


def build_speeds(
    jobs: Sequence[JobState], tokens_of: Mapping[str, int], model: str = BUILTIN, embedding: str = BUILTIN
) -> list[float]:
    """Return the tokens a second of the last builds with those models that asked no server. tokens_of: by corpus id.

    A reference graph is read several times as fast as the built-in extractor works, so that each has speeds of its own.
    """
    return [
        tokens_of[job.corpus_id] / max(1.0, job.seconds - _FIXED_SECONDS)
        for job in jobs
        if job.builds_index
        and job.status == "done"
        and job.config.get("model", BUILTIN) == model
        and job.config.get("embedding", BUILTIN) == embedding
        and job.spending == NO_SPENDING
        and not (job.forecast and job.forecast.sampled)
        and tokens_of.get(job.corpus_id, 0) > _LEAST_TOKENS
    ][:_BUILDS]


@dataclass(frozen=True)
class Looked:
    """What a sample of documents shows. chunks: how many they have; kept: chunks whose results an earlier build has
    stored, which are not computed again.
    """

    tokens: int
    chunks: int
    kept: int

    @property
    def share_kept(self) -> float:
        """Share of the chunks that are kept, 0 to 1."""
        return self.kept / self.chunks if self.chunks else 0.0


NOT_LOOKED = Looked(0, 0, 0)


def look_at(
    documents: Sequence[Document],
    titles: Iterable[str],
    config: IndexConfig,
    model: EmbeddingModel,
    store: StageStore,
) -> Looked:
    """Return the documents cut into chunks, and what the store has of them. titles: of all documents of the corpus."""
    n_chunks, kept = 0, 0
    before: ReadBefore | None = None  # made only when a document needs it
    for document in documents:
        chunks = chunks_of_build([document], config)
        with_vector = n_kept([chunk.text for chunk in chunks], model, store)
        if with_vector and config.model == BUILTIN:
            before = before or ReadBefore(titles, store)
            if not before.has(document):
                with_vector = 0  # their entities are still to be found
        n_chunks += len(chunks)
        kept += with_vector
    return Looked(sum(count_tokens(document.text) for document in documents), n_chunks, kept)


def forecast_builtin_build(
    n_documents: int,
    n_tokens: int,
    config: IndexConfig,
    settings: Settings,
    speeds: Sequence[float] = (),
    looked: Looked = NOT_LOOKED,
) -> Forecast:
    """Forecast chunks and seconds of a build of so many documents and tokens, and calls of an embedding model at an
    endpoint. speeds: of earlier builds, in tokens a second. looked: at some of the documents, for what they have in
    common with the others.
    """
    kept = looked.share_kept
    if looked.tokens:
        chunks = round(looked.chunks * n_tokens / looked.tokens)
    else:
        step = config.chunk_tokens - config.overlap_tokens
        per_document = n_tokens / max(1, n_documents)
        chunks = n_documents * max(1, math.ceil((per_document - config.overlap_tokens) / step)) if n_tokens else 0
    longer = 1 + _EMBEDDING_SHARE * (embedding_times(config.embedding) - 1)
    slow, fast = (
        (min(speeds) * _SLOWEST, max(speeds) * _FASTEST) if speeds else (speed / longer for speed in _TOKENS_A_SECOND)
    )
    all_kept = kept_seconds(n_tokens, config.embedding)
    low = (1 - kept) * (_FIXED_SECONDS + n_tokens / fast) + kept * all_kept.low
    high = (1 - kept) * (_FIXED_SECONDS + n_tokens / slow) + kept * all_kept.high
    low, high = min(low, high), max(low, high)  # where earlier builds were quicker than one that takes results over
    seconds = Range(low, (low + high) / 2, high)
    basis = message("forecast.earlier_builds", n=len(speeds)) if speeds else message("forecast.first_build")
    n_kept_chunks = round(kept * chunks)
    if n_kept_chunks >= chunks > 0:
        basis = message("forecast.all_kept")
    elif n_kept_chunks:
        basis = message("forecast.kept_chunks", basis=basis, n=n_kept_chunks)
    entities = entities_of_tokens(n_tokens, config.model)
    stages = [StageForecast(stage.name, seconds=seconds.scaled(stage.share)) for stage in BUILD.stages]
    if is_remote(config.embedding):
        texts = entities + layer_counts(entities, usual_relations(config.model), config).clusters + exactly(chunks)
        embedding = embedding_stage(texts, config, settings.of_role(EMBEDDINGS))
        stages = [embedding if stage.stage == embedding.stage else stage for stage in stages]
    return Forecast(chunks, n_kept_chunks, entities, tuple(stages), seconds, basis)


def kept_seconds(n_tokens: int, embedding: str) -> Range:
    """Return the seconds of a build of a text whose chunks are all kept by an earlier one, without calls of a model.
    embedding: model of the clusters' texts, most of what is made."""
    slow, fast = _KEPT_TOKENS_A_SECOND
    least, most = _KEPT_FIXED_SECONDS
    low, high = least + n_tokens / fast, most + n_tokens / slow
    return Range(low, (low + high) / 2, high).scaled(embedding_times(embedding))


_LONG_DESCRIPTIONS = Range(0.0, 0.015, 0.05)  # share of entities
_REPLY = {"extract": 900, "merge": 250, "aggregate entities": 450, "aggregate relations": 60}  # tokens
_PROMPT = {"merge": 1500, "aggregate entities": 3000, "aggregate relations": 900}  # tokens
_SECONDS_A_CALL = Range(1.0, 4.0, 15.0)
_QUICKER, _SLOWER = 0.6, 1.5  # of the seconds at the measured speed: prompts and replies differ from those measured


@dataclass
class _Known:
    """What stored replies show. chunks: those that have all their replies.

    missing_first: chunks without a first reply; missing_texts: their texts, each once. missing_more: chunks that lack a
    later reply. saved: replies that are stored. pairs: names that are related. cached_tokens: of the prompts'.
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
    prompt_tokens: int = 0
    cached_tokens: int = 0

    @property
    def share_cached(self) -> float:
        """Share of the prompts' tokens that the provider had read before, 0 to 1."""
        return self.cached_tokens / self.prompt_tokens if self.prompt_tokens else 0.0


def forecast_endpoint_build(
    documents: Sequence[Document], config: IndexConfig, models: Models, *, dry_run: int = 0
) -> Forecast:
    """Forecast calls, tokens, money and time of a build of the documents, less what the call store holds.

    config: its model is one at the endpoint. dry_run: so many chunks, spread over all, are extracted first. Raises
    EndpointError.
    """
    model, settings = models.language(config.model, EXTRACTION), models.in_role(EXTRACTION).settings
    if not isinstance(model, RemoteLanguageModel):
        raise ValueError(f"{config.model} is no model at an endpoint")
    ordered = in_build_order(documents)
    chunks = chunks_of_build(ordered, config)
    extractor = LLMExtractor.of(model, config, apply=ThreadMap(settings.concurrency))
    if dry_run and chunks:
        step = max(1, -(-len(chunks) // dry_run))
        extractor.extract(ordered, chunks[::step], lambda done: None)
    known = _known(chunks, extractor, model)
    entities = (
        entities_of_chunks(len(known.names), known.chunks, len(chunks))
        if known.chunks
        else entities_of_tokens(sum(chunk.tokens for chunk in chunks), config.model)
    )
    relations_each = relations_an_entity(len(known.pairs), len(known.names))
    counts = layer_counts(entities, relations_each, config)
    price = settings.price(model.model)
    writing = models.in_role(AGGREGATION).settings
    other = writing.price(model_title(config.aggregation_model)) if config.aggregation_model else price
    merges = entities.times(_LONG_DESCRIPTIONS)
    texts = entities + counts.clusters + exactly(len(chunks))
    stages = (
        _extraction(known, extractor, config, price),
        _stage("merge", merges, other),
        _stage("aggregate entities", counts.clusters, other),
        _stage("aggregate relations", counts.summaries, other),
        embedding_stage(texts, config, models.in_role(EMBEDDINGS).settings),
    )
    basis = message("forecast.stored_answers", n=known.chunks) if known.chunks else message("forecast.nothing_read")
    speed = model.endpoint.speed(model.model)
    if speed is not None:
        seconds = seconds_at(speed, stages, model.endpoint) + exactly(5)
        basis = message("forecast.at_speed", basis=basis, speed=speed.tokens_per_second)
    else:
        known_call = (
            Range(*(mean(known.seconds) * factor for factor in (0.5, 1.0, 2.0))) if any(known.seconds) else None
        )
        a_call = known_call or _SECONDS_A_CALL
        seconds = _seconds_of_calls(stages, a_call.scaled(1 / max(1, settings.concurrency))) + exactly(5)
    known_relations = relations_each if known.names else None
    return Forecast(len(chunks), known.chunks, entities, stages, seconds, basis, known_relations)


def forecast_hierarchy(index: Index, config: IndexConfig, settings: Settings) -> Forecast:
    """Forecast a hierarchy with those settings over the base graph that an index has: calls of the model that writes,
    if one does, and seconds.
    """
    base, n_tokens = index.layers[0], int(numbers(index.chunks["tokens"]).sum())
    entities, seconds = exactly(len(base)), kept_seconds(n_tokens, config.embedding)
    writer, settings = config.aggregation_model or config.model, settings.of_role(AGGREGATION)
    stages: tuple[StageForecast, ...] = ()
    if is_remote(writer):
        counts = layer_counts(entities, relations_an_entity(base.relations.num_rows, len(base)), config)
        price = settings.price(model_title(writer))
        stages = (
            _stage("aggregate entities", counts.clusters, price),
            _stage("aggregate relations", counts.summaries, price),
        )
        seconds += _seconds_of_calls(stages, _SECONDS_A_CALL.scaled(1 / max(1, settings.concurrency)))
    return Forecast(index.chunks.num_rows, index.chunks.num_rows, entities, stages, seconds)


def seconds_at(speed: Speed, stages: Sequence[StageForecast], endpoint: Endpoint) -> Range:
    """Return the seconds of all calls of the stages at the measured speed, with as many at one time as were then, or as
    the server answers in parallel."""
    settings = endpoint.settings
    slots = endpoint.forms.n_slots or (1 if settings.local else settings.concurrency)
    parallel = max(1.0, min(settings.concurrency, max(speed.mean_in_flight, slots if not settings.local else 1.0)))
    calling = [stage for stage in stages if stage.seconds is None and stage.completion_tokens.high]
    read = sum((stage.prompt_tokens for stage in calling), Range())
    written = sum((stage.completion_tokens for stage in calling), Range())
    pairs = zip(read.bounds, written.bounds, strict=True)
    low, expected, high = (speed.seconds_of(prompts, replies) / parallel for prompts, replies in pairs)
    return Range(low * _QUICKER, expected, high * _SLOWER)


def _seconds_of_calls(stages: Sequence[StageForecast], each: Range) -> Range:
    """Return the seconds of all calls of the stages. each: of one call, divided by those at one time."""
    return sum((stage.calls for stage in stages), Range()).times(each)


def _known(chunks: Sequence[Chunk], extractor: LLMExtractor, model: RemoteLanguageModel) -> _Known:
    """Walk each chunk's stored replies as a build would, as far as they go."""
    known = _Known()
    missing_texts: set[str] = set()
    for chunk in chunks:
        stored = extractor.stored_replies(chunk.text, model.recall)
        if not stored.replies:
            known.missing_first.append(chunk)
            missing_texts.add(chunk.text)
            continue
        known.saved += len(stored.replies)
        known.missing_more += 0 if stored.complete else 1
        known.chunks += 1
        for reply, completion in stored.replies:
            known.reply_tokens.append(completion.usage.completion_tokens)
            known.prompt_tokens += completion.usage.prompt_tokens
            known.cached_tokens += completion.usage.cached_tokens
            if completion.usage.seconds:  # unknown for a reply that came in a batch
                known.seconds.append(completion.usage.seconds)
            known.names |= {name_key(mention.name) for mention in reply.mentions}
            for relation in reply.relations:
                ends = sorted((name_key(relation.source), name_key(relation.target)))
                known.names |= set(ends)
                known.pairs.add((ends[0], ends[1]))
    known.names.discard("")
    known.missing_texts = len(missing_texts)
    return known


def _extraction(known: _Known, extractor: LLMExtractor, config: IndexConfig, price: Price) -> StageForecast:
    missing = len(known.missing_first)
    rounds = config.gleaning_rounds
    # When the first reply cannot be used, nothing more is asked about the chunk; without any known reply, this may be
    # so for every chunk. Such a chunk takes up to two more calls; such chunks are few, or the build gives nothing.
    certain = min(rounds, 1) if known.chunks else 0
    more = Range(certain, min(rounds, 1) + 0.4 * max(0, rounds - 1), rounds)
    asked_again = max(0.2 * missing, min(2.0 * missing, 2.0 + 2.0 * math.sqrt(missing)) if missing else 0.0)
    # A repeated text is the same call, unless both calls are made at one time.
    calls = (
        Range(known.missing_texts, missing, missing + asked_again)
        + Range(more.low * known.missing_texts, more.expected * missing, more.high * missing)
        + Range(0, known.missing_more, known.missing_more)
    )
    first = sum(count_tokens(extractor.first_messages(chunk.text)[0]["content"]) for chunk in known.missing_first)
    reply = mean(known.reply_tokens) if known.reply_tokens else _REPLY["extract"]
    prompts = Range(first, first, first * 1.2) + more.scaled(first + missing * reply)
    replies = calls.scaled(reply)
    dollars = money(prompts, replies, price, known.share_cached)
    return StageForecast("extract", calls, prompts, replies, dollars, known.saved)


def _stage(name: str, calls: Range, price: Price) -> StageForecast:
    prompts, replies = calls.scaled(_PROMPT[name]), calls.scaled(_REPLY[name])
    return StageForecast(name, calls, prompts, replies, money(prompts, replies, price))


_FASTEST_ROUND, _USUAL_ROUND = 60.0, 3600.0  # seconds
_MORE_ROUNDS = 2  # of replies that cannot be used


def as_batches(forecast: Forecast, config: IndexConfig) -> Forecast:
    """Return the forecast of the same build with its language-model calls in batch files; embeddings are still
    requested directly.
    """
    rounds = batch_rounds(forecast.entities.expected, config)
    seconds = Range(rounds * _FASTEST_ROUND, rounds * _USUAL_ROUND, (rounds + _MORE_ROUNDS) * ROUND_SECONDS)
    basis = message("forecast.as_batches", n=rounds, more=rounds + _MORE_ROUNDS)
    return replace(forecast, stages=tuple(map(_in_batches, forecast.stages)), seconds=seconds, basis=basis)


def batch_rounds(entities: float, config: IndexConfig) -> int:
    """Return how many batches are waited for, one after the other, when all replies can be used: one for extraction,
    one for each round of gleaning, one for long descriptions, and two for each layer above so many entities.
    """
    nodes, layers = max(1, round(entities)), 0
    while nodes > 1:
        nodes, layers = n_components(nodes, config.cluster_size), layers + 1
    return 1 + config.gleaning_rounds + 1 + 2 * layers


def _in_batches(stage: StageForecast) -> StageForecast:
    calls_a_language_model = stage.seconds is None and stage.stage != "embed"
    return replace(stage, dollars=stage.dollars.scaled(PRICE_SHARE)) if calls_a_language_model else stage
