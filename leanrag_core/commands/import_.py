"""import: a graph that another program made to an index."""

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from leanrag_core.commands._options import (
    Verbs,
    add_budget,
    add_config,
    add_execution,
    config_of,
    run_context,
    set_run,
)
from leanrag_core.commands._printing import index_sentence, printed_json, show
from leanrag_core.errors import ImportFailed
from leanrag_core.figures.lines import import_lines
from leanrag_core.files.records import plain
from leanrag_core.importing.base import Restorer, importer_for
from leanrag_core.indexing.manifest import describe
from leanrag_core.messages.catalog import sentence
from leanrag_core.storage.ownership import require_replaceable, require_sources_outside
from leanrag_core.storage.staging import give_up_staging
from leanrag_core.types.imported import ImportPreview
from leanrag_core.types.visible import visible
from leanrag_core.workbench import Workbench


def add_verbs(verbs: Verbs) -> None:
    """Add the verb import."""
    parser = verbs.add_parser("import", help="a graph that another program made to an index")
    parser.add_argument(
        "format",
        metavar="FORMAT",
        help="what wrote the files, such as lightrag, graphrag, plain (tables) or archive (of an index); auto: the one "
        "that recognises them; any other word lists all formats",
    )
    parser.add_argument("path", type=Path, metavar="PATH")
    target = parser.add_mutually_exclusive_group(required=True)
    target.add_argument("--out", type=Path, metavar="DIR")
    target.add_argument("--preview", action="store_true", help="say what would be imported and left out, and stop")
    parser.add_argument(
        "--take-prompts", action="store_true", help="take the prompts that an archive brings, which --preview shows"
    )
    parser.add_argument("--name", default="", help="name of the index (default: the path's name)")
    add_budget(parser, "stop when it is spent")
    add_execution(parser)
    add_config(parser)
    set_run(parser, _import)


def _import(options: argparse.Namespace) -> None:
    options.format = "" if options.format == "auto" else options.format
    if options.preview:
        _preview(options)
        return
    config = config_of(options)
    require_replaceable(options.out)
    require_sources_outside([options.path], options.out)
    bench = Workbench.default()
    _show_carried(options, bench)
    context = run_context(options, bench, options.name or options.out.name, config)
    started = time.perf_counter()
    options.stop.line = "stopped; nothing half-finished is left, and what models answered is kept for the next time"
    options.stop.clean_up = lambda: give_up_staging(options.out)
    request = bench.imports.request(options.path, options.format, config, out=options.out, name=options.name)
    index = bench.imports.run(options.path, options.format, request, context)
    shown, seconds = describe(index), time.perf_counter() - started
    dropped = index.report.dropped.get("import", ())
    for drop in dropped[:20]:
        print(f"{drop.item}: {drop.reason}", file=sys.stderr)
    n_dropped = index.report.drops.get("import", 0)
    if n_dropped > len(dropped[:20]):
        print(f"{n_dropped:,} in all; the first 200 are in {options.out / 'report.json'}", file=sys.stderr)
    values = {**plain(shown), "index": str(options.out), "seconds": round(seconds, 2)}
    show(options, values, f"{options.out}: {index_sentence(shown)} {seconds:.1f} s.")


def _show_carried(options: argparse.Namespace, bench: Workbench) -> None:
    """Print what an archive brings before it is imported. Raises ImportFailed for prompts that nobody has agreed to."""
    if not isinstance(importer_for(options.path, options.format), Restorer):
        return
    preview = bench.imports.preview(options.path, options.format)
    for line in _carried_lines(preview):
        print(line, file=sys.stderr)
    if preview.prompts and not options.take_prompts:
        raise ImportFailed("import.archive_brings_prompts", tasks=", ".join(prompt.task for prompt in preview.prompts))


def _carried_lines(preview: ImportPreview) -> Iterator[str]:
    for setting in preview.settings:
        yield visible(f"setting {setting.name}: {setting.value} (usually {setting.usual or 'unknown'})")
    for prompt in preview.prompts:
        yield visible(f"prompt {prompt.task}:")
        yield from (f"    {visible(line)}" for line in prompt.text.splitlines())


def _preview(options: argparse.Namespace) -> None:
    preview = Workbench.default().imports.preview(options.path, options.format)
    if printed_json(options, {**plain(preview), "notes": [sentence(note) for note in preview.notes]}):
        return
    print(f"{options.path}: {preview.format}")
    for title, n in import_lines(preview):
        print(f"{n:>12,}  {sentence(title)}")
    for note in preview.notes:
        print(f"note: {sentence(note)}")
    for line in _carried_lines(preview):
        print(line)
    for drop in preview.drops[:20]:
        print(f"{drop.stage}: {drop.item}: {drop.reason}", file=sys.stderr)
