"""Scores of extractions against the reference graphs that come with the program."""

from dataclasses import dataclass

from leanrag_core.evaluation.extraction import ExtractionScore, GivenGraph, extraction_score, index_score
from leanrag_core.evaluation.reference_passages import passage_gold
from leanrag_core.indexing.chunking import chunk_documents
from leanrag_core.indexing.extraction.builtin import BuiltinExtractor
from leanrag_core.models.base import EmbeddingModel
from leanrag_core.services.references import References
from leanrag_core.types.corpus import Document
from leanrag_core.types.index import Index

_ONE_CHUNK = 1_000_000  # tokens


@dataclass(frozen=True)
class PassageScores:
    """Scores of one passage: what a model gave, and what the built-in extractor gives."""

    model: ExtractionScore
    builtin: ExtractionScore


def score_of_index(
    references: References, index: Index, embedding: EmbeddingModel | None = None
) -> ExtractionScore | None:
    """The score of the index's base graph; None where no reference graph quotes its documents. embedding: of names,
    which are then compared by it, too."""
    reference = references.covering(index.documents["name"].to_pylist())
    return None if reference is None else index_score(index, reference.usable(), embedding=embedding)


def scores_of_passage(
    references: References, passage: str, graph: GivenGraph, embedding: EmbeddingModel | None = None
) -> PassageScores | None:
    """The scores of an extraction from one passage; None where no reference graph states a relation in it."""
    for reference in references.all():
        gold = passage_gold(passage, reference.usable())
        if gold.relations:
            given, own = (
                extraction_score(each, gold.entities, gold.relations, embedding=embedding)
                for each in (graph, _builtin(passage))
            )
            return PassageScores(given, own)
    return None


def _builtin(passage: str) -> GivenGraph:
    document = Document("passage", "passage", "", "text", passage, language="en")
    chunks = chunk_documents([document], max_tokens=_ONE_CHUNK, overlap_tokens=0)
    extractions = BuiltinExtractor().extract([document], chunks, lambda n: None)
    return GivenGraph(
        tuple((mention.name, mention.type) for extraction in extractions for mention in extraction.mentions),
        tuple((each.source, each.target, each.kind) for extraction in extractions for each in extraction.relations),
    )
