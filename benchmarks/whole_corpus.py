"""Whole-corpus questions apart: what do relations and aggregated text add, beside vectors at equal tokens?

    python -m benchmarks.whole_corpus QUESTIONS.jsonl DIR [QUESTIONS.jsonl DIR ...]

DIR: the index that the questions before it are asked. Of their questions of the type whole-corpus: tokens of the
context, share of the gold documents of which a passage is in it, and share of the gold answer's entities that it
names in any section. "beside vectors": the paired difference to vectors filled, question by question, to the same
tokens, with its 95 % interval over questions drawn 2,000 times with replacement.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from leanrag_core.evaluation.base import Outcome
from leanrag_core.evaluation.gold import GoldQuestion
from leanrag_core.evaluation.measuring import measures
from leanrag_core.evaluation.question_sets.reading import read_questions
from leanrag_core.types.index import Index
from leanrag_core.types.question_set import WHOLE_CORPUS
from leanrag_core.workbench import Workbench, open_index

MEASURES = ("documents-touched", "answer-entities")
SYSTEMS: dict[str, tuple[str, dict[str, Any]]] = {
    "vectors C 5": ("vector", {"top_c": 5}),
    "vectors C 10": ("vector", {"top_c": 10}),
    "LeanRAG C 5": ("leanrag", {}),
    "LeanRAG C 5, findings": ("leanrag", {"findings": True}),
    "LeanRAG C 5, without relations": ("leanrag", {"inter_cluster": False}),
    "LeanRAG C 5, entities and chunks": ("leanrag", {"aggregated_tokens": 0, "relation_tokens": 0}),
    "LeanRAG C 5, without chunks": ("leanrag", {"source_chunks": False}),
    "LeanRAG C 5, compact": ("leanrag", {"context": "compact"}),
    "LeanRAG-walk C 5": ("leanrag_walk", {"context": "full"}),
    "LeanRAG-walk C 8, compact": ("leanrag_walk", {"top_c": 8}),
}


def main() -> int:
    """Print a line for each system."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", type=Path, nargs="+", metavar="QUESTIONS DIR")
    options = parser.parse_args()
    if len(options.pairs) % 2:
        parser.error("each QUESTIONS needs its DIR")
    asked = [
        (question, index)
        for path, folder in zip(options.pairs[::2], options.pairs[1::2], strict=True)
        for index in (open_index(folder),)
        for question in read_questions(path)
        if question.kind == WHOLE_CORPUS
    ]
    bench = Workbench.default()
    print(f"{len(asked)} whole-corpus questions")
    for label, (name, chosen) in SYSTEMS.items():
        scores, tokens = scores_of(bench, asked, name, [chosen] * len(asked))
        equal, _ = scores_of(bench, asked, "vector", [{"top_c": 50, "max_tokens": int(each)} for each in tokens])
        shown = "  ".join(
            f"{measure} {scores[measure].mean():.3f}, beside vectors {difference(scores[measure] - equal[measure])}"
            for measure in MEASURES
        )
        print(f"{label:<34} {tokens.mean():7,.0f} tokens  {shown}")
    return 0


def scores_of(
    bench: Workbench, asked: Sequence[tuple[GoldQuestion, Index]], name: str, options: Sequence[dict[str, Any]]
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Return for each question the measures and the tokens of the context."""
    known = {measure.name: measure for measure in measures()}
    outcomes = [
        Outcome(question, bench.retrieve(index, question.question, name, **chosen))
        for (question, index), chosen in zip(asked, options, strict=True)
    ]
    scores = {name: np.array([known[name].score(outcome) or 0.0 for outcome in outcomes]) for name in MEASURES}
    return scores, np.array([outcome.trace.context.tokens for outcome in outcomes])


def difference(values: np.ndarray) -> str:
    """Return the mean of paired differences with its interval."""
    drawn = np.random.default_rng(0).integers(0, len(values), (2000, len(values)))
    low, high = np.quantile(values[drawn].mean(axis=1), [0.025, 0.975])
    return f"{values.mean():+.3f} [{low:+.3f}, {high:+.3f}]"


if __name__ == "__main__":
    sys.exit(main())
