"""Scores of extractions against the reference graphs that come with the program."""

from dataclasses import dataclass, replace

from leanrag_core.evaluation.extraction import ExtractionScore, GivenGraph, extraction_score, index_score
from leanrag_core.evaluation.extraction_names import NORMALISED
from leanrag_core.evaluation.reference_passages import passage_gold
from leanrag_core.indexing.chunking import chunk_documents
from leanrag_core.indexing.extraction.builtin import BuiltinExtractor
from leanrag_core.indexing.model_check import GOOD, USABLE, USELESS, ModelCheck
from leanrag_core.messages.message import message
from leanrag_core.models.base import EmbeddingModel
from leanrag_core.services.references import References
from leanrag_core.types.corpus import Document
from leanrag_core.types.index import Index
from leanrag_core.types.manifest import REFERENCE_GRAPH

_ONE_CHUNK = 1_000_000  # tokens
_LEAST_ENTITIES = 0.2  # of the reference's in a passage; a model that finds fewer is of no use
_GOOD_ENTITIES, _GOOD_RELATIONS = 0.5, 0.25  # of the reference's: a model that finds as many is good


@dataclass(frozen=True)
class PassageScores:
    """Scores of one passage: what a model gave, and what the built-in extractor gives."""

    model: ExtractionScore
    builtin: ExtractionScore


def score_of_index(
    references: References, index: Index, embedding: EmbeddingModel | None = None
) -> ExtractionScore | None:
    """The score of the index's base graph; None where no reference graph quotes its documents, and for a reference
    graph itself, which beside itself says nothing of an extraction. embedding: of names, which are then compared by
    it, too."""
    if index.manifest.kind == REFERENCE_GRAPH:
        return None
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


def judged(check: ModelCheck, scores: PassageScores) -> ModelCheck:
    """The check with the verdict that the scores allow, and a remark with the figures where they lower it. Names are
    compared as normalised."""
    score = next(match for match in scores.model.matches if match.match == NORMALISED)
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
