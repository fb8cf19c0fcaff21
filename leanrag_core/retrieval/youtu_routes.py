"""The four routes of Youtu-GraphRAG from a sub-question to triples, and the questions to a model (section 3.3, eq. 10).

A triple is a base relation or an attribute: rows 0 ... r-1 are the relations, those from r on the attributes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from leanrag_core.errors import ReplyError
from leanrag_core.messages.message import Message, message
from leanrag_core.retrieval.model_replies import json_or_note
from leanrag_core.retrieval.passages import append_missing, reciprocal_rank_fusion
from leanrag_core.retrieval.question_terms import question_terms
from leanrag_core.retrieval.tools import Tools
from leanrag_core.retrieval.vector_search import (
    RowCosines,
    best_first,
    best_rows,
    cosines,
    nearest_entities,
    nearest_rows,
    rank,
    row_cosines,
    similarity_to_each,
)
from leanrag_core.storage.layout import CHUNKS
from leanrag_core.types.calls import JSON_TEXT, JSON_TEXTS, json_list, json_object
from leanrag_core.types.cosines import SAME_SCALE, CosineScale
from leanrag_core.types.index import Index
from leanrag_core.types.youtu import ATTRIBUTE, ENTITY, HAS_ATTRIBUTE, KINDS, RELATION, KnowledgeTree, Schema

_NEAR = 0.5  # cosine from which a type counts as involved, without a model
_LIST_OF = {kind: f"{kind}_types" for kind in KINDS}
_QUESTIONS = json_object(
    questions=json_list(json_object(question=JSON_TEXT, **dict.fromkeys(_LIST_OF.values(), JSON_TEXTS)))
)
_REFLECTION = json_object(enough={"type": "boolean"}, missing=JSON_TEXT, question=JSON_TEXT)
_ENTITIES, _SEARCHED = 10, 50  # entities of a sub-question; as many are looked at for those of its types
_COMMUNITIES, _KEYWORDS = 3, 2  # nearest communities, and of each its nearest keywords
_STARTS, _BRANCHES, _MOST_VISITS = 3, 3, 200  # of a walk
_SORTED_UP_TO = 64  # relations; more are ranked as arrays
_CHUNKS = 50  # nearest chunks of a sub-question
_RELATIONS_AN_ENTITY = 2000  # a hub has more; the first ones are looked at


@dataclass(frozen=True)
class SubQuery:
    """A question to the graph. types: of each kind the rows of the types that it is about; an empty tuple sets no
    restriction."""

    text: str
    entity_types: tuple[int, ...] = ()
    relation_types: tuple[int, ...] = ()
    attribute_types: tuple[int, ...] = ()


@dataclass(frozen=True)
class Plan:
    """The sub-questions. note: what the reader should know about their origin."""

    queries: tuple[SubQuery, ...]
    note: Message | None = None


@dataclass(frozen=True)
class Reflection:
    """What the model thinks of the evidence. question: the next one, "" when there is none."""

    missing: str = ""
    question: str = ""
    note: Message | None = None


def decomposed(
    question: str, vector: np.ndarray, schema: Schema, tools: Tools, *, most: int, scale: CosineScale = SAME_SCALE
) -> Plan:
    """Return at most so many sub-questions by the model; without one, or where its reply cannot be used, the question
    and its phrases, with the types whose names are near. vector: (d,) of the question. Raises Cancelled and
    CallFailed."""
    reply = json_or_note(
        tools,
        "decompose_question",
        lambda cells: _read_questions(cells, schema, most),
        schema=_QUESTIONS,
        step=message("youtu.step.plan"),
        instead=message("youtu.built_in"),
        types="\n".join(f"{kind} types: {', '.join(schema.names(kind)) or '(none)'}" for kind in KINDS),
        question=question,
        most=most,
    )
    return Plan(reply.value or _own_phrases(question, vector, schema, tools, most, scale), reply.note)


def reflected(question: str, evidence: str, earlier: Sequence[str], tools: Tools) -> Reflection:
    """Judge whether the evidence is enough, or else name the next question. earlier: a line for each round before.
    Without a model there is no next question. Raises Cancelled and CallFailed."""
    reply = json_or_note(
        tools,
        "reflect_on_evidence",
        _read_reflection,
        schema=_REFLECTION,
        step=message("youtu.step.reflection"),
        instead=message("youtu.no_reflection"),
        keys=("enough",),
        question=question,
        memory="\n".join(earlier),
        evidence=evidence,
    )
    return reply.value or Reflection(note=reply.note)


def _own_phrases(
    question: str, vector: np.ndarray, schema: Schema, tools: Tools, most: int, scale: CosineScale
) -> tuple[SubQuery, ...]:
    """Return the question, then its names and phrases, each with the types whose names are near to it. vector: (d,) of
    the question."""
    phrases = [term for term in question_terms(question).every if term != question][: most - 1]
    vectors = [vector, *(tools.embed(phrases) if phrases else ())]
    return tuple(
        SubQuery(text, *(_near_types(schema, kind, each, scale) for kind in (ENTITY, RELATION, ATTRIBUTE)))
        for text, each in zip([question, *phrases], vectors, strict=True)
    )


def _near_types(schema: Schema, kind: str, vector: np.ndarray, scale: CosineScale) -> tuple[int, ...]:
    """Return the places of the types of that kind whose names are near. vector: (d,)."""
    scores = scale.plain(cosines(schema.vectors(kind), vector))
    return tuple(np.flatnonzero(scores >= _NEAR).tolist())


def _read_questions(cells: Mapping[str, Any], schema: Schema, most: int) -> tuple[SubQuery, ...]:
    listed = cells.get("questions")
    if not isinstance(listed, list):
        raise ReplyError("youtu.reply_questions")
    queries = []
    for entry in listed:
        text = " ".join(str(entry.get("question") or "").split()) if isinstance(entry, dict) else ""
        if text:
            queries.append(SubQuery(text, *(_rows(entry.get(_LIST_OF[kind]), schema.names(kind)) for kind in KINDS)))
    if not queries:
        raise ReplyError("youtu.reply_questions")
    return tuple(queries[:most])


def _rows(listed: Any, names: Sequence[str]) -> tuple[int, ...]:
    """Return places of the named types; names that the schema does not have are left out."""
    wanted = {str(name).casefold() for name in listed} if isinstance(listed, list) else set[str]()
    return tuple(place for place, name in enumerate(names) if name.casefold() in wanted)


def _read_reflection(cells: Mapping[str, Any]) -> Reflection:
    enough = cells.get("enough")
    if not isinstance(enough, bool):
        raise ReplyError("youtu.reply_reflection")
    missing, question = (" ".join(str(cells.get(key) or "").split()) for key in ("missing", "question"))
    return Reflection() if enough else Reflection(missing, question)


@dataclass(frozen=True, eq=False)
class Space:
    """What the routes search. tree: None without communities. relation_vectors: (r, d)."""

    index: Index
    schema: Schema
    tree: KnowledgeTree | None
    relation_vectors: np.ndarray

    @property
    def n_relations(self) -> int:
        """Return how many triples are relations; these come before the attributes."""
        return len(self.relation_vectors)

    def scores(self, vectors: np.ndarray, tools: Tools) -> list["TripleCosines"]:
        """Return the cosines of all triples to each sub-question. vectors: (q, d)."""
        parts = (self.relation_vectors, self.schema.attribute_vectors)
        both = zip(*(row_cosines(part, vectors, tools) for part in parts), strict=True)
        return [TripleCosines(*pair) for pair in both]

    def scores_of(self, triples: Sequence[int], vector: np.ndarray) -> dict[int, float]:
        """Return cosines of those triples to the vector. vector: (d,)."""
        n = self.n_relations
        rows = [self.relation_vectors[row] if row < n else self.schema.attribute_vectors[row - n] for row in triples]
        return dict(zip(triples, cosines(np.array(rows), vector).tolist(), strict=True)) if rows else {}

    def types(self) -> np.ndarray:
        """Return (r + a,) relation type of each triple."""
        has = self.schema.names(RELATION).index(HAS_ATTRIBUTE)
        return np.concatenate([self.schema.relation_type, np.full(len(self.schema.attribute_entity), has)])

    def triples_of(self, entities: Sequence[int]) -> np.ndarray:
        """Return the rows of the triples of those entities, (m,) int, ascending."""
        base = self.index.layers[0]
        rows = [base.relations_of(row)[:_RELATIONS_AN_ENTITY] for row in entities]
        attributes = self.schema.attributes_of(np.asarray(entities, dtype=np.int64)) + self.n_relations
        return np.unique(np.concatenate([*rows, attributes]).astype(np.int64))

    def entities_of(self, triples: Sequence[int]) -> list[int]:
        """Return rows of the entities of those triples, each once, in their order."""
        rows: dict[int, None] = {}
        for triple in triples:
            if triple < self.n_relations:
                rows |= dict.fromkeys(self.index.layers[0].ends[triple].tolist())
            else:
                rows[int(self.schema.attribute_entity[triple - self.n_relations])] = None
        return list(rows)


@dataclass(frozen=True, eq=False)
class TripleCosines:
    """The cosines of relations and attributes to a sub-question, each computed where it is asked for."""

    relations: RowCosines
    attributes: RowCosines

    def of(self, triples: np.ndarray) -> np.ndarray:
        """Return the cosines of those triples, (k,) float32. triples: (k,) int64."""
        n = len(self.relations)
        of_relations = triples < n
        scores = np.empty(len(triples), dtype=np.float32)
        scores[of_relations] = self.relations.of(triples[of_relations])
        scores[~of_relations] = self.attributes.of(triples[~of_relations] - n)
        return scores

    def best(self, k: int, triples: np.ndarray | None = None) -> np.ndarray:
        """Return the k with the highest cosines of all triples, or of those, best first, equals by row; (k,) int64.
        triples: (m,) ascending."""
        n = len(self.relations)
        first = self.relations.best(k, None if triples is None else triples[triples < n])
        second = self.attributes.best(k, None if triples is None else triples[triples >= n] - n)
        rows = np.concatenate([first.rows, second.rows + n]).astype(np.int64)
        ascending = np.argsort(rows)
        return rank(rows[ascending], np.concatenate([first.scores, second.scores])[ascending], k)[0]


@dataclass(frozen=True, eq=False)
class Routed:
    """What the routes of a sub-question led to. entities, communities: rows, best first. triples: of all routes, each
    with its cosine to the sub-question."""

    query: SubQuery
    vector: np.ndarray
    entities: tuple[int, ...]
    communities: tuple[int, ...]
    triples: Mapping[int, float]


def routed(
    space: Space, query: SubQuery, vector: np.ndarray, scores: TripleCosines, tools: Tools, *, k: int, depth: int
) -> Routed:
    """Follow the four routes of a sub-question, three without communities. They are independent, but the walk starts at
    the matched entities.

    vector: (d,) of the sub-question. scores: to it. k: triples of each route. depth: longest walk.
    """
    entities = _matched_entities(space, query, vector, tools)
    communities: list[int] = []
    below = np.zeros(0, dtype=np.int64)
    if space.tree is not None:
        communities = nearest_rows(space.tree.communities.vectors, vector, _COMMUNITIES).rows.tolist()
        below = _below(space, space.tree, communities, vector)
    routes = (
        scores.best(k, space.triples_of(entities)),
        scores.best(k, _of_types(space, query, k)),
        scores.best(k, below),
        _walked(space, entities[:_STARTS], scores, depth)[:k],
    )
    triple_rows = np.unique(np.concatenate(routes)).astype(np.int64)
    triples = dict(zip(triple_rows.tolist(), scores.of(triple_rows).tolist(), strict=True))
    return Routed(query, vector, tuple(entities), tuple(communities), triples)


def merged(parts: Sequence[Routed]) -> np.ndarray:
    """Return the triples of all routes and sub-questions by their highest cosine to one of these, equals by row; so
    the release orders them (`enhanced_kt_retriever.py`, `_collect_all_scored_triples`). Returns (k,) int rows."""
    highest: dict[int, float] = {}
    for part in parts:
        for triple, cosine in part.triples.items():
            highest[triple] = max(cosine, highest.get(triple, -1.0))
    order = sorted(highest, key=lambda triple: (-round(highest[triple], 5), triple))
    return np.array(order, dtype=np.int64)


def ranked_chunks(space: Space, triples: Sequence[int], parts: Sequence[Routed]) -> np.ndarray:
    """Return all chunks: those that state the triples, by 1 / rank of each, fused with the nearest of each
    sub-question; then the others by the first sub-question. Returns (n_chunks,) int rows, best first."""
    index, n = space.index, space.n_relations
    score = np.zeros(index.chunks.num_rows)
    for place, triple in enumerate(triples, start=1):
        if triple < n:
            score[index.chunks_of_relation(triple)] += 1.0 / place
        elif (chunk := int(space.schema.attribute_chunk[triple - n])) >= 0:
            score[chunk] += 1.0 / place
    stating = np.flatnonzero(score)
    stating = stating[np.argsort(-score[stating], kind="stable")]
    first, *following = similarity_to_each(index, CHUNKS, np.stack([part.vector for part in parts]))
    nearest = best_first(first)
    others = (best_rows(scores, _CHUNKS) for scores in following)
    rankings = [ranking for ranking in (stating, nearest[:_CHUNKS], *others) if len(ranking)]
    return append_missing(reciprocal_rank_fusion(rankings).rows, nearest)


def _matched_entities(space: Space, query: SubQuery, vector: np.ndarray, tools: Tools) -> list[int]:
    """Return the nearest entities of the types that the sub-question is about; of all types where none of these is
    near. vector: (d,) of the sub-question."""
    rows = nearest_entities(space.index, vector, _SEARCHED if query.entity_types else _ENTITIES, tools).rows
    if query.entity_types:
        fitting = rows[np.isin(space.schema.entity_type[rows], query.entity_types)]
        rows = fitting if len(fitting) else rows
    return [int(row) for row in rows[:_ENTITIES]]


def _of_types(space: Space, query: SubQuery, k: int) -> np.ndarray | None:
    """Return triples of the types that the sub-question is about, (m,) int rows; None, which stands for all triples,
    where these are fewer than k."""
    if not query.relation_types and not query.attribute_types:
        return None
    wanted = np.isin(space.types(), query.relation_types)
    if query.attribute_types:
        is_of_type = np.isin(space.schema.attribute_type, query.attribute_types)
        wanted[space.n_relations :] = is_of_type
    rows = np.flatnonzero(wanted)
    return rows if len(rows) >= k else None


def _below(space: Space, tree: KnowledgeTree, communities: Sequence[int], vector: np.ndarray) -> np.ndarray:
    """Walk top-down through the tree: of each community the keywords nearest to the question, the entities below
    these, and their triples. vector: (d,) of the sub-question. Returns (m,) int rows."""
    base = space.index.layers[0]
    chosen: list[np.ndarray] = []
    for community in communities:
        places = tree.keywords_in(community)
        near = cosines(np.asarray(base.vectors[tree.keywords[places]]), vector)
        chosen.append(places[np.argsort(-near, kind="stable")[:_KEYWORDS]])
    if not chosen:
        return np.zeros(0, dtype=np.int64)
    entities = tree.entities_below(np.concatenate(chosen))
    attributes = space.schema.attributes_of(entities) + space.n_relations
    return np.concatenate([base.relations_of_any(entities), attributes]).astype(np.int64)


def _walked(space: Space, starts: Sequence[int], scores: TripleCosines, depth: int) -> np.ndarray:
    """Return triples on depth-first walks, those of the best walk first: from each entity along the relations that are
    nearest to the question, to entities that were not visited. A walk's score is the mean of its triples'. Returns
    (m,) int rows."""
    base = space.index.layers[0]
    walks: list[list[int]] = []
    visited: set[int] = set()
    known: dict[int, float] = {}  # cosines of the relations that walks follow
    for start in starts:
        stack: list[tuple[int, list[int]]] = [(start, [])]
        while stack and len(visited) < _MOST_VISITS:
            entity, path = stack.pop()
            if entity in visited:
                continue
            visited.add(entity)
            if path:
                walks.append(path)
            if len(path) == depth:
                continue
            best = _nearest_few(scores.relations, base.relations_of(entity)[:_RELATIONS_AN_ENTITY])
            known |= best
            ends = (base.ends[list(best)].sum(axis=1) - entity).tolist()
            both = list(zip(best, ends, strict=True))
            stack += [(end, [*path, row]) for row, end in reversed(both) if end not in visited]
    in_order = sorted(zip((-_mean_cosines(walks, known)).tolist(), walks, strict=True))
    return np.array(list(dict.fromkeys(row for _, path in in_order for row in path)), dtype=np.int64)


def _nearest_few(relations: RowCosines, rows: np.ndarray) -> dict[int, float]:
    """Return the cosines of the _BRANCHES nearest of those relations by row, best first, equals by row. rows: (k,)
    ascending."""
    near = relations.of(rows)
    if len(rows) > _SORTED_UP_TO:
        best, cosines_of_best = rank(rows, near, _BRANCHES)
        return dict(zip(best.tolist(), cosines_of_best.tolist(), strict=True))
    return {row: -less for less, row in sorted(zip((-near).tolist(), rows.tolist(), strict=True))[:_BRANCHES]}


def _mean_cosines(walks: Sequence[list[int]], known: Mapping[int, float]) -> np.ndarray:
    """Return the mean of the cosines of each walk's triples, (n_walks,) float32."""
    means = np.empty(len(walks), dtype=np.float32)
    lengths = np.array([len(path) for path in walks], dtype=np.int64)
    for length in np.unique(lengths).tolist():
        places = np.flatnonzero(lengths == length)
        table = np.array([[known[row] for row in walks[place]] for place in places.tolist()], dtype=np.float32)
        means[places] = table.mean(axis=1)
    return means
