"""LazyGraphRAG's search for relevant chunks: the nearest of each community in turn, and then those of its parts.
Whether a chunk is relevant a language model tests, which rates its sentences, or a cosine.

Source: LazyGraphRAG (Microsoft Research 2024), "match query": best first, breadth first, iterative deepening.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from leanrag_core.errors import BudgetSpent, ReplyError
from leanrag_core.models.base import LanguageModel
from leanrag_core.models.window import room_in
from leanrag_core.retrieval.map_reduce import Batch, Faults, helpfulness_of
from leanrag_core.retrieval.model_replies import ask_json
from leanrag_core.retrieval.passages import document_title
from leanrag_core.retrieval.report_points import BEST_RATING, builtin_rating
from leanrag_core.retrieval.tracing import Retrieval
from leanrag_core.text.sentences import split_sentences
from leanrag_core.text.tokens import count_tokens, trim_to_tokens
from leanrag_core.types.calls import JSON_WHOLE, json_list, json_object
from leanrag_core.types.communities import ConceptCommunities
from leanrag_core.types.cosines import Medians
from leanrag_core.types.rows import place_of_each

_CALL_TOKENS = 8000  # of sentences, unless the model's window is smaller
_NUMBER_TOKENS = 8  # room for the number of a sentence
_DIGITS = 5  # of a cosine that count
_UNITS = 100_000
_REPLY = json_object(sentences=json_list(json_object(number=JSON_WHOLE, rating=JSON_WHOLE)))


@dataclass(frozen=True, eq=False)
class SentenceTest:
    """Rates chunks by their best sentence, 1 to 5; a chunk without a relevant sentence has no rating.

    near: (n_chunks,) float64 cosines to the question, rounded. faults: what went wrong in calls, of all tests of a
    retrieval.
    """

    run: Retrieval
    question: str
    near: np.ndarray
    faults: Faults

    def __call__(self, rows: Sequence[int]) -> dict[int, int]:
        """Return the ratings of the relevant ones of those chunks: by the model, and built in where there is none or
        its reply cannot be used twice. Raises BudgetSpent, Cancelled, CallFailed."""
        language = self.run.tools.language
        if language is None:
            return self.builtin(rows)
        ratings: dict[int, int] = {}
        for call in _calls(self.run, language, self.question, rows):
            for row, rating in self._asked(call).items():
                ratings[row] = max(rating, ratings.get(row, 0))
        return ratings

    def builtin(self, rows: Sequence[int]) -> dict[int, int]:
        """Return the ratings by the cosine, of those chunks that reach least_cosine()."""
        kept = [row for row in rows if self.near[row] >= self._least]
        scores = helpfulness_of(self.near[kept], self.run.index.across_scale)
        return {row: max(1, builtin_rating(score)) for row, score in zip(kept, scores.tolist(), strict=True)}

    @cached_property
    def _least(self) -> float:
        return least_cosine(self.near, self.run.index.manifest.embedding.cosines.across)

    def _asked(self, call: Batch) -> dict[int, int]:
        try:
            return ask_json(
                self.run.tools,
                "rate_sentences",
                lambda cells: _ratings(cells, call.rows),
                schema=_REPLY,
                question=self.question,
                sentences=call.text,
            )
        except ReplyError as error:
            self.faults.errors.append(error.message)
            return self.builtin(list(dict.fromkeys(call.rows)))


def least_cosine(near: np.ndarray, medians: Medians) -> float:
    """Return the cosine from which a chunk counts as relevant without a model: one standard deviation above the mean of
    all chunks, since chunks on one subject are all like a question about it, but no more than the best; and no less
    than the middle between the cosines of questions with passages that answer them and with others.

    near: (n_chunks,), n_chunks at least 1, rounded. medians: as measured for the embedding model.
    """
    # In whole numbers up to the root: no processor decides by its last bit.
    units = np.rint(near * _UNITS).astype(np.int64)
    n, total, squares = len(units), int(units.sum()), int((units**2).sum())
    usual = (total + math.sqrt(n * squares - total * total)) / n
    usual = min(usual, float(units.max()))
    middle = float(medians.unrelated + medians.related) / 2
    return max(round(usual / _UNITS, _DIGITS), round(middle, _DIGITS))


def _calls(run: Retrieval, language: LanguageModel, question: str, rows: Sequence[int]) -> list[Batch]:
    """Return the sentences of those chunks, numbered, each chunk below the title of its document; in one call unless
    the window is too small for them."""
    prompt = run.tools.prompts.of("rate_sentences")
    room = room_in(language, prompt, wanted=_CALL_TOKENS, question=question, sentences="")
    calls, owners, lines, used = list[Batch](), list[int](), list[str](), 0
    for row in rows:
        title = f"\n{document_title(run.index, row)}"
        text = run.index.chunk(row).text
        for sentence in split_sentences(text) or [text.strip()]:
            above = [] if owners and owners[-1] == row else [title]
            n_tokens = sum(count_tokens(f"{line}\n") for line in (*above, sentence)) + _NUMBER_TOKENS
            if owners and used + n_tokens > room:
                calls.append(Batch(tuple(owners), "\n".join(lines)))
                owners, lines, used, above = [], [], 0, [title]
            lines += above
            owners.append(row)
            lines.append(
                f"[{len(owners)}] {trim_to_tokens(sentence, max(1, room - _NUMBER_TOKENS - count_tokens(title)))}"
            )
            used += n_tokens
    return [*calls, Batch(tuple(owners), "\n".join(lines))] if owners else calls


def _ratings(cells: Mapping[str, Any], rows: Sequence[int]) -> dict[int, int]:
    """Return the best rating of each chunk; numbers that no sentence has are ignored. rows: the chunk of each
    sentence."""
    listed = cells.get("sentences")
    if not isinstance(listed, list):
        raise ReplyError("relevance_tests.reply")
    ratings: dict[int, int] = {}
    for entry in listed:
        number, rating = (_whole(entry, key) for key in ("number", "rating"))
        if not 0 <= rating <= BEST_RATING:
            raise ReplyError("relevance_tests.reply")
        if rating and 1 <= number <= len(rows):
            ratings[rows[number - 1]] = max(rating, ratings.get(rows[number - 1], 0))
    return ratings


def _whole(entry: Any, key: str) -> int:
    value = entry.get(key) if isinstance(entry, dict) else None
    if not isinstance(value, int) or isinstance(value, bool):
        raise ReplyError("relevance_tests.reply")
    return value


RelevanceTest = Callable[[Sequence[int]], Mapping[int, int]]  # rows of chunks to ratings of those that are relevant


@dataclass(frozen=True)
class Visit:
    """A community whose nearest chunks were tested. depth: 0 for the first round. tested, relevant: rows of chunks."""

    community: int
    depth: int
    tested: tuple[int, ...]
    relevant: tuple[int, ...]


@dataclass(frozen=True)
class SearchResult:
    """ratings: of the relevant chunks, by row. visits: in their order. budget_spent: whether the
    budget for calls of a model ended the search."""

    ratings: Mapping[int, int]
    visits: tuple[Visit, ...]
    budget_spent: bool = False

    @property
    def n_tested(self) -> int:
        """Return how many chunks were tested."""
        return sum(len(visit.tested) for visit in self.visits)


def deepening_search(
    communities: ConceptCommunities,
    ranking: np.ndarray,
    test: RelevanceTest,
    *,
    most_tests: int,
    top_k: int,
    most_misses: int,
) -> SearchResult:
    """Return the relevant chunks that at most most_tests tests find.

    A round takes communities by the mean rank of their top_k nearest chunks, and tests the top_k nearest untested ones
    of each. After most_misses communities in a row without a relevant chunk the next round begins: with the parts of
    each community, or itself where it has none, but for those that gave nothing. The search ends with the tests, with a
    round that gives nothing, or when every chunk is tested. Communities that a round did not reach stay in the next
    one, as in the Intelligence Toolkit (`query_text_data/relevance_assessor.py`).

    ranking: (n_chunks,) rows, best first.
    """
    ranks = place_of_each(ranking, len(ranking))
    is_tested = np.zeros(len(ranking), dtype=bool)
    ratings, visits = dict[int, int](), list[Visit]()
    frontier, depth, tests_left = np.flatnonzero(communities.parent < 0), 0, most_tests
    while len(frontier) and tests_left:
        given_up, misses, n_relevant = set[int](), 0, len(ratings)
        means = mean_best_ranks(communities, frontier, ranks, top_k)
        for row in frontier[np.lexsort((frontier, means))].tolist():
            untested = communities.chunks[row]
            untested = untested[~is_tested[untested]]
            if not len(untested):  # its parts have none either
                given_up.add(row)
                continue
            chunks = untested[np.argsort(ranks[untested])[: min(top_k, tests_left)]].tolist()
            try:
                relevant = test(chunks)
            except BudgetSpent:
                return SearchResult(ratings, tuple(visits), budget_spent=True)
            is_tested[chunks] = True
            tests_left -= len(chunks)
            ratings |= relevant
            visits.append(Visit(row, depth, tuple(chunks), tuple(chunk for chunk in chunks if chunk in relevant)))
            misses = 0 if relevant else misses + 1
            if not relevant:
                given_up.add(row)
            if misses == most_misses or not tests_left:
                break
        if len(ratings) == n_relevant:
            break
        frontier, depth = _below(communities, frontier, given_up), depth + 1
    return SearchResult(ratings, tuple(visits))


def mean_best_ranks(communities: ConceptCommunities, rows: np.ndarray, ranks: np.ndarray, k: int) -> np.ndarray:
    """Return (m,) float64: the mean of the k lowest ranks among the chunks of each of those communities, of all where
    it has fewer.

    rows: (m,), of communities with a chunk. ranks: (n_chunks,) int, each once.
    """
    lists = communities.chunks
    sizes = (lists.offsets[rows + 1] - lists.offsets[rows]).astype(np.int64)
    starts = np.cumsum(sizes) - sizes
    within = np.arange(int(sizes.sum())) - np.repeat(starts - lists.offsets[rows], sizes)
    chunk_ranks = ranks[lists.values[within]]
    total, after = np.zeros(len(rows), dtype=np.int64), len(ranks)  # a rank that stands behind all
    for place in range(min(k, int(sizes.max(initial=0)))):
        lowest = np.minimum.reduceat(chunk_ranks, starts)
        total += np.where(sizes > place, lowest, 0)
        chunk_ranks[chunk_ranks == np.repeat(lowest, sizes)] = after
    return np.asarray(total / np.minimum(sizes, k))


def _below(communities: ConceptCommunities, frontier: np.ndarray, given_up: set[int]) -> np.ndarray:
    """Return the parts of those communities, or themselves where they have none, without those that are given up; (k,)
    int64, ascending. frontier: (f,) int rows."""
    kept = frontier[~np.isin(frontier, sorted(given_up))]
    parts = np.flatnonzero(np.isin(communities.parent, kept))
    undivided = kept[~np.isin(kept, communities.parent[parts])]
    return np.union1d(parts, undivided)
