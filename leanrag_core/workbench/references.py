"""The reference graphs that come with the program, and scores of extractions against them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from leanrag_core.errors import ReferenceDamaged
from leanrag_core.evaluation.extraction import (
    ExtractionScore,
    GivenGraph,
    extraction_score,
    index_score,
    passage_gold,
)
from leanrag_core.indexing.chunking import chunk_documents
from leanrag_core.indexing.extraction.builtin import BuiltinExtractor
from leanrag_core.indexing.model_check import GOOD, USABLE, USELESS, ModelCheck
from leanrag_core.indexing.reference.faults import faults, quoted_documents
from leanrag_core.indexing.reference.records import FILES, ReferenceGraph, is_reference, read_reference
from leanrag_core.messages.message import message
from leanrag_core.models.base import EmbeddingModel
from leanrag_core.types.config import BUILTIN
from leanrag_core.types.corpus import Document
from leanrag_core.types.index import Index
from leanrag_core.types.manifest import REFERENCE_GRAPH
from leanrag_core.workbench.models import ModelAccess

_ONE_CHUNK = 1_000_000  # tokens
_LEAST_ENTITIES = 0.2  # of the reference's in a passage; a model that finds fewer is of no use
_GOOD_ENTITIES, _GOOD_RELATIONS = 0.5, 0.25  # of the reference's: a model that finds as many is good


@dataclass(frozen=True)
class PassageScores:
    """Scores of one passage: what a model gave, and what the built-in extractor gives."""

    model: ExtractionScore
    builtin: ExtractionScore


@dataclass(frozen=True)
class CorpusReference:
    """A reference graph and the folder that it was read from."""

    folder: Path
    graph: ReferenceGraph

    def usable(self) -> ReferenceGraph:
        """Return the graph. Raises ReferenceDamaged when it contradicts itself."""
        wrong = faults(self.graph)
        if wrong:
            raise ReferenceDamaged("reference.faulty", folder=self.folder.parent.name, n=len(wrong), first=wrong[0])
        return self.graph


class References:
    """Reads the reference graphs below a folder of corpora, each again when its files have changed.

    models: the built-in embedding compares names, the same for every index, so that scores can be compared.
    """

    def __init__(self, root: Path, models: ModelAccess) -> None:
        self._root, self._models = root, models
        self._read: dict[Path, tuple[tuple[tuple[int, int], ...], ReferenceGraph]] = {}

    def all(self) -> tuple[CorpusReference, ...]:
        """Return every reference graph, in order of its corpus's folder. Raises RecordDamaged, ReferenceDamaged."""
        folders = sorted(folder for folder in self._root.glob("*/reference") if is_reference(folder))
        return tuple(CorpusReference(folder, self._graph(folder)) for folder in folders)

    def _graph(self, folder: Path) -> ReferenceGraph:
        file_stats = [(folder / name).stat() for name in FILES if (folder / name).is_file()]
        files_state = tuple((file.st_mtime_ns, file.st_size) for file in file_stats)
        known = self._read.get(folder)
        if known is None or known[0] != files_state:
            known = self._read[folder] = files_state, read_reference(folder)
        return known[1]

    def covering(self, names: Iterable[str]) -> CorpusReference | None:
        """Return the reference graph that quotes most documents of these names; None where none quotes any."""
        wanted = set(names)
        quoted = [(len(wanted & set(reference.graph.document_names)), reference) for reference in self.all()]
        most = max((n for n, _ in quoted), default=0)
        return next(reference for n, reference in quoted if n == most) if most else None

    def is_complete(self, names: Sequence[str]) -> bool:
        """Return whether one reference graph covers every document of these names well enough."""
        reference = self.covering(names)
        return reference is not None and all(row.enough for row in quoted_documents(reference.graph, names))

    def of(self, documents: Sequence[Document]) -> ReferenceGraph:
        """Return the reference graph of the documents. Raises ReferenceDamaged where none is there that can be used."""
        reference = self.covering(document.name for document in documents)
        if reference is None:
            raise ReferenceDamaged("reference.none")
        return reference.usable()

    def score(self, index: Index, *, embedded: bool = True) -> ExtractionScore | None:
        """Return how much of a reference graph the index's base graph has.

        None where no reference graph quotes its documents, and for a reference graph itself, which beside itself says
        nothing of an extraction. embedded: names are compared by the built-in embedding, too, which takes a second or
        two.
        """
        if index.manifest.kind == REFERENCE_GRAPH:
            return None
        reference = self.covering(index.documents["name"].to_pylist())
        return (
            None if reference is None else index_score(index, reference.usable(), embedding=self._embedding(embedded))
        )

    def passage_scores(self, passage: str, graph: GivenGraph, *, embedded: bool = True) -> PassageScores | None:
        """Return how much of a reference graph those entities and relations of a passage have, and what the built-in
        extractor gives; None where no reference graph states a relation in the passage. embedded: see score()."""
        for reference in self.all():
            gold = passage_gold(passage, reference.usable())
            if gold.relations:
                given, own = (
                    extraction_score(each, gold.entities, gold.relations, embedding=self._embedding(embedded))
                    for each in (graph, _builtin(passage))
                )
                return PassageScores(given, own)
        return None

    def _embedding(self, embedded: bool) -> EmbeddingModel | None:
        return self._models.embedding(BUILTIN, "") if embedded else None


def judged(check: ModelCheck, scores: PassageScores) -> ModelCheck:
    """Return the check with the verdict that the scores allow, and a remark with the figures where they lower it."""
    score = scores.model
    entities, relations = score.entities.recall or 0.0, score.relations.recall or 0.0
    if entities < _LEAST_ENTITIES:
        verdict = USELESS
    elif entities < _GOOD_ENTITIES or relations < _GOOD_RELATIONS:
        verdict = USABLE
    else:
        verdict = GOOD
    worst = max(check.verdict, verdict, key=(GOOD, USABLE, USELESS).index)
    if verdict == GOOD:
        return replace(check, verdict=worst)
    remark = message(
        "model_check.beside_reference",
        entities=score.entities.hit,
        of_entities=score.entities.wanted,
        relations=score.relations.hit,
        of_relations=score.relations.wanted,
    )
    return replace(check, verdict=worst, remarks=(remark, *check.remarks))


def _builtin(passage: str) -> GivenGraph:
    document = Document("passage", "passage", "", "text", passage, language="en")
    chunks = chunk_documents([document], max_tokens=_ONE_CHUNK, overlap_tokens=0)
    extractions = BuiltinExtractor().extract([document], chunks, lambda n: None)
    return GivenGraph(
        tuple((mention.name, mention.type) for extraction in extractions for mention in extraction.mentions),
        tuple((each.source, each.target, each.kind) for extraction in extractions for each in extraction.relations),
    )
