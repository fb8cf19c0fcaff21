"""How far judges agree with each other, and with themselves."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations, pairwise
from statistics import fmean

from leanrag_core.evaluation.audit.comparisons import Pair, comparisons, pairs_of
from leanrag_core.evaluation.audit.judges import main_criterion
from leanrag_core.evaluation.audit.records import Agreement
from leanrag_core.evaluation.statistics.agreement import cohen, fleiss
from leanrag_core.types.experiment import Judgement

_Place = tuple[Pair, str, bool]  # the pair, the question, and whether the pair's first was shown first
_OUTCOMES = (0.0, 0.5, 1.0)


def agreements(judgements: Mapping[str, Sequence[Judgement]]) -> tuple[Agreement, ...]:
    """Compare each judge with itself between repeats, then with each later judge, by the main criterion.

    judgements: of each judge. Verdicts are compared in the same order of the answers, so that a preference for an order
    that both share counts as agreement.
    """
    winners = {judge: _winners(each) for judge, each in judgements.items()}
    pairs = pairs_of([judgement for each in judgements.values() for judgement in each])
    if not pairs:
        return ()
    alone = [_with_itself(judge, each) for judge, each in winners.items()]
    return (*alone, *(_of_two(*two, winners) for two in combinations(winners, 2)))


def fleiss_of(judgements: Mapping[str, Sequence[Judgement]]) -> float | None:
    """Return Fleiss' kappa over what all the judges judged; None below two judges."""
    if len(judgements) < 2:
        return None
    verdicts = [_majority(_winners(each)) for each in judgements.values()]
    shared = [place for place in verdicts[0] if all(place in each for each in verdicts)]
    return fleiss([[[each[place] for each in verdicts].count(outcome) for outcome in _OUTCOMES] for place in shared])


def _winners(judgements: Sequence[Judgement]) -> Mapping[_Place, Sequence[float]]:
    """Return the verdict of each repeat, in the order of the repeats, for each pair, question and order of the
    answers."""
    winners: dict[_Place, list[float]] = defaultdict(list)
    criterion = main_criterion(judgements)
    for a, b in pairs_of(judgements):
        ordered = (a, b) if a <= b else (b, a)
        for comparison in sorted(comparisons(judgements, ordered, criterion), key=lambda each: each.judgement.repeat):
            if comparison.won is not None:
                winners[ordered, comparison.question, comparison.is_a_first].append(comparison.won)
    return winners


def _majority(winners: Mapping[_Place, Sequence[float]]) -> Mapping[_Place, float]:
    """Return the verdict of most repeats for each place; a tie where they are even."""
    means = {place: fmean(each) for place, each in winners.items()}
    return {place: 0.5 if mean == 0.5 else float(mean > 0.5) for place, mean in means.items()}


def _with_itself(judge: str, winners: Mapping[_Place, Sequence[float]]) -> Agreement:
    couples = [couple for each in winners.values() for couple in pairwise(each)]
    kappa = cohen([earlier for earlier, _ in couples], [later for _, later in couples])
    return Agreement(judge, judge, kappa, len(couples))


def _of_two(judge: str, other: str, winners: Mapping[str, Mapping[_Place, Sequence[float]]]) -> Agreement:
    ours, theirs = _majority(winners[judge]), _majority(winners[other])
    shared = [place for place in ours if place in theirs]
    kappa = cohen([ours[place] for place in shared], [theirs[place] for place in shared])
    return Agreement(judge, other, kappa, len(shared))
