"""compare: several strategies, settings or indexes on the same question, or over a file of questions."""

import argparse
from pathlib import Path
from typing import Any

from leanrag_core.commands._options import Verbs, add_scope, index_verb, print_broken, scope_of, set_run
from leanrag_core.commands._printing import make_needed_parts, make_parts_of_try, printed_json
from leanrag_core.commands._score_tables import print_mean
from leanrag_core.comparing.column_specs import ColumnSpec, column_specs
from leanrag_core.comparing.gold_passages import Gold, GoldFinder
from leanrag_core.comparing.lost_evidence import Lane, lane
from leanrag_core.comparing.over_questions import FOUND, over_questions
from leanrag_core.comparing.recorded import RecordedColumn, RecordedComparison, write_comparison
from leanrag_core.comparing.remedies import Remedy, remedy
from leanrag_core.comparing.sharing import compare
from leanrag_core.comparing.values import column_values, gold_values, set_values, shared_values
from leanrag_core.errors import InvalidConfig
from leanrag_core.evaluation.question_sets.reading import read_questions
from leanrag_core.messages.catalog import sentence
from leanrag_core.retrieval.base import strategies
from leanrag_core.retrieval.settings import all_settings, settings_words, shown_settings
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Answer, RecordedRun, Trace
from leanrag_core.types.visible import visible
from leanrag_core.workbench import Workbench, open_index


def add_verbs(verbs: Verbs) -> None:
    """Add the verb compare."""
    parser = index_verb(verbs, "compare", "two to four strategies on the same question, or over a question set")
    parser.add_argument("question", nargs="?", help="one question; else --questions")
    parser.add_argument(
        "--questions", metavar="SET", help="id of a question set, or a file of questions with gold evidence"
    )
    parser.add_argument(
        "--columns",
        nargs="+",
        default=["leanrag", "vector"],
        metavar="STRATEGY[:OPTION=VALUE,...][@DIR]",
        help="two to four, over questions also one; the option preset=NAME stands for the strategy's own; @DIR is "
        "another index",
    )
    add_scope(parser)
    parser.add_argument("--equal", type=int, metavar="TOKENS", help="the same token budget for all columns")
    parser.add_argument("--gold", type=Path, metavar="FILE", help="a question set that may hold the question's gold")
    parser.add_argument("--try", dest="tries", action="store_true", help="run changes that find what was lost")
    parser.add_argument("--no-answer", action="store_true", help="retrieve only")
    parser.add_argument("--save", type=Path, metavar="FILE", help="record the comparison, for the app")
    set_run(parser, _compare)


def _compare(options: argparse.Namespace) -> None:
    if (options.question is None) == (options.questions is None):
        raise InvalidConfig("comparison.question_or_set")
    listed = strategies()
    print_broken(listed.broken)
    least = 2 if options.questions is None else 1
    specs = column_specs(options.columns, listed, equal_tokens=options.equal, least=least)
    bench, own_index = Workbench.default(), open_index(options.index)
    opened: dict[Path | None, Index] = {None: own_index}
    for spec in specs:
        if spec.index is not None and spec.index not in opened:
            opened[spec.index] = open_index(spec.index)
    scope = scope_of(options)
    indexes = {spec.letter: bench.scopes.index(opened[spec.index], scope) for spec in specs}
    for spec in specs:
        make_needed_parts(bench, opened[spec.index], spec.info.name, spec.options)
    if options.questions is not None:
        _over_set(options, bench, specs, indexes)
    else:
        _one_question(options, bench, specs, indexes)


def _over_set(
    options: argparse.Namespace, bench: Workbench, specs: tuple[ColumnSpec, ...], indexes: dict[str, Index]
) -> None:
    sets, own_file = bench.question_sets, Path(options.questions)
    is_file = own_file.exists() or options.questions not in {card.id for card in sets.all()}
    questions = read_questions(own_file) if is_file else sets.questions(options.questions)
    results = {}
    for spec in specs:

        def retrieve(question: str, spec: ColumnSpec = spec) -> Trace:
            return bench.retrieve(indexes[spec.letter], question, spec.info.name, **spec.options)

        results[spec.letter] = over_questions(indexes[spec.letter], questions, retrieve)
    columns = {}
    for spec in specs:
        asked = {"strategy": spec.info.name, "options": all_settings(spec.info, spec.options)}
        columns[spec.letter] = {**asked, **set_values(results[spec.letter])}
    if printed_json(options, {"questions": len(questions), "columns": columns}):
        return
    print(f"{len(questions):,} questions")
    for spec in specs:
        result = results[spec.letter]
        lost = ", ".join(f"{stage} {n:,}" for stage, n in result.losses.items() if n and stage != FOUND)
        found = f"found {result.losses[FOUND]:,}{'; lost at ' if lost else ''}{lost}"
        settings = sentence(settings_words(spec.info.name, all_settings(spec.info, spec.options)))
        print(f"{spec.letter} {spec.info.name} ({settings}): of {result.n_gold:,} gold: {found}")
        print(f"  {result.mean_tokens:,.0f} context tokens, median {result.median_ms:,.1f} ms")
        for mean in result.means:
            print_mean(mean)


def _one_question(
    options: argparse.Namespace, bench: Workbench, specs: tuple[ColumnSpec, ...], indexes: dict[str, Index]
) -> None:
    traces: dict[str, Trace] = {}
    answers: dict[str, Answer | None] = {}
    for spec in specs:
        index = indexes[spec.letter]
        traces[spec.letter] = bench.retrieve(index, options.question, spec.info.name, **spec.options)
        answers[spec.letter] = None if options.no_answer else bench.answer(index, traces[spec.letter])
    gold, lanes = _lanes(options, traces, indexes)
    tried = _remedies(bench, options.question, specs, traces, indexes, gold, lanes) if options.tries else {}
    shared = compare(traces)
    evidence = gold.get(specs[0].letter, ())
    if options.save:
        columns = tuple(
            RecordedColumn(
                letter=spec.letter,
                index=indexes[spec.letter].manifest.name,
                badge=spec.info.badge,
                differs=spec.info.differs,
                settings=shown_settings(spec.info, traces[spec.letter].parameters),
                run=RecordedRun(traces[spec.letter], answers[spec.letter]),
                lanes=lanes.get(spec.letter, ()),
            )
            for spec in specs
        )
        write_comparison(options.save, RecordedComparison(options.question, columns, evidence))
    values = {
        letter: column_values(indexes[letter].manifest.name, trace, answers[letter]) for letter, trace in traces.items()
    }
    shown = {"question": options.question, "columns": values, "shared": shared_values(shared)}
    if printed_json(options, {**shown, "gold": gold_values(evidence, lanes, tried)}):
        return
    for letter, trace in traces.items():
        took = trace.timings_ms["total"]
        print(f"{letter} {sentence(trace.title)}: {trace.context.tokens:,} context tokens, {took:,.1f} ms")
        print(f"  {sentence(settings_words(trace.strategy, trace.parameters))}")
        answer = answers[letter]
        if answer is not None:
            print(f"  {visible(answer.text)}")
    for sharing in shared.kinds:
        parts = ", ".join(f"{'+'.join(part.letters)} {len(part.names):,}" for part in sharing.intersections)
        print(f"{sharing.kind}: {parts}")
    for place, piece in enumerate(evidence):
        print(f"gold: {visible(piece.quote or piece.name())}")
        for letter, ways in lanes.items():
            print(f"  {letter}: {visible(_lane_line(ways[place], tried.get((letter, place))))}")


def _lane_line(lane: Lane, tried: Remedy | None) -> str:
    """Say where the evidence was lost and why, and which of the tried changes finds it."""
    reason = sentence(lane.said[-1])
    if lane.is_found:
        return reason
    line = f"lost at {lane.lost_at}: {reason}"
    if tried is None:
        return line
    changes = ", ".join(f"{change.option} {change.before} -> {change.after}" for change in tried.changes)
    return f"{line}; tried {changes}, {tried.tokens:+,} tokens: {sentence(tried.lane.said[-1])}"


def _lanes(
    options: argparse.Namespace, traces: dict[str, Trace], indexes: dict[str, Index]
) -> tuple[dict[str, tuple[Gold, ...]], dict[str, tuple[Lane, ...]]]:
    """Return the question's gold as each column's index holds it, and how far each piece of it came; nothing without a
    question set."""
    if options.gold is None:
        return {}, {}
    known = next((each for each in read_questions(options.gold) if each.question == options.question), None)
    if known is None:
        raise InvalidConfig("comparison.no_gold", file=options.gold.name)
    gold = {letter: GoldFinder(index).of_question(known) for letter, index in indexes.items()}
    lanes = {
        letter: tuple(lane(trace, indexes[letter], piece) for piece in gold[letter]) for letter, trace in traces.items()
    }
    return gold, lanes


def _remedies(
    bench: Workbench,
    question: str,
    specs: tuple[ColumnSpec, ...],
    traces: dict[str, Trace],
    indexes: dict[str, Index],
    gold: dict[str, tuple[Gold, ...]],
    lanes: dict[str, tuple[Lane, ...]],
) -> dict[tuple[str, int], Remedy | None]:
    """Find for each piece of gold that a column lost the smallest change that was run and finds it."""
    cures: dict[tuple[str, int], Remedy | None] = {}
    for spec in specs:
        index, trace = indexes[spec.letter], traces[spec.letter]

        def retrieve(changed: Any, spec: ColumnSpec = spec, index: Index = index) -> Trace:
            make_parts_of_try(bench, index, spec.info.name, spec.options, changed)
            return bench.retrieve(index, question, spec.info.name, **{**spec.options, **changed})

        for place, way in enumerate(lanes.get(spec.letter, ())):
            if not way.is_found:
                piece = gold[spec.letter][place]
                cures[spec.letter, place] = remedy(trace, index, piece, way, spec.info, retrieve)
    return cures
