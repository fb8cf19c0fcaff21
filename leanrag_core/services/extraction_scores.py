"""Scores of extractions against the reference graphs that come with the program."""

from collections.abc import Sequence
from dataclasses import dataclass

from leanrag_core.evaluation.extraction import ExtractionScore, extraction_score, index_score, passage_gold
from leanrag_core.indexing.chunking import chunk_documents
from leanrag_core.indexing.extraction.builtin import BuiltinExtractor
from leanrag_core.services.references import References
from leanrag_core.types.corpus import Document
from leanrag_core.types.index import Index

_ONE_CHUNK = 1_000_000  # tokens


@dataclass(frozen=True)
class PassageScores:
    """Scores of one passage: what a model gave, and what the built-in extractor gives."""

    model: ExtractionScore
    builtin: ExtractionScore


def score_of_index(references: References, index: Index) -> ExtractionScore | None:
    """The score of the index's base graph; None where no reference graph quotes its documents."""
    reference = references.covering(index.documents["name"].to_pylist())
    return None if reference is None else index_score(index, reference.usable())


def scores_of_passage(
    references: References, passage: str, names: Sequence[str], pairs: Sequence[tuple[str, str]]
) -> PassageScores | None:
    """The scores of an extraction from one passage; None where no reference graph states a relation in it."""
    for reference in references.all():
        gold = passage_gold(passage, reference.usable())
        if gold.relations:
            given = extraction_score(names, pairs, gold.entities, gold.relations)
            own = extraction_score(*_builtin(passage), gold.entities, gold.relations)
            return PassageScores(given, own)
    return None


def _builtin(passage: str) -> tuple[list[str], list[tuple[str, str]]]:
    document = Document("passage", "passage", "", "text", passage, language="en")
    chunks = chunk_documents([document], max_tokens=_ONE_CHUNK, overlap_tokens=0)
    extractions = BuiltinExtractor().extract([document], chunks, lambda n: None)
    names = [mention.name for extraction in extractions for mention in extraction.mentions]
    return names, [(each.source, each.target) for extraction in extractions for each in extraction.relations]
