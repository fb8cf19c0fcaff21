"""The documents that a command of the command line names, and the options of how they are read."""

import argparse
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from leanrag_core.errors import InvalidConfig
from leanrag_core.messages.catalog import sentence

if TYPE_CHECKING:
    from leanrag_core.indexing.parsing import ParsedUpload
    from leanrag_core.workbench import Workbench

_LIMITS = ("parse_seconds", "parse_memory_mb")


def add_sources(parser: argparse.ArgumentParser, *, needed: bool = True) -> None:
    """Which files are read, and what that may take; the settings say it where the command does not."""
    parser.add_argument("paths", nargs="+" if needed else "*", type=Path, metavar="PATH")
    parser.add_argument("--follow-links", action="store_true", help="read what links point to outside of the folders")
    parser.add_argument("--parse-seconds", type=float, metavar="S", help="longest time to read one file (usual: 60)")
    parser.add_argument("--parse-memory-mb", type=int, metavar="MB", help="most memory to read one file (usual: 1500)")


def read_sources(options: argparse.Namespace, bench: "Workbench") -> "ParsedUpload":
    """The documents of the command's paths; prints what was skipped. Raises InvalidConfig."""
    from leanrag_core.indexing.parsing.confined import ConfinedParser
    from leanrag_core.indexing.parsing.limits import parse_limits
    from leanrag_core.indexing.reading import read_files

    for path in options.paths:
        if not os.path.lexists(path):
            raise InvalidConfig("command.no_source", path=str(path))
    chosen = {name: value for name in _LIMITS if (value := getattr(options, name)) is not None}
    parser = ConfinedParser(parse_limits(replace(bench.settings.read(), **chosen)))
    parsed = read_files(options.paths, parser, follow_links=options.follow_links)
    for refusal in parsed.refusals:
        print(f"{refusal.name}: {sentence(refusal.reason)}", file=sys.stderr)
    return parsed
