"""Questions with gold answers and gold evidence, how texts are compared with it, and where it is in a ranking."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from leanrag_core.types.index import Index
from leanrag_core.types.trace import Trace

_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_NO_WORD = re.compile(r"[\W_]+")
_EASTERN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")  # written without blanks, or with particles joined


@dataclass(frozen=True)
class Evidence:
    """A passage that supports the answer. document: its file name, or its title. quote: its words, exactly; "" for any
    passage of the document."""

    document: str
    quote: str


@dataclass(frozen=True)
class GoldQuestion:
    """A question with what is known of its answer. answers: short strings that a right answer contains, any of them.

    kind: such as single-hop, multi-hop or unanswerable; "" where the file says nothing. entities: those of the
    answer that the question does not name, each with all its names; empty without a reference graph beside the file.
    answer: the gold answer in a sentence, "" where the file has none.
    """

    id: str
    question: str
    answers: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    kind: str = ""
    entities: tuple[tuple[str, ...], ...] = ()
    answer: str = ""


def is_named(names: tuple[str, ...], text: str) -> bool:
    """Return whether a normalised text has one of the normalised names as whole words, or anywhere in a script without
    blanks."""
    return any(f" {name} " in f" {text} " or (_EASTERN.search(name) is not None and name in text) for name in names)


def normalised(text: str) -> str:
    """Return the text for comparison: NFKC, lower case, no articles, no punctuation, single spaces (as in SQuAD's
    scorer)."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(_ARTICLES.sub(" ", _NO_WORD.sub(" ", folded)).split())


class ChunkTexts:
    """Normalises each chunk of one index once: keep it for as long as questions to that index are measured."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._texts: dict[int, str] = {}

    def text(self, row: int) -> str:
        """Return the normalised text of the chunk in that row."""
        if row not in self._texts:
            self._texts[row] = normalised(self._index.chunk(row).text)
        return self._texts[row]

    def names(self, row: int) -> frozenset[str]:
        """Return the file name and the title of the chunk's document."""
        document, cells = self._index.chunk_cells.value("document", row), self._index.document_cells
        return frozenset((cells.value("name", document), cells.value("title", document)))


def missing_evidence(index: Index, questions: Iterable[GoldQuestion]) -> tuple[Evidence, ...]:
    """Return the gold evidence that no retrieval from the index can find, each once: it names no document of the index,
    or its quote is not in that document."""
    rows: dict[str, list[int]] = defaultdict(list)
    for column in ("name", "title"):
        for row, name in enumerate(index.documents[column].to_pylist()):
            rows[name].append(row)
    text = cache(lambda row: normalised(index.document_cells["text"][row].as_py()))
    every = dict.fromkeys(evidence for question in questions for evidence in question.evidence)
    return tuple(
        evidence
        for evidence in every
        if not any(normalised(evidence.quote) in text(row) for row in rows.get(evidence.document, ()))
    )


DEPTH = 50  # places of a ranking that are looked at
_RECALL_AT = 5
_ALL_GOLD_AT = 8

Quotes = frozenset[int]  # numbers of the question's gold quotes


@dataclass(frozen=True)
class RankingScores:
    """Ranking measures of one question, as ir_measures computes them.

    recall_5, all_gold_8: of the ranking, over the gold quotes. reciprocal_rank: of the ranking. precision, ndcg: of the
    passages of the context, to their number. A passage is relevant that holds a quote which none before it holds; a
    quote that no passage holds counts as a relevant passage that was missed. precision: None for an empty context.
    """

    recall_5: float
    all_gold_8: float
    reciprocal_rank: float
    precision: float | None
    ndcg: float


@dataclass(frozen=True)
class GoldRanking:
    """n: how many gold quotes the question has. ranked: of each of the first DEPTH ranked passages the quotes that it
    holds. context: the same of each passage of the context, in the order of their rank."""

    n: int
    ranked: tuple[Quotes, ...]
    context: tuple[Quotes, ...]

    @property
    def n_held(self) -> int:
        """Return how many of the quotes the context holds."""
        return len(_united(self.context))

    @property
    def recall(self) -> float:
        """Return the share of the quotes that the context holds."""
        return self.n_held / self.n

    def scores(self) -> RankingScores:
        """Compute the ranking measures; the question must have gold quotes."""
        import ir_measures
        from ir_measures import RR, P, R, nDCG

        cutoff = max(len(self.context), 1)
        quotes = {_id(number): 1 for number in range(self.n)}
        relevant = {
            "five": quotes,
            "eight": quotes,
            "ranking": _relevant(self.ranked, self.n),
            "context": _relevant(self.context, self.n),
        }
        returned = {
            "five": _in_order(sorted(_united(self.ranked[:_RECALL_AT]))),
            "eight": _in_order(sorted(_united(self.ranked[:_ALL_GOLD_AT]))),
            "ranking": _in_order(range(len(self.ranked))),
            "context": _in_order(range(len(self.context))),
        }
        values = {
            (metric.query_id, str(metric.measure)): float(metric.value)
            for metric in ir_measures.iter_calc(
                [R @ self.n, RR @ DEPTH, P @ cutoff, nDCG @ cutoff], relevant, {k: v for k, v in returned.items() if v}
            )
        }
        return RankingScores(
            recall_5=values["five", f"R@{self.n}"],
            all_gold_8=float(values["eight", f"R@{self.n}"] == 1),
            reciprocal_rank=values["ranking", f"RR@{DEPTH}"],
            precision=values["context", f"P@{cutoff}"] if self.context else None,
            ndcg=values["context", f"nDCG@{cutoff}"],
        )


def gold_ranking(question: GoldQuestion, trace: Trace, chunks: ChunkTexts | None) -> GoldRanking:
    """Find the gold quotes in the trace. chunks: of the index; without them passages beyond those of the trace are
    unknown, and the ranking ends with these."""
    gold = [(evidence.document, normalised(evidence.quote)) for evidence in question.evidence]

    def held(names: frozenset[str], text: str) -> Quotes:
        return Quotes(number for number, (document, quote) in enumerate(gold) if document in names and quote in text)

    if chunks is None or not trace.ranked_chunks:
        passages = [(item.source.names, normalised(item.text)) for item in trace.passages if item.source]
    else:
        passages = [(chunks.names(row), chunks.text(row)) for row in trace.ranked_chunks[:DEPTH]]
    ranked = tuple(held(*passage) for passage in passages[:DEPTH])
    return GoldRanking(len(gold), ranked, tuple(held(*passage) for passage in context_passages(trace)))


def gold_in_context(gold: Sequence[tuple[str, str]], trace: Trace, normalise: Callable[[str], str]) -> Quotes:
    """Return the numbers of the quotes that passages of the context hold, as GoldRanking.context has them.

    gold: document and normalised quote of each. normalise: normalised(), or a function that remembers what it gives;
    passages of documents without gold are not read.
    """
    texts = _texts_in_context(trace)
    numbers: set[int] = set()
    for passage in trace.passages:
        if passage.source is None or passage.id not in texts:
            continue
        names = passage.source.names
        wanted = [number for number, (document, _) in enumerate(gold) if document in names and number not in numbers]
        if wanted:
            text = normalise(texts[passage.id])
            numbers.update(number for number in wanted if gold[number][1] in text)
    return Quotes(numbers)


def context_passages(trace: Trace) -> tuple[tuple[frozenset[str], str], ...]:
    """Return for each passage of the context, in the order of rank, the names of its document and the normalised text
    that the context holds of it."""
    texts = _texts_in_context(trace)
    return tuple(
        (item.source.names, normalised(texts[item.id]))
        for item in trace.passages
        if item.source is not None and item.id in texts
    )


def _texts_in_context(trace: Trace) -> dict[str, str]:
    """Return what the context holds of each item, by its id, without what leads to it."""
    texts: dict[str, list[str]] = defaultdict(list)
    for item in trace.context.items:
        texts[item.ref].append(item.text[item.lead :])
    return {ref: " ".join(parts) for ref, parts in texts.items()}


def _relevant(passages: Sequence[Quotes], n: int) -> dict[str, int]:
    covered: set[int] = set()
    relevant: dict[str, int] = {}
    for place, quotes in enumerate(passages):
        if quotes - covered:
            relevant[_id(place)] = 1
            covered |= quotes
    return relevant | {f"missed {number}": 1 for number in range(n - len(covered))}


def _in_order(ids: Sequence[int]) -> dict[str, float]:
    return {_id(id_): -float(place) for place, id_ in enumerate(ids)}


def _id(number: int) -> str:
    return f"{number:03d}"


def _united(passages: Sequence[Quotes]) -> Quotes:
    return Quotes().union(*passages)
