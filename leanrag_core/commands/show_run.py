"""show-run: a question with its retrieval and its answer, from a file that `ask --save` wrote."""

import argparse
from pathlib import Path

from leanrag_core.commands._shared.options import add_json
from leanrag_core.commands._shared.printing import print_json
from leanrag_core.commands._shared.run_lines import print_run
from leanrag_core.types.visible import visible


def add_verbs(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the verb show-run."""
    parser = verbs.add_parser("show-run", help="a recorded run; neither its index nor a model is needed")
    parser.add_argument("file", type=Path, metavar="FILE")
    add_json(parser)
    parser.set_defaults(run=_show_run)


def _show_run(options: argparse.Namespace) -> int:
    from leanrag_core.answering.record import ask_record
    from leanrag_core.storage.history import read_run

    run = read_run(options.file)
    if options.json:
        print_json(ask_record(run.trace, run.answer))
        return 0
    print(f"{'question':>9}: {visible(run.trace.question)}")
    print_run(run.trace, run.answer)
    return 0
