"""What does a context hold for its tokens? LeanRAG, full and compact, beside vectors at equal tokens and equal recall.

    python -m benchmarks.compact QUESTIONS.jsonl DIR [QUESTIONS.jsonl DIR ...] [--corpus CORPUS.jsonl]
        [--kind TYPE ...] [--out RESULTS.json --name NAME]

DIR: the index that the questions before it are asked. QUESTIONS: those of a sample corpus (evidence with quotes), or
question, answers and gold (ids of passages), with --corpus where ids are not titles. Recall: share of the gold
evidence in the passages of the context, quotes where there are some, else passages. Answer: share of questions with a
gold answer in the context as whole words; yes/no questions are left out. Equal tokens: vectors filled, question by
question, to the tokens of the system's context. Equal recall: the tokens of the fewest vector passages that recall as
much on average. Intervals: 95 %, of means over questions drawn 2,000 times with replacement; differences are paired.
"""

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from leanrag_core.evaluation.gold import normalised
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Trace
from leanrag_core.workbench import Workbench, open_index

SYSTEMS: dict[str, tuple[str, dict[str, Any]]] = {
    "LeanRAG C 5": ("leanrag", {}),
    "LeanRAG C 5, compact": ("leanrag", {"context": "compact"}),
    "LeanRAG C 5, entities and chunks": ("leanrag", {"aggregated_tokens": 0, "relation_tokens": 0}),
    "LeanRAG-walk C 5": ("leanrag_walk", {"context": "full"}),
    "LeanRAG-walk C 5, compact": ("leanrag_walk", {}),
    "LeanRAG-walk C 8, compact": ("leanrag_walk", {"top_c": 8}),
}
MOST_PASSAGES = 30  # of the vector ranking at equal recall
_DRAWS = 2000
_YES_NO = {"yes", "no", "true", "false"}


@dataclass(frozen=True)
class Gold:
    """A question and what is known of its answer. passages: of each piece of evidence its document's title, or file
    name, and its quote; the quote is empty where a passage as a whole is gold."""

    question: str
    passages: tuple[tuple[str, str], ...]
    answers: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Measured:
    """Of each question, as arrays. answered: NaN where the question has no answer that could be looked for."""

    tokens: np.ndarray
    recall: np.ndarray
    answered: np.ndarray


@dataclass(frozen=True)
class Interval:
    """A value with its 95 % interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"


@dataclass(frozen=True)
class Row:
    """A system: means, figures per 1,000 tokens, and differences to vectors. tokens_at_equal_recall: the system's
    tokens over those of the vector passages that recall as much; None where MOST_PASSAGES of them do not."""

    tokens: float
    recall: Interval
    answered: Interval
    recall_per_1000: Interval
    answered_per_1000: Interval
    recall_beside_equal_tokens: Interval
    answered_beside_equal_tokens: Interval
    passages_at_equal_recall: int | None
    tokens_at_equal_recall: Interval | None


def main() -> int:
    """Print a row for each system; with --out keep them under a name."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", type=Path, nargs="+", metavar="QUESTIONS DIR")
    parser.add_argument("--corpus", type=Path, help="passages with id and title")
    parser.add_argument("--kind", nargs="*", default=(), help="questions of these types alone, such as multi-hop")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--name", default="")
    options = parser.parse_args()
    if len(options.pairs) % 2:
        parser.error("each QUESTIONS needs its DIR")
    bench = Workbench.default()
    questions: list[Gold] = []
    index_of: dict[Gold, Index] = {}
    for path, folder in zip(options.pairs[::2], options.pairs[1::2], strict=True):
        own, index = read_gold(path, options.corpus, options.kind), open_index(folder)
        questions += own
        index_of |= dict.fromkeys(own, index)
    rows = compare(questions, lambda gold, name, chosen: bench.retrieve(index_of[gold], gold.question, name, **chosen))
    title = options.name or index.manifest.name
    print(f"{title}: {len(questions)} questions")
    for name, row in rows.items():
        print(f"\n{name}: {row.tokens:,.0f} tokens")
        for field, value in asdict(row).items():
            if field != "tokens":
                print(f"  {field:<30} {Interval(**value) if isinstance(value, dict) else value}")
    if options.out:
        kept = json.loads(options.out.read_text(encoding="utf-8")) if options.out.is_file() else {}
        kept[title] = {
            "questions": len(questions),
            "systems": {name: asdict(row) for name, row in rows.items()},
        }
        options.out.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    return 0


def read_gold(path: Path, corpus: Path | None, kinds: Sequence[str] = ()) -> list[Gold]:
    """Return the questions that have gold evidence, of all types or of those."""
    titles: dict[str, str] = {}
    if corpus is not None:
        passages = [json.loads(line) for line in corpus.read_text(encoding="utf-8").splitlines()]
        titles = {passage["id"]: passage.get("title") or passage["id"] for passage in passages}
    questions = []
    for line in path.read_text(encoding="utf-8").splitlines():
        cells = json.loads(line)
        evidence = [(part["document"], part["quote"]) for part in cells.get("evidence", ())]
        evidence += [(titles.get(id_, id_), "") for id_ in cells.get("gold", ())]
        if evidence and (not kinds or cells.get("type") in kinds):
            questions.append(Gold(cells["question"], tuple(evidence), tuple(cells.get("answers", ()))))
    return questions


def compare(questions: Sequence[Gold], retrieve: Callable[[Gold, str, dict[str, Any]], Trace]) -> dict[str, Row]:
    """Return a row for vectors at each of three numbers of passages, and for each system."""

    def run(name: str, chosen: Callable[[int], dict[str, Any]]) -> Measured:
        return measured(questions, [retrieve(gold, name, chosen(place)) for place, gold in enumerate(questions)])

    by_c = {c: run("vector", lambda place, c=c: {"top_c": c}) for c in range(1, MOST_PASSAGES + 1)}  # type: ignore[misc]  # no type of a default is inferred
    rows = {f"vectors C {c}": row_of(by_c[c], by_c[c], by_c) for c in (5, 10, 20)}
    for label, (name, chosen) in SYSTEMS.items():
        system = run(name, lambda place, chosen=chosen: chosen)  # type: ignore[misc]  # no type of a default is inferred
        budgets = system.tokens.astype(int).tolist()
        equal = run("vector", lambda place, b=budgets: {"top_c": 50, "max_tokens": b[place]})  # type: ignore[misc]  # no type of a default is inferred
        rows[label] = row_of(system, equal, by_c)
    return rows


def measured(questions: Sequence[Gold], traces: Sequence[Trace]) -> Measured:
    """Return the figures of each question's context."""
    recall = [_recall(gold, trace) for gold, trace in zip(questions, traces, strict=True)]
    answered = [_answered(gold, trace) for gold, trace in zip(questions, traces, strict=True)]
    tokens = [float(trace.context.tokens) for trace in traces]
    return Measured(np.array(tokens), np.array(recall), np.array(answered))


def _recall(gold: Gold, trace: Trace) -> float:
    said: dict[str, str] = {}
    in_context = {item.ref: item.text for section in trace.context.sections for item in section.items}
    for passage in trace.passages:
        if passage.source is not None and passage.id in in_context:
            text = normalised(in_context[passage.id])
            for name in {passage.source.document, passage.source.title}:
                said[name] = f"{said.get(name, '')} | {text}"
    hits = [name in said and (not quote or normalised(quote) in said[name]) for name, quote in gold.passages]
    return sum(hits) / len(hits)


def _answered(gold: Gold, trace: Trace) -> float:
    answers = {normalised(answer) for answer in gold.answers} - _YES_NO - {""}
    if not answers:
        return float("nan")
    context = f" {normalised(trace.context.text)} "
    return float(any(f" {answer} " in context for answer in answers))


def row_of(system: Measured, equal: Measured, by_c: dict[int, Measured]) -> Row:
    """Return the system's row. equal: vectors at its tokens. by_c: vectors by their number of passages."""
    drawn = _draws(len(system.tokens))

    def interval(of: Callable[[np.ndarray], float]) -> Interval:
        values = np.array([of(rows) for rows in drawn])
        low, high = np.nanquantile(values, [0.025, 0.975])
        return Interval(of(np.arange(len(system.tokens))), float(low), float(high))

    def mean(values: np.ndarray) -> Callable[[np.ndarray], float]:
        return lambda rows: _mean(values[rows])

    def per_1000(values: np.ndarray) -> Callable[[np.ndarray], float]:
        return lambda rows: 1000 * _mean(values[rows]) / float(system.tokens[rows].mean())

    enough = next((c for c, vectors in by_c.items() if vectors.recall.mean() >= system.recall.mean()), None)
    ratio = None
    if enough is not None:
        vector_tokens = by_c[enough].tokens
        ratio = interval(lambda rows: float(system.tokens[rows].mean() / vector_tokens[rows].mean()))
    return Row(
        tokens=float(system.tokens.mean()),
        recall=interval(mean(system.recall)),
        answered=interval(mean(system.answered)),
        recall_per_1000=interval(per_1000(system.recall)),
        answered_per_1000=interval(per_1000(system.answered)),
        recall_beside_equal_tokens=interval(mean(system.recall - equal.recall)),
        answered_beside_equal_tokens=interval(mean(system.answered - equal.answered)),
        passages_at_equal_recall=enough,
        tokens_at_equal_recall=ratio,
    )


def _mean(values: np.ndarray) -> float:
    """Return the mean without NaN; NaN where there is nothing else."""
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else float("nan")


def _draws(n: int) -> np.ndarray:
    return np.random.default_rng(0).integers(0, n, (_DRAWS, n))


if __name__ == "__main__":
    sys.exit(main())
