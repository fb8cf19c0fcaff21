"""history: the questions that were asked, searched, pinned, noted and deleted."""

import argparse

from leanrag_core.commands._options import Verbs, set_run
from leanrag_core.commands._printing import printed_json
from leanrag_core.files.records import plain
from leanrag_core.messages.catalog import sentence
from leanrag_core.messages.message import message
from leanrag_core.types.visible import visible
from leanrag_core.workbench import Workbench


def add_verbs(verbs: Verbs) -> None:
    """Add the verb history."""
    parser = verbs.add_parser("history", help="the questions that were asked, in the app or with ask")
    parser.add_argument("search", nargs="?", default="", help="words of a question, its answer or its note")
    change = parser.add_mutually_exclusive_group()
    change.add_argument("--pin", metavar="ID")
    change.add_argument("--unpin", metavar="ID")
    change.add_argument("--note", nargs=2, metavar=("ID", "TEXT"))
    change.add_argument("--delete", metavar="ID")
    set_run(parser, _history)


def _history(options: argparse.Namespace) -> None:
    bench = Workbench.default()
    if options.pin or options.unpin:
        bench.history.pin(options.pin or options.unpin, pinned=bool(options.pin))
    if options.note:
        bench.history.note(*options.note)
    if options.delete:
        bench.history.delete(options.delete)
    entries = bench.history.matching(options.search)
    if printed_json(options, [plain(entry) for entry in entries]):
        return
    if not entries:
        print(sentence(message("history.empty" if not options.search else "history.nothing_matches")))
    for entry in entries:
        note = f" ({entry.note})" if entry.note else ""
        pinned = "*" if entry.pinned else " "
        print(visible(f"{pinned} {entry.id} {entry.asked[:16]} {entry.index_name}: {entry.question}{note}"))
