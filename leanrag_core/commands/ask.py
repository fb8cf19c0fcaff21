"""ask: a question to an index."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from leanrag_core.commands._shared.options import add_json, add_preset, add_top, top_options
from leanrag_core.commands._shared.printing import print_json
from leanrag_core.commands._shared.run_lines import print_run
from leanrag_core.errors import InvalidConfig
from leanrag_core.types.presets import preset
from leanrag_core.types.visible import visible


def add_verbs(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """The verb ask."""
    parser = verbs.add_parser("ask", help="a question to an index")
    parser.add_argument("index", type=Path, metavar="DIR")
    parser.add_argument("question")
    parser.add_argument("--strategy", default="leanrag")
    add_preset(parser, "top-N, top-C and the token budgets")
    add_top(parser)
    parser.add_argument("--no-answer", action="store_true", help="retrieve only")
    parser.add_argument("--option", action="append", default=[], metavar="NAME=VALUE", help="an option of the strategy")
    parser.add_argument("--save", type=Path, metavar="FILE", help="record the run, for show-run and the app")
    add_json(parser)
    parser.set_defaults(run=_ask)


def _ask(options: argparse.Namespace) -> int:
    from leanrag_core.answering.record import ask_record
    from leanrag_core.messages.catalog import sentence
    from leanrag_core.retrieval.base import strategies
    from leanrag_core.workbench import Workbench, open_index

    chosen: dict[str, Any] = {}
    listed = strategies()
    for broken in listed.broken:
        print(f"note: {visible(sentence(broken.message))}", file=sys.stderr)
    known = next((each.config for each in listed.strategies if each.name == options.strategy), None)
    if known is not None:  # another strategy takes those of its options that the preset speaks of
        chosen |= {name: value for name, value in preset(options.preset).ask.items() if hasattr(known, name)}
    for pair in options.option:
        name, separator, value = pair.partition("=")
        if not separator:
            raise InvalidConfig("command.option_without_value", option=pair)
        try:
            chosen[name.replace("-", "_")] = json.loads(value.lower())
        except ValueError:
            chosen[name.replace("-", "_")] = value
    chosen |= top_options(options)
    bench, index = Workbench.default(), open_index(options.index)
    trace = bench.retrieve(index, options.question, options.strategy, **chosen)
    answer = None if options.no_answer else bench.answer(index, trace)
    if options.save:
        bench.save_run(options.save, trace, answer)
    if options.json:
        print_json(ask_record(trace, answer))
        return 0
    print_run(trace, answer)
    return 0
