"""suggest: settings that the data of an index suggest, with the evidence."""

import argparse
from pathlib import Path

from leanrag_core.commands._options import Verbs, index_verb, set_run
from leanrag_core.commands._printing import printed_json
from leanrag_core.evaluation.question_sets.reading import read_set
from leanrag_core.files.records import plain
from leanrag_core.messages.catalog import sentence
from leanrag_core.messages.message import message
from leanrag_core.types.suggestion import Suggestions
from leanrag_core.workbench import Workbench, open_index


def add_verbs(verbs: Verbs) -> None:
    """Add the verb suggest."""
    parser = index_verb(verbs, "suggest", "clustersize, tau, top-N and top-C that the data of an index suggest")
    parser.add_argument(
        "--questions", type=Path, metavar="FILE", help="questions about its documents, with gold evidence if possible"
    )
    parser.add_argument("--seconds", type=float, default=None, help="no new step begins after them (default: 30)")
    set_run(parser, _suggest)


def _suggest(options: argparse.Namespace) -> None:
    bench = Workbench.default()
    index = open_index(options.index)
    questions = None
    if options.questions is not None:
        questions = read_set(options.questions.read_bytes(), options.questions.name)
    suggestions = bench.suggest(index, questions, seconds=options.seconds)
    if printed_json(options, plain(suggestions)):
        return
    _print(suggestions)


def _print(suggestions: Suggestions) -> None:
    for suggestion in suggestions.suggestions:
        title = sentence(message(f"option.title.{suggestion.name}"))
        print(f"{title}: {suggestion.value}. {sentence(suggestion.reason)}")
    if suggestions.sizes:
        print(f"{'clustersize':>11} {'stability':>9} {'BIC':>10} {'likelihood':>10} {'layers':>6} {'aggregated':>10}")
        for size in suggestions.sizes:
            bic, likelihood = (f"{value:.2f}" if value is not None else "-" for value in (size.bic, size.likelihood))
            print(
                f"{size.cluster_size:>11} {size.stability:>9.2f} {bic:>10} {likelihood:>10} {size.layers:>6} "
                f"{size.aggregated:>10,}"
            )
    if suggestions.taus:
        print(f"{'tau':>11} {'summarised':>10} {'connected':>9}")
        for tau in suggestions.taus:
            print(f"{tau.tau:>11} {tau.summarised:>10,} {tau.connected:>9.2f}")
    for name, tried in (("top-N", suggestions.top_n), ("top-C", suggestions.top_c)):
        if tried:
            print(f"{name:>11} {'tokens':>10} {'found':>9}")
        for row in tried:
            print(f"{row.value:>11} {row.tokens:>10,.0f} {row.found:>9.2f}")
    for note in suggestions.notes:
        print(sentence(note))
