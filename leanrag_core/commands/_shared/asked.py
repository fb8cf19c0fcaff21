"""Options of verbs that ask an index a question: the strategy, its preset, its numbers and its own options."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from leanrag_core.commands._shared.options import add_preset, add_top, top_options
from leanrag_core.errors import InvalidConfig
from leanrag_core.types.config import preset
from leanrag_core.types.visible import visible


def add_asked(parser: argparse.ArgumentParser) -> None:
    """Add the index, the question, and the options of how it is asked."""
    parser.add_argument("index", type=Path, metavar="DIR")
    parser.add_argument("question")
    parser.add_argument("--strategy", default="leanrag")
    add_preset(parser, "top-N, top-C and the token budgets")
    add_top(parser)
    parser.add_argument("--option", action="append", default=[], metavar="NAME=VALUE", help="an option of the strategy")


def asked_options(options: argparse.Namespace) -> dict[str, Any]:
    """Return the strategy's options that were given. Raises InvalidConfig for one without a value."""
    from leanrag_core.messages.catalog import sentence
    from leanrag_core.retrieval.base import strategies

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
    return chosen | top_options(options)
