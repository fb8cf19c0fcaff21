"""Forecast of a build with the built-in models: chunks by arithmetic, time from earlier builds on this machine."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from leanrag_core.indexing.chunking import chunk_documents
from leanrag_core.indexing.extraction.builtin import is_read
from leanrag_core.indexing.forecasting.costs import embedding_stage
from leanrag_core.indexing.forecasting.growth import entities_of_tokens, layer_counts, relations_an_entity
from leanrag_core.indexing.stages.vectors import n_kept
from leanrag_core.jobs.kinds import BUILD
from leanrag_core.messages.message import message
from leanrag_core.models.base import EmbeddingModel
from leanrag_core.storage.stages import StageStore
from leanrag_core.text.tokens import count_tokens
from leanrag_core.types.calls import NO_SPENDING
from leanrag_core.types.config import BUILTIN, IndexConfig
from leanrag_core.types.corpus import Document
from leanrag_core.types.forecast import Forecast, Range, StageForecast, exactly
from leanrag_core.types.job import JobState
from leanrag_core.types.settings import Settings

_TOKENS_A_SECOND = (400.0, 2500.0)  # of the built-in engine on a slow and on a fast machine
_FIXED_SECONDS = 8.0  # to load models and to start a process
_BUILDS = 10  # the last ones, from which the speed is taken
_LEAST_TOKENS = 1000  # a smaller corpus shows no speed
_KEPT_TOKENS_A_SECOND = (20_000.0, 60_000.0)  # of a build whose chunks are all kept: the hierarchy alone is made
_KEPT_FIXED_SECONDS = (1.0, 3.0)  # of such a build: a process, and the embedding model for aggregated entities
_SLOWEST, _FASTEST = 0.8, 1.2  # share of the speeds of earlier builds


def build_speeds(jobs: Sequence[JobState], tokens_of: Mapping[str, int], model: str = BUILTIN) -> list[float]:
    """Return the tokens a second of the last builds with that model that asked no server. tokens_of: by corpus id.

    A reference graph is read several times as fast as the built-in extractor works, so that each has speeds of its own.
    """
    return [
        tokens_of[job.corpus_id] / max(1.0, job.seconds - _FIXED_SECONDS)
        for job in jobs
        if job.builds_index
        and job.status == "done"
        and job.config.get("model", BUILTIN) == model
        and job.spending == NO_SPENDING
        and not (job.forecast and job.forecast.sampled)
        and tokens_of.get(job.corpus_id, 0) > _LEAST_TOKENS
    ][:_BUILDS]


@dataclass(frozen=True)
class Looked:
    """What a look at some documents shows. chunks: so many they have; kept: chunks whose results an earlier build has
    left, which are not computed again."""

    tokens: int
    chunks: int
    kept: int

    @property
    def share_kept(self) -> float:
        """Of the chunks, 0 to 1."""
        return self.kept / self.chunks if self.chunks else 0.0


NOT_LOOKED = Looked(0, 0, 0)


def look_at(
    documents: Sequence[Document],
    titles: Sequence[str],
    config: IndexConfig,
    model: EmbeddingModel,
    store: StageStore,
) -> Looked:
    """Return the documents cut into chunks, and what the store has of them. titles: of all documents of the corpus."""
    n_chunks, kept = 0, 0
    for document in documents:
        chunks = chunk_documents([document], max_tokens=config.chunk_tokens, overlap_tokens=config.overlap_tokens)
        with_vector = n_kept([chunk.text for chunk in chunks], model, store)
        if with_vector and config.model == BUILTIN and not is_read(document, titles, store):
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
    slow, fast = (min(speeds) * _SLOWEST, max(speeds) * _FASTEST) if speeds else _TOKENS_A_SECOND
    all_kept = kept_seconds(n_tokens)
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
    entities = entities_of_tokens(n_tokens)
    stages = [StageForecast(stage.name, seconds=seconds.scaled(stage.share)) for stage in BUILD.stages]
    if config.embedding != BUILTIN:
        texts = entities + layer_counts(entities, relations_an_entity(0, 0), config).clusters + exactly(chunks)
        embedding = embedding_stage(texts, config, settings)
        stages = [embedding if stage.stage == embedding.stage else stage for stage in stages]
    return Forecast(chunks, n_kept_chunks, entities, tuple(stages), seconds, basis)


def kept_seconds(n_tokens: int) -> Range:
    """Return the seconds of a build of a text whose chunks are all kept by an earlier one, without calls of a model."""
    slow, fast = _KEPT_TOKENS_A_SECOND
    least, most = _KEPT_FIXED_SECONDS
    low, high = least + n_tokens / fast, most + n_tokens / slow
    return Range(low, (low + high) / 2, high)
