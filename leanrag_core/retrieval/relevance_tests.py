"""Tests whether chunks are relevant to a question: a language model rates their sentences, or a cosine decides."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from leanrag_core.errors import ReplyError
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
from leanrag_core.types.cosines import Medians

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
