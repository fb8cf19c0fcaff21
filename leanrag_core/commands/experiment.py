"""experiment: runs over a question set, stored, resumed, listed, shown, compared, exported."""

import argparse
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from leanrag_core.commands._options import Verbs, add_execution, execution_of, model_name, question_set_of, set_run
from leanrag_core.commands._printing import PrintedProgress, print_json, printed_json, show
from leanrag_core.commands._score_tables import print_difference, print_grounds, print_table, table_values, with_bounds
from leanrag_core.comparing.column_specs import written_run
from leanrag_core.errors import InvalidConfig
from leanrag_core.evaluation.experiments.comparison import compare_experiments
from leanrag_core.evaluation.experiments.running import read_spec, strategies_spec, usual_baseline
from leanrag_core.evaluation.paper_tables import TABLES, PaperCell, PaperTable, paper_spec, paper_table
from leanrag_core.evaluation.rival_tables import RIVAL_TABLES, rival_spec, rival_table
from leanrag_core.evaluation.run_titles import run_titles, with_ids
from leanrag_core.evaluation.tables import score_table
from leanrag_core.files.records import plain
from leanrag_core.messages.catalog import sentence
from leanrag_core.messages.message import message
from leanrag_core.retrieval.base import strategies
from leanrag_core.types.calls import Budget
from leanrag_core.types.config import require_choice
from leanrag_core.types.experiment import (
    ALL_JUDGEMENTS,
    ASKED,
    JUDGEMENTS,
    MODES,
    ExperimentResult,
    ExperimentSpec,
    JudgeSpec,
    RunSpec,
)
from leanrag_core.types.visible import visible
from leanrag_core.workbench import Workbench

_STOPPED = "stopped; what is done is kept, and the same command goes on from there"
_CRITERION, _SYSTEM, _OWN = 20, 29, 26  # characters of columns


def add_verbs(verbs: Verbs) -> None:
    """Add the verb experiment with its own verbs."""
    parser = verbs.add_parser("experiment", help="strategies over a question set: run, list, show, compare, export")
    kinds = parser.add_subparsers(dest="what", required=True, metavar="WHAT")
    _add_run(kinds.add_parser("run", help="run an experiment, or go on with it"))

    listing = kinds.add_parser("list", help="the experiments that there are")
    set_run(listing, _list)

    showing = kinds.add_parser("show", help="the tables of an experiment")
    showing.add_argument("experiment", metavar="ID")
    _add_table(showing, _show)

    comparing = kinds.add_parser("compare", help="two experiments question by question, regressions first")
    comparing.add_argument("before", metavar="A")
    comparing.add_argument("after", metavar="B")
    comparing.add_argument("--measure", default="evidence-recall", metavar="NAME")
    comparing.add_argument("--most", type=int, default=10, metavar="N", help="questions shown of each run")
    set_run(comparing, _compare)

    exporting = kinds.add_parser("export", help="an experiment as a file: csv, json, or html that needs no network")
    exporting.add_argument("experiment", metavar="ID")
    exporting.add_argument("--format", choices=("csv", "json", "html"), default="html")
    exporting.add_argument("--out", type=Path, required=True, metavar="FILE")
    set_run(exporting, _export)


def _add_run(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("spec", nargs="?", type=Path, metavar="SPEC.json", help="an experiment's spec.json, or export")
    parser.add_argument(
        "--index", nargs="+", default=[], metavar="DIR", help="folders or ids of indexes, one experiment each"
    )
    parser.add_argument(
        "--samples", nargs="*", metavar="NAME", help="these sample corpora, or all, each with its own questions"
    )
    parser.add_argument("--questions", metavar="SET", help="id of a question set, or a file of questions")
    parser.add_argument("--strategies", nargs="+", default=["all"], metavar="NAME", help="or all (default)")
    parser.add_argument(
        "--run",
        dest="runs",
        action="append",
        default=[],
        metavar="NAME[:OPTION=VALUE,...][@DIR]",
        help="a strategy with options of its own, in place of --strategies; may be given several times, also for the "
        "same strategy; @DIR: on another index",
    )
    parser.add_argument("--equal", type=int, metavar="TOKENS", help="the same token budget for all strategies")
    parser.add_argument("--title", default="")
    parser.add_argument("--no-answers", action="store_true", help="retrieve and measure only")
    parser.add_argument(
        "--judge", nargs="+", default=[], type=model_name, metavar="MODEL", help="such as openai:NAME, file:PATH"
    )
    parser.add_argument("--repeats", type=int, default=5, metavar="N", help="of each judgement (default: 5)")
    parser.add_argument("--grade", action="store_true", help="judges also grade answers against the gold answers")
    parser.add_argument(
        "--mode", choices=MODES, default=ASKED, help="as Ask answers, also from knowledge, or declined without evidence"
    )
    parser.add_argument("--claims", action="store_true", help="the answering model lists the claims of each answer")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--again", action="store_true", help="do everything once more; stored results are replaced")
    parser.add_argument("--no-parts", action="store_true", help="do not make index parts that are missing")
    parser.add_argument("--max-dollars", type=float, default=0.0, metavar="N", help="stop when so much is spent")
    add_execution(parser)
    _add_table(parser, _run)


def _add_table(parser: argparse.ArgumentParser, run: Callable[[argparse.Namespace], None]) -> None:
    parser.add_argument(
        "--table",
        metavar="NAME",
        help="the paper's: scores, relations, context, win-rates or tokens; of other papers: graphrag-window, "
        "graphrag-win-rates, lightrag-win-rates, lightrag-ablations or lightrag-cost",
    )
    parser.add_argument("--kind", default="", metavar="KIND", help="questions of that kind alone")
    parser.add_argument("--measures", nargs="+", default=[], metavar="NAME", help="columns of the table")
    set_run(parser, run)


def _run(options: argparse.Namespace) -> None:
    bench = Workbench.default()
    options.stop.line = _STOPPED
    execution = execution_of(options, bench.settings.read().execution)
    results = []
    for spec in _specs(options, bench):
        models = bench.models.make(budget=Budget(dollars=options.max_dollars))
        how: dict[str, Any] = {"make_parts": not options.no_parts, "again": options.again}
        result = bench.experiments.run(spec, PrintedProgress(), models=models, execution=execution, **how)
        results.append(result)
        if not options.json:
            _print(result, options)
    if options.json:
        print_json([_values(result, options) for result in results])


def _specs(options: argparse.Namespace, bench: Workbench) -> list[ExperimentSpec]:
    """Return the experiments that the command asks for. Raises InvalidConfig."""
    if sum((options.spec is not None, bool(options.index), options.samples is not None)) != 1:
        raise InvalidConfig("command.experiment_of_what")
    if options.spec is not None:
        return [read_spec(options.spec)]
    if options.samples is not None:
        known = bench.corpora.samples.names()
        if unknown := set(options.samples) - set(known):
            raise InvalidConfig("command.unknown_sample", name=", ".join(sorted(unknown)), known=", ".join(known))
        return [_sample_spec(options, bench, name) for name in options.samples or known]
    if not options.questions:
        raise InvalidConfig("command.experiment_questions")
    set_id = question_set_of(options.questions, bench)
    return [_spec(options, bench, _index_name(index), set_id, Path(index).name) for index in options.index]


def _spec(options: argparse.Namespace, bench: Workbench, index: str, set_id: str, name: str) -> ExperimentSpec:
    kinds = ALL_JUDGEMENTS if options.grade else JUDGEMENTS
    judges = tuple(JudgeSpec(model, kinds, options.repeats) for model in options.judge)
    title = options.title and (options.title if options.samples is None else f"{options.title}, {name}")
    if options.table:
        require_choice("table", options.table, (*TABLES, *RIVAL_TABLES))
        make_spec = rival_spec if options.table in RIVAL_TABLES else paper_spec
        return make_spec(options.table, index, set_id, judges=judges, title=title or f"Paper, {options.table}, {name}")
    if options.runs:
        return _with_answers(_runs_spec(options, index, set_id, title, name), options, judges)
    wanted = () if options.strategies == ["all"] else options.strategies
    usual = message("experiment.all_strategies", name=name)
    if options.equal:
        usual = message("experiment.equal_budget", name=name, n=options.equal)
    elif wanted:
        usual = message("plain", text=", ".join((*wanted, name)))
    spec = strategies_spec(
        title or sentence(usual),
        index,
        set_id,
        wanted,
        asks_model=bench.questions.asks_model(bench.experiments.indexes.open(index).manifest.config.writer),
        equal_tokens=options.equal,
    )
    return _with_answers(spec, options, judges)


def _runs_spec(options: argparse.Namespace, index: str, set_id: str, title: str, name: str) -> ExperimentSpec:
    """Return the experiment of the runs that --run names, which are called by what differs."""
    written = [written_run(text, strategies(), options.equal) for text in options.runs]
    runs = with_ids(
        [
            RunSpec("", _index_name(str(each.index)) if each.index else index, each.info.name, each.options)
            for each in written
        ]
    )
    listed = "; ".join(map(sentence, run_titles(runs).values()))
    return ExperimentSpec(title or f"{listed}, {name}", set_id, runs, usual_baseline(runs))


def _with_answers(spec: ExperimentSpec, options: argparse.Namespace, judges: tuple[JudgeSpec, ...]) -> ExperimentSpec:
    """Return the experiment with answers and judges as the command asks for them."""
    return replace(
        spec, answers=not options.no_answers, judges=judges, seed=options.seed, mode=options.mode, claims=options.claims
    )


def _sample_spec(options: argparse.Namespace, bench: Workbench, name: str) -> ExperimentSpec:
    index, set_id = bench.builds.sample_index(name)
    return _spec(options, bench, index, set_id, bench.question_sets.card(set_id).title)


def _index_name(path_or_id: str) -> str:
    """Return the name of the index in a run: the path of its folder where there is one, else its id in the store."""
    path = Path(path_or_id)
    return str(path.resolve()) if (path / "manifest.json").is_file() else path_or_id


def _list(options: argparse.Namespace) -> None:
    bench = Workbench.default()
    summaries, damaged = bench.experiments.store.all(), bench.experiments.store.damaged()
    broken = [{"id": each.id, "problem": each.reason} for each in damaged]
    if printed_json(options, {"experiments": [asdict(each) for each in summaries], "damaged": broken}):
        return
    for each in summaries:
        state = "" if each.is_complete else f", {each.rows:,} of {each.all:,} done"
        failed = f", {each.errors:,} failed" if each.errors else ""
        origin = " (comes with the program)" if each.is_shipped else ""
        print(f"{each.id}: {visible(each.title)}, {len(each.runs):,} runs{state}{failed}{origin}")
    for unread in damaged:
        print(f"{unread.id}: {visible(unread.reason)}")


def _show(options: argparse.Namespace) -> None:
    result = Workbench.default().experiments.store.read(options.experiment)
    if not printed_json(options, _values(result, options)):
        _print(result, options)


def _print(result: ExperimentResult, options: argparse.Namespace) -> None:
    print(f"{result.id}: {visible(result.spec.title)}")
    for paper in _paper_tables(result, options):
        _print_paper_table(paper)
    table = score_table(result, options.kind, options.measures)
    print_table(table)
    print_grounds(result, table)


def _paper_tables(result: ExperimentResult, options: argparse.Namespace) -> tuple[PaperTable, ...]:
    if not options.table:
        return ()
    return rival_table(options.table, result) if options.table in RIVAL_TABLES else paper_table(options.table, result)


def _values(result: ExperimentResult, options: argparse.Namespace) -> dict[str, Any]:
    table = table_values(score_table(result, options.kind, options.measures))
    return {
        "id": result.id,
        "spec": plain(result.spec),
        "versions": dict(result.versions),
        "complete": result.is_complete,
        **table,
        "paper": [asdict(paper) for paper in _paper_tables(result, options)],
    }


def _compare(options: argparse.Namespace) -> None:
    bench = Workbench.default()
    before, after = bench.experiments.store.read(options.before), bench.experiments.store.read(options.after)
    difference = compare_experiments(before, after, options.measure)
    if not printed_json(options, asdict(difference)):
        print_difference(difference, options.most)


def _export(options: argparse.Namespace) -> None:
    n_bytes = Workbench.default().experiments.export(options.experiment, options.format, options.out)
    show(options, {"file": str(options.out), "bytes": n_bytes}, f"{options.out}: {n_bytes:,} bytes")


def _print_paper_table(table: PaperTable) -> None:
    """Print a line for each figure; published ones are said to be so."""
    print(f"{table.name}{f', judged by {visible(table.judge)}' if table.judge else ''}")
    for cell in table.cells:
        published = ", ".join(f"{dataset} {value:g}" for dataset, value in cell.published.items())
        beside = f"  published: {published}" if published else ""
        name = f"{visible(cell.criterion):<{_CRITERION}}{visible(cell.system):<{_SYSTEM}}"
        print(f"{name}{_own(cell):>{_OWN}}{beside}")


def _own(cell: PaperCell) -> str:
    if cell.own is None:
        return "–"
    places = 0 if cell.own.value >= 1000 else 2
    return with_bounds(cell.own, places)
