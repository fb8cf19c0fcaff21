"""forecast: calls, tokens, money and time of a build before it begins."""

import argparse

from leanrag_core.commands._options import Verbs, add_config, add_sources, config_of, read_sources, set_run
from leanrag_core.commands._printing import printed_json
from leanrag_core.errors import EmptyCorpus
from leanrag_core.files.records import plain
from leanrag_core.indexing.forecasting.forecasts import as_batches
from leanrag_core.messages.catalog import sentence
from leanrag_core.workbench import Workbench


def add_verbs(verbs: Verbs) -> None:
    """Add the verb forecast."""
    parser = verbs.add_parser("forecast", help="calls, tokens, money and time of a build before it begins")
    add_sources(parser)
    parser.add_argument("--dry-run", type=int, default=0, metavar="CHUNKS", help="extract so many chunks first")
    add_config(parser)
    set_run(parser, _forecast)


def _forecast(options: argparse.Namespace) -> None:
    config = config_of(options)
    bench = Workbench.default()
    parsed = read_sources(options, bench)
    if not parsed.documents:
        raise EmptyCorpus("build.no_documents")
    expected = bench.builds.forecast_of(parsed.documents, config, dry_run=options.dry_run)
    totals = {
        "calls": expected.calls,
        "tokens": expected.tokens,
        "dollars": expected.dollars,
        "dollars_as_batches": as_batches(expected, config).dollars,
        "seconds": expected.seconds,
    }
    if printed_json(options, {**plain(expected), "totals": plain(totals), "saved": expected.saved}):
        return
    print(f"{expected.chunks:,} chunks, {expected.sampled:,} of them known; {expected.saved:,} calls saved")
    if expected.basis:
        print(sentence(expected.basis))
    for stage in expected.calling:
        calls = stage.calls
        print(f"{stage.stage:>20}: {calls.expected:>9,.0f} calls ({calls.low:,.0f} to {calls.high:,.0f})")
    for name, range_ in totals.items():
        digits = 2 if name.startswith("dollars") else 0
        title, spread = name.replace("_", " "), f"{range_.low:,.{digits}f} to {range_.high:,.{digits}f}"
        print(f"{title:>20}: {range_.expected:>9,.{digits}f} ({spread})")
