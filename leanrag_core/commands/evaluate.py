"""evaluate: a strategy's measures over questions with gold evidence, or an extraction against a reference graph."""

import argparse
from dataclasses import asdict
from itertools import groupby
from pathlib import Path

from leanrag_core.commands._shared.options import add_json, add_top, top_options
from leanrag_core.commands._shared.printing import print_json
from leanrag_core.errors import InvalidConfig
from leanrag_core.messages.catalog import sentence


def add_verbs(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """The verb evaluate."""
    parser = verbs.add_parser(
        "evaluate", help="measures of a strategy over questions with gold evidence, or of an extraction"
    )
    parser.add_argument("index", type=Path, metavar="DIR")
    parser.add_argument("questions", type=Path, metavar="QUESTIONS.jsonl", nargs="?")
    parser.add_argument(
        "--extraction", action="store_true", help="the base graph beside the reference graph of a sample corpus"
    )
    parser.add_argument("--strategy", default="leanrag")
    add_top(parser)
    add_json(parser)
    parser.set_defaults(run=_evaluate)


def _evaluate(options: argparse.Namespace) -> int:
    """Retrieval alone is measured: no answer is written, so nothing is paid beyond embedding the questions."""
    from leanrag_core.evaluation.base import Outcome, means, measure_infos
    from leanrag_core.evaluation.chunk_texts import ChunkTexts
    from leanrag_core.evaluation.question_sets.reading import read_questions
    from leanrag_core.workbench import Workbench, open_index

    if options.extraction:
        return _evaluate_extraction(options)
    if options.questions is None:
        raise InvalidConfig("command.evaluate_what")
    questions = read_questions(options.questions)
    bench, index = Workbench.default(), open_index(options.index)
    chosen, chunks = top_options(options), ChunkTexts(index)
    outcomes = [
        Outcome(question, bench.retrieve(index, question.question, options.strategy, **chosen), chunks=chunks)
        for question in questions
    ]
    table = means(outcomes)
    if options.json:
        rows = [{**asdict(mean), "title": sentence(mean.title)} for mean in table]
        print_json({"strategy": options.strategy, "questions": len(questions), "options": chosen, "measures": rows})
        return 0
    print(f"{options.strategy}, {len(questions):,} questions")
    by_name = {mean.measure: mean for mean in table if mean.value is not None}
    for group, infos in groupby(measure_infos(), key=lambda info: info.group_title):
        known = [by_name[info.name] for info in infos if info.name in by_name]
        if known:
            print(sentence(group))
        for mean in known:
            print(f"{sentence(mean.title):>28}  {mean.value:>10,.3f}  over {mean.n:,} questions")
    return 0


def _evaluate_extraction(options: argparse.Namespace) -> int:
    """Which share of a reference graph the index's base graph has."""
    from leanrag_core.workbench import Workbench, open_index

    index = open_index(options.index)
    score = Workbench.default().extraction_score(index)
    if score is None:
        raise InvalidConfig("command.no_reference", index=index.manifest.name)
    if options.json:
        shares = {"entities": score.entities, "relations": score.relations}
        rows = {
            name: {**asdict(share), "recall": share.recall, "precision": share.precision}
            for name, share in shares.items()
        }
        print_json({"index": index.manifest.name, "model": index.manifest.config.model, **rows})
        return 0
    print(f"{index.manifest.name}, extraction by {index.manifest.config.model}, beside the reference graph")
    for name, share in (("entities", score.entities), ("relations", score.relations)):
        recall, precision = ("–" if value is None else f"{value:.3f}" for value in (share.recall, share.precision))
        has = f"{share.hit:,} of {share.wanted:,}, recall {recall}"
        print(f"{name:>10}  {has}; {share.given:,} given, precision {precision}")
    return 0
