"""The audit of judgements: can their verdicts be reported?"""

from collections.abc import Iterable, Sequence

from leanrag_core.evaluation.audit.agreement import agreements, fleiss_of
from leanrag_core.evaluation.audit.comparisons import comparisons, judges_of, pairs_of, swapped
from leanrag_core.evaluation.audit.judges import first_answer_bias, judge_audit, length_effect, main_criterion
from leanrag_core.evaluation.audit.pairs import pair_audits
from leanrag_core.evaluation.audit.records import Audit, Flip
from leanrag_core.evaluation.audit.scores import score_spreads
from leanrag_core.types.experiment import Judgement


def audit(judgements: Iterable[Judgement], seed: int = 0) -> Audit:
    """Audit the judges and the pairs that they compared; empty for no judgements.

    seed: of the bootstrap; the same judgements give the same audit.
    """
    given = tuple(judgements)
    own = {judge: tuple(each for each in given if each.judge == judge) for judge in judges_of(given)}
    effects = {judge: length_effect(each, judge, seed) for judge, each in own.items()}
    return Audit(
        judges=tuple(judge_audit(each, judge, effects[judge], seed) for judge, each in own.items()),
        pairs=tuple(row for judge, each in own.items() for row in pair_audits(each, judge, seed)),
        first_answer=tuple(row for judge, each in own.items() for row in first_answer_bias(each, judge, seed)),
        length=tuple(effect for effect in effects.values() if effect is not None),
        agreement=agreements(own),
        fleiss=fleiss_of(own),
        scores=tuple(row for judge, each in own.items() for row in score_spreads(each, judge)),
        flips=tuple(flip for judge, each in own.items() for flip in _flips(each, judge)),
    )


def _flips(judgements: Sequence[Judgement], judge: str) -> tuple[Flip, ...]:
    """Return the verdicts by the main criterion that name another winner when the answers are swapped."""
    criterion = main_criterion(judgements)
    return tuple(
        Flip(judge, criterion, *pair, first.question, first.judgement, second.judgement)
        for pair in pairs_of(judgements)
        for first, second in swapped(comparisons(judgements, pair, criterion))
        if first.won != second.won
    )
