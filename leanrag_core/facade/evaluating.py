"""Question sets."""

from collections.abc import Sequence

from leanrag_core.evaluation.gold import GoldQuestion
from leanrag_core.evaluation.question_sets.reading import read_set, to_jsonl
from leanrag_core.facade.services import Services
from leanrag_core.types.question_set import QuestionSetInfo


class Evaluating(Services):
    """Question sets. See Workbench."""

    def question_sets(self) -> tuple[QuestionSetInfo, ...]:
        """All question sets, those of the sample corpora first."""
        return self._question_sets.all()

    def question_set_info(self, set_id: str) -> QuestionSetInfo:
        """The set's card. Raises QuestionSetNotFound."""
        return self._question_sets.card(set_id)

    def question_set(self, set_id: str) -> tuple[GoldQuestion, ...]:
        """The questions of the set. Raises QuestionSetNotFound."""
        return self._question_sets.questions(set_id)

    def question_set_file(self, set_id: str) -> bytes:
        """The set as a JSONL file to keep or to send. Raises QuestionSetNotFound."""
        return to_jsonl(self.question_set(set_id))

    def read_question_file(self, name: str, content: bytes) -> tuple[GoldQuestion, ...]:
        """The questions of an uploaded JSONL, JSON or CSV file, which is not stored. Raises InvalidConfig."""
        return read_set(content, name)

    def add_question_file(self, name: str, content: bytes, *, title: str = "", corpus_id: str = "") -> str:
        """Stores an uploaded file as a question set; returns its id. title: the file's name by default.

        Raises InvalidConfig, naming the line and what to do, StorageFailed.
        """
        return self._question_sets.add_file(name, content, title=title, corpus_id=corpus_id)

    def add_question_set(self, title: str, questions: Sequence[GoldQuestion], *, corpus_id: str = "") -> str:
        """Stores questions that a person wrote; returns the set's id, which is the same for the same set.

        Raises InvalidConfig, StorageFailed.
        """
        return self._question_sets.add(title, questions, corpus_id=corpus_id)

    def delete_question_set(self, set_id: str) -> None:
        """The set is gone; experiments that used it keep their results. Raises QuestionSetNotFound, InvalidConfig for
        a set that comes with the program."""
        self._question_sets.delete(set_id)
