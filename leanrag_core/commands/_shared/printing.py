"""Results on stdout and progress on stderr."""

import json
import sys
import time
from typing import Any

from leanrag_core.figures.numbers import counted
from leanrag_core.types.job import Progress
from leanrag_core.types.manifest import IndexDescription
from leanrag_core.types.visible import visible

_EVERY_SECONDS = 3.0


def print_json(value: Any) -> None:
    """Print the value as JSON on stdout."""
    print(json.dumps(value, ensure_ascii=False, indent=1))


class PrintedProgress:
    """Prints the progress of long work on stderr, a line a stage and every few seconds."""

    def __init__(self) -> None:
        self._stage, self._at = "", 0.0

    def __call__(self, progress: Progress) -> None:
        ends = progress.total > 0 and progress.done == progress.total
        if progress.stage == self._stage and not ends and time.monotonic() - self._at < _EVERY_SECONDS:
            return
        self._stage, self._at = progress.stage, time.monotonic()
        count = f" {progress.done:,}/{progress.total:,} {progress.unit}" if progress.total else ""
        current = f", {visible(progress.current)}" if progress.current and not progress.done else ""
        if progress.waiting:
            current = ", waits for another build of the same index"
        print(f"{progress.stage}{count}{current}", file=sys.stderr)


def index_sentence(index: IndexDescription) -> str:
    """Say in a sentence what an index holds."""
    sizes = ", ".join(f"{layer.entities:,}" for layer in index.layers)
    relations = sum(layer.relations for layer in index.layers)
    n_builtin = index.builtin_texts
    note = f" ({n_builtin:,} of its texts by the built-in writer, since the model failed)" if n_builtin else ""
    return (
        f"{index.kind}{note} of {counted(index.documents, 'document')}, {counted(index.chunks, 'chunk')}; "
        f"nodes by layer {sizes}; {counted(relations, 'relation')}."
    )
