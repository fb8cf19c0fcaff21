"""ask: a question to an index."""

import argparse
import json
from pathlib import Path
from typing import Any

from leanrag_core.commands._shared.options import add_json, add_preset
from leanrag_core.commands._shared.printing import print_json
from leanrag_core.errors import InvalidConfig
from leanrag_core.figures.numbers import counted
from leanrag_core.types.presets import preset
from leanrag_core.types.visible import visible


def add_verbs(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """The verb ask."""
    parser = verbs.add_parser("ask", help="a question to an index")
    parser.add_argument("index", type=Path, metavar="DIR")
    parser.add_argument("question")
    parser.add_argument("--strategy", default="leanrag")
    add_preset(parser, "top-N, top-C and the token budgets")
    parser.add_argument("--top-n", type=int, default=None)
    parser.add_argument("--top-c", type=int, default=None)
    parser.add_argument("--no-answer", action="store_true", help="retrieve only")
    parser.add_argument("--option", action="append", default=[], metavar="NAME=VALUE", help="an option of the strategy")
    add_json(parser)
    parser.set_defaults(run=_ask)


def _ask(options: argparse.Namespace) -> int:
    from leanrag_core.answering import ask_record
    from leanrag_core.retrieval.base import strategies
    from leanrag_core.workbench import Workbench, open_index

    chosen: dict[str, Any] = {}
    known = next((each.config for each in strategies() if each.name == options.strategy), None)
    if known is not None:  # another strategy takes those of its options that the preset speaks of
        chosen |= {name: value for name, value in preset(options.preset).ask.items() if hasattr(known, name)}
    for pair in options.option:
        name, separator, value = pair.partition("=")
        if not separator:
            raise InvalidConfig(f"--option {pair!r} is not NAME=VALUE")
        try:
            chosen[name.replace("-", "_")] = json.loads(value.lower())
        except ValueError:
            chosen[name.replace("-", "_")] = value
    for name in ("top_n", "top_c"):
        if getattr(options, name) is not None:
            chosen[name] = getattr(options, name)
    bench, index = Workbench.default(), open_index(options.index)
    trace = bench.retrieve(index, options.question, options.strategy, **chosen)
    answer = None if options.no_answer else bench.answer(index, trace)
    if options.json:
        print_json(ask_record(trace, answer))
        return 0
    for step in trace.steps:
        print(f"{step.name:>9}: {visible(step.caption)}")
    for note in trace.notes:
        print(f"{'note':>9}: {visible(note)}")
    for place, chunk in enumerate(trace.chunks, start=1):
        print(f"{f'C{place}':>9}: {chunk.document} [{chunk.start}:{chunk.end}], {counted(chunk.seed_count, 'seed')}")
    if answer:
        print(f"\n{'Extractive answer' if answer.extractive else 'Answer'}: {visible(answer.text)}")
    return 0
