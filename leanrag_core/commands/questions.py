"""questions: the question sets that are stored, those of a file added, those that an index or a model gives."""

import argparse
from dataclasses import asdict
from pathlib import Path

from leanrag_core.commands._options import Verbs, index_verb, model_name, set_run
from leanrag_core.commands._printing import PrintedProgress, printed_json, show
from leanrag_core.evaluation.question_sets.reading import cells_of, read_question_file, to_jsonl
from leanrag_core.files.atomic import write_bytes
from leanrag_core.types.calls import Budget
from leanrag_core.types.question_set import TEMPLATE_KINDS, Generation
from leanrag_core.types.visible import visible
from leanrag_core.workbench import Workbench, open_index


def add_verbs(verbs: Verbs) -> None:
    """Add the verb questions."""
    parser = verbs.add_parser("questions", help="question sets: list, add, show, delete, generate")
    does = parser.add_subparsers(dest="does", required=True, metavar="WHAT")
    listed = does.add_parser("list", help="all question sets")
    set_run(listed, _list)
    added = does.add_parser("add", help="stores a JSONL, JSON or CSV file")
    added.add_argument("file", type=Path)
    added.add_argument("--title", default="")
    set_run(added, _add)
    shown = does.add_parser("show", help="a set as JSONL on stdout")
    shown.add_argument("id")
    set_run(shown, _show)
    deleted = does.add_parser("delete", help="deletes a stored set")
    deleted.add_argument("id")
    set_run(deleted, _delete)
    making = index_verb(does, "generate", "questions from entities and relations of an index, or by a language model")
    making.add_argument("--out", type=Path, metavar="FILE.jsonl", help="writes the file instead of storing a set")
    making.add_argument("--title", default="")
    making.add_argument(
        "--model",
        default="builtin",
        type=model_name,
        help="openai:NAME or file:PATH asks a model; builtin fills templates",
    )
    making.add_argument("--n", type=int, default=10, help="templates: questions of each kind (default: 10)")
    making.add_argument(
        "--kinds", nargs="*", choices=TEMPLATE_KINDS, default=TEMPLATE_KINDS, help="templates: of which"
    )
    making.add_argument("--seed", type=int, default=0, help="templates: which entities are asked about")
    for name in ("users", "tasks", "questions"):
        default = getattr(Generation, name)
        making.add_argument(f"--{name}", type=int, default=default, help=f"model: how many {name} (default: {default})")
    making.add_argument("--budget", type=float, default=0, metavar="DOLLARS", help="model: what may be spent")
    set_run(making, _generate)


def _list(options: argparse.Namespace) -> None:
    sets = Workbench.default().question_sets.all()
    if printed_json(options, [asdict(each) for each in sets]):
        return
    for each in sets:
        kinds = ", ".join(f"{n:,} {kind or 'without kind'}" for kind, n in each.kinds.items())
        print(f"{each.id:<20} {visible(each.title)}: {each.n:,} questions ({visible(kinds)}), {each.origin}")


def _add(options: argparse.Namespace) -> None:
    bench = Workbench.default()
    id_ = bench.question_sets.add_file(options.file.name, read_question_file(options.file), title=options.title)
    card = bench.question_sets.card(id_)
    values = asdict(card)
    show(options, values, f"{id_}: {visible(card.title)}, {card.n:,} questions, {card.n_evidence:,} with gold evidence")


def _show(options: argparse.Namespace) -> None:
    bench = Workbench.default()
    if not printed_json(options, [cells_of(question) for question in bench.question_sets.questions(options.id)]):
        print(bench.question_sets.content(options.id).decode(), end="")


def _delete(options: argparse.Namespace) -> None:
    Workbench.default().question_sets.delete(options.id)
    printed_json(options, {"deleted": options.id})


def _generate(options: argparse.Namespace) -> None:
    bench, index = Workbench.default(), open_index(options.index)
    fields = ("model", "n", "seed", "users", "tasks", "questions")
    how = Generation(kinds=tuple(options.kinds), **{name: getattr(options, name) for name in fields})
    generated = bench.question_sets.generated(
        index, how, budget=Budget(dollars=options.budget), report=PrintedProgress()
    )
    if options.out:
        write_bytes(options.out, to_jsonl(generated.questions))
        stored = {"file": str(options.out)}
    else:
        title = options.title or f"{index.manifest.name}, {options.model}"
        stored = {"id": bench.question_sets.add(title, generated.questions, corpus_id=index.manifest.corpus.id)}
    n = len(generated.questions)
    values = {**stored, "questions": n, "lost": generated.n_lost}
    show(options, values, f"{n:,} questions in {visible(next(iter(stored.values())))}")
