"""The models of one build, and what is made of them: extractor, embedder, writer."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from leanrag_core.execution.executors import HERE, Executor, ThreadMap
from leanrag_core.indexing.aggregation.builtin_writer import BuiltinWriter
from leanrag_core.indexing.aggregation.embedding import OnceEmbedder
from leanrag_core.indexing.aggregation.llm_writer import LLMWriter
from leanrag_core.indexing.aggregation.writer import AggregationWriter, LayeredWriter
from leanrag_core.indexing.extraction.builtin import BuiltinExtractor
from leanrag_core.indexing.extraction.gathered import Extractor
from leanrag_core.indexing.extraction.llm import LLMExtractor
from leanrag_core.indexing.manifest import what_decides
from leanrag_core.indexing.reference.models import ReferenceExtractor, ReferenceWriter
from leanrag_core.indexing.reference.records import ReferenceGraph
from leanrag_core.indexing.stages.kept import KeptMap, kept_vectors
from leanrag_core.models.base import EmbeddingModel, LanguageModel
from leanrag_core.models.embed_task import embed_task
from leanrag_core.prompts.catalog import PromptBook
from leanrag_core.storage.stages import StageStore
from leanrag_core.types.config import IndexConfig
from leanrag_core.types.corpus import Document
from leanrag_core.types.manifest import Deciding
from leanrag_core.types.settings import Apply


@dataclass(frozen=True)
class BuildModels:
    """What writes and embeds in one build.

    language None chooses the built-in extractor and writer; aggregation None takes the same model for both. rewriters:
    models that write instead from a layer on, the lowest first, in an index whose layers were rewritten. apply: makes
    the calls of a language model. executor: reads, embeds and clusters with the built-in models, here or elsewhere.
    stages: where results are kept and taken from, or None. None of these three changes anything in the index.
    reference: a graph of the documents that was written by hand: it takes the place of an extractor, and of the writer
    where its texts fit.
    """

    embedding: EmbeddingModel
    language: LanguageModel | None = None
    aggregation: LanguageModel | None = None
    rewriters: tuple[tuple[int, LanguageModel], ...] = ()
    apply: Apply = field(default_factory=lambda: ThreadMap(1))
    executor: Executor = HERE
    stages: StageStore | None = None
    reference: ReferenceGraph | None = None
    prompts: PromptBook = field(default_factory=PromptBook)

    def configured(self, config: IndexConfig) -> "BuildModels":
        """Return the models with the prompts of those settings, and with the model that writes aggregations."""
        return replace(self, prompts=PromptBook(config.prompts), aggregation=self.aggregation or self.language)

    def embedder(self) -> OnceEmbedder:
        """Return an embedder that embeds each text once; a model at an endpoint is called from this process alone."""
        task = embed_task(self.embedding)
        if task is None:
            return OnceEmbedder(self.embedding.embed)
        embed, apply = (task, self.executor.apply) if self.executor.apart else (self.embedding.embed, map)
        if self.stages is None or not task.exact:
            return OnceEmbedder(embed, apply)
        return OnceEmbedder(embed, kept_vectors(task, self.embedding.dimension, apply, self.stages))

    def chunk_vectors(self, texts: list[str], progress: Callable[[int], None] = lambda done: None) -> np.ndarray:
        """Return the vectors of the chunks, (n_chunks, d) float32. progress(done): called with how many are embedded,
        where that is known.
        """
        if embed_task(self.embedding) is None:
            return self.embedding.embed(texts)  # all at once: it limits the calls in flight itself
        return self.embedder()(texts, progress)

    def extractor(self, config: IndexConfig) -> Extractor:
        """Return the extractor of entities and relations."""
        if self.reference is not None:
            return ReferenceExtractor(self.reference)
        if self.language is None:
            return BuiltinExtractor(KeptMap(self.executor.reading, self.stages))
        return LLMExtractor.of(self.language, config, apply=self.apply)

    def deciding(self, documents: Sequence[Document], config: IndexConfig, extractor: str) -> Deciding:
        """Return everything that decides the content of the index. extractor: its fingerprint."""
        last = self.rewriters[-1][1] if self.rewriters else self.aggregation
        written = [model.fingerprint if model else "none" for model in (self.language, last)]
        return what_decides(documents, config, extractor, self.embedding, *written)

    def writer(self, *, heuristic: bool) -> AggregationWriter:
        """Return the writer of aggregated entities and relations. heuristic: whether rules found the graph, so that its
        descriptions are sentences which mention their entities.
        """
        if self.aggregation is None:
            writer: AggregationWriter = BuiltinWriter(of_mentions=heuristic)
        else:
            writer = LLMWriter(self.aggregation, prompts=self.prompts)
        if self.reference:
            writer = ReferenceWriter(self.reference, writer, by_builtin=self.aggregation is None)
        if not self.rewriters:
            return writer
        above = [(layer, self.rewriter(model, heuristic=heuristic)) for layer, model in self.rewriters]
        return LayeredWriter(((0, writer), *above))

    def rewriter(self, model: LanguageModel, *, heuristic: bool) -> AggregationWriter:
        """Return the writer of layers that the model writes again, over whatever graph. heuristic: see writer()."""
        return LLMWriter(model, prompts=self.prompts, fallback=BuiltinWriter(of_mentions=heuristic))

    def calls_above(self, layer: int) -> bool:
        """Return whether a language model writes the aggregated entities and relations of that layer."""
        return self.aggregation is not None or any(start <= layer for start, _ in self.rewriters)
