"""rewrite: a model at an endpoint writes the upper layers of an index again; clusters and base graph stay."""

import argparse
import sys

from leanrag_core.commands._options import Verbs, add_budget, add_execution, index_verb, run_context, set_run
from leanrag_core.commands._printing import make_offered_parts, show
from leanrag_core.commands.update import NAMES_AND_SUMMARIES, print_changed
from leanrag_core.errors import InvalidConfig
from leanrag_core.figures import numbers
from leanrag_core.figures.numbers import counted
from leanrag_core.files.records import plain
from leanrag_core.indexing.updating.rewriting import top_layer
from leanrag_core.storage.staging import give_up_staging
from leanrag_core.types.index import Index
from leanrag_core.types.updating import RewriteForecast
from leanrag_core.types.visible import visible
from leanrag_core.workbench import Workbench, open_index


def add_verbs(verbs: Verbs) -> None:
    """Add the verb rewrite."""
    parser = index_verb(verbs, "rewrite", "let a model write names and summaries of the aggregated layers again")
    parser.add_argument("--model", required=True, metavar="openai:NAME", help="that writes, at the endpoint")
    parser.add_argument("--layers", default="all", metavar="K", help="the upper K layers, or all (default)")
    parser.add_argument("--preview", action="store_true", help="say what it will take, and change nothing")
    parser.add_argument("--budget-calls", type=int, default=0, metavar="N", help="stop, to be resumed, after N calls")
    add_budget(parser, "the same, counted in money")
    add_execution(parser)
    set_run(parser, _rewrite)


def _rewrite(options: argparse.Namespace) -> None:
    bench, index = Workbench.default(), open_index(options.index)
    from_layer = _first_layer(options.layers, index)
    expected = bench.rewrites.forecast(index, options.model, from_layer)
    if options.preview:
        show(options, plain(expected), forecast_text(expected))
        return
    print(forecast_text(expected), file=sys.stderr)
    options.stop.line = "stopped; the index is as it was, and what the model answered is kept for the next time"
    options.stop.clean_up = lambda: give_up_staging(options.index)
    context = run_context(options, bench, options.index.name)
    rewritten = bench.rewrites.rewrite(options.index, options.model, from_layer, context)
    make_offered_parts(options, bench, rewritten)
    changed = rewritten.id != index.id
    print_changed(options, rewritten, {"forecast": plain(expected), "changed": changed}, changed=changed)


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
