"""What several verbs print: JSON, progress, a sentence of an index, a run."""

import argparse
import json
import sys
import time
from collections.abc import Mapping
from typing import Any

from leanrag_core.errors import LeanRAGError, PartMissing
from leanrag_core.figures.numbers import counted
from leanrag_core.messages.catalog import sentence
from leanrag_core.retrieval.base import parts_needed
from leanrag_core.retrieval.settings import settings_words
from leanrag_core.types.batches import BatchProgress
from leanrag_core.types.index import Index
from leanrag_core.types.job import Progress
from leanrag_core.types.manifest import IndexDescription
from leanrag_core.types.trace import Answer, Trace
from leanrag_core.types.visible import visible
from leanrag_core.workbench import Workbench

_EVERY_SECONDS = 3.0


def print_json(value: Any) -> None:
    """Print the value as JSON on stdout."""
    print(json.dumps(value, ensure_ascii=False, indent=1))


def printed_json(options: argparse.Namespace, value: Any) -> bool:
    """Print the value as JSON where --json is given; return whether it is."""
    if options.json:
        print_json(value)
    return bool(options.json)


def show(options: argparse.Namespace, value: Any, text: str) -> None:
    """Print the value as JSON where --json is given, else the text."""
    if not printed_json(options, value):
        print(text)


class PrintedProgress:
    """Prints the progress of long work on stderr, a line a stage and every few seconds."""

    def __init__(self) -> None:
        self._stage, self._at = "", 0.0
        self._batch: BatchProgress | None = None

    def __call__(self, progress: Progress) -> None:
        ends = progress.total > 0 and progress.done == progress.total
        is_news, self._batch = progress.batch != self._batch, progress.batch
        if progress.batch is not None and not is_news:
            return
        if progress.stage == self._stage and not (ends or is_news) and time.monotonic() - self._at < _EVERY_SECONDS:
            return
        self._stage, self._at = progress.stage, time.monotonic()
        count = f" {progress.done:,}/{progress.total:,} {progress.unit}" if progress.total else ""
        current = f", {visible(progress.current)}" if progress.current and not progress.done else ""
        if progress.batch is not None:
            current = f", {progress.batch.answered:,} of {progress.batch.calls:,} calls in batches are answered"
        if progress.waiting:
            current = ", waits for another build of the same index"
        print(f"{progress.stage}{count}{current}", file=sys.stderr)


def index_sentence(index: IndexDescription) -> str:
    """Say in a sentence what an index holds."""
    sizes = ", ".join(f"{layer.entities:,}" for layer in index.layers)
    relations = sum(layer.relations for layer in index.layers)
    n_builtin = index.builtin_texts
    note = f" ({n_builtin:,} of its texts by the built-in writer, since the model failed)" if n_builtin else ""
    coverage, gaps = index.coverage, ""
    if coverage is not None and coverage.has_gaps:
        gaps = f", built with gaps: only {coverage.covered:,} of {counted(index.chunks, 'chunk')} gave entities"
    return (
        f"{index.kind}{note} of {counted(index.documents, 'document')}, {counted(index.chunks, 'chunk')}{gaps}; "
        f"nodes by layer {sizes}; {counted(relations, 'relation')}."
    )


def make_offered_parts(options: argparse.Namespace, bench: Workbench, index: Index) -> None:
    """Make what the index lacks; a part that fails is reported on stderr."""
    for part in bench.parts.offered(index):
        options.stop.line = "stopped; the index is complete, and 'part' makes what it lacks"
        options.stop.clean_up = lambda: None
        try:
            bench.parts.build(index, part, report=PrintedProgress())
        except LeanRAGError as error:  # the index is complete without it
            print(f"leanrag: {error}", file=sys.stderr)


def make_needed_parts(bench: Workbench, index: Index, strategy: str, chosen: Mapping[str, Any]) -> None:
    """Make the parts that the strategy needs with these options and the index lacks, up to one that calls a model: it
    is made by 'part', as the error of the retrieval says."""
    names = parts_needed(strategy, chosen)
    lacking = {state.name: state for state in bench.parts.lacking(index)} if names else {}
    needed = [name for name in names if name in lacking]
    for name in dict.fromkeys(part for each in needed for part in (*lacking[each].needs, each) if part in lacking):
        if bench.parts.forecast(index, name).calls.high:
            return
        bench.parts.build(index, name, report=PrintedProgress())


def make_parts_of_try(
    bench: Workbench, index: Index, strategy: str, chosen: Mapping[str, Any], changed: Mapping[str, Any]
) -> None:
    """Make the parts that the changed options need beyond the chosen ones. Where one is not made, say on stderr which
    change is not tried and why, and raise it."""
    tried = {**chosen, **changed}
    further = set(parts_needed(strategy, tried)) - set(parts_needed(strategy, chosen))
    if not further:
        return
    index = index.cut.whole if index.cut is not None else index
    try:
        make_needed_parts(bench, index, strategy, tried)
        lacking = further - bench.parts.finished(index)
        if lacking:
            raise PartMissing("part.missing", part=min(lacking))
    except LeanRAGError as error:
        changes = ", ".join(f"{name} {value}" for name, value in changed.items())
        print(f"leanrag: not tried: {changes}: {error}", file=sys.stderr)
        raise


def print_run(trace: Trace, answer: Answer | None) -> None:
    """Print the settings, the steps, the notes, the passages with their marks, and the answer, on stdout."""
    print(f"{'settings':>9}: {visible(sentence(settings_words(trace.strategy, trace.parameters)))}")
    for step in trace.steps:
        print(f"{step.name:>9}: {visible(sentence(step.caption))}")
    for note in trace.notes:
        print(f"{'note':>9}: {visible(sentence(note))}")
    mark_of = trace.context.mark_of
    for passage in trace.passages:
        if source := passage.source:
            why = f", {sentence(passage.reason)}" if passage.reason else ""
            place = f"{visible(source.document)} [{source.start}:{source.end}]"
            print(f"{mark_of.get(passage.id, ''):>9}: {place}{visible(why)}")
    if answer:
        print(f"\n{'Extractive answer' if answer.extractive else 'Answer'}: {visible(answer.text)}")
        for part in answer.nearest_parts:
            print(f"{'nearest':>9}: {visible(part.text)} [{', '.join(part.marks)}]")
