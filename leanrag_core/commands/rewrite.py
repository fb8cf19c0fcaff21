"""rewrite: a model at an endpoint writes the upper layers of an index again; clusters and base graph stay."""

import argparse
import sys
from pathlib import Path

from leanrag_core.commands._options import add_execution, add_json, execution_of
from leanrag_core.commands._printing import PrintedProgress, index_sentence, make_offered_parts, print_json
from leanrag_core.commands.update import NAMES_AND_SUMMARIES, report_text
from leanrag_core.errors import InvalidConfig
from leanrag_core.figures import numbers
from leanrag_core.figures.numbers import counted
from leanrag_core.files.records import plain
from leanrag_core.indexing.manifest import describe
from leanrag_core.indexing.updating.rewriting import top_layer
from leanrag_core.storage.staging import give_up_staging
from leanrag_core.types.calls import Budget
from leanrag_core.types.index import Index
from leanrag_core.types.updating import RewriteForecast
from leanrag_core.types.visible import visible
from leanrag_core.workbench import Workbench, open_index


def add_verbs(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the verb rewrite."""
    parser = verbs.add_parser("rewrite", help="let a model write names and summaries of the aggregated layers again")
    parser.add_argument("index", type=Path, metavar="DIR")
    parser.add_argument("--model", required=True, metavar="openai:NAME", help="that writes, at the endpoint")
    parser.add_argument("--layers", default="all", metavar="K", help="the upper K layers, or all (default)")
    parser.add_argument("--preview", action="store_true", help="say what it will take, and change nothing")
    parser.add_argument("--budget-calls", type=int, default=0, metavar="N", help="stop, to be resumed, after N calls")
    parser.add_argument("--budget", type=float, default=0.0, metavar="DOLLARS", help="the same, counted in money")
    parser.add_argument("--budget-tokens", type=int, default=0, metavar="TOKENS", help="the same, counted in tokens")
    add_execution(parser)
    add_json(parser)
    parser.set_defaults(run=_rewrite)


def _rewrite(options: argparse.Namespace) -> None:
    bench, index = Workbench.default(), open_index(options.index)
    from_layer = _first_layer(options.layers, index)
    expected = bench.rewrites.forecast(index, options.model, from_layer)
    if options.preview:
        if options.json:
            print_json(plain(expected))
        else:
            print(forecast_text(expected))
        return
    print(forecast_text(expected), file=sys.stderr)
    options.stop.line = "stopped; the index is as it was, and what the model answered is kept for the next time"
    options.stop.clean_up = lambda: give_up_staging(options.index)
    budget = Budget(options.budget, options.budget_tokens, options.budget_calls)
    models = bench.models.make(budget=budget, index=options.index.name)
    context = bench.models.context(models, execution_of(options, models.settings.execution), PrintedProgress())
    rewritten = bench.rewrites.rewrite(options.index, options.model, from_layer, context)
    make_offered_parts(options, bench, rewritten)
    _print(options, rewritten, expected, changed=rewritten.id != index.id)


def _first_layer(layers: str, index: Index) -> int:
    """Return the lowest layer that is written again. Raises InvalidConfig."""
    if layers == "all":
        return 1
    if not layers.isdecimal() or int(layers) < 1:
        raise InvalidConfig("command.which_layers", layers=layers)
    return max(1, top_layer(index) - int(layers) + 1)


def forecast_text(expected: RewriteForecast) -> str:
    """Describe what writing the layers again takes, line by line."""
    forecast = expected.forecast
    lines = [
        f"layer {row.layer}: {counted(row.clusters, *NAMES_AND_SUMMARIES)}, {counted(row.sentences, 'sentence')}"
        + (f"; {row.saved:,} of these answers are stored" if row.saved else "")
        for row in expected.layers
    ]
    cost = f", {numbers.money(forecast.dollars.expected)}" if forecast.dollars.expected else ""
    lines.append(
        f"{visible(expected.model)}: {counted(expected.calls, 'call')}, "
        f"about {numbers.duration(forecast.seconds.expected)}, "
        f"about {round(forecast.tokens.expected):,} tokens{cost}"
    )
    return "\n".join(lines)


def _print(options: argparse.Namespace, index: Index, expected: RewriteForecast, *, changed: bool) -> None:
    shown, report = describe(index), index.report.update
    if options.json:
        values = {"index": str(options.index), "forecast": plain(expected), "changed": changed}
        print_json({**plain(shown), **values, "update": plain(report) if report else None})
        return
    print(f"{options.index}: {index_sentence(shown)}")
    if not changed:
        print("nothing changed: the model had written these layers before")
    elif report is not None:
        print(report_text(report))
