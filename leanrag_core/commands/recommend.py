"""recommend: which system fits a wish, by what stored experiments have measured."""

import argparse
from typing import Any

from leanrag_core.commands._options import Verbs, set_run
from leanrag_core.commands._printing import printed_json
from leanrag_core.evaluation.recommending import (
    CALLS,
    Candidate,
    Recommendation,
    Wish,
    alike_words,
    figures_words,
    headline,
    missing_words,
)
from leanrag_core.evaluation.tables import RECALL, TOKENS
from leanrag_core.figures import numbers
from leanrag_core.files.records import plain
from leanrag_core.messages.catalog import sentence
from leanrag_core.types.visible import visible
from leanrag_core.workbench import Workbench

_LEAST_NAME = 34  # characters of the column of names


def add_verbs(verbs: Verbs) -> None:
    """Add the verb recommend."""
    parser = verbs.add_parser("recommend", help="which system and settings fit a wish, by stored experiments")
    parser.add_argument("--recall", type=float, default=0.9, metavar="SHARE", help="of gold evidence (default: 0.9)")
    parser.add_argument("--tokens", type=float, metavar="N", help="at most so many tokens of context, in the mean")
    parser.add_argument("--calls", type=float, metavar="N", help="at most so many calls of models, in the mean")
    parser.add_argument("--milliseconds", type=float, metavar="N", help="at most so many for a retrieval, the median")
    parser.add_argument("--kind", default="", metavar="KIND", help="questions of that kind alone, such as multi-hop")
    parser.add_argument("--questions", default="", metavar="SET", help="a question set that experiments asked")
    parser.add_argument("--most", type=int, default=10, metavar="N", help="systems shown (default: 10)")
    set_run(parser, _recommend)


def _recommend(options: argparse.Namespace) -> None:
    wish = Wish(options.recall, options.tokens, options.calls, options.milliseconds, options.kind)
    bench = Workbench.default()
    recommendation = bench.recommendations.make(wish, options.questions)
    if printed_json(options, _values(recommendation)):
        return
    for ground in bench.recommendations.grounds():
        if ground.id == options.questions or not options.questions:
            print(f"{visible(ground.title)}: {ground.n:,} questions, {len(ground.experiments):,} experiments")
            break
    _print(recommendation, options.most)


def _print(recommendation: Recommendation, most: int) -> None:
    print(visible(sentence(headline(recommendation))))
    if recommendation.best is not None:
        print(visible(sentence(figures_words(recommendation.best))))
        for missing in missing_words(recommendation.best):
            print(visible(sentence(missing)))
    alike = alike_words(recommendation)
    if alike is not None:
        print(visible(sentence(alike)))
    listed = [(visible(sentence(recommendation.name(each))), each) for each in recommendation.candidates[:most]]
    width = max([_LEAST_NAME, *(len(name) + 1 for name, _ in listed)])
    if listed:
        print(f"{'':<{width}}{'chance':>7}{'recall':>20}{'tokens':>8}{'calls':>7}{'ms':>7}  alike, from")
    for name, candidate in listed:
        print(f"{name:<{width}}{_figures(candidate)}")
    if len(recommendation.candidates) > most:
        print(f"... and {len(recommendation.candidates) - most:,} more (--most)")
    if recommendation.left_out:
        print(f"without a score of evidence: {visible(', '.join(map(sentence, recommendation.left_out)))}")


def _figures(candidate: Candidate) -> str:
    recall = candidate.figures[RECALL]
    bounds = "" if recall.low is None or recall.high is None else f" [{recall.low:.2f}, {recall.high:.2f}]"
    chance = "-" if candidate.chance is None else numbers.share(candidate.chance)
    tokens, calls = (candidate.figures.get(name) for name in (TOKENS, CALLS))
    cells = (
        "-" if tokens is None else f"{tokens.value:,.0f}",
        "-" if calls is None else f"{calls.value:,.1f}",
        "-" if candidate.milliseconds is None else f"{candidate.milliseconds:,.0f}",
    )
    place = "=" if candidate.is_alike else " "
    recall_text = f"{recall.value:.2f}{bounds}"
    return f"{chance:>7}{recall_text:>20}{cells[0]:>8}{cells[1]:>7}{cells[2]:>7}  {place} {candidate.source.experiment}"


def _values(recommendation: Recommendation) -> dict[str, Any]:
    candidates = [
        {"name": sentence(recommendation.name(each)), "state": each.state, **plain(each)}
        for each in recommendation.candidates
    ]
    return {
        "said": sentence(headline(recommendation)),
        "state": recommendation.state,
        "wish": plain(recommendation.wish),
        "questions": recommendation.questions,
        "telling_question": recommendation.telling,
        "candidates": candidates,
        "left_out": [sentence(each) for each in recommendation.left_out],
    }
