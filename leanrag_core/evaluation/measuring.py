"""How measures are found, the program's own table and one file each in measures/, and outcomes scored by all."""

from collections.abc import Callable, Iterable

from leanrag_core.evaluation import measures as folder
from leanrag_core.evaluation.base import (
    ANSWER,
    CLAIMS,
    CONTEXT,
    COUNT,
    EVIDENCE,
    HIGHER,
    OTHER,
    SHARE,
    TOKENS,
    Measure,
    MeasureInfo,
    Outcome,
)
from leanrag_core.evaluation.gold import ChunkTexts, GoldQuestion
from leanrag_core.extensions import BrokenExtension, Extensions, discover
from leanrag_core.figures import numbers
from leanrag_core.messages.message import message
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Trace

_LARGE = 100  # counts from there on are shown without decimals


def measures() -> tuple[Measure, ...]:
    """Return all measures, by name; a file that does not load is left out (see broken_measures())."""
    added = [module.Measure() for module in _found().modules]
    return tuple(sorted([*folder.OWN, *added], key=lambda measure: str(measure.name)))


def measure_infos() -> tuple[MeasureInfo, ...]:
    """Describe each measure for tables: groups in their order, main measures first, then by name."""
    groups = (EVIDENCE, CONTEXT, ANSWER, CLAIMS)
    infos = map(info_of, measures())
    return tuple(sorted(infos, key=lambda each: ((*groups, each.group).index(each.group), not each.is_main, each.name)))


def info_of(measure: Measure) -> MeasureInfo:
    """Describe the measure for tables."""
    return MeasureInfo(
        measure.name,
        measure.title,
        measure.help,
        getattr(measure, "group", OTHER),
        getattr(measure, "unit", SHARE),
        getattr(measure, "better", HIGHER),
        getattr(measure, "is_main", True),
        getattr(measure, "ratio", None),
    )


def written(measure: str, value: float) -> str:
    """Write a score as pages and files show it: a count whole, a small one with a decimal, any other with two."""
    if not _is_count(measure):
        return numbers.score(value)
    return numbers.decimal(value, decimals(measure, value))


def decimals(measure: str, value: float, *, of_shares: int = 2) -> int:
    """Return how many decimals a score is written with. of_shares: those of a measure that does not count."""
    if not _is_count(measure):
        return of_shares
    return 0 if abs(value) >= _LARGE or value == round(value) else 1


def written_difference(measure: str, value: float) -> str:
    """Write a difference of scores with its sign."""
    return numbers.signed(round(value)) if _is_count(measure) else numbers.difference(value)


def _is_count(measure: str) -> bool:
    return any(info.name == measure and info.unit in (COUNT, TOKENS) for info in measure_infos())


def broken_measures() -> tuple[BrokenExtension, ...]:
    """Return the files of measures/ that do not load."""
    return _found().broken


def scores(outcome: Outcome) -> dict[str, float | None]:
    """Score the outcome by each measure; keys are the measures' names."""
    return {measure.name: measure.score(outcome) for measure in measures()}


def scores_of_questions(
    index: Index, questions: Iterable[GoldQuestion], retrieve: Callable[[str], Trace]
) -> dict[str, dict[str, float]]:
    """Retrieve for every question and return its scores, by its text and by measure; measures without a score are
    absent."""
    chunks, by_question = ChunkTexts(index), {}
    for question in questions:
        question_scores = scores(Outcome(question, retrieve(question.question), chunks=chunks))
        by_question[question.question] = {name: value for name, value in question_scores.items() if value is not None}
    return by_question


def _found() -> Extensions:
    """Return the files that add a measure; one whose name is already in use is left out, with the reason."""
    discovered = discover(folder, kind="Measure", required=("name", "title", "help", "score"))
    used_names, kept, broken = {str(measure.name) for measure in folder.OWN}, [], list(discovered.broken)
    for module in discovered.modules:
        name, file = str(module.Measure.name), f"{module.__name__.rsplit('.', 1)[-1]}.py"
        if name in used_names:
            broken.append(BrokenExtension(file, message("extension.name_taken", file=file, name=name)))
        else:
            used_names.add(name)
            kept.append(module)
    return Extensions(tuple(kept), tuple(broken))
