"""evaluate: a strategy's measures over a file of questions with gold evidence."""

import argparse
from dataclasses import asdict
from pathlib import Path

from leanrag_core.commands._shared.options import add_json, add_top, top_options
from leanrag_core.commands._shared.printing import print_json
from leanrag_core.messages.catalog import sentence


def add_verbs(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """The verb evaluate."""
    parser = verbs.add_parser("evaluate", help="measures of a strategy over questions with gold evidence")
    parser.add_argument("index", type=Path, metavar="DIR")
    parser.add_argument("questions", type=Path, metavar="QUESTIONS.jsonl")
    parser.add_argument("--strategy", default="leanrag")
    add_top(parser)
    add_json(parser)
    parser.set_defaults(run=_evaluate)


def _evaluate(options: argparse.Namespace) -> int:
    """Retrieval alone is measured: no answer is written, so nothing is paid beyond embedding the questions."""
    from leanrag_core.evaluation.base import Outcome, means
    from leanrag_core.evaluation.gold import read_questions
    from leanrag_core.workbench import Workbench, open_index

    questions = read_questions(options.questions)
    bench, index = Workbench.default(), open_index(options.index)
    chosen = top_options(options)
    outcomes = [
        Outcome(question, bench.retrieve(index, question.question, options.strategy, **chosen))
        for question in questions
    ]
    table = means(outcomes)
    if options.json:
        rows = [{**asdict(mean), "title": sentence(mean.title)} for mean in table]
        print_json({"strategy": options.strategy, "questions": len(questions), "options": chosen, "measures": rows})
        return 0
    print(f"{options.strategy}, {len(questions):,} questions")
    for mean in table:
        value = "–" if mean.value is None else f"{mean.value:,.3f}"
        print(f"{sentence(mean.title):>24}  {value:>10}  over {mean.n:,} questions")
    return 0
