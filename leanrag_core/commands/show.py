"""show: what an index holds."""

import argparse
from pathlib import Path

from leanrag_core.commands._shared.options import add_json
from leanrag_core.commands._shared.printing import index_sentence, print_json
from leanrag_core.figures.numbers import duration, size
from leanrag_core.records import plain
from leanrag_core.types.visible import visible


def add_verbs(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """The verb show."""
    parser = verbs.add_parser("show", help="what an index holds")
    parser.add_argument("index", type=Path, metavar="DIR")
    add_json(parser)
    parser.set_defaults(run=_show)


def _show(options: argparse.Namespace) -> int:
    from leanrag_core.indexing.describe import describe
    from leanrag_core.workbench import open_index

    shown = describe(open_index(options.index))
    if options.json:
        print_json(plain(shown))
        return 0
    print(f"{visible(shown.name)}: {index_sentence(shown)}")
    print(
        f"{'layer':>5} {'entities':>9} {'relations':>9} {'summarised':>10} {'clusters':>8} {'largest':>7} {'parts':>6}"
    )
    for row in shown.layers:
        print(
            f"{row.layer:>5} {row.entities:>9,} {row.relations:>9,} {row.summarised:>10,} "
            f"{row.clusters:>8,} {row.largest_cluster:>7,} {row.components:>6,}"
        )
    print("dropped: " + (", ".join(f"{n:,} in {stage}" for stage, n in shown.drops.items()) or "nothing"))
    for part in shown.parts:
        cost = f"{size(part.bytes)}, made in {duration(part.seconds)}" if part.seconds else size(part.bytes)
        print(f"part {part.name}: {part.status}, {cost}")
    return 0
