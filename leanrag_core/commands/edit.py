"""edit: entities and relations of an index changed by hand; every build and update of it replays the edits."""

import argparse

from leanrag_core.commands._options import Verbs, index_verb, set_run
from leanrag_core.commands._printing import PrintedProgress, make_offered_parts, printed_json
from leanrag_core.commands.update import report_text
from leanrag_core.files.records import plain
from leanrag_core.storage.layout import read_edits
from leanrag_core.types.index import Index
from leanrag_core.types.updating import Action, Edit
from leanrag_core.types.visible import visible
from leanrag_core.workbench import Workbench, open_index
from leanrag_core.workbench.models import RunContext

_ACTIONS: tuple[tuple[Action, tuple[str, ...], str], ...] = (
    ("rename", ("OLD", "NEW"), "give an entity another name"),
    ("retype", ("NAME", "TYPE"), "give an entity another type"),
    ("merge", ("NAME", "INTO"), "make an entity part of another one"),
    ("split", ("NAME", "NEW"), "make an entity of its own of what some documents say of it"),
    ("delete", ("NAME",), "leave an entity and its relations out"),
    ("delete-relation", ("SOURCE", "TARGET"), "leave a relation out"),
    ("describe-relation", ("SOURCE", "TARGET", "TEXT"), "give a relation another description"),
)


def add_verbs(verbs: Verbs) -> None:
    """Add the verb edit, with an action each."""
    parser = index_verb(verbs, "edit", "change entities and relations by hand, for this and all later builds")
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    for name, arguments, text in _ACTIONS:
        action = actions.add_parser(name, help=text)
        for argument in arguments:
            action.add_argument(argument.lower(), metavar=argument)
        if name == "split":
            action.add_argument("--document", action="append", default=[], metavar="NAME", help="of a document")
        set_run(action, _edit)
        action.set_defaults(arguments=arguments)
    listing = actions.add_parser("list", help="the edits, with their numbers")
    set_run(listing, _list)
    undoing = actions.add_parser("undo", help="undo one edit, whatever came after it")
    undoing.add_argument("number", type=int, metavar="NUMBER")
    set_run(undoing, _undo)


def _edit(options: argparse.Namespace) -> None:
    bench = Workbench.default()
    name, *others = (getattr(options, argument.lower()) for argument in options.arguments)
    edit = Edit(
        number=read_edits(options.index).next_number,
        action=options.action,
        name=name,
        other=others[0] if others else "",
        documents=tuple(getattr(options, "document", ())),
        text=others[1] if len(others) > 1 else "",
    )
    _changed(options, bench, bench.updates.edit(options.index, edit, _context(options, bench)))


def _undo(options: argparse.Namespace) -> None:
    bench = Workbench.default()
    _changed(options, bench, bench.updates.undo_edit(options.index, options.number, _context(options, bench)))


def _context(options: argparse.Namespace, bench: Workbench) -> RunContext:
    return bench.models.context(report=PrintedProgress(), index=options.index.name)


def _changed(options: argparse.Namespace, bench: Workbench, index: Index) -> None:
    make_offered_parts(options, bench, index)
    report, log = index.report.update, plain(read_edits(options.index))
    shown = {"index": str(options.index), **log, "update": plain(report) if report else None}
    if not printed_json(options, shown) and report is not None:
        print(report_text(report))


def _list(options: argparse.Namespace) -> None:
    log, index = read_edits(options.index), open_index(options.index)
    affected = {outcome.number: outcome.affected for outcome in index.report.edits}
    if printed_json(options, {**plain(log), "affected": {str(number): n for number, n in affected.items()}}):
        return
    for edit in log.edits:
        words = " ".join(filter(None, (edit.action, edit.name, edit.other, ", ".join(edit.documents), edit.text)))
        note = "" if affected.get(edit.number) else " (no longer applies)"
        print(f"{edit.number}: {visible(words)}{note}")
