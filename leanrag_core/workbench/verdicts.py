"""Verdicts of people on the answers of an experiment: pairs to vote on, votes kept as judgements, the last undone."""

from collections.abc import Sequence

from leanrag_core.evaluation.gold import GoldQuestion
from leanrag_core.evaluation.judging.people import WHOLE, Ballot, Voting, last_votes, vote, voting
from leanrag_core.storage.experiments import ExperimentStore
from leanrag_core.storage.votes import standing_votes
from leanrag_core.types.experiment import Judgement, human_judge


class Verdicts:
    """Keeps what people vote. voter: the person's name, "" for nobody in particular."""

    def __init__(self, store: ExperimentStore) -> None:
        self._store = store

    def voting(
        self, experiment_id: str, runs: Sequence[str], *, voter: str = "", criteria: Sequence[str] = WHOLE
    ) -> Voting:
        """Return what the person votes on, and what they voted. runs: keys of two or more. Raises ExperimentNotFound,
        RecordDamaged, InvalidConfig."""
        questions = self._store.questions(experiment_id, GoldQuestion)
        return voting(self._store.read(experiment_id), questions, runs, human_judge(voter), criteria)

    def standing(self, experiment_id: str) -> tuple[Judgement, ...]:
        """Return the judgements of all persons that nobody took back. Raises ExperimentNotFound, RecordDamaged."""
        return standing_votes(self._store.votes(experiment_id))

    def vote(self, experiment_id: str, ballot: Ballot, verdict: float, *, voter: str = "", criterion: str) -> None:
        """Keep the verdict: 1 for the left answer, 2 for the right one, 0 for a tie. Raises ExperimentNotFound,
        InvalidConfig, StorageFailed."""
        self._store.add_votes(experiment_id, [vote(ballot, human_judge(voter), criterion, verdict)])

    def last(self, experiment_id: str, runs: Sequence[str], *, voter: str = "", n: int = 1) -> tuple[Judgement, ...]:
        """Return what takes back each of the person's last n verdicts on pairs of these runs, the last first. Raises
        ExperimentNotFound, RecordDamaged."""
        return last_votes(self._store.votes(experiment_id), human_judge(voter), runs, n)

    def undo(self, experiment_id: str, runs: Sequence[str], *, voter: str = "") -> Judgement | None:
        """Take back the person's last verdict on a pair of these runs; return what says so, None where there was none.
        Raises ExperimentNotFound, StorageFailed."""
        back = self.last(experiment_id, runs, voter=voter)
        if not back:
            return None
        self._store.add_votes(experiment_id, back)
        return back[0]
