"""why-not: the step of a retrieval that lost an entity, a chunk or a passage, and the settings that find it."""

import argparse

from leanrag_core.commands._shared.asked import add_asked, asked_options
from leanrag_core.commands._shared.options import add_json
from leanrag_core.commands._shared.printing import print_json
from leanrag_core.types.visible import visible


def add_verbs(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the verb why-not."""
    parser = verbs.add_parser("why-not", help="why a retrieval lacks an entity or a passage, and what would find it")
    add_asked(parser)
    parser.add_argument("wanted", help="name of an entity, or words of a passage, that should have been retrieved")
    parser.add_argument("--no-tries", action="store_true", help="run no other settings")
    add_json(parser)
    parser.set_defaults(run=_why_not)


def _why_not(options: argparse.Namespace) -> int:
    from leanrag_core.comparing.values import why_values
    from leanrag_core.messages.catalog import sentence
    from leanrag_core.messages.message import message
    from leanrag_core.workbench import Workbench, open_index

    chosen = asked_options(options)
    bench, index = Workbench.default(), open_index(options.index)
    trace = bench.retrieve(index, options.question, options.strategy, **chosen)
    explained = bench.explanations.why_not(index, trace, options.wanted, offer=not options.no_tries)
    if options.json:
        print_json(why_values(explained.why, explained.offers))
        return 0
    why = explained.why
    print(sentence(why.headline))
    for check in why.checks:
        print(f"  {check.state:>6} {sentence(message(f'why.stage.{check.stage}'))}: {visible(sentence(check.said))}")
    for note in why.notes:
        print(sentence(note))
    for each in explained.offers:
        changes = ", ".join(f"{change.option} {change.before} -> {change.after}" for change in each.changes)
        print(f"tried: {changes}, {each.tokens:+,} tokens: {sentence(each.lane.said[-1])}")
    return 0
