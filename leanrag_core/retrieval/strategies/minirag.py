"""MiniRAG: paths of two hops from the entities that a question names lead to chunks; what they pass gives their
score."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from leanrag_core.messages.message import Message, message
from leanrag_core.retrieval.base import Options, Query, StrategyBase, chunks_option, published
from leanrag_core.retrieval.base_graph import entity_items, relation_items
from leanrag_core.retrieval.graph_traces import (
    BETWEEN,
    ON_PATH,
    Asked,
    GraphContext,
    GraphStep,
    RankedGraph,
    by_row,
    graph_context,
    graph_trace,
)
from leanrag_core.retrieval.hop_paths import HopPath, HopPaths, Mentions, best_chunks, by_cosine, nearest_mentions
from leanrag_core.retrieval.model_replies import json_or_note, lists_in
from leanrag_core.retrieval.question_terms import question_terms
from leanrag_core.retrieval.tools import Tools
from leanrag_core.retrieval.tracing import Retrieval
from leanrag_core.retrieval.vector_search import best_first, nearest_rows, row_cosines, similarity
from leanrag_core.storage.layout import CHUNKS
from leanrag_core.types.calls import JSON_TEXTS, json_object
from leanrag_core.types.config import option
from leanrag_core.types.graph import Layer
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Trace

_MOST_TYPES, _MOST_ENTITIES = 3, 5
_MOST_LISTED, _EXAMPLES = 60, 2
_UNTYPED = ("", "unknown")
_WORD = re.compile(r"\w+")
_PERSON, _PLACE, _TIME = ("person",), ("location", "place"), ("event", "date", "time")
_ASKED_BY = {"who": _PERSON, "whom": _PERSON, "whose": _PERSON, "where": _PLACE, "when": _TIME}
# Chinese has no blanks between words: these are looked for anywhere in the question.
_ASKED_BY_CHINESE = {"谁": _PERSON, "哪里": _PLACE, "何处": _PLACE, "何时": _TIME, "什么时候": _TIME}
_REPLY = json_object(answer_types=JSON_TEXTS, entities=JSON_TEXTS)


@dataclass(frozen=True)
class MappedQuestion:
    """entities: the names in the question, at least one. types: those that the answer may have, in lower case and known
    to the graph; may be empty. note: what the reader should know about their origin."""

    entities: tuple[str, ...]
    types: tuple[str, ...]
    note: Message | None = None


def mapped_question(question: str, base: Layer, tools: Tools) -> MappedQuestion:
    """Ask the model for the names in the question and the types of its answer; without a model, or where its reply
    cannot be used, return names and phrases of the question and the types of own_types().

    Raises Cancelled and CallFailed. Source: MiniRAG, query semantic mapping.
    """
    counts = _type_counts(base)
    reply = json_or_note(
        tools,
        "query_answer_types",
        _read,
        schema=_REPLY,
        step=message("minirag.step.mapping"),
        instead=message("minirag.built_in"),
        types=_listed(base, list(counts)[:_MOST_LISTED]),
        question=question,
    )
    mapped = reply.value
    if mapped is None:
        names = question_terms(question).every[:_MOST_ENTITIES]
        mapped = MappedQuestion(names, own_types(question, list(counts)), reply.note)
    types = tuple(name for name in mapped.types if name in counts)[:_MOST_TYPES]
    return MappedQuestion(mapped.entities or (question,), types, mapped.note)


def own_types(question: str, known: Sequence[str]) -> tuple[str, ...]:
    """Return those of the known types that the question names, in singular or plural, or asks for by who, where or
    when, in the question's order. known: in lower case."""
    asked: list[str] = []
    lower = question.lower()
    for word in _WORD.findall(lower):
        asked += [word, word.removesuffix("s"), *_ASKED_BY.get(word, ())]
    for word, types in _ASKED_BY_CHINESE.items():
        asked += types if word in lower else ()
    return tuple(name for name in dict.fromkeys(asked) if name in known)


def is_of_types(base: Layer, types: Sequence[str]) -> np.ndarray:
    """Return (n,) bool: whether each base entity has one of the types. types: in lower case."""
    return base.lower_types.are(types) if types else np.zeros(len(base), dtype=bool)


def _type_counts(base: Layer) -> dict[str, int]:
    """Return how many entities each type has, the commonest first, ties by name."""
    counts = {name: n for name, n in base.lower_types.counts.items() if name not in _UNTYPED}
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))


def _listed(base: Layer, types: Sequence[str]) -> str:
    """Return a line for each type, with the entities of it that have most relations."""
    lines, names = [], base.entity_cells["name"]
    for name in types:
        rows = np.flatnonzero(is_of_types(base, [name]))
        best = rows[np.argsort(-base.degrees[rows], kind="stable")[:_EXAMPLES]]
        lines.append(f"- {name}: {'; '.join(str(names[row].as_py()) for row in best.tolist())}")
    return "\n".join(lines)


def _read(cells: dict[str, Any]) -> MappedQuestion:
    types, entities = lists_in(cells, "answer_types", "entities", error="minirag.reply")
    return MappedQuestion(entities[:_MOST_ENTITIES], tuple(text.lower() for text in types))


_LEAST_COSINE = 0.2  # of entities, relations and chunks that are searched for; cosine_better_than_threshold
_ISOLATED = 0.2  # share of the candidates without a relation that stay, the nearest ones; one at least
_FIRST, _NEAR = 2, 10  # factors of the nearest entity, and of one whose best chunk is near to the question
_DECIMALS = 9  # of a chunk's score
_CHUNK_TOKENS = 36_000  # 30 chunks of 1,200 tokens, which the release does not cut
_DRAWN_PATHS = 8


@dataclass(frozen=True)
class Config(Options):
    """Options of MiniRAG; the defaults are the release's."""

    top_k: int = option(60, low=1, high=200, help=message("minirag.option.top_k"), in_row=True, scale=60)
    top_c: int = chunks_option(30, low=0, scale=30)
    chunks_each: int = option(3, low=1, high=20, help=message("minirag.option.chunks_each"))
    entity_tokens: int = option(500, low=0, high=32000, help=message("lightrag.option.entity_tokens"))
    max_tokens: int = option(36500, low=0, high=64000, help=message("option.max_tokens"))


@dataclass(frozen=True, eq=False)
class _Starts:
    """Where paths begin. lists: for each name of the question the entities nearest to it, best first, with their
    cosines. scores: the highest cosine of each, best first, ties by row. candidates: rows before those without a
    relation were thinned out."""

    lists: list[dict[int, float]]
    scores: dict[int, float]
    candidates: list[int]


@dataclass(frozen=True, eq=False)
class _Chunks:
    """rows: best first. scores: of each. reason: code of the message that says why one is here."""

    rows: list[int] | np.ndarray
    scores: dict[int, float]
    reason: str


class Strategy(StrategyBase[Config]):
    """Names and answer types of the question, paths between what fits them, the chunks of the paths."""

    name = "minirag"
    badge = "own-part"
    calls_model = True
    parts = ("name_vectors", "relation_vectors")
    presets = (published("released"),)

    def retrieve(self, query: Query, index: Index, tools: Tools) -> Trace:
        """Return the trace of one retrieval: names and types, starts, votes, paths, chunks."""
        run, base = Retrieval(self, query, index, tools), index.layers[0]
        mapped = mapped_question(query.text, base, tools)
        run.note(mapped.note)
        run.lap("mapping")
        starts = self._starts(mapped.entities, index, tools)
        may_answer = is_of_types(base, mapped.types)
        run.lap("starts")
        voted = self._voted(query, index, starts, may_answer, len(mapped.entities), tools)
        rows = np.array(list(starts.scores), dtype=np.int64)
        paths = HopPaths(base.adjacency, rows, may_answer, base.ends[voted])
        run.lap("votes")
        chunks = self._chunks(query, index, starts, paths, voted)
        n_drawn = 0 if tools.context_alone else min(len(rows), _DRAWN_PATHS)
        best = [path for path in map(paths.best, range(n_drawn)) if path]
        run.lap("paths")
        chosen_rows = list(map(int, chunks.rows[: self.config.top_c]))
        scores = {row: chunks.scores[row] for row in chosen_rows}
        ranked = RankedGraph(list(starts.scores), (), chunks.rows, starts.scores, {}, scores, chunks.reason)
        budgets = {"entities": self.config.entity_tokens, "relations": 0, "chunks": _CHUNK_TOKENS}
        on_paths = _relations_on(base, best)
        filled = _with_paths(index, graph_context(run, ranked, budgets, flowing=False), best, on_paths)
        asked = _asked(mapped, starts, may_answer, [item.row for item in filled.drawn if item.row is not None])
        steps = _steps(mapped, starts, voted, paths, best, on_paths)
        caption = message("minirag.chunks", n=len(chosen_rows)) if starts.scores else message("linearrag.dense")
        return graph_trace(run, ranked, filled, steps=steps, chunk_caption=caption, asked=asked)

    def _starts(self, names: Sequence[str], index: Index, tools: Tools) -> _Starts:
        """Return the entities with names near to those of the question; of those without a relation the nearest fifth
        alone, one at least."""
        base, scale = index.layers[0], index.across_scale
        lists = []
        for cosines in row_cosines(tools.part("name_vectors"), tools.embed(list(names)), tools):
            near = cosines.best(self.config.top_k)
            plain = scale.plain(near.scores)
            lists.append(by_row(near.rows[plain >= _LEAST_COSINE], plain[plain >= _LEAST_COSINE]))
        scores: dict[int, float] = {}
        for listed in lists:
            scores |= {row: max(score, scores.get(row, 0.0)) for row, score in listed.items()}
        order = sorted(scores, key=lambda row: (-scores[row], row))
        isolated = [row for row in order if not base.degrees[row]]
        left_out = set(isolated[max(1, int(len(isolated) * _ISOLATED)) :])
        return _Starts(lists, {row: scores[row] for row in order if row not in left_out}, order)

    def _voted(
        self, query: Query, index: Index, starts: _Starts, may_answer: np.ndarray, n_names: int, tools: Tools
    ) -> np.ndarray:
        """Return the relations near to the question, of those with an end that is a candidate or may be the answer;
        (v,) rows, best first. may_answer: (n,) bool, of the base entities."""
        least = index.across_scale.own_of(_LEAST_COSINE)
        n = self.config.top_k * n_names
        rows = nearest_rows(tools.part("relation_vectors"), query.vector, n, at_least=least, tools=tools).rows
        counts = may_answer.copy()
        counts[starts.candidates] = True
        return np.asarray(rows[counts[index.layers[0].ends[rows]].any(axis=1)])

    def _chunks(self, query: Query, index: Index, starts: _Starts, paths: HopPaths, voted: np.ndarray) -> _Chunks:
        """Return the chunks that the paths lead to; where there is none all chunks by their cosine to the question.

        voted: (v,) rows of relations.
        """
        near = similarity(index, CHUNKS, query.vector)
        order = best_first(near)
        mentions = by_cosine(index.entity_chunks[paths.nodes], order)
        stated = by_cosine(index.relation_chunks[voted], order)
        by_path = paths.chunk_scores(Mentions(mentions, nearest_mentions(mentions), stated))
        lists = [order[listed].tolist() for listed in best_chunks(by_path, self.config.chunks_each)]
        nearest = order[: self.config.top_k // 2]
        is_near = set(nearest[index.across_scale.plain(near[nearest]) >= _LEAST_COSINE].tolist())
        scores = merged_scores(starts.lists, dict(zip(starts.scores, lists, strict=True)), is_near)
        if not scores:
            return _Chunks(order, by_row(order, near[order]), "passage.near")
        return _Chunks(sorted(scores, key=lambda row: (-scores[row], -float(near[row]), row)), scores, "minirag.reason")


def merged_scores(
    lists: Sequence[Mapping[int, float]], chunks_of: Mapping[int, Sequence[int]], is_near: set[int]
) -> dict[int, float]:
    """Return each chunk's score: the sum over the names of the question, and over the starts near to each, of the
    start's cosine; twice that of the first start of a name, ten times that of one whose best chunk is near.

    lists: for each name the cosines of entities, best first. chunks_of: the best chunks of each start, best first; an
    entity that is no start has none. is_near: chunks nearest to the question. Source: `kwd2chunk` of the release.
    """
    scores: dict[int, float] = {}
    for listed in lists:
        starts = [row for row in listed if row in chunks_of]
        for place, start in enumerate(starts):
            chunks, score = chunks_of[start], listed[start]
            factor = (1 if place else _FIRST) * (_NEAR if chunks and chunks[0] in is_near else 1)
            for chunk in chunks:
                scores[chunk] = scores.get(chunk, 0.0) + factor * score
    return {chunk: round(score, _DECIMALS) for chunk, score in scores.items()}


def _with_paths(
    index: Index, filled: GraphContext, paths: Sequence[HopPath], relations_on: Sequence[int]
) -> GraphContext:
    """Return the context with the best paths drawn, and without the section of relations, which it leaves empty.
    relations_on: rows of the relations on the paths."""
    known = {item.row for item in filled.drawn}
    nodes = dict.fromkeys(node for path in paths for node in path.nodes if node not in known)
    others = entity_items(index, list(nodes), role="between")
    relations = relation_items(index, relations_on, role="on-path")
    return replace(
        filled,
        sections=tuple(part for part in filled.sections if part.name != "relations"),
        drawn=(*filled.drawn, *(replace(item, rank=None) for item in others)),
        drawn_relations=relations,
        styles=(BETWEEN, ON_PATH),
    )


def _relations_on(base: Layer, paths: Sequence[HopPath]) -> list[int]:
    """Return rows of the relations on the paths, each once."""
    edges = dict.fromkeys(tuple(sorted(edge)) for path in paths for edge in pairwise(path.nodes))
    rows = (base.relations_inside(edge) for edge in edges)
    return [int(row) for between in rows for row in between[:1]]


def _asked(mapped: MappedQuestion, starts: _Starts, may_answer: np.ndarray, drawn: Sequence[int]) -> list[Asked]:
    """Return the names and the types of the question, with the entities of the picture that they led to. may_answer:
    (n,) bool, of the base entities."""
    named = message("query_entities.reason.named")
    names = [
        Asked(f"asked-{place}", name, named, set(listed))
        for place, (name, listed) in enumerate(zip(mapped.entities, starts.lists, strict=True))
    ]
    if not mapped.types:
        return names
    answers = {row for row in drawn if may_answer[row]}
    return [*names, Asked("answer-types", ", ".join(mapped.types), message("minirag.reason.type"), answers)]


def _steps(
    mapped: MappedQuestion,
    starts: _Starts,
    voted: np.ndarray,
    paths: HopPaths,
    best: Sequence[HopPath],
    on_paths: Sequence[int],
) -> list[GraphStep]:
    """Return the steps: mapping, starts, votes, paths. voted: (v,) rows of relations. best, on_paths: the drawn paths,
    and rows of the relations on them."""
    asked = [f"asked-{place}" for place in range(len(mapped.entities))]
    types = ["answer-types"] if mapped.types else []
    on_best = list(dict.fromkeys(node for path in best for node in path.nodes))
    named = message("minirag.mapping", n=len(mapped.entities), types=len(mapped.types))
    return [
        GraphStep("mapping", named, asked=[*asked, *types]),
        GraphStep("starts", message("minirag.starts", n=len(starts.scores)), list(starts.scores), asked=asked),
        GraphStep("votes", message("minirag.votes", n=len(voted)), relations=voted.tolist()),
        GraphStep("paths", message("minirag.paths", n=len(paths)), on_best, on_paths, types),
    ]
