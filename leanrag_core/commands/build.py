"""build: documents or folders to an index."""

import argparse
import os
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from leanrag_core.commands._options import (
    Verbs,
    add_budget,
    add_config,
    add_execution,
    add_sources,
    config_of,
    read_sources,
    run_context,
    set_run,
)
from leanrag_core.commands._printing import index_sentence, make_offered_parts, show
from leanrag_core.figures.numbers import counted
from leanrag_core.files.records import plain
from leanrag_core.indexing.build import BuildRequest, is_built
from leanrag_core.indexing.manifest import describe
from leanrag_core.indexing.parsing.language import mostly_foreign
from leanrag_core.messages.catalog import sentence
from leanrag_core.messages.message import message
from leanrag_core.models.batching import require_batches
from leanrag_core.storage.ownership import require_replaceable, require_sources_outside
from leanrag_core.storage.staging import give_up_staging
from leanrag_core.types.config import BUILTIN
from leanrag_core.types.corpus import Document
from leanrag_core.workbench import Workbench, open_index


def add_verbs(verbs: Verbs) -> None:
    """Add the verb build."""
    parser = verbs.add_parser("build", help="documents or folders to an index")
    add_sources(parser)
    parser.add_argument("--out", required=True, type=Path, metavar="DIR")
    parser.add_argument("--name", default="", help="name of the index (default: the first path's name)")
    parser.add_argument("--resume", action="store_true", help="keep a finished index of the same settings")
    add_budget(parser, "stop, to be resumed, when it is spent")
    parser.add_argument(
        "--batch",
        action="store_true",
        help="send a model's calls in files: half the price, up to a day for each round; goes on when run again",
    )
    add_execution(parser)
    add_config(parser)
    set_run(parser, _build)


def _build(options: argparse.Namespace) -> None:
    config = config_of(options)
    require_replaceable(options.out)
    require_sources_outside(options.paths, options.out)
    bench = Workbench.default()
    context = run_context(options, bench, options.name or options.out.name, config)
    if options.batch:
        require_batches(context.models, config)
    started = time.perf_counter()
    options.stop.line = "stopped; nothing half-finished is left, and what models answered is kept for the next time"
    if options.batch:
        options.stop.line += "; batches that were sent go on, and the same command reads what they bring"
    parsed = read_sources(options, bench)
    if config.embedding == BUILTIN:
        _advise(parsed.documents)
    if options.resume and is_built(options.out, config, parsed.documents):
        print(f"{options.out} is already built from these documents with these settings", file=sys.stderr)
    else:
        options.stop.clean_up = lambda: give_up_staging(options.out)
        name = options.name or Path(os.path.abspath(options.paths[0])).name
        request = BuildRequest(parsed.documents, config, options.out, name, refusals=parsed.refusals)
        bench.builds.run(request, replace(context, as_batches=options.batch))
    index = open_index(options.out)
    make_offered_parts(options, bench, index)
    shown = describe(index)
    seconds = time.perf_counter() - started
    refused = [
        {"name": refusal.name, "reason": sentence(refusal.reason), "code": refusal.reason.code}
        for refusal in parsed.refusals
    ]
    values = {**plain(shown), "index": str(options.out), "seconds": round(seconds, 2), "refused": refused}
    text = f"{options.out}: {index_sentence(shown)} {seconds:.1f} s, {counted(len(refused), 'file')} refused."
    show(options, values, text)


def _advise(documents: Sequence[Document]) -> None:
    """Say which embedding knows the language of most of the documents, where the built-in one does not."""
    amounts: Counter[str] = Counter()
    for document in documents:
        amounts[document.language] += len(document.text)
    foreign = mostly_foreign(amounts)
    if foreign:
        language = sentence(message(f"language.{foreign}"))
        advice = "the built-in embedding was trained on English; --embedding multilingual is for every language"
        print(f"note: most of these documents are in {language}: {advice}", file=sys.stderr)
