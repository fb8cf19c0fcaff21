"""Recommendations: which system stored experiments support for a wish, and over which questions they can tell."""

from contextlib import suppress
from dataclasses import dataclass
from operator import attrgetter

from leanrag_core.errors import InvalidConfig, LeanRAGError
from leanrag_core.evaluation.recommending import IndexFacts, Recommendation, StoredExperiment, Wish, recommend
from leanrag_core.storage.experiments import ExperimentStore
from leanrag_core.workbench.indexes import Indexes
from leanrag_core.workbench.question_sets import QuestionSets


@dataclass(frozen=True)
class AskedQuestions:
    """Questions that stored experiments asked. id: of their set, with their digest where experiments asked an earlier
    state of it. title: of the set. corpus_id: whose documents they are about, "" where that is not known. n: how many.
    experiments: ids, the last changed first, those of the program last."""

    id: str
    title: str
    corpus_id: str
    n: int
    experiments: tuple[str, ...]


class Recommendations:
    """Recommends systems by what experiments of the store have measured."""

    def __init__(self, store: ExperimentStore, indexes: Indexes, question_sets: QuestionSets) -> None:
        self._store, self._indexes, self._question_sets = store, indexes, question_sets

    def grounds(self) -> tuple[AskedQuestions, ...]:
        """Return the questions that experiments have asked, in the order of the experiments."""
        groups: dict[tuple[str, str], list[str]] = {}
        sizes: dict[tuple[str, str], int] = {}
        for summary in self._store.all():
            record = self._store.record(summary.id)
            key = summary.question_set, record.versions.get("questions", "")
            groups.setdefault(key, []).append(summary.id)
            sizes[key] = record.questions
        listed: list[AskedQuestions] = []
        for (set_id, digest), experiments in groups.items():
            id_ = f"{set_id}:{digest}" if set_id in {each.id for each in listed} else set_id
            title, corpus_id = self._store.summary(experiments[0]).title, ""
            with suppress(LeanRAGError):  # a set that was deleted since is called by the experiment that asked it
                card = self._question_sets.card(set_id)
                title, corpus_id = card.title, card.corpus_id
            listed.append(AskedQuestions(id_, title, corpus_id, sizes[set_id, digest], tuple(experiments)))
        return tuple(listed)

    def make(self, wish: Wish, questions: str = "") -> Recommendation:
        """Return what the experiments over those questions support. questions: an id of grounds(), the first by
        default. Raises InvalidConfig for questions that no experiment asked, RecordDamaged."""
        grounds = self.grounds()
        chosen = next((each for each in grounds if questions in ("", each.id)), None)
        if chosen is None and questions:
            ids = ", ".join(each.id for each in grounds)
            raise InvalidConfig("option.not_a_choice", option="questions", value=questions, choices=ids)
        return recommend(wish, self.stored(chosen)) if chosen else recommend(wish, ())

    def stored(self, questions: AskedQuestions) -> tuple[StoredExperiment, ...]:
        """Read the experiments over those questions, the one that was run last first. Raises RecordDamaged,
        ExperimentNotFound for one that was deleted since."""
        facts = {each.id: IndexFacts(each.title, each.config.by_name(), True) for each in self._indexes.all()}
        read = []
        for id_ in questions.experiments:
            result = self._store.read(id_)
            changed = "" if result.is_shipped else self._store.run_at(id_)
            read.append(StoredExperiment(result, changed, facts))
        return tuple(sorted(read, key=attrgetter("changed"), reverse=True))
