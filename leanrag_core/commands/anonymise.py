"""anonymise: a corpus without names; revert: answers with them again."""

import argparse
import json
from collections import Counter
from dataclasses import asdict
from pathlib import Path

from leanrag_core.commands._options import add_json
from leanrag_core.commands._printing import print_json
from leanrag_core.figures.numbers import counted, share
from leanrag_core.types.visible import visible


def add_verbs(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the verbs anonymise and revert."""
    parser = verbs.add_parser("anonymise", help="the documents of an index with placeholders for names")
    parser.add_argument("index", type=Path, metavar="DIR")
    parser.add_argument("--out", required=True, type=Path, metavar="FOLDER")
    parser.add_argument("--questions", type=Path, metavar="QUESTIONS.jsonl")
    types = "types of the entities whose names are replaced, or all (default: all but concepts and headings)"
    parser.add_argument("--types", nargs="+", default=(), metavar="TYPE", help=types)
    add_json(parser)
    parser.set_defaults(run=_anonymise)
    parser = verbs.add_parser("revert", help="answers to anonymous questions with their names again, and a score")
    parser.add_argument("dictionary", type=Path, metavar="DICTIONARY.json")
    parser.add_argument("answers", type=Path, metavar="ANSWERS.jsonl", help="objects with an id and an answer")
    parser.add_argument("--questions", type=Path, metavar="QUESTIONS.jsonl", help="with names and gold answers")
    add_json(parser)
    parser.set_defaults(run=_revert)


def _anonymise(options: argparse.Namespace) -> int:
    from leanrag_core.evaluation.anonymity import anonymised, write_anonymous
    from leanrag_core.evaluation.question_sets.reading import read_questions
    from leanrag_core.workbench import open_index

    questions = read_questions(options.questions) if options.questions else ()
    made = anonymised(open_index(options.index), questions, options.types)
    write_anonymous(made, options.out)
    by_type = dict(sorted(Counter(entry.type for entry in made.dictionary.entries).items()))
    if options.json:
        print_json(
            {
                "folder": str(options.out),
                "documents": len(made.documents),
                "questions": len(made.questions),
                "entities": by_type,
                "replaced": made.replaced,
                "left_words": list(made.left_words),
            }
        )
        return 0
    entities = counted(len(made.dictionary.entries), "entity", "entities")
    print(f"{options.out}: {counted(len(made.documents), 'document')}, {counted(len(made.questions), 'question')}")
    print(f"{entities} have a placeholder, {made.replaced:,} names were replaced")
    if made.left_words:
        print(f"words of names that are left in other places: {visible(', '.join(made.left_words))}")
    return 0


def _revert(options: argparse.Namespace) -> int:
    from leanrag_core.evaluation.anonymity import read_dictionary, read_given_answers, reversion
    from leanrag_core.evaluation.question_sets.reading import read_questions

    questions = read_questions(options.questions) if options.questions else ()
    score = reversion(read_given_answers(options.answers), read_dictionary(options.dictionary), questions)
    if options.json:
        print_json(asdict(score))
        return 0
    for answer in score.answers:
        print(json.dumps({"id": answer.question, "answer": answer.text}, ensure_ascii=False))
    figures = [f"{name} {share(value, 1)}" for name, value in score.shares.items()]
    for name, value in (("placeholders reverted", score.reverted), ("answers from memory", score.remembering)):
        figures += [] if value is None else [f"{name} {share(value, 1)}"]
    print(", ".join(figures))
    return 0
