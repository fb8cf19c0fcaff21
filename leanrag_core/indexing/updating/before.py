"""What an update takes over from the index before: clusters as a start, texts, vectors."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from leanrag_core.indexing.aggregation.hierarchy import EmbeddingTexts, Hierarchy, Start
from leanrag_core.indexing.build_models import BuildModels
from leanrag_core.indexing.updating.difference import changes_between, clusters_agreement
from leanrag_core.indexing.updating.kept_texts import KeptTexts
from leanrag_core.indexing.updating.regrouping import Regrouping
from leanrag_core.types.corpus import Chunk
from leanrag_core.types.graph import Layer
from leanrag_core.types.index import Index
from leanrag_core.types.updating import LineageStep, UpdateReport


@dataclass(frozen=True, eq=False)
class Before:
    """The index that is updated, and the step that makes the new one from it."""

    index: Index
    step: LineageStep

    @property
    def lineage(self) -> tuple[LineageStep, ...]:
        """All steps that lead to the new index."""
        return (*self.index.manifest.lineage, self.step)

    @property
    def takes_away(self) -> bool:
        """Whether something goes, so that no text may stay that could rest on it."""
        return bool(self.step.changed or self.step.removed or self.step.edits)

    def start(self, models: BuildModels) -> Start:
        """Return a start that knows the clusters, texts and vectors of the index before."""
        layers, manifest, report = self.index.layers, self.index.manifest, self.index.report
        embedder = models.embedder()
        for layer in layers:
            embedder.remember(EmbeddingTexts(layer.entities), np.asarray(layer.vectors))
        # The report lists the first losses alone. A text whose loss it does not list cannot be told from the others.
        listed = manifest.builtin_texts <= report.listed_by_builtin
        writer = KeptTexts(
            models.writer(),
            layers if listed else layers[:1],
            report,
            relations=models.aggregation is not None,
            exact=self.takes_away,
            calls=self.index.calls,
        )
        return Start(embedder, writer, Regrouping(layers))

    def chunk_vectors(self, texts: list[str], models: BuildModels) -> np.ndarray:
        """Return the vectors of the chunks, (n_chunks, d); only texts that the index does not have are embedded."""
        new = sorted({text for text in texts if text not in self._row_of_text})
        vectors = np.empty((len(texts), self.index.chunk_vectors.shape[1]), dtype=np.float32)
        place = {text: row for row, text in enumerate(new)}
        embedded = models.chunk_vectors(new) if new else vectors[:0]
        for row, text in enumerate(texts):
            known = self._row_of_text.get(text)
            vectors[row] = embedded[place[text]] if known is None else self.index.chunk_vectors[known]
        return vectors

    @cached_property
    def _row_of_text(self) -> dict[str, int]:
        return {self.index.chunk(row).text: row for row in range(self.index.chunks.num_rows)}

    def changes(
        self, chunks: Sequence[Chunk], hierarchy: Hierarchy, start: Start, fresh: Callable[[Layer], np.ndarray]
    ) -> UpdateReport:
        """Return what the new index has that this one has not, and the other way round.

        fresh: labels of a fresh clustering of a layer, (n,) int.
        """
        assert isinstance(start.group, Regrouping)
        assert isinstance(start.writer, KeptTexts)
        start.group.finish(hierarchy.layers)
        agreement = clusters_agreement(hierarchy.layers, fresh)
        return changes_between(self.index, chunks, hierarchy.layers, start.group.rows_before, start.writer, agreement)
