"""anonymise: a corpus without names; revert: answers with them again; infer-names: a model finds them out."""

import argparse
import json
from collections import Counter
from dataclasses import asdict
from pathlib import Path

from leanrag_core.commands._options import Verbs, index_verb, model_name, set_run
from leanrag_core.commands._printing import PrintedProgress, make_needed_parts, printed_json
from leanrag_core.errors import InvalidConfig
from leanrag_core.evaluation.anonymity import (
    anonymised,
    read_dictionary,
    read_given_answers,
    reversion,
    write_anonymous,
)
from leanrag_core.evaluation.name_inference import PUBLISHED, infer_names
from leanrag_core.evaluation.paper_tables import published_figures
from leanrag_core.evaluation.question_sets.reading import read_questions
from leanrag_core.figures.numbers import counted, share
from leanrag_core.types.calls import Budget
from leanrag_core.types.experiment import OPEN, REJECT
from leanrag_core.types.roles import ANSWERS
from leanrag_core.types.visible import visible
from leanrag_core.workbench import Workbench, open_index


def add_verbs(verbs: Verbs) -> None:
    """Add the verbs anonymise, revert and infer-names."""
    parser = index_verb(verbs, "anonymise", "the documents of an index with placeholders for names")
    parser.add_argument("--out", required=True, type=Path, metavar="FOLDER")
    parser.add_argument("--questions", type=Path, metavar="QUESTIONS.jsonl")
    types = "types of the entities whose names are replaced, or all (default: all but concepts and headings)"
    parser.add_argument("--types", nargs="+", default=(), metavar="TYPE", help=types)
    set_run(parser, _anonymise)
    parser = verbs.add_parser("revert", help="answers to anonymous questions with their names again, and a score")
    parser.add_argument("dictionary", type=Path, metavar="DICTIONARY.json")
    parser.add_argument("answers", type=Path, metavar="ANSWERS.jsonl", help="objects with an id and an answer")
    parser.add_argument("--questions", type=Path, metavar="QUESTIONS.jsonl", help="with names and gold answers")
    set_run(parser, _revert)
    parser = verbs.add_parser("infer-names", help="a model infers the names behind placeholders, and is scored")
    parser.add_argument("index", type=Path, metavar="DIR", help="index of the anonymous documents")
    parser.add_argument("dictionary", type=Path, metavar="DICTIONARY.json")
    parser.add_argument("questions", type=Path, metavar="QUESTIONS.jsonl", help="anonymous, with gold answers")
    parser.add_argument("--model", required=True, type=model_name, help="such as openai:NAME")
    parser.add_argument("--mode", choices=(OPEN, REJECT), default=OPEN, help="from knowledge too, or from texts alone")
    parser.add_argument("--strategy", default="leanrag", metavar="NAME", help="whose context is given")
    parser.add_argument("--budget", type=float, default=0, metavar="DOLLARS", help="what may be spent")
    set_run(parser, _infer_names)


def _anonymise(options: argparse.Namespace) -> None:
    questions = read_questions(options.questions) if options.questions else ()
    anonymous = anonymised(open_index(options.index), questions, options.types)
    write_anonymous(anonymous, options.out)
    by_type = dict(sorted(Counter(entry.type for entry in anonymous.dictionary.entries).items()))
    n_documents, n_questions = len(anonymous.documents), len(anonymous.questions)
    shown = {"folder": str(options.out), "documents": n_documents, "questions": n_questions, "entities": by_type}
    shown |= {"replaced": anonymous.replaced, "left_words": list(anonymous.left_words)}
    if printed_json(options, shown):
        return
    entities = counted(len(anonymous.dictionary.entries), "entity", "entities")
    print(f"{options.out}: {counted(n_documents, 'document')}, {counted(n_questions, 'question')}")
    print(f"{entities} have a placeholder, {anonymous.replaced:,} names were replaced")
    if anonymous.left_words:
        print(f"words of names that are left in other places: {visible(', '.join(anonymous.left_words))}")


def _revert(options: argparse.Namespace) -> None:
    questions = read_questions(options.questions) if options.questions else ()
    score = reversion(read_given_answers(options.answers), read_dictionary(options.dictionary), questions)
    if printed_json(options, asdict(score)):
        return
    for answer in score.answers:
        print(json.dumps({"id": answer.question, "answer": answer.text}, ensure_ascii=False))
    figures = [f"{name} {share(value, 1)}" for name, value in score.shares.items()]
    for name, value in (("placeholders reverted", score.reverted), ("answers from memory", score.remembering)):
        figures += [] if value is None else [f"{name} {share(value, 1)}"]
    print(", ".join(figures))


def _infer_names(options: argparse.Namespace) -> None:
    bench, index = Workbench.default(), open_index(options.index)
    models = bench.models.make(budget=Budget(dollars=options.budget))
    language = models.language(options.model, ANSWERS)
    if language is None:
        raise InvalidConfig("rewrite.no_model", name=options.model)
    make_needed_parts(bench, index, options.strategy, {})
    inference = infer_names(
        read_questions(options.questions),
        read_dictionary(options.dictionary),
        lambda question: bench.retrieve(index, question, options.strategy).context.text,
        language,
        models.meter,
        mode=options.mode,
        report=PrintedProgress(),
    )
    published = [asdict(each) for each in published_figures(PUBLISHED)]
    asked = {"mode": options.mode, "model": language.fingerprint}
    if printed_json(options, {**asked, **asdict(inference), "published": published}):
        return
    for each in inference.names:
        print(json.dumps(asdict(each), ensure_ascii=False))
    figures = [
        f"{name} {share(interval.value, 1)}"
        for name, interval in (("names right", inference.right), ("left out", inference.left_out))
        if interval is not None
    ]
    print(", ".join([*figures, counted(inference.n_lost, "reply lost", "replies lost")]))
    for figure in published_figures(PUBLISHED):
        print(f"published: {figure.dataset}, {figure.criterion}, {figure.system}: {figure.value:g} % ({figure.source})")
