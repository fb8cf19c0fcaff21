"""Every system on one index, over questions with gold evidence: what it finds, and what it costs.

    python -m benchmarks.system_table DIR QUESTIONS.jsonl [--corpus CORPUS.jsonl] [--tokens 4000] [--systems A B ...]
        [--sample 100] [--one-preset] [--name NAME --out RESULTS.json]

DIR: an index; parts that a system needs are made first. QUESTIONS: those of a sample corpus (evidence: document and
quote), or question, answers and gold (ids of passages), with --corpus where ids are not titles. The built-in engine
answers nothing here: retrieval alone is measured, with each preset of a system, and with the same options at an equal
budget. --out keeps a row as soon as it is measured; a row that is measured again takes the place of its older one.
--sample: so many of the questions, drawn with a fixed seed. --one-preset: of each system the first preset alone, and
no other modes.

recall@5: mean share of a question's gold among the first 5 of the ranking (documents where gold is documents, passages
where it is quotes). all-gold@8: share of questions whose gold is all among the first 8. MRR: of the first gold.
Context recall: share of the gold in the passages of the context. Answer: share of questions with a gold answer in the
context as whole words, yes/no left out. A system that ranks no passages has none of these but the answer. Documents,
entities: measures documents-touched and answer-entities of whole-corpus questions, which count in these two and in the
tokens' column of their own alone. Milliseconds: median of a retrieval, embedding the question included; processor: the
same in processor time of all threads, which other work on the machine changes less.
"""

import argparse
import json
import random
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from leanrag_core.evaluation.base import Outcome
from leanrag_core.evaluation.gold import GoldQuestion, normalised
from leanrag_core.evaluation.measuring import measures
from leanrag_core.evaluation.question_sets.reading import read_questions as read_gold
from leanrag_core.retrieval.base import StrategyInfo, equal_budget, parts_needed, strategies
from leanrag_core.retrieval.context import passage_section
from leanrag_core.types.index import Index
from leanrag_core.types.manifest import FINISHED
from leanrag_core.types.question_set import WHOLE_CORPUS
from leanrag_core.types.trace import Trace
from leanrag_core.workbench import Workbench, open_index

MODES: dict[str, tuple[str, dict[str, Any]]] = {  # beside the presets
    "lightrag, low": ("lightrag", {"mode": "low"}),
    "lightrag, high": ("lightrag", {"mode": "high"}),
    "lightrag, hybrid": ("lightrag", {"mode": "hybrid"}),
}
OFFICIAL = "official"
_YES_NO = {"yes", "no", "true", "false"}


@dataclass(frozen=True)
class Row:
    """A line of the table: means over the questions that have what the figure needs, None where none has."""

    system: str
    budget: str
    questions: int
    recall_5: float | None
    recall_5_error: float | None
    all_gold_8: float | None
    mrr: float | None
    context_recall: float | None
    answer: float | None
    tokens: float
    recall_per_1000: float | None
    milliseconds: float
    processor_milliseconds: float
    whole_corpus_questions: int
    documents_touched: float | None
    answer_entities: float | None
    whole_corpus_tokens: float | None


@dataclass(frozen=True)
class Asked:
    """A question with gold: documents by title, or quotes of documents. whole: as the measures of whole-corpus
    questions take it, None for another kind."""

    text: str
    answers: tuple[str, ...]
    documents: frozenset[str]
    quotes: tuple[tuple[str, str], ...]  # document's file name, and the quote, normalised
    whole: GoldQuestion | None = None


def main() -> int:
    """Print the table; with --out add it to the results under the name."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("index", type=Path)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--corpus", type=Path)
    parser.add_argument("--tokens", type=int, default=4000, help="the equal budget")
    parser.add_argument("--systems", nargs="*", default=[])
    parser.add_argument("--sample", type=int)
    parser.add_argument("--one-preset", action="store_true")
    parser.add_argument("--name", default="")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    bench, index = Workbench.default(), open_index(options.index)
    questions = read_questions(options.questions, options.corpus)
    n_questions = len(questions)
    if options.sample is not None and options.sample < n_questions:
        questions = random.Random(0).sample(questions, options.sample)
    name = options.name or index.manifest.name
    about = {
        "questions": f"{len(questions)} of {n_questions}",
        "documents": index.documents.num_rows,
        "chunks": index.chunks.num_rows,
        "entities": len(index.layers[0]),
        "relations": index.layers[0].relations.num_rows,
        "model": index.manifest.config.model,
    }
    print(f"{name}: {about}", file=sys.stderr)
    for system, info, chosen in listed_systems():
        if options.systems and system not in options.systems and info.name not in options.systems:
            continue
        if options.one_preset and system != info.name:
            continue
        make_parts(bench, index, parts_needed(info.name, chosen))
        for budget, options_of in (
            (OFFICIAL, chosen),
            (f"{options.tokens} tokens", chosen | equal_budget(info, options.tokens)),
        ):
            row = measure(bench, index, questions, system, info, budget, options_of)
            print(line(row), flush=True)
            if options.out:
                keep(options.out, name, about, row)
    return 0


def listed_systems() -> list[tuple[str, StrategyInfo, dict[str, Any]]]:
    """Return each preset of each system that searches, the first under the system's name alone, and other modes."""
    listed: list[tuple[str, StrategyInfo, dict[str, Any]]] = []
    for info in strategies().strategies:
        if info.name != "zero_shot":
            for place, each in enumerate(info.presets):
                listed.append((f"{info.name}, {each.name}" if place else info.name, info, dict(each.options)))
            listed += [(mode, info, dict(chosen)) for mode, (base, chosen) in MODES.items() if base == info.name]
    return listed


def keep(path: Path, name: str, about: dict[str, Any], row: Row) -> None:
    """Put the row into the results, with the day and the entities of its index, since an index that is built again may
    have others; rows of other systems under the same name stay."""
    results = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    rows = {(each["system"], each["budget"]): each for each in results.get(name, {}).get("rows", ())}
    measured = {"date": datetime.now(UTC).date().isoformat(), "entities": about.get("entities")}
    rows[row.system, row.budget] = asdict(row) | {"measured": measured}
    results[name] = {"about": about, "rows": [rows[key] for key in sorted(rows)]}
    path.write_text(json.dumps(results, indent=1, ensure_ascii=False, sort_keys=True) + "\n", encoding="utf-8")


def make_parts(bench: Workbench, index: Index, parts: Sequence[str]) -> None:
    """Make those parts of the index, and those that these need, where they are not there."""
    states = {state.name: state for state in bench.parts.all(index)}
    for part in parts:
        for need in (*(need for need in states[part].needs if need in states), part):
            if states[need].status != FINISHED:
                started = time.perf_counter()
                bench.parts.build(index, need)
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
    """Return the system's figures over the questions."""
    bench.retrieve(index, "What is this about?", info.name, **chosen)  # parts and models are loaded
    traces, times, processor = [], [], []
    for question in questions:
        started, cpu = time.perf_counter(), time.process_time()
        traces.append(bench.retrieve(index, question.text, info.name, **chosen))
        times.append(1000 * (time.perf_counter() - started))
        processor.append(1000 * (time.process_time() - cpu))
    places_of = ranking_places(index)
    single = [(question, trace) for question, trace in zip(questions, traces, strict=True) if question.whole is None]
    whole = [
        Outcome(question.whole, trace)
        for question, trace in zip(questions, traces, strict=True)
        if question.whole is not None
    ]
    recall, every, reciprocal, held = [], [], [], []
    if any(trace.ranked_chunks or trace.passages for trace in traces):
        for question, trace in single:
            places = places_of(trace, question)
            recall.append(statistics.mean(place is not None and place <= 5 for place in places))
            every.append(float(all(place is not None and place <= 8 for place in places)))
            reciprocal.append(max((1 / place for place in places if place), default=0.0))
        # Where a context holds what was made of passages, such as points, it cannot hold these.
        if any(passage_section(trace) is not None for _, trace in single):
            held = [context_recall(trace, question) for question, trace in single]
    answered = [shown for question, trace in single for shown in answer_shown(trace, question)]
    tokens = statistics.mean(trace.context.tokens for _, trace in single)
    mean_held = _mean(held)
    known = {each.name: each for each in measures()}
    return Row(
        system=name,
        budget=budget,
        questions=len(single),
        recall_5=_mean(recall),
        recall_5_error=round(statistics.stdev(recall) / len(recall) ** 0.5, 3) if len(recall) > 1 else None,
        all_gold_8=_mean(every),
        mrr=_mean(reciprocal),
        context_recall=mean_held,
        answer=_mean(answered),
        tokens=round(tokens),
        recall_per_1000=round(mean_held / (tokens / 1000), 3) if tokens and mean_held is not None else None,
        milliseconds=round(statistics.median(times), 1),
        processor_milliseconds=round(statistics.median(processor), 1),
        whole_corpus_questions=len(whole),
        documents_touched=_mean([known["documents-touched"].score(outcome) for outcome in whole]),
        answer_entities=_mean([known["answer-entities"].score(outcome) for outcome in whole]),
        whole_corpus_tokens=_mean([float(outcome.trace.context.tokens) for outcome in whole]),
    )


def _mean(values: Sequence[float | None]) -> float | None:
    """Return the mean of those that are known, to three places."""
    known = [value for value in values if value is not None]
    return round(statistics.mean(known), 3) if known else None


def answer_shown(trace: Trace, question: Asked) -> list[float]:
    """Return 1 where the context has a gold answer as whole words, else 0; empty where there is none to look for."""
    answers = [answer for answer in map(normalised, question.answers) if answer and answer not in _YES_NO]
    text = f" {normalised(trace.context.text)} "
    return [float(any(f" {answer} " in text for answer in answers))] if answers else []


def ranking_places(index: Index) -> Callable[[Trace, Asked], list[int | None]]:
    """Return a function that gives each gold of a question its place in the ranking, from 1; None if not ranked."""
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
    """Return the share of the gold in the passages of the context; a quote counts where the context has it whole."""
    kept = {item.ref: item.text for section in trace.context.sections for item in section.items}
    sources = [(kept[item.id], item.source) for item in trace.passages if item.id in kept and item.source is not None]
    if question.quotes:
        # A passage that is trimmed to its budget has lost the quotes behind.
        texts = [(source.document, normalised(text)) for text, source in sources]
        hits = [any(name == document and quote in text for document, text in texts) for name, quote in question.quotes]
    else:
        titles = {source.title for _, source in sources}
        hits = [title in titles for title in question.documents]
    return statistics.mean(hits)


def read_questions(path: Path, corpus: Path | None) -> list[Asked]:
    """Return the questions that have gold evidence."""
    title_of: dict[str, str] = {}
    if corpus is not None:
        passages = [json.loads(text) for text in corpus.read_text(encoding="utf-8").splitlines()]
        title_of = {passage["id"]: passage["title"] for passage in passages}
    asked = []
    gold_of = {each.question: each for each in read_gold(path)}
    for text in path.read_text(encoding="utf-8").splitlines():
        cells = json.loads(text)
        documents = frozenset(title_of.get(gold, gold) for gold in cells.get("gold", ()))
        quotes = tuple((part["document"], normalised(part["quote"])) for part in cells.get("evidence", ()))
        if documents or quotes:
            whole = gold_of[cells["question"]] if cells.get("type") == WHOLE_CORPUS else None
            answers = tuple(map(str, cells.get("answers", ())))
            asked.append(Asked(cells["question"], answers, documents, quotes, whole))
    return asked


def line(row: Row) -> str:
    """Return the row as a line for the terminal."""
    figures = {
        "r@5": row.recall_5,
        "all@8": row.all_gold_8,
        "MRR": row.mrr,
        "ctx": row.context_recall,
        "ans": row.answer,
        "/k": row.recall_per_1000,
        "docs": row.documents_touched,
        "ent": row.answer_entities,
    }
    shown = "  ".join(f"{name} {'-' if value is None else f'{value:.3f}'}" for name, value in figures.items())
    return f"{row.system:<26} {row.budget:<12} {row.tokens:>6.0f} tok  {shown}  {row.milliseconds:.0f} ms"


if __name__ == "__main__":
    sys.exit(main())
