"""why-not: the step of a retrieval that lost an entity, a chunk or a passage, and the settings that find it."""

import argparse
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from leanrag_core.commands._options import Verbs, add_asked, asked_options, set_run
from leanrag_core.commands._printing import make_needed_parts, make_parts_of_try, print_json, printed_json
from leanrag_core.comparing.values import why_values
from leanrag_core.comparing.without import answer_changes, ids_of
from leanrag_core.figures.changes import changes
from leanrag_core.messages.catalog import sentence
from leanrag_core.messages.message import message
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Trace
from leanrag_core.types.visible import visible
from leanrag_core.workbench import Workbench, open_index


def add_verbs(verbs: Verbs) -> None:
    """Add the verb why-not."""
    parser = verbs.add_parser("why-not", help="why a retrieval lacks an entity or a passage, and what would find it")
    add_asked(parser)
    parser.add_argument("wanted", help="name of an entity, or words of a passage, that should have been retrieved")
    parser.add_argument("--no-tries", action="store_true", help="run no other settings")
    set_run(parser, _why_not)
    _add_without(verbs)


def _why_not(options: argparse.Namespace) -> None:
    bench, index = Workbench.default(), open_index(options.index)
    trace = _retrieved(options, bench, index)

    def make_parts(changed: Mapping[str, Any]) -> None:
        make_parts_of_try(bench, index, trace.strategy, trace.parameters, changed)

    offer = not options.no_tries
    explained = bench.explanations.why_not(index, trace, options.wanted, offer=offer, make_parts=make_parts)
    if printed_json(options, why_values(explained.why, explained.offers)):
        return
    why = explained.why
    print(sentence(why.headline))
    for check in why.checks:
        print(f"  {check.state:>6} {sentence(message(f'why.stage.{check.stage}'))}: {visible(sentence(check.said))}")
    for note in why.notes:
        print(sentence(note))
    for each in explained.offers:
        changes = ", ".join(f"{change.option} {change.before} -> {change.after}" for change in each.changes)
        print(f"tried: {changes}, {each.tokens:+,} tokens: {sentence(each.lane.said[-1])}")


def _retrieved(options: argparse.Namespace, bench: Workbench, index: Index) -> Trace:
    """Retrieve as the command line asks, after making the index parts that this needs."""
    chosen = asked_options(options)
    make_needed_parts(bench, index, options.strategy, chosen)
    return bench.retrieve(index, options.question, options.strategy, **chosen)


def _add_without(verbs: Verbs) -> None:
    """Add the verb without."""
    parser = verbs.add_parser("without", help="what changes when something that was retrieved is taken out")
    add_asked(parser)
    parser.add_argument("items", nargs="+", metavar="ITEM", help="citation marks such as C1, or ids")
    parser.add_argument("--no-answer", action="store_true", help="retrieve only")
    set_run(parser, _without)


def _without(options: argparse.Namespace) -> None:
    bench, index = Workbench.default(), open_index(options.index)
    trace = _retrieved(options, bench, index)
    run = bench.explanations.without(index, trace, ids_of(trace, options.items))
    context = changes(trace, run.trace)
    answer_change = (
        None if options.no_answer else answer_changes(bench.answer(index, trace), bench.answer(index, run.trace))
    )
    if options.json:
        answer = None
        if answer_change is not None:
            answer = asdict(answer_change)
            answer["same"] = answer.pop("n_same")
        groups = [{"role": each.role, "entered": each.entered, "left": each.left} for each in context.groups]
        print_json({"way": run.way, "tokens": context.tokens, "context": groups, "answer": answer})
        return
    print(sentence(run.trace.notes[-1]))
    print(f"context: {context.tokens:+,} tokens")
    for group in context.groups:
        for sign, names in (("+", group.entered), ("-", group.left)):
            for name in names:
                print(visible(f"  {sign} {group.role}: {name}"))
    if answer_change is not None:
        print(f"answer: {answer_change.n_same:,} sentences stay")
        for sign, texts in (("-", answer_change.gone), ("+", answer_change.new)):
            for text in texts:
                print(visible(f"  {sign} {text}"))
        for each in answer_change.moved:
            print(visible(f"  > {each.text} ({', '.join(each.before)} -> {', '.join(each.after)})"))
