"""update, remove, undo: an index takes documents over or gives them up, and gets an earlier state back."""

import argparse
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from leanrag_core.commands._options import (
    Verbs,
    add_budget,
    add_execution,
    add_sources,
    index_verb,
    read_sources,
    run_context,
    set_run,
)
from leanrag_core.commands._printing import PrintedProgress, index_sentence, make_offered_parts, printed_json, show
from leanrag_core.errors import InvalidConfig
from leanrag_core.evaluation.question_sets.reading import read_questions
from leanrag_core.figures.numbers import counted, size
from leanrag_core.files.records import plain
from leanrag_core.indexing.manifest import describe
from leanrag_core.indexing.updating.preview import changes_to, removal
from leanrag_core.messages.catalog import sentence
from leanrag_core.messages.message import message
from leanrag_core.storage.earlier_states import earlier_states
from leanrag_core.storage.staging import give_up_staging
from leanrag_core.types.index import Index
from leanrag_core.types.updating import DocumentChanges, UpdatePreview, UpdateReport
from leanrag_core.types.visible import visible
from leanrag_core.workbench import Workbench, open_index

NAMES_AND_SUMMARIES = ("name and summary", "names and summaries")  # one, and several; see counted()


def add_verbs(verbs: Verbs) -> None:
    """Add the verbs update, remove and undo."""
    updating = index_verb(verbs, "update", "add documents to an index, or replace those of the same name")
    add_sources(updating, needed=False)
    updating.add_argument(
        "--compare-fresh",
        action="store_true",
        help="measure the distance to a fresh build, which is made beside; without PATH nothing is changed",
    )
    updating.add_argument("--questions", type=Path, metavar="FILE.jsonl", help="questions with gold evidence for it")
    _add_common(updating, _update)

    removing = index_verb(verbs, "remove", "take documents out of an index; no trace of them is left in it")
    removing.add_argument("documents", nargs="+", metavar="DOCUMENT", help="its name or id")
    _add_common(removing, _remove)
    removing.add_argument("--forget", action="store_true", help="delete the unnamed earlier states, which hold them")

    undoing = index_verb(verbs, "undo", "put the state before the last update or edit of an index back")
    undoing.add_argument("--list", action="store_true", help="show the earlier states, change nothing")
    undoing.add_argument("--forget", action="store_true", help="delete the unnamed earlier states, change nothing else")
    set_run(undoing, _undo)


def _add_common(parser: argparse.ArgumentParser, run: Callable[[argparse.Namespace], None]) -> None:
    parser.add_argument("--preview", action="store_true", help="say what will change and cost, and change nothing")
    add_budget(parser, "stop when it is spent")
    add_execution(parser)
    set_run(parser, run)


def _update(options: argparse.Namespace) -> None:
    bench, index = Workbench.default(), open_index(options.index)
    if not options.paths and not options.compare_fresh:
        raise InvalidConfig("command.update_what")
    if options.paths:
        parsed = read_sources(options, bench)
        if parsed.documents:
            _changed(options, bench, index, changes_to(index, parsed.documents))
    if options.compare_fresh and not options.preview:
        _compared(options, bench)


def _remove(options: argparse.Namespace) -> None:
    bench, index = Workbench.default(), open_index(options.index)
    _changed(options, bench, index, removal(index, options.documents))
    if options.forget and not options.preview:
        _forget(bench, options.index)


def _forget(bench: Workbench, folder: Path) -> None:
    """Delete the earlier states, and say which ones stay."""
    bench.updates.forget_earlier(folder)
    if staying := [state.name for state in bench.snapshots.list(folder)]:
        names = ", ".join(staying)
        print(visible(sentence(message("snapshot.named_stay", n=len(staying), names=names))), file=sys.stderr)


def _changed(options: argparse.Namespace, bench: Workbench, index: Index, changes: DocumentChanges) -> None:
    """Change the index, or print what that would do."""
    preview = bench.updates.preview(index, changes)
    if options.preview:
        show(options, plain(preview), preview_text(preview))
        return
    for name in changes.unchanged:
        print(f"{visible(name)}: is in the index already", file=sys.stderr)
    if changes:
        options.stop.line = "stopped; the index is as it was, and what models answered is kept for the next time"
        options.stop.clean_up = lambda: give_up_staging(options.index)
        index = bench.updates.update(options.index, changes, run_context(options, bench, options.index.name))
        make_offered_parts(options, bench, index)
    print_changed(options, index, {"preview": plain(preview)})


def print_changed(options: argparse.Namespace, index: Index, facts: Mapping[str, Any], *, changed: bool = True) -> None:
    """Print what the index holds and what was changed. facts: more JSON values. changed: whether a rewriting did."""
    shown, report = describe(index), index.report.update
    values = {"index": str(options.index), **facts, "update": plain(report) if report else None}
    if printed_json(options, {**plain(shown), **values}):
        return
    print(f"{options.index}: {index_sentence(shown)}")
    if not changed:
        print("nothing changed: the model had written these layers before")
    elif report is not None:
        print(report_text(report))


def preview_text(preview: UpdatePreview) -> str:
    """Describe what an update will do, line by line."""
    lines = [f"{kind}: {visible(', '.join(names))}" for kind, names in (
        ("adds", preview.added), ("changes", preview.changed), ("removes", preview.removed)) if names]  # fmt: skip
    lines.append(
        f"{counted(preview.chunks_added, 'chunk')} to read, {preview.chunks_removed:,} to go, "
        f"{preview.chunks_kept:,} kept"
    )
    lines.append(
        f"about {preview.entities_touched:,} entities and {preview.clusters_touched:,} of "
        f"{preview.clusters:,} clusters of the lowest layer are touched"
    )
    if preview.usage.calls:
        lines.append(
            f"about {preview.usage.calls:,} model calls, {preview.usage.prompt_tokens:,} prompt tokens, "
            f"${preview.usage.cost:,.2f}; a fresh build takes {preview.fresh_calls:,} calls"
        )
    if preview.calls_forgotten:
        lines.append(f"{preview.calls_forgotten:,} unchanged chunks are asked for again: their replies are not stored")
    return "\n".join(lines or ["nothing changes"])


def report_text(report: UpdateReport) -> str:
    """Describe what an update has changed, line by line."""
    if report.rewritten_from:
        return "\n".join(_rewritten_lines(report))
    lines = [
        f"chunks: {report.chunks_added:,} read, {report.chunks_removed:,} gone",
        f"entities: {report.entities_added:,} new, {report.entities_changed:,} changed, "
        f"{report.entities_removed:,} gone",
        f"relations: {report.relations_added:,} new, {report.relations_changed:,} changed, "
        f"{report.relations_removed:,} gone",
        *(
            f"layer {row.layer}: {row.kept:,} clusters kept, {row.changed:,} changed, {row.new:,} new, "
            f"{row.gone:,} gone"
            for row in report.layers
        ),
        f"texts: {report.texts_kept:,} kept, {report.texts_written:,} written",
    ]
    if report.sentences_kept or report.sentences_written:
        lines.append(f"sentences on relations: {report.sentences_kept:,} kept, {report.sentences_written:,} written")
    scores = ", ".join("–" if score is None else f"{score:.2f}" for score in report.agreement)
    lines.append(f"agreement with a fresh clustering, by layer: {scores}")
    return "\n".join(lines)


def _rewritten_lines(report: UpdateReport) -> list[str]:
    """Describe what writing upper layers again has changed."""
    return [
        f"written again from layer {report.rewritten_from} up: {counted(report.texts_written, *NAMES_AND_SUMMARIES)}, "
        f"{counted(report.sentences_written, 'sentence')} on relations; clusters and base graph are the same",
        *(f"layer {row.layer}: {row.kept:,} texts as before, {row.changed:,} others" for row in report.layers),
    ]


def _compared(options: argparse.Namespace, bench: Workbench) -> None:
    """Print the distance of the index to a fresh build of its documents."""
    questions = read_questions(options.questions) if options.questions else None
    distance = bench.fresh_builds.compare(options.index, questions, report=PrintedProgress())
    if printed_json(options, {**plain(distance), "advises_rebuild": distance.advises_rebuild}):
        return
    print("adjusted Rand index with a fresh build, by layer: " + ", ".join(f"{x:.2f}" for x in distance.clusters))
    if distance.recall is not None and distance.fresh_recall is not None:
        print(f"recall of evidence {distance.recall:.3f}, of a fresh build {distance.fresh_recall:.3f}, "
              f"over {counted(distance.n_questions, 'question')}")  # fmt: skip
    print(sentence(message("update.advice.rebuild" if distance.advises_rebuild else "update.advice.stay")))


def _undo(options: argparse.Namespace) -> None:
    bench = Workbench.default()
    if options.list or options.forget:
        if options.forget:
            _forget(bench, options.index)
        states = earlier_states(options.index)
        lines = [f"{each.number}: {counted(each.documents, 'document')}, {size(each.size_bytes)}" for each in states]
        shown = {"states": [plain(each) for each in states]}
        show(options, shown, "\n".join(lines or ["no earlier states are kept"]))
        return
    index = bench.updates.undo(options.index)
    values = {**plain(describe(index)), "index": str(options.index)}
    show(options, values, f"{options.index}: {index_sentence(describe(index))}")
