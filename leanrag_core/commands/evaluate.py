"""evaluate: a strategy's measures over questions with gold evidence, or an extraction against a reference graph."""

import argparse
from dataclasses import asdict, replace
from itertools import groupby
from pathlib import Path
from typing import Any

from leanrag_core.commands._options import Verbs, add_top, index_verb, print_broken, set_run, top_options
from leanrag_core.commands._printing import PrintedProgress, make_needed_parts, printed_json
from leanrag_core.commands._score_tables import print_grounds, print_mean, print_table, table_values
from leanrag_core.errors import InvalidConfig
from leanrag_core.evaluation.base import Outcome
from leanrag_core.evaluation.experiments.running import strategies_spec
from leanrag_core.evaluation.extraction import ExtractionScore, Share
from leanrag_core.evaluation.gold import ChunkTexts
from leanrag_core.evaluation.measuring import broken_measures, measure_infos
from leanrag_core.evaluation.question_sets.reading import read_questions
from leanrag_core.evaluation.tables import means, score_table
from leanrag_core.figures.numbers import counted
from leanrag_core.messages.catalog import sentence
from leanrag_core.messages.message import message
from leanrag_core.retrieval.settings import settings_words
from leanrag_core.types.manifest import REFERENCE_GRAPH
from leanrag_core.types.visible import visible
from leanrag_core.workbench import Workbench, open_index


def add_verbs(verbs: Verbs) -> None:
    """Add the verb evaluate."""
    parser = index_verb(
        verbs, "evaluate", "measures of a strategy over questions with gold evidence, or of an extraction"
    )
    parser.add_argument("questions", type=Path, metavar="QUESTIONS.jsonl", nargs="?")
    parser.add_argument(
        "--extraction", action="store_true", help="the base graph beside the reference graph of a sample corpus"
    )
    parser.add_argument("--strategy", default="leanrag")
    parser.add_argument("--all", action="store_true", help="every strategy, as an experiment that is kept")
    add_top(parser)
    set_run(parser, _evaluate)


def _evaluate(options: argparse.Namespace) -> None:
    """Measure retrieval alone: no answer is written, so nothing is paid beyond embedding the questions."""
    if options.extraction:
        _evaluate_extraction(options)
        return
    if options.questions is None:
        raise InvalidConfig("command.evaluate_what")
    if options.all:
        _evaluate_all(options)
        return
    print_broken(broken_measures())
    questions = read_questions(options.questions)
    bench, index = Workbench.default(), open_index(options.index)
    chosen, chunks = top_options(options), ChunkTexts(index)
    make_needed_parts(bench, index, options.strategy, chosen)
    outcomes = [
        Outcome(question, bench.retrieve(index, question.question, options.strategy, **chosen), chunks=chunks)
        for question in questions
    ]
    table = means(outcomes)
    rows = [{**asdict(mean), "title": sentence(mean.title)} for mean in table]
    shown = {"strategy": options.strategy, "questions": len(questions), "options": chosen, "measures": rows}
    if printed_json(options, shown):
        return
    print(f"{options.strategy}, {counted(len(questions), 'question')}")
    print(sentence(settings_words(options.strategy, outcomes[0].trace.parameters)))
    by_name = {mean.measure: mean for mean in table if mean.value is not None}
    for group, infos in groupby(measure_infos(), key=lambda info: info.group_title):
        known = [by_name[info.name] for info in infos if info.name in by_name]
        if known:
            print(sentence(group))
        for mean in known:
            print_mean(mean, f"  over {counted(mean.n, 'question')}")


def _evaluate_all(options: argparse.Namespace) -> None:
    """Measure all strategies with official budgets, retrieval alone, and print an experiment's table. Only questions
    without a stored row are run."""
    bench, folder = Workbench.default(), str(options.index.resolve())
    index = bench.experiments.indexes.open(folder)
    set_id = bench.question_sets.add_file(options.questions.name, options.questions.read_bytes())
    spec = strategies_spec(
        sentence(message("experiment.all_strategies", name=index.manifest.name)),
        folder,
        set_id,
        asks_model=bench.questions.asks_model(index.manifest.config.writer),
    )
    result = bench.experiments.run(replace(spec, answers=False), PrintedProgress())
    table = score_table(result)
    if printed_json(options, {"experiment": result.id, **table_values(table)}):
        return
    print(result.id)
    print_table(table)
    print_grounds(result, table)


def _evaluate_extraction(options: argparse.Namespace) -> None:
    """Measure which share of a reference graph the index's base graph has."""
    index = open_index(options.index)
    score = Workbench.default().references.score(index)
    if score is None:
        itself = index.manifest.kind == REFERENCE_GRAPH
        raise InvalidConfig("command.reference_itself" if itself else "command.no_reference", index=index.manifest.name)
    name, model = index.manifest.name, index.manifest.config.model
    if printed_json(options, {"index": name, "model": model, **_extraction_values(score)}):
        return
    print(f"{name}, extraction by {model}, beside the reference graph")
    for match in score.matches:
        print(f"names compared as {match.match}")
        _print_share("entities", match.entities)
        _print_share("relations", match.relations)
    for title, shares in (("entities by type", score.types), ("relations by kind", score.kinds)):
        print(title)
        for name, share in shares.items():
            _print_share(name or "–", share)
    examples = score.examples
    for title, listed in (
        ("entities missed", examples.missed_entities),
        ("relations missed", examples.missed_relations),
        ("entities given besides", examples.other_entities),
        ("relations given besides", examples.other_relations),
    ):
        print(f"{title}: {visible('; '.join(each.name for each in listed) or '–')}")


def _print_share(name: str, share: Share) -> None:
    recall, precision = ("–" if value is None else f"{value:.3f}" for value in (share.recall, share.precision))
    has = f"{share.hit:,} of {share.wanted:,}, recall {recall}"
    print(f"{visible(name):>14}  {has}; {share.given:,} given, precision {precision}")


def _extraction_values(score: ExtractionScore) -> dict[str, Any]:
    """Return the score as JSON values; entities and relations at the top are those of names as normalised."""
    return {
        "entities": _share_values(score.entities),
        "relations": _share_values(score.relations),
        "matches": {
            match.match: {"entities": _share_values(match.entities), "relations": _share_values(match.relations)}
            for match in score.matches
        },
        "types": {name: _share_values(share) for name, share in score.types.items()},
        "kinds": {name: _share_values(share) for name, share in score.kinds.items()},
        "examples": asdict(score.examples),
    }


def _share_values(share: Share) -> dict[str, Any]:
    return {**asdict(share), "recall": share.recall, "precision": share.precision}
