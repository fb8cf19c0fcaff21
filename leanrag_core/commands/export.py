"""export: an index for another program."""

import argparse
import sys
from dataclasses import asdict
from pathlib import Path

from leanrag_core.commands._options import Verbs, index_verb, set_run
from leanrag_core.commands._printing import printed_json
from leanrag_core.figures.numbers import counted, size
from leanrag_core.messages.catalog import ENGLISH, languages
from leanrag_core.storage.history import read_run
from leanrag_core.workbench import Workbench, open_index


def add_verbs(verbs: Verbs) -> None:
    """Add the verb export."""
    parser = index_verb(verbs, "export", "the graph of an index as a file for another program")
    parser.add_argument(
        "--format",
        required=True,
        metavar="NAME",
        help="graphml, gexf, json, csv, parquet, cypher, html, site or archive",
    )
    parser.add_argument(
        "--out", required=True, type=Path, metavar="FILE", help="of a site: a .zip file or a new folder"
    )
    parser.add_argument(
        "--run",
        dest="runs",
        type=Path,
        action="append",
        metavar="FILE",
        help="a recorded question (ask --save) for a site, again for more; else those of presentations of this index",
    )
    parser.add_argument("--language", choices=languages(), default=ENGLISH, help="of a site")
    set_run(parser, _export)


def _export(options: argparse.Namespace) -> None:
    runs = None if options.runs is None else [read_run(path) for path in options.runs]
    exported = Workbench.default().export(
        open_index(options.index), options.format, options.out, language=options.language, runs=runs
    )
    if exported.replaced:
        replaced = counted(exported.replaced, "character")
        print(f"note: {exported.format} cannot hold {replaced}, each replaced by U+FFFD", file=sys.stderr)
    if printed_json(options, {**asdict(exported), "path": str(exported.path)}):
        return
    entities, relations = counted(exported.entities, "entity", "entities"), counted(exported.relations, "relation")
    print(f"{exported.path}: {entities}, {relations}, {size(exported.bytes)}.")
