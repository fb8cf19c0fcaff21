"""parts, part: what an index has beside its graph, and making one of these."""

import argparse
from typing import Any

from leanrag_core.commands._options import Verbs, index_verb, option_values, set_run
from leanrag_core.commands._printing import PrintedProgress, printed_json, show
from leanrag_core.figures.numbers import duration, size
from leanrag_core.files.records import plain
from leanrag_core.indexing.part_base import parts
from leanrag_core.messages.catalog import sentence
from leanrag_core.types.manifest import ABSENT, PartState
from leanrag_core.types.visible import visible
from leanrag_core.workbench import Workbench, open_index


def add_verbs(verbs: Verbs) -> None:
    """Add the verbs parts and part."""
    listing = index_verb(verbs, "parts", "the parts that an index has or may have, and what they cost")
    set_run(listing, _parts)

    making = index_verb(verbs, "part", "make a part of an index, such as its search index")
    making.add_argument("name", metavar="NAME")
    making.add_argument("--option", action="append", default=[], metavar="NAME=VALUE", help="an option of the part")
    set_run(making, _part)


def _parts(options: argparse.Namespace) -> None:
    bench = Workbench.default()
    states, broken = bench.parts.all(open_index(options.index)), parts().broken
    unusable = [{"file": file.file, "problem": sentence(file.message)} for file in broken]
    if printed_json(options, {"parts": [part_values(state) for state in states], "broken": unusable}):
        return
    for state in states:
        print(_line(state))
    for file in broken:
        print(f"{'not usable':>12}: {visible(sentence(file.message))}")


def _part(options: argparse.Namespace) -> None:
    bench, index = Workbench.default(), open_index(options.index)
    options.stop.line = "stopped; what was made of the part is not used, and the index is as it was"
    bench.parts.build(index, options.name, option_values(options.option), report=PrintedProgress())
    [state] = [state for state in bench.parts.all(index) if state.name == options.name and state.finished][:1]
    show(options, part_values(state), _line(state))


def part_values(state: PartState) -> dict[str, Any]:
    """Return the part as JSON values."""
    return {
        "name": state.name,
        "title": sentence(state.title),
        "status": state.status,
        "fingerprint": state.fingerprint,
        "needs": list(state.needs),
        "offered": state.offered,
        "config": dict(state.config),
        "seconds": state.seconds,
        "bytes": state.size_bytes,
        "usage": plain(state.usage),
        "problem": sentence(state.problem) if state.problem is not None else "",
    }


def _line(state: PartState) -> str:
    if state.status == ABSENT:
        wish = "not made; this index should have it" if state.offered else "not made"
        return f"{state.name:>12}: {wish}. {sentence(state.help)}"
    cost = f"{size(state.size_bytes)}, made in {duration(state.seconds)}" if state.finished else size(state.size_bytes)
    problem = f": {visible(sentence(state.problem))}" if state.problem is not None else ""
    return f"{state.name:>12}: {state.status}, {cost}{problem}"
