"""Chooses the example questions of the sample corpora and prepares the index of the first start:
python -m sample_corpora.openings [NAME ...]

Writes `examples.json` beside each corpus's questions. On the corpus's first index LeanRAG and vector search, which is
given as many tokens as LeanRAG's context has, are measured on every question with gold: the mean of evidence recall,
answer in the context and answer entities, as far as the question has them. Of each kind that question is taken on
which LeanRAG is furthest ahead, among those that the built-in engine answers rightly where it is ahead on any of them;
equals are decided by a right answer, then by an ancestor below the root, then by the order of the set. Of the
unanswerable ones the first is taken that the built-in engine declines.
"""

import argparse
import json
import shutil
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

from leanrag_core.evaluation.base import Outcome
from leanrag_core.evaluation.gold import GoldQuestion
from leanrag_core.evaluation.measuring import scores
from leanrag_core.retrieval.base import equal_budget, strategies
from leanrag_core.types.index import Index
from leanrag_core.types.question_set import UNANSWERABLE
from leanrag_core.types.trace import Trace
from leanrag_core.workbench import Workbench
from leanrag_core.workbench.samples import EXAMPLES, FIRST_SAMPLE, PREPARED, PREPARED_STAGES, SAMPLES, Example, Examples

_GOLD = ("evidence-recall", "answer-in-context", "answer-entities")


def chosen(bench: Workbench, name: str) -> Examples:
    """Measure every question of a sample corpus on its first index and choose the examples."""
    index_id, set_id = bench.builds.sample_index(name)
    index, questions = bench.indexes.open(index_id), bench.question_sets.questions(set_id)
    measured = [_measured(bench, index, question) for question in questions]
    kinds = dict.fromkeys(example.kind for example in measured)
    examples = [max((each for each in measured if each.kind == kind), key=_order) for kind in kinds]
    below = sum(example.below_root for example in measured)
    return Examples(index.manifest.config.cluster_size, len(questions), below, tuple(examples))


def prepare() -> None:
    """Keep the first sample's index with the program, and what its build kept of its stages."""
    with tempfile.TemporaryDirectory() as folder:
        bench = Workbench(Path(folder))
        index_id, _ = bench.builds.sample_index(FIRST_SAMPLE)
        shutil.rmtree(PREPARED, ignore_errors=True)
        shutil.copytree(bench.indexes.path(index_id), PREPARED / index_id, ignore=shutil.ignore_patterns(".*", "parts"))
        bench.stages.save(PREPARED_STAGES)
        bench.stages.close()


def _measured(bench: Workbench, index: Index, question: GoldQuestion) -> Example:
    trace = bench.retrieve(index, question.question, "leanrag")
    vector = next(info for info in strategies().strategies if info.name == "vector")
    beside = bench.retrieve(index, question.question, "vector", **equal_budget(vector, trace.context.tokens))
    answer = scores(Outcome(question, trace, bench.answer(index, trace)))
    right = answer["answer-declined"] if question.kind == UNANSWERABLE else answer["answer-right"]
    ancestors = [item.layer for item in trace.items if "lca" in item.roles and item.layer is not None]
    return Example(
        question.id,
        question.kind,
        _gold(question, trace),
        _gold(question, beside),
        trace.context.tokens,
        bool(right),
        bool(ancestors) and max(ancestors) < len(index.layers) - 1,
    )


def _gold(question: GoldQuestion, trace: Trace) -> float | None:
    """Return the share of what the question's gold asks for that the context holds, None without gold."""
    held = scores(Outcome(question, trace))
    known = [value for name in _GOLD if (value := held[name]) is not None]
    return round(sum(known) / len(known), 4) if known else None


def _order(example: Example) -> tuple[bool, float, bool, bool]:
    ahead = 0.0 if example.gold is None or example.gold_of_vectors is None else example.gold - example.gold_of_vectors
    ahead = round(ahead, 4)
    return ahead > 0 and example.right, ahead, example.right, example.below_root


def main() -> int:
    """Write the files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bench = Workbench(Path(folder))
        for name in options.names or bench.corpora.samples.names():
            examples = chosen(bench, name)
            text = json.dumps(asdict(examples), indent=1, ensure_ascii=False) + "\n"
            (SAMPLES / name / EXAMPLES).write_text(text, encoding="utf-8")
            if name == FIRST_SAMPLE:
                prepare()
            print(f"{name}: below the root {examples.below_root} of {examples.questions}")
            for example in examples.examples:
                print(" ", example)
    return 0


if __name__ == "__main__":
    sys.exit(main())
