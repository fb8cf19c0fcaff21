"""Does retrieval find the gold passages? LeanRAG with its options beside BM25 and a vector search.

    python -m benchmarks.gold_evidence CORPUS.jsonl QUESTIONS.jsonl --index DIR [--build] [--json]

CORPUS: one passage a line (id, title, text); each passage is a document. QUESTIONS: question, gold (list of ids).
recall@5: mean share of a question's gold passages among the first 5 returned. all-gold@8: share of questions whose
gold passages are all among the first 8; fewer than 8 returned chunks are taken as they are. MRR: reciprocal rank of
the first gold passage. Standard errors are those of the mean over questions.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from leanrag_core.indexing.build import BuildRequest
from leanrag_core.indexing.build_models import BuildModels
from leanrag_core.types.config import IndexConfig
from leanrag_core.types.index import Index
from leanrag_core.workbench import Workbench, open_index

LEANRAG: dict[str, tuple[str, dict[str, Any]]] = {
    "LeanRAG N 10": ("leanrag", {}),
    "LeanRAG N 10, ties by seed rank": ("leanrag", {"ties": "seed_rank"}),
    "LeanRAG adaptive N from 10, C 8": ("leanrag", {"adaptive_n": True, "top_c": 8}),
    "LeanRAG N 15": ("leanrag", {"top_n": 15}),
    "LeanRAG N 20": ("leanrag", {"top_n": 20}),
    "LeanRAG N 10, names": ("leanrag", {"match_names": True}),
    "LeanRAG N 10, fused": ("leanrag", {"fuse_vectors": True}),
    "LeanRAG-walk, all chunks": ("leanrag_walk", {}),
    "LeanRAG-walk, chunks of 30 seeds": ("leanrag_walk", {"candidates": "seeds30"}),
}
Ranker = Callable[[str], Sequence[str]]


@dataclass(frozen=True)
class Score:
    """Means over the questions, and the standard error of the first two."""

    recall_5: float
    recall_5_error: float
    all_gold_8: float
    all_gold_8_error: float
    mrr: float
    filled_8: float
    milliseconds: float


def main() -> int:
    """Print a table; exit 1 when LeanRAG N 10 is below the floor."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--index", type=Path, required=True)
    parser.add_argument("--build", action="store_true", help="build the index first")
    parser.add_argument("--recall-floor", type=float, default=0.0)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    bench = Workbench.default()
    if options.build:
        build(options.corpus, options.index)
    index = open_index(options.index)
    questions = [json.loads(line) for line in options.questions.read_text(encoding="utf-8").splitlines()]
    questions = [question for question in questions if question["gold"]]
    rankers: dict[str, Ranker] = {
        "BM25 (bm25s, Lucene variant, k1 1.5, b 0.75, English stop words)": bm25(options.corpus),
        "vector over passages": strategy(bench, index, "vector", {}),
        **{name: strategy(bench, index, known, chosen) for name, (known, chosen) in LEANRAG.items()},
    }
    bench.retrieve(index, "warm up")
    scores = {name: measure(ranker, questions) for name, ranker in rankers.items()}
    if options.json:
        print(json.dumps({name: score.__dict__ for name, score in scores.items()}, indent=1))
    else:
        print(f"{len(questions)} questions, {index.documents.num_rows} passages")
        for name, score in scores.items():
            print(
                f"{name:<66} recall@5 {score.recall_5:.3f} ±{score.recall_5_error:.3f}  all-gold@8 "
                f"{score.all_gold_8:.2f} ±{score.all_gold_8_error:.2f}  MRR {score.mrr:.2f}  "
                f"returned of 8: {score.filled_8:.1f}  {score.milliseconds:.1f} ms"
            )
    below = scores["LeanRAG N 10"].recall_5 < options.recall_floor
    if below:
        print(f"LeanRAG N 10 is below the floor of {options.recall_floor}", file=sys.stderr)
    return int(below)


def build(corpus: Path, out: Path) -> None:
    """Build the corpus's index in `out`."""
    from leanrag_core.indexing.build import build_index
    from leanrag_core.indexing.reading import read_files
    from leanrag_core.models.minilm import MiniLM

    started = time.perf_counter()
    parsed = read_files([corpus])
    build_index(BuildRequest(parsed.documents, IndexConfig(), out, corpus.stem), BuildModels(MiniLM()))
    print(f"built in {time.perf_counter() - started:.0f} s", file=sys.stderr)


def strategy(bench: Workbench, index: Index, name: str, options: dict[str, Any]) -> Ranker:
    """Return a ranker of document titles, in the order in which their first chunk is ranked."""
    titles = index.documents["title"].to_pylist()
    document_of = index.chunks["document"].to_pylist()

    def rank(question: str) -> list[str]:
        trace = bench.retrieve(index, question, name, **options)
        return list(dict.fromkeys(titles[document_of[row]] for row in trace.ranked_chunks))

    return rank


def bm25(corpus: Path) -> Ranker:
    """Return a ranker of passage titles, by BM25 over title and text."""
    import bm25s

    passages = [json.loads(line) for line in corpus.read_text(encoding="utf-8").splitlines()]
    texts = [f"{passage['title']}. {passage['text']}" for passage in passages]
    retriever = bm25s.BM25(method="lucene", k1=1.5, b=0.75)
    retriever.index(bm25s.tokenize(texts, stopwords="en", show_progress=False), show_progress=False)

    def rank(question: str) -> list[str]:
        tokens = bm25s.tokenize([question], stopwords="en", show_progress=False)
        rows, _ = retriever.retrieve(tokens, k=20, show_progress=False)
        return [passages[row]["title"] for row in rows[0]]

    return rank


def measure(ranker: Ranker, questions: list[dict[str, Any]]) -> Score:
    """Return the ranker's score over the questions."""
    recall, every, reciprocal, filled, seconds = [], [], [], [], 0.0
    for question in questions:
        started = time.perf_counter()
        ranking = ranker(question["question"])
        seconds += time.perf_counter() - started
        gold = set(question["gold"])
        recall.append(len(gold & set(ranking[:5])) / len(gold))
        every.append(float(gold <= set(ranking[:8])))
        reciprocal.append(next((1 / place for place, passage in enumerate(ranking, 1) if passage in gold), 0.0))
        filled.append(min(8, len(ranking)))

    def error(values: list[float]) -> float:
        return float(np.std(values, ddof=1) / np.sqrt(len(values)))

    return Score(
        recall_5=float(np.mean(recall)),
        recall_5_error=error(recall),
        all_gold_8=float(np.mean(every)),
        all_gold_8_error=error(every),
        mrr=float(np.mean(reciprocal)),
        filled_8=float(np.mean(filled)),
        milliseconds=1000 * seconds / len(questions),
    )


if __name__ == "__main__":
    sys.exit(main())
