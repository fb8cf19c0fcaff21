"""How often extractive answers decline what a context leaves open, and what they lose by it.

    python -m benchmarks.abstention INDEX QUESTIONS.jsonl [--strategy leanrag] [--type unanswerable] [--json FILE]

Prints: unanswerable questions that were declined; answerable ones that were (lost); how many of the lost are answered
right when the rule of `answering/standing.py` is off, so that the others were wrong anyway.
"""

import argparse
import json
from pathlib import Path
from unittest import mock

from leanrag_core.answering import extractive
from leanrag_core.evaluation.answers import RIGHT, grade
from leanrag_core.evaluation.question_sets.reading import read_questions
from leanrag_core.workbench import Workbench, open_index


def main() -> int:
    """Print the figures, and write them where --json says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("index", type=Path)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--strategy", default="leanrag")
    parser.add_argument("--type", default="unanswerable", help="of questions that the documents leave open")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    bench, index = Workbench.default(), open_index(options.index)
    figures: dict[str, int] = dict.fromkeys(("unanswerable", "declined", "answerable", "lost", "lost_right"), 0)
    for question in read_questions(options.questions):
        trace = bench.retrieve(index, question.question, options.strategy)
        answer = bench.answer(index, trace)
        if question.kind == options.type:
            figures["unanswerable"] += 1
            figures["declined"] += not answer.grounded
            continue
        figures["answerable"] += 1
        if not answer.grounded:
            figures["lost"] += 1
            with mock.patch.object(extractive, "is_answered", return_value=True):
                figures["lost_right"] += grade(question, bench.answer(index, trace).text) == RIGHT
    print(
        "{declined} of {unanswerable} unanswerable declined; {lost} of {answerable} answerable lost, "
        "{lost_right} of these would be right".format(**figures)
    )
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
