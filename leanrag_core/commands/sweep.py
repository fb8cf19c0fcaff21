"""sweep: the questions of a set at every point of varied settings; indexes are built from what is kept."""

import argparse
import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from leanrag_core.commands._options import Verbs, add_execution, add_preset, execution_of, question_set_of, set_run
from leanrag_core.commands._printing import PrintedProgress, printed_json
from leanrag_core.commands._score_tables import figure
from leanrag_core.errors import InvalidConfig
from leanrag_core.evaluation.sweeps.findings import findings, headline
from leanrag_core.evaluation.sweeps.points import known_axes
from leanrag_core.files.atomic import write_bytes
from leanrag_core.files.records import plain, to_json
from leanrag_core.messages.catalog import sentence
from leanrag_core.types.calls import Budget
from leanrag_core.types.config import preset
from leanrag_core.types.sweep import INDEX, RETRIEVAL, SAMPLERS, Axis, SweepForecast, SweepSpec
from leanrag_core.types.visible import visible
from leanrag_core.workbench import Workbench


def add_verbs(verbs: Verbs) -> None:
    """Add the verb sweep."""
    parser = verbs.add_parser("sweep", help="varies settings of an index or of retrieval, and measures every point")
    parser.add_argument(
        "source", nargs="?", metavar="INDEX_OR_CORPUS", help="a folder of an index, an id of an index or a corpus"
    )
    parser.add_argument(
        "--axis",
        action="append",
        default=[],
        metavar="NAME=VALUE,...",
        help="a field of the index's settings or an option of the strategy (retrieval.NAME where both have it); with a "
        "sampler also NAME=LOW..HIGH; may be given several times",
    )
    parser.add_argument(
        "--questions", default="", metavar="SET", help="id of a question set, or a file (default: the corpus's)"
    )
    parser.add_argument("--strategy", default=SweepSpec.strategy)
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a setting of all points")
    parser.add_argument("--sampler", choices=SAMPLERS, default=SweepSpec.sampler)
    parser.add_argument("--points", type=int, default=0, metavar="N", help="points that a sampler draws")
    parser.add_argument("--seed", type=int, default=0, help="seed of the sampler and of the intervals")
    parser.add_argument("--measure", default=SweepSpec.measure, help="of the best point")
    parser.add_argument("--cost", default=SweepSpec.cost, help="of the front")
    parser.add_argument("--answers", action="store_true", help="answers are written and measured, too")
    parser.add_argument("--title", default="")
    parser.add_argument("--out", type=Path, metavar="FILE.json", help="writes the result there as well")
    parser.add_argument("--forecast", action="store_true", help="only says what the sweep would take")
    parser.add_argument("--again", action="store_true", help="does everything once more")
    parser.add_argument("--list", action="store_true", help="the sweeps that there are")
    parser.add_argument("--budget", type=float, default=0, metavar="DOLLARS", help="stop, to be resumed, when spent")
    add_preset(parser, "how the indexes are built")
    add_execution(parser)
    set_run(parser, _sweep)


def _sweep(options: argparse.Namespace) -> None:
    bench = Workbench.default()
    if options.list:
        _list(bench, options)
        return
    spec = _spec(options, bench)
    if options.forecast:
        _forecast(bench.sweeps.forecast(spec), options)
        return
    options.stop.line = "stopped; the same command goes on where it stopped"
    options.stop.clean_up = bench.sweeps.give_up_builds
    result = bench.sweeps.run(
        spec,
        PrintedProgress(),
        models=bench.models.make(budget=Budget(dollars=options.budget)),
        execution=execution_of(options, bench.settings.read().execution),
        again=options.again,
    )
    if options.out:
        write_bytes(options.out, to_json(result, indent=1))
    if not printed_json(options, {"id": result.id, **plain(findings(result))}):
        _print(result)


def _spec(options: argparse.Namespace, bench: Workbench) -> SweepSpec:
    """Return what the options ask for. Raises InvalidConfig."""
    if not options.source:
        raise InvalidConfig("sweep.corpus_or_index")
    axes = tuple(_axis(text, options.strategy) for text in options.axis)
    source = bench.sweeps.source(options.source)
    config = source.config or preset(options.preset).config()
    settings = [_axis(text, options.strategy) for text in options.set]
    fixed: dict[str, Any] = {axis.name: axis.values[0] for axis in settings if axis.level == INDEX}
    config = replace(config, **fixed)
    builds = any(axis.level == INDEX for axis in (*axes, *settings))
    return SweepSpec(
        title=options.title or f"{source.name}: {', '.join(axis.name for axis in axes)}",
        axes=axes,
        question_set=question_set_of(options.questions, bench) if options.questions else source.corpus,
        corpus=source.corpus if builds or not source.index else "",
        config=config,
        index="" if builds else source.index,
        strategy=options.strategy,
        options={axis.name: axis.values[0] for axis in settings if axis.level == RETRIEVAL},
        sampler=options.sampler,
        n_points=options.points,
        seed=options.seed,
        measure=options.measure,
        cost=options.cost,
        answers=options.answers,
    )


def _axis(text: str, strategy: str) -> Axis:
    """Parse NAME=VALUE,VALUE or NAME=LOW..HIGH; of retrieval where an index has no such setting. Raises
    InvalidConfig."""
    name, equals, listed = text.partition("=")
    prefix, dot, rest = name.strip().partition(".")
    level, name = (prefix, rest) if dot else ("", prefix)
    name = name.replace("-", "_")
    if not equals or not name or not listed.strip():
        raise InvalidConfig("sweep.axis_not_understood", text=text)
    level = level or (INDEX if name in known_axes(strategy)[INDEX] else RETRIEVAL)
    low, between, high = listed.partition("..")
    if between:
        bounds = _value(low), _value(high)
        if not all(isinstance(bound, int | float) for bound in bounds):
            raise InvalidConfig("sweep.axis_not_understood", text=text)
        return Axis(name, (), level, *bounds)
    return Axis(name, tuple(_value(value) for value in listed.split(",")), level)


def _value(text: str) -> Any:
    """Parse a number, true, false or null as in JSON; else return the text."""
    try:
        return json.loads(text.strip())
    except ValueError:
        return text.strip()


def _list(bench: Workbench, options: argparse.Namespace) -> None:
    sweeps = bench.sweeps.store.all()
    if printed_json(options, [asdict(each) for each in sweeps]):
        return
    for each in sweeps:
        state = "complete" if each.is_complete else f"{each.built:,} indexes built, {each.rows:,} of {each.all:,} rows"
        print(f"{each.id}  {visible(each.title)}: {' x '.join(each.axes)}, {each.points:,} points, {state}")


def _forecast(forecast: SweepForecast, options: argparse.Namespace) -> None:
    if printed_json(options, {**plain(forecast), "seconds": plain(forecast.seconds), "calls": plain(forecast.calls)}):
        return
    for build in forecast.builds:
        kept = f"keeps {', '.join(build.kept)}" if build.kept else "builds everything"
        calls = f", {build.calls.expected:,.0f} calls, {build.saved.expected:,.0f} spared" if build.calls.high else ""
        print(f"{build.points[0]}: {kept}; {build.seconds.low:,.0f} to {build.seconds.high:,.0f} s{calls}")
    seconds = forecast.seconds
    print(
        f"{forecast.points:,} points, {len(forecast.builds):,} indexes, {forecast.questions:,} retrievals: "
        f"{seconds.low:,.0f} to {seconds.high:,.0f} s, {forecast.calls.expected:,.0f} model calls, "
        f"${forecast.dollars.expected:,.2f}"
    )


def _print(result: Any) -> None:
    shown = findings(result)
    print(f"{result.id}: {visible(result.spec.title)}, {shown.n_questions:,} questions")
    print(f"{shown.measure:>18} {shown.cost:>15}  layers  build s")
    for standing in shown.points:
        point = result.at(standing.name)
        value = figure(shown.measure, standing.value.value if standing.value else None)
        marks = " best" if standing.is_best else " cannot be told from the best" if standing.is_close else ""
        marks = marks if shown.tells else ""
        layers = "–" if point.index is None else f"{point.index.layers}"
        seconds = "–" if point.build is None else f"{point.build.seconds:.1f}"
        front = ", front" if standing.is_front else ""
        cost = "–" if standing.cost is None else f"{standing.cost:,.0f}"
        print(f"{value:>18} {cost:>15} {layers:>7} {seconds:>8}  {visible(standing.name)}:{marks}{front}")
    for message in headline(shown):
        print(sentence(message))
