"""Votes of a person on pairs of answers: which pairs, on which sides, without signs of the systems, and the votes."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, islice
from random import Random

from leanrag_core.errors import InvalidConfig
from leanrag_core.evaluation.gold import GoldQuestion
from leanrag_core.evaluation.judging.asking import COMPARED, FIRST, OVERALL, SECOND, TIE
from leanrag_core.text.words import lexical_tokens
from leanrag_core.types.config import require_choice
from leanrag_core.types.experiment import PAIRWISE, ExperimentResult, Judgement

WHOLE, EACH = (OVERALL,), COMPARED  # criteria of a vote: as a whole, or each of those that judges are asked for
_MARKS = re.compile(r"(?:\s*\[[A-Z]+\d+\])+")
_SPACE_BEFORE_STOP = re.compile(r"\s+([.,;:!?])")


@dataclass(frozen=True)
class Ballot:
    """A question with the answers of two runs. left, right: their keys, which a voter must not see. answers: as parts,
    without citation marks, which tell a graph's answer from one of passages."""

    question: str
    text: str
    kind: str
    left: str
    right: str
    answers: tuple[tuple[str, ...], tuple[str, ...]]


@dataclass(frozen=True)
class Step:
    """A verdict to give by a criterion. place: of the ballot in the voting, from 0."""

    place: int
    criterion: str


@dataclass(frozen=True)
class Voting:
    """What a person votes on, in the order of the voting, and their votes. votes: those not taken back. same: pairs
    whose answers are alike, word for word, which are left out."""

    judge: str
    criteria: tuple[str, ...]
    ballots: tuple[Ballot, ...]
    votes: tuple[Judgement, ...]
    same: int

    def open_steps(self) -> tuple[Step, ...]:
        """Return the verdicts that are left to give."""
        verdicts_of = {(vote.question, vote.first, vote.second): vote.verdicts for vote in self.votes}
        return tuple(
            Step(place, criterion)
            for place, ballot in enumerate(self.ballots)
            for criterion in self.criteria
            if criterion not in verdicts_of.get((ballot.question, ballot.left, ballot.right), {})
        )

    @property
    def n_done(self) -> int:
        """Return how many ballots have all their verdicts."""
        return len(self.ballots) - len({step.place for step in self.open_steps()})


def voting(
    result: ExperimentResult,
    questions: Iterable[GoldQuestion],
    runs: Sequence[str],
    judge: str,
    criteria: Sequence[str] = WHOLE,
) -> Voting:
    """Return what the person votes on: each pair of these runs on each question that both answered.

    Order and sides are drawn with the seed of the experiment for this person and pair: each run stands left as often as
    right, and a pair that was voted on stays as it was. Raises InvalidConfig for fewer than two runs, and for an
    unknown one.
    """
    keys = [run.key for run in result.spec.runs]
    for run in runs:
        if run not in keys:
            raise InvalidConfig("experiment.unknown_run", name=run, known=", ".join(keys))
    if len(set(runs)) < 2:
        raise InvalidConfig("verdicts.two_runs")
    votes = tuple(vote for vote in result.judgements if vote.judge == judge and {vote.first, vote.second} <= set(runs))
    sides = {(vote.question, frozenset((vote.first, vote.second))): (vote.first, vote.second) for vote in votes}
    texts = {question.id: question.question for question in questions}
    answered = {(row.run, row.question): row for row in result.rows if row.answer.strip() and not row.error}
    ballots: list[Ballot] = []
    same = 0
    for pair in combinations([key for key in keys if key in runs], 2):
        draw = Random(f"{result.spec.seed} {result.id} {judge} {' '.join(pair)}")
        ids = [id_ for run, id_ in answered if run == pair[0] and (pair[1], id_) in answered]
        draw.shuffle(ids)
        for number, id_ in enumerate(ids):
            left, right = sides.get((id_, frozenset(pair)), pair if number % 2 else pair[::-1])
            shown = parts(answered[left, id_].answer), parts(answered[right, id_].answer)
            same += shown[0] == shown[1]
            if shown[0] != shown[1]:
                ballots.append(Ballot(id_, texts.get(id_, id_), answered[left, id_].kind, left, right, shown))
    Random(f"{result.spec.seed} {result.id} {judge}").shuffle(ballots)
    return Voting(judge, tuple(criteria), tuple(ballots), votes, same)


def parts(answer: str) -> tuple[str, ...]:
    """Return the answer without citation marks, split after each of them as the Ask page lists an answer."""
    cut = _MARKS.sub("\0", answer).replace("\0.", ".\0")
    return tuple(_SPACE_BEFORE_STOP.sub(r"\1", part).strip() for part in cut.split("\0") if part.strip())


def vote(ballot: Ballot, judge: str, criterion: str, verdict: float | None) -> Judgement:
    """Return the vote as it is stored. verdict: FIRST for the left answer, SECOND, TIE; None takes it back. Raises
    InvalidConfig for another verdict or criterion."""
    require_choice("criterion", criterion, COMPARED)
    if verdict not in (FIRST, SECOND, TIE, None):
        raise InvalidConfig("option.not_a_choice", option="verdict", value=verdict, choices="1, 2, 0")
    left, right = ("\n".join(answer) for answer in ballot.answers)
    return Judgement(
        judge=judge,
        kind=PAIRWISE,
        question=ballot.question,
        first=ballot.left,
        second=ballot.right,
        repeat=0,
        verdicts={criterion: verdict},
        prompt=f"{ballot.text}\n\n1\n{left}\n\n2\n{right}",
        reply="",
        words=(len(lexical_tokens(left)), len(lexical_tokens(right))),
    )


def last_votes(votes: Sequence[Judgement], judge: str, runs: Iterable[str], n: int) -> tuple[Judgement, ...]:
    """Return the votes that take back the person's last n standing verdicts on pairs of these runs, the last first.
    votes: line by line, as stored."""
    shown = set(runs)
    standing: dict[tuple[str, str, str, str], Judgement] = {}
    for line in votes:
        if line.judge == judge and {line.first, line.second} <= shown:
            for criterion, verdict in line.verdicts.items():
                key = line.question, line.first, line.second, criterion
                standing.pop(key, None)
                if verdict is not None:
                    standing[key] = line
    latest = islice(reversed(standing.items()), n)
    return tuple(replace(line, verdicts={criterion: None}) for (_, _, _, criterion), line in latest)
