"""How the scores of a measure are written, and whether more of it is better."""

from collections.abc import Mapping, Sequence

from leanrag_core.evaluation import tables
from leanrag_core.evaluation.base import COUNT, TOKENS, MeasureInfo, measure_infos
from leanrag_core.figures import numbers
from leanrag_core.types.experiment import QuestionRow
from pages.common.messages import known, say, words

LATENCY = "latency"
# Columns of a table in this order, as far as an experiment has them; others follow by their group.
ORDER = (
    "evidence-recall",
    "recall-5",
    "all-gold-8",
    "reciprocal-rank",
    "answer-in-context",
    "context-tokens",
    "recall-per-1000",
    "repeated-share",
)
COLUMNS = ("evidence-recall", "all-gold-8", "reciprocal-rank", "context-tokens", "recall-per-1000")


def _infos() -> Mapping[str, MeasureInfo]:
    return {info.name: info for info in measure_infos()}


def less_is_better(measure: str) -> bool:
    """Whether the lowest score of a measure is the best."""
    return measure == LATENCY or tables.less_is_better(measure)


def is_count(measure: str) -> bool:
    """Whether its scores are counts, of tokens or claims."""
    infos = _infos()
    return measure in infos and infos[measure].unit in (COUNT, TOKENS)


def is_measure(name: str) -> bool:
    """Whether the program measures something of that name."""
    return name in _infos()


def title_of(measure: str) -> str:
    """The measure's name on screen; its own name where the program no longer has it."""
    code, infos = f"evaluate.measure.{measure}", _infos()
    if known(code):
        return say(code)
    return words(infos[measure].title) if measure in infos else measure


def help_of(measure: str) -> str:
    """What the measure says, in a sentence; empty where that is not known."""
    infos = _infos()
    return words(infos[measure].help) if measure in infos else ""


def shown(measure: str, value: float | None) -> str:
    """A score as it is written; a dash where there is none."""
    if value is None:
        return "–"
    if measure == LATENCY:
        return numbers.duration(value / 1000)
    if is_count(measure):
        is_whole = abs(value) >= 100 or value == round(value)
        return numbers.decimal(value, 0 if is_whole else 1)
    return numbers.score(value)


def shown_difference(measure: str, value: float) -> str:
    """A difference of scores with its sign."""
    if is_count(measure):
        return numbers.signed(round(value))
    return numbers.difference(value)


def in_order(names: Sequence[str]) -> tuple[str, ...]:
    """The measures, those of ORDER first, the others as their groups come."""
    order = dict.fromkeys((*ORDER, *_infos()))
    place = {name: number for number, name in enumerate(order)}
    return tuple(sorted(names, key=lambda name: (place.get(name, len(place)), name)))


def measured(rows: Sequence[QuestionRow]) -> tuple[str, ...]:
    """The measures that any of these rows has a score of, in order."""
    names = {name for row in rows for name, score in row.scores.items() if score is not None}
    return in_order(sorted(names))


def kinds_of(rows: Sequence[QuestionRow]) -> Mapping[str, int]:
    """The kinds of questions with how many there are of each, in the order in which they come."""
    questions = {row.question: row.kind for row in rows}
    kinds = dict.fromkeys(kind for kind in questions.values() if kind)
    return {kind: sum(each == kind for each in questions.values()) for kind in kinds}


def kind_title(kind: str) -> str:
    """A kind of question as it is shown."""
    code = f"evaluate.kind.{kind.lower().replace(' ', '-')}"
    return say(code) if known(code) else kind
