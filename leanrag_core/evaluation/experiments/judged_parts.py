"""What judges said, in the HTML file of an experiment: whether to believe them, scores, win rates, grades."""

from collections.abc import Sequence

from markupsafe import Markup

from leanrag_core.evaluation.audit.audit import audit
from leanrag_core.evaluation.audit.sentences import advice, headline
from leanrag_core.evaluation.experiments.report_parts import bounds, number
from leanrag_core.evaluation.experiments.report_writing import Writing
from leanrag_core.evaluation.judging.tables import MeanScore, grades, mean_scores, win_rates
from leanrag_core.figures import numbers
from leanrag_core.figures.html import html, joined
from leanrag_core.types.experiment import ExperimentResult

_SCORE_HEADS = ("judge", "run", "criterion", "score", "interval", "words", "equal_length", "unparsed")
_PAIR_HEADS = ("judge", "pair", "criterion", "win_rate", "interval", "p", "words", "equal_length", "unparsed")


def judged_tables(write: Writing, result: ExperimentResult) -> Markup:
    """Write the audit in sentences, mean scores, win rates and grades of each judge; nothing if nothing was judged."""
    if not result.judgements:
        return Markup("")
    seed = result.spec.seed
    return joined(
        (
            _audit(write, result),
            _scores(write, "experiment.file.scores", mean_scores(result.judgements, seed=seed)),
            _win_rates(write, result),
            _scores(write, "experiment.file.grades", grades(result.judgements, seed)),
        )
    )


def _audit(write: Writing, result: ExperimentResult) -> Markup:
    made = audit(result.judgements, result.spec.seed)
    said = [write.say(each) for each in (headline(made), *advice(made))]
    faults = [f"{judge.judge}: {write.say(fault)}" for judge in made.judges for fault in judge.faults]
    lines = joined(html("<li>{}</li>", each) for each in (*said, *faults))
    return html("<h2>{}</h2><ul>{}</ul>", write.say("experiment.file.audit"), lines)


def _scores(write: Writing, title: str, scores: Sequence[MeanScore]) -> Markup:
    lines = [
        (
            each.judge,
            each.run,
            each.criterion,
            number(each.mean.value),
            bounds(each.mean),
            "–" if each.words is None else f"{each.words:,.0f}",
            "–" if each.equal_length is None else number(each.equal_length.value),
            each.unparsed,
        )
        for each in scores
        if each.mean is not None
    ]
    return _table(write, title, _SCORE_HEADS, lines)


def _win_rates(write: Writing, result: ExperimentResult) -> Markup:
    lines = [
        (
            each.judge,
            f"{each.a} / {each.b}",
            each.criterion,
            numbers.share(each.win_rate.value, 1),
            bounds(each.win_rate),
            f"{each.p_holm:.3f}",
            "–" if each.words is None else f"{each.words[0]:,.0f} / {each.words[1]:,.0f}",
            "–" if each.length is None else numbers.share(each.length.equal_length.value, 1),
            each.unparsed,
        )
        for each in win_rates(result.judgements, result.spec.seed)
        if each.win_rate is not None
    ]
    return _table(write, "experiment.file.win_rates", _PAIR_HEADS, lines)


def _table(write: Writing, title: str, heads: Sequence[str], lines: Sequence[Sequence[object]]) -> Markup:
    """Write a table with its title; nothing where there are no lines."""
    if not lines:
        return Markup("")
    return html(
        '<h2>{}</h2><p class="mute">{}</p><div class="wide"><table>{}{}</table></div>',
        write.say(title),
        write.say("experiment.file.judged_note"),
        write.row([write.say(f"experiment.file.{head}") for head in heads], "th"),
        joined(write.row(line) for line in lines),
    )
