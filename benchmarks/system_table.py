"""Every system on one index, over questions with gold evidence: what it finds, and what it costs.

    python benchmarks/system_table.py DIR QUESTIONS.jsonl [--corpus CORPUS.jsonl] [--tokens 4000] [--systems A B ...]
        [--name NAME --out RESULTS.json]

DIR: an index; parts that a system needs are made first. QUESTIONS: those of a sample corpus (evidence: document and
quote), or question, answers and gold (ids of passages), with --corpus where ids are not titles. The built-in engine
answers nothing here: retrieval alone is measured, with the official budget of each system and with an equal one.

recall@5: mean share of a question's gold among the first 5 of the ranking (documents where gold is documents, passages
where it is quotes). all-gold@8: share of questions whose gold is all among the first 8. MRR: of the first gold.
Context recall: share of the gold in the passages of the context. Answer: share of questions with a gold answer in the
context as whole words, yes/no left out. Milliseconds: median of a retrieval, embedding the question included.
"""

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from leanrag_core.evaluation.gold import normalised
from leanrag_core.retrieval.base import StrategyInfo, equal_budget, strategies
from leanrag_core.types.index import Index
from leanrag_core.types.part import FINISHED
from leanrag_core.types.trace import Trace
from leanrag_core.workbench import Workbench, open_index

VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    "leanrag, adaptive N": ("leanrag", {"adaptive_n": True}),
    "leanrag, compact": ("leanrag", {"context": "compact"}),
    "leanrag_walk, compact": ("leanrag_walk", {"context": "compact"}),
    "lightrag low": ("lightrag", {"mode": "low"}),
    "lightrag high": ("lightrag", {"mode": "high"}),
    "lightrag hybrid": ("lightrag", {"mode": "hybrid"}),
    "raptor traversal": ("raptor", {"mode": "traversal"}),
}
_YES_NO = {"yes", "no", "true", "false"}


@dataclass(frozen=True)
class Row:
    """A line of the table: means over the questions that have what the figure needs."""

    system: str
    budget: str
    questions: int
    recall_5: float
    all_gold_8: float
    mrr: float
    context_recall: float
    answer: float
    tokens: float
    recall_per_1000: float
    milliseconds: float


@dataclass(frozen=True)
class Asked:
    """A question with gold: documents by title, or quotes of documents."""

    text: str
    answers: tuple[str, ...]
    documents: frozenset[str]
    quotes: tuple[tuple[str, str], ...]  # document's file name, and the quote, normalised


def main() -> int:
    """Prints the table; with --out adds it to the results under the name."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("index", type=Path)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--corpus", type=Path)
    parser.add_argument("--tokens", type=int, default=4000, help="the equal budget")
    parser.add_argument("--systems", nargs="*", default=[])
    parser.add_argument("--name", default="")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    bench, index = Workbench.default(), open_index(options.index)
    questions = read_questions(options.questions, options.corpus)
    listed: list[tuple[str, StrategyInfo, dict[str, Any]]] = [
        (info.name, info, {}) for info in strategies().strategies if info.name != "zero_shot"
    ]
    known = {info.name: info for _, info, _ in listed}
    listed += [(name, known[base], chosen) for name, (base, chosen) in VARIANTS.items() if base in known]
    rows: list[Row] = []
    print(f"{index.manifest.name}: {len(questions)} questions, {index.chunks.num_rows} chunks", file=sys.stderr)
    for name, info, chosen in sorted(listed, key=lambda entry: entry[0]):
        if options.systems and name not in options.systems:
            continue
        make_parts(bench, index, info)
        official = dict(info.presets[0].options) if info.presets else {}
        for budget, options_of in (
            ("official", official | chosen),
            (f"{options.tokens} tokens", chosen | equal_budget(info, options.tokens)),
        ):
            rows.append(measure(bench, index, questions, name, info, budget, options_of))
            print(line(rows[-1]), flush=True)
    if options.out:
        kept = json.loads(options.out.read_text(encoding="utf-8")) if options.out.is_file() else {}
        kept[options.name or index.manifest.name] = [asdict(row) for row in rows]
        options.out.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return 0


def make_parts(bench: Workbench, index: Index, info: StrategyInfo) -> None:
    """The index has the parts that the system needs, and those that these need."""
    states = {state.name: state for state in bench.parts_of(index)}
    for name in info.parts:
        for need in (*(need for need in states[name].needs if need in states), name):
            if states[need].status != FINISHED:
                started = time.perf_counter()
                bench.build_part(index, need)
                print(f"  part {need}: {time.perf_counter() - started:.1f} s", file=sys.stderr)


def measure(
    bench: Workbench,
    index: Index,
    questions: Sequence[Asked],
    name: str,
    info: StrategyInfo,
    budget: str,
    chosen: dict[str, Any],
) -> Row:
    """The system's figures over the questions."""
    recall, every, reciprocal, held, answered, tokens, times = [], [], [], [], [], [], []
    bench.retrieve(index, "What is this about?", info.name, **chosen)  # parts and models are loaded
    places_of = ranking_places(index)
    for question in questions:
        started = time.perf_counter()
        trace = bench.retrieve(index, question.text, info.name, **chosen)
        times.append(1000 * (time.perf_counter() - started))
        places = places_of(trace, question)
        recall.append(statistics.mean(place is not None and place <= 5 for place in places))
        every.append(all(place is not None and place <= 8 for place in places))
        reciprocal.append(max((1 / place for place in places if place), default=0.0))
        held.append(context_recall(trace, question))
        tokens.append(trace.context.tokens)
        answers = [answer for answer in map(normalised, question.answers) if answer and answer not in _YES_NO]
        if answers:
            text = f" {normalised(trace.context.text)} "
            answered.append(any(f" {answer} " in text for answer in answers))
    mean_tokens, mean_held = statistics.mean(tokens), statistics.mean(held)
    return Row(
        system=name,
        budget=budget,
        questions=len(questions),
        recall_5=round(statistics.mean(recall), 3),
        all_gold_8=round(statistics.mean(every), 3),
        mrr=round(statistics.mean(reciprocal), 3),
        context_recall=round(mean_held, 3),
        answer=round(statistics.mean(answered), 3) if answered else 0.0,
        tokens=round(mean_tokens),
        recall_per_1000=round(mean_held / (mean_tokens / 1000), 3) if mean_tokens else 0.0,
        milliseconds=round(statistics.median(times), 1),
    )


def ranking_places(index: Index) -> Callable[[Trace, Asked], list[int | None]]:
    """For each gold of a question its place in the ranking, from 1; None where it is not ranked."""
    titles, names = index.documents["title"].to_pylist(), index.documents["name"].to_pylist()
    document_of = index.chunks["document"].to_pylist()
    texts: dict[int, str] = {}

    def text_of(row: int) -> str:
        if row not in texts:
            texts[row] = normalised(index.chunk(row).text)
        return texts[row]

    def places(trace: Trace, question: Asked) -> list[int | None]:
        if question.quotes:
            return [
                next(
                    (
                        place
                        for place, row in enumerate(trace.ranked_chunks[:50], 1)
                        if names[document_of[row]] == name and quote in text_of(row)
                    ),
                    None,
                )
                for name, quote in question.quotes
            ]
        ranked = list(dict.fromkeys(titles[document_of[row]] for row in trace.ranked_chunks))
        return [ranked.index(title) + 1 if title in ranked else None for title in sorted(question.documents)]

    return places


def context_recall(trace: Trace, question: Asked) -> float:
    """Share of the gold in the passages of the context."""
    kept = {item.ref for section in trace.context.sections for item in section.items}
    sources = [(item, item.source) for item in trace.passages if item.id in kept and item.source is not None]
    if question.quotes:
        texts = [(source.document, normalised(item.text)) for item, source in sources]
        hits = [any(name == document and quote in text for document, text in texts) for name, quote in question.quotes]
    else:
        titles = {source.title for _, source in sources}
        hits = [title in titles for title in question.documents]
    return statistics.mean(hits)


def read_questions(path: Path, corpus: Path | None) -> list[Asked]:
    """The questions that have gold evidence."""
    title_of: dict[str, str] = {}
    if corpus is not None:
        passages = [json.loads(text) for text in corpus.read_text(encoding="utf-8").splitlines()]
        title_of = {passage["id"]: passage["title"] for passage in passages}
    asked = []
    for text in path.read_text(encoding="utf-8").splitlines():
        cells = json.loads(text)
        documents = frozenset(title_of.get(gold, gold) for gold in cells.get("gold", ()))
        quotes = tuple((part["document"], normalised(part["quote"])) for part in cells.get("evidence", ()))
        if documents or quotes:
            asked.append(Asked(cells["question"], tuple(map(str, cells.get("answers", ()))), documents, quotes))
    return asked


def line(row: Row) -> str:
    """The row for the terminal."""
    return (
        f"{row.system:<22} {row.budget:<12} r@5 {row.recall_5:.3f}  all@8 {row.all_gold_8:.2f}  MRR {row.mrr:.2f}  "
        f"ctx {row.context_recall:.3f}  ans {row.answer:.2f}  {row.tokens:>6.0f} tok  {row.recall_per_1000:.3f}/k  "
        f"{row.milliseconds:.0f} ms"
    )


if __name__ == "__main__":
    sys.exit(main())
