"""What several verbs print: JSON, progress, tables of experiments, layers, runs."""

import argparse
import json
import math
import sys
import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from leanrag_core.errors import InvalidConfig, LeanRAGError
from leanrag_core.figures.numbers import counted
from leanrag_core.messages.catalog import sentence
from leanrag_core.queries.schema import Filters
from leanrag_core.retrieval.settings import settings_words
from leanrag_core.types.batches import BatchProgress
from leanrag_core.types.index import Index
from leanrag_core.types.job import Progress
from leanrag_core.types.manifest import IndexDescription
from leanrag_core.types.trace import Answer, Trace
from leanrag_core.types.visible import visible

_EVERY_SECONDS = 3.0


def print_json(value: Any) -> None:
    """Print the value as JSON on stdout."""
    print(json.dumps(value, ensure_ascii=False, indent=1))


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


if TYPE_CHECKING:
    from leanrag_core.evaluation.experiments.comparison import ExperimentDifference
    from leanrag_core.evaluation.statistics import Interval
    from leanrag_core.evaluation.tables import Cell, ScoreTable
    from leanrag_core.types.experiment import ExperimentResult, ExperimentSummary

_NAME, _CELL = 28, 32  # characters of columns
_LARGE = 10.0  # figures from there on are shown without decimals


def summary_values(summary: "ExperimentSummary") -> dict[str, Any]:
    """Return the experiment's row in a list as JSON values."""
    return {**asdict(summary), "runs": list(summary.runs)}


def print_table(table: "ScoreTable") -> None:
    """Print a line for each run: mean, interval and letters by measure; then the settings of each."""
    from leanrag_core.evaluation.measuring import measure_infos
    from leanrag_core.retrieval.settings import settings_words

    titles, names = {info.name: sentence(info.title) for info in measure_infos()}, _names(table)
    print(f"{table.questions:,} questions{f' ({visible(table.kind)})' if table.kind else ''}")
    heads = "".join(f"{titles.get(measure, measure)[: _CELL - 1]:>{_CELL}}" for measure in table.measures)
    print(f"{'':<{_NAME}}{heads}{'ms':>8}")
    for row in table.rows:
        cells = "".join(f"{_cell(row.cells[measure]):>{_CELL}}" for measure in table.measures)
        latency = "–" if row.latency_ms is None else f"{row.latency_ms:,.0f}"
        failed = f"  {row.errors:,} failed" if row.errors else ""
        print(f"{visible(names[row.run.key])[: _NAME - 1]:<{_NAME}}{cells}{latency:>8}{failed}")
    for row in table.rows:
        settings = sentence(settings_words(row.run.strategy, row.run.options))
        print(f"{visible(names[row.run.key])}: {visible(settings) or '–'}")
    print("runs of a column that share a letter cannot be told apart (paired rank test, Holm, p .05)")


def print_grounds(result: "ExperimentResult", table: "ScoreTable") -> None:
    """Print what the table rests on, by its first measure of gold evidence, else its first."""
    from leanrag_core.evaluation.tables import RECALL, grounds

    if table.measures:
        measure = RECALL if RECALL in table.measures else table.measures[0]
        for said in grounds(result, [row.run.key for row in table.rows], measure, table.kind):
            print(f"note, {measure}: {visible(sentence(said))}")


def table_values(table: "ScoreTable") -> dict[str, Any]:
    """Return the table as JSON values."""
    names = _names(table)
    rows = [
        {
            "run": names[row.run.key],
            "key": row.run.key,
            "options": dict(row.run.options),
            "cells": {measure: _cell_values(cell) for measure, cell in row.cells.items()},
            "latency_ms": row.latency_ms,
            "cost": row.cost,
            "errors": row.errors,
        }
        for row in table.rows
    ]
    return {"kind": table.kind, "questions": table.questions, "measures": list(table.measures), "rows": rows}


def _names(table: "ScoreTable") -> dict[str, str]:
    """Return what the table's runs are called, by their keys."""
    from leanrag_core.evaluation.run_titles import run_titles

    return {key: sentence(title) for key, title in run_titles([row.run for row in table.rows]).items()}


def _cell_values(cell: "Cell") -> dict[str, Any]:
    return {"interval": _interval(cell.interval), "letters": cell.letters, "is_best": cell.is_best}


def _interval(interval: "Interval | None") -> dict[str, Any] | None:
    return None if interval is None else asdict(interval)


def _cell(cell: "Cell") -> str:
    if cell.interval is None:
        return "–"
    return f"{_with_bounds(cell.interval)} {cell.letters}".rstrip()


def _with_bounds(interval: "Interval", sign: str = "") -> str:
    places = 0 if abs(interval.value) >= _LARGE else 3
    if interval.low is None or interval.high is None:
        return f"{interval.value:{sign},.{places}f}"
    return f"{interval.value:{sign},.{places}f} [{interval.low:,.{places}f}, {interval.high:,.{places}f}]"


def print_difference(difference: "ExperimentDifference", most: int) -> None:
    """Print for each run the mean difference and the questions that lost most. most: at most so many of them."""
    print(f"{difference.measure}: {difference.before} -> {difference.after}")
    for run in difference.runs:
        mean = "–" if run.interval is None else _with_bounds(run.interval, "+")
        name = run.before if run.before == run.after else f"{run.before} -> {run.after}"
        print(f"{visible(name)}: {mean}, p {run.p:.3f}; {run.regressions:,} worse, {run.gains:,} better")
        for change in run.questions[:most]:
            if change.gain < 0:
                print(f"  {visible(change.question)}: {change.before:,.3f} -> {change.after:,.3f}")
    for name in (*difference.only_before, *difference.only_after):
        print(f"{visible(name)}: only in one of the two")


def show_islands(index: Index, *, as_json: bool) -> int:
    """Show each layer's components, and for a few taus what is summarised and connected. Returns the exit code."""
    from leanrag_core.queries.islands import components, suggest_tau, tau_curve

    tau_of = {step.layer: step.tau for step in index.report.clustering}
    rows = []
    for layer in index.layers:
        parts = components(len(layer), layer.ends)
        row = {
            "layer": layer.number,
            "entities": len(layer),
            "relations": layer.relations.num_rows,
            "islands": len(parts),
            "largest": int(parts.sizes[0]),
            "tau": tau_of.get(layer.number),
        }
        if layer.number:
            curve = tau_curve(layer)
            suggested = suggest_tau(curve)
            row["lambda"] = [
                {"lambda": int(value), "relations": int(pairs), "connected": int(connected), "islands": int(islands)}
                for value, pairs, connected, islands in zip(
                    curve.strengths, curve.pairs, curve.connected, curve.parts, strict=True
                )
            ]
            row["suggested_tau"] = suggested.tau if suggested else None
        rows.append(row)
    if as_json:
        print_json({"layers": rows})
        return 0
    print(f"{'layer':>5} {'entities':>9} {'relations':>9} {'islands':>8} {'largest':>8} {'tau':>7} {'suggested':>9}")
    for row in rows:
        tau, suggested_tau = (f"{row.get(name):g}" if row.get(name) is not None else "–" for name in _TAUS)
        print(
            f"{row['layer']:>5} {row['entities']:>9,} {row['relations']:>9,} {row['islands']:>8,} {row['largest']:>8,} "
            f"{tau:>7} {suggested_tau:>9}"
        )
    return 0


_TAUS = ("tau", "suggested_tau")


_FILTERED = 20  # names of a layer


def show_filtered(index: Index, filters: Filters, *, as_json: bool) -> int:
    """Show what passes the filters in each layer, the entities with most relations first, and how many relations pass
    between those. Returns the exit code."""
    rows: list[dict[str, Any]] = []
    for layer in index.layers:
        mask = filters.allows(index, layer.number)
        passing = mask.nonzero()[0]
        passing = passing[(-layer.degrees[passing]).argsort(kind="stable")]
        entities = [{"id": layer.entity(int(row)).id, "name": layer.entity(int(row)).name} for row in passing]
        between = mask[layer.ends].all(axis=1)
        relations = int((filters.allows_relations(index, layer.number) & between).sum())
        rows.append({"layer": layer.number, "of": len(layer), "relations": relations, "entities": entities})
    if as_json:
        print_json({"layers": rows})
        return 0
    for row in rows:
        names = [visible(entity["name"]) for entity in row["entities"]]
        more = f", and {len(names) - _FILTERED:,} more" if len(names) > _FILTERED else ""
        print(f"L{row['layer']}: {len(names):,} of {row['of']:,} entities, {row['relations']:,} relations")
        print("  " + "; ".join(names[:_FILTERED]) + more)
    return 0


def show_clusters(index: Index, number: int, *, as_json: bool) -> int:
    """Show the clusters that make that layer, the least coherent first. Returns the exit code; raises InvalidConfig
    for a layer that has none."""
    from leanrag_core.queries.clusters import cluster_quality

    if not 1 <= number < len(index.layers):
        raise InvalidConfig("show.no_clusters", layer=number, top=len(index.layers) - 1)
    quality = cluster_quality(index, number)
    names, below = index.layers[number].entities["name"], index.layers[number - 1].entities["name"]
    rows = [
        {
            "name": names[row].as_py(),
            "size": int(quality.sizes[row]),
            "cohesion": round(float(quality.cohesion[row]), 4),
            "conductance": _number(quality.conductance[row]),
            "oddest": below[int(quality.oddest[row])].as_py(),
            "oddest_cosine": round(float(quality.oddest_cosine[row]), 4),
        }
        for row in quality.cohesion.argsort(kind="stable").tolist()
    ]
    if as_json:
        print_json({"layer": number, "clusters": rows})
        return 0
    print(f"{'size':>5} {'cohesion':>8} {'conductance':>11}  name; oddest member")
    for row in rows:
        conductance = "–" if row["conductance"] is None else f"{row['conductance']:.2f}"
        print(
            f"{row['size']:>5} {row['cohesion']:>8.2f} {conductance:>11}  {visible(str(row['name']))}; "
            f"{visible(str(row['oddest']))} ({row['oddest_cosine']:.2f})"
        )
    return 0


def _number(value: float) -> float | None:
    return None if math.isnan(value) else round(float(value), 4)


if TYPE_CHECKING:
    from leanrag_core.evaluation.paper_tables import PaperCell, PaperTable

_CRITERION, _SYSTEM, _OWN = 20, 29, 26  # characters of columns


def print_paper_table(table: "PaperTable") -> None:
    """Print a line for each figure; published ones are said to be so."""
    print(f"{table.name}{f', judged by {visible(table.judge)}' if table.judge else ''}")
    for cell in table.cells:
        published = ", ".join(f"{dataset} {value:g}" for dataset, value in cell.published.items())
        beside = f"  published: {published}" if published else ""
        name = f"{visible(cell.criterion):<{_CRITERION}}{visible(cell.system):<{_SYSTEM}}"
        print(f"{name}{_own(cell):>{_OWN}}{beside}")


def _own(cell: "PaperCell") -> str:
    if cell.own is None:
        return "–"
    places = 0 if cell.own.value >= 1000 else 2
    if cell.own.low is None or cell.own.high is None:
        return f"{cell.own.value:,.{places}f}"
    return f"{cell.own.value:,.{places}f} [{cell.own.low:,.{places}f}, {cell.own.high:,.{places}f}]"


if TYPE_CHECKING:
    from leanrag_core.workbench import Workbench


def make_offered_parts(options: argparse.Namespace, bench: "Workbench", index: Index) -> None:
    """Make what the index lacks; a part that fails is said on stderr."""
    for part in bench.parts.offered(index):
        options.stop.line = "stopped; the index is complete, and 'part' makes what it lacks"
        options.stop.clean_up = lambda: None
        try:
            bench.parts.build(index, part, report=PrintedProgress())
        except LeanRAGError as error:  # the index is complete without it
            print(f"leanrag: {error}", file=sys.stderr)


def print_run(trace: Trace, answer: Answer | None) -> None:
    """Print the settings, the steps, the notes, the passages with their marks, and the answer, on stdout."""
    print(f"{'settings':>9}: {visible(sentence(settings_words(trace.strategy, trace.parameters)))}")
    for step in trace.steps:
        print(f"{step.name:>9}: {visible(sentence(step.caption))}")
    for note in trace.notes:
        print(f"{'note':>9}: {visible(sentence(note))}")
    mark_of = {item.ref: item.mark for section in trace.context.sections for item in section.items}
    for passage in trace.passages:
        if source := passage.source:
            why = f", {sentence(passage.reason)}" if passage.reason else ""
            place = f"{visible(source.document)} [{source.start}:{source.end}]"
            print(f"{mark_of.get(passage.id, ''):>9}: {place}{visible(why)}")
    if answer:
        print(f"\n{'Extractive answer' if answer.extractive else 'Answer'}: {visible(answer.text)}")
        for part in answer.nearest_parts:
            print(f"{'nearest':>9}: {visible(part.text)} [{', '.join(part.marks)}]")
