"""snapshot: earlier states of an index, listed, named, opened, compared, put back and deleted."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from leanrag_core.commands._options import Verbs, set_run
from leanrag_core.commands._printing import printed_json, show
from leanrag_core.comparing.column_specs import written_run
from leanrag_core.comparing.states import Changes
from leanrag_core.evaluation.question_sets.reading import read_questions
from leanrag_core.figures.numbers import counted, size
from leanrag_core.files.records import plain
from leanrag_core.indexing.manifest import describe
from leanrag_core.messages.catalog import sentence
from leanrag_core.messages.message import message
from leanrag_core.retrieval.base import strategies
from leanrag_core.types.snapshots import Snapshot
from leanrag_core.types.visible import visible
from leanrag_core.workbench import Workbench
from leanrag_core.workbench.snapshots import AskedOfStates, ComparedStates

_STATE = "number, name or id of a state; see list"
_NAMES = 8  # that are printed


def add_verbs(verbs: Verbs) -> None:
    """Add the verb snapshot."""
    parser = verbs.add_parser("snapshot", help="earlier states of an index: list, keep, open, compare, restore, delete")
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")

    def add(name: str, about: str, *, needs_state: bool = True) -> argparse.ArgumentParser:
        action = actions.add_parser(name, help=about)
        action.add_argument("index", type=Path, metavar="DIR")
        if needs_state:
            action.add_argument("state", metavar="STATE", help=_STATE)
        set_run(action, _snapshot)
        return action

    add("list", "the states that are kept, the newest first", needs_state=False)
    keeping = add("keep", "keep the index as it is, or a state, under a name until it is deleted", needs_state=False)
    keeping.add_argument("name", metavar="NAME")
    keeping.add_argument("--state", default="", metavar="STATE", help=_STATE)
    add("open", "print the folder of a state, which ask, show, check and the like read as any index")
    comparing = add("compare", "what changed between a state and the index, or another state")
    comparing.add_argument("after", nargs="?", default="", metavar="AFTER", help="the later state; default: the index")
    comparing.add_argument("--questions", type=Path, metavar="FILE.jsonl", help="recall before and after on these")
    comparing.add_argument("--run", dest="asked", default="leanrag", metavar="NAME[:OPTION=VALUE,...]")
    add("restore", "put a state in the place of the index, which becomes a state")
    add("delete", "delete a state")


def _snapshot(options: argparse.Namespace) -> None:
    snapshots, folder = Workbench.default().snapshots, options.index
    if options.action == "compare":
        compared = snapshots.compare(folder, options.state, options.after, asked=_asked(options))
        show(options, plain(compared), "\n".join(map(visible, lines_of(compared))))
        return
    if options.action == "open":
        opened = snapshots.open(folder, options.state)
        show(options, {**plain(describe(opened)), "index": str(opened.path)}, str(opened.path))
        return
    if options.action == "keep":
        snapshots.keep(folder, options.name, options.state)
    elif options.action == "restore":
        snapshots.restore(folder, options.state)
    elif options.action == "delete":
        snapshots.delete(folder, options.state)
    _list(options, snapshots.list(folder))


def _list(options: argparse.Namespace, states: Sequence[Snapshot]) -> None:
    if printed_json(options, {"index": str(options.index), "states": [plain(state) for state in states]}):
        return
    if not states:
        print(sentence(message("snapshot.none")))
    for state in states:
        name = f' "{state.name}"' if state.name else ""
        documents, own_bytes = counted(state.documents, "document"), size(state.own_bytes)
        reason = sentence(state.because)
        facts = f"{documents}, {size(state.size_bytes)}, {own_bytes} of them in no other state"
        print(visible(f"{state.number}{name} {state.kept[:16]} {reason} {facts}"))


def _asked(options: argparse.Namespace) -> AskedOfStates | None:
    if options.questions is None:
        return None
    run = written_run(options.asked, strategies())
    return AskedOfStates(read_questions(options.questions), run.info.name, run.options)


def lines_of(compared: ComparedStates) -> list[str]:
    """Describe how two states differ, line by line."""
    differences, questions = compared.differences, compared.questions
    lines = [
        line
        for kind, changes in (
            ("documents", differences.documents),
            ("entities", differences.entities),
            ("relations", differences.relations),
        )
        for line in _changed_lines(kind, changes)
    ]
    for layer in differences.layers:
        row, rand = layer.clusters, "–" if layer.adjusted_rand is None else f"{layer.adjusted_rand:.3f}"
        lines.append(
            f"layer {row.layer}: {counted(row.kept, 'cluster')} kept, {row.changed:,} changed, {row.new:,} new, "
            f"{row.gone:,} gone; "
            f"{layer.moved:,} of {differences.shared:,} shared entities moved; adjusted Rand index {rand}"
        )
    lines.append(f"aggregated texts changed: {len(differences.texts):,}{_first_of(differences.texts)}")
    if questions is not None:
        gap, bounds = questions.difference, ""
        if gap.low is not None:
            bounds = f" [{gap.low:+.3f}, {gap.high:+.3f}]"
        lines.append(
            f"{questions.measure} {questions.before.value:.3f} before, {questions.after.value:.3f} after, "
            f"{gap.value:+.3f}{bounds} over {counted(gap.n, 'question')}, p {questions.p:.3f}"
        )
        lines += [f"won: {question}" for question in questions.won]
        lines += [f"lost: {question}" for question in questions.lost]
    return lines


def _changed_lines(kind: str, changes: Changes) -> list[str]:
    if not changes:
        return [f"{kind}: the same"]
    named = (("added", changes.added), ("removed", changes.removed), ("changed", changes.changed))
    return [f"{kind} {how}: {len(names):,}{_first_of(names)}" for how, names in named if names]


def _first_of(names: tuple[str, ...]) -> str:
    more = f", +{len(names) - _NAMES:,}" if len(names) > _NAMES else ""
    return f" ({', '.join(names[:_NAMES])}{more})" if names else ""
