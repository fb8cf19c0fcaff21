"""Parts that an index should have, made after a verb has made or changed the index."""

import argparse
import sys
from typing import TYPE_CHECKING

from leanrag_core.commands._shared.printing import PrintedProgress
from leanrag_core.errors import LeanRAGError
from leanrag_core.types.index import Index

if TYPE_CHECKING:
    from leanrag_core.workbench import Workbench


def make_offered_parts(options: argparse.Namespace, bench: "Workbench", index: Index) -> None:
    """Makes what the index lacks; a part that fails is said on stderr."""
    for part in bench.parts.offered(index):
        options.stop.line = "stopped; the index is complete, and 'part' makes what it lacks"
        options.stop.clean_up = lambda: None
        try:
            bench.parts.build(index, part, report=PrintedProgress())
        except LeanRAGError as error:  # the index is complete without it
            print(f"leanrag: {error}", file=sys.stderr)
