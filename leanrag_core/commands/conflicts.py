"""conflicts: quotes of an index that contradict each other."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from leanrag_core.commands._options import add_json
from leanrag_core.commands._printing import print_json
from leanrag_core.types.visible import visible

if TYPE_CHECKING:
    from leanrag_core.types.conflicts import Quote
    from leanrag_core.types.index import Index


def add_verbs(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the verb conflicts."""
    parser = verbs.add_parser("conflicts", help="quotes that contradict each other, found by rules")
    parser.add_argument("index", type=Path, metavar="DIR")
    add_json(parser)
    parser.set_defaults(run=_conflicts)


def _conflicts(options: argparse.Namespace) -> int:
    from leanrag_core.files.records import plain
    from leanrag_core.messages.catalog import sentence
    from leanrag_core.messages.message import message
    from leanrag_core.queries.conflicts import find_conflicts
    from leanrag_core.workbench import open_index

    index = open_index(options.index)
    report = find_conflicts(index)
    if options.json:
        ids = index.chunks["id"]
        values = plain(report)
        for conflict in values["conflicts"]:
            for side in ("first", "second"):
                conflict[side]["chunk_id"] = ids[conflict[side]["chunk"]].as_py()
        print_json({"n": len(report.conflicts), **values})
        return 0
    for conflict in report.conflicts:
        print(f"{visible(' – '.join(conflict.names))}: {visible(conflict.what)}")
        for quote in (conflict.first, conflict.second):
            print(f"  {visible(quote.text)}\n    {_place(index, quote)}")
    print(
        sentence(
            message(
                "conflicts.found", n=len(report.conflicts), sentences=report.sentences, statements=report.statements
            )
        )
    )
    return 0


def _place(index: "Index", quote: "Quote") -> str:
    """Return where the quote is, and the date of its document."""
    chunk = index.chunk_cells["id"][quote.chunk].as_py()
    dated = f", dated {quote.date}" if quote.date else ""
    return f"{visible(quote.document)}{dated}, chunk {chunk}, characters {quote.start} to {quote.end}"
