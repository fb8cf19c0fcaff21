"""The audit of judgements; corpora without names, and answers with them again."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from leanrag_core.facade.services import Services
from leanrag_core.facade.taking_index import takes_index
from leanrag_core.types.experiment import Judgement
from leanrag_core.types.index import Index

if TYPE_CHECKING:
    from leanrag_core.evaluation.anonymity.corpus import Anonymous
    from leanrag_core.evaluation.anonymity.dictionary import Dictionary
    from leanrag_core.evaluation.anonymity.scoring import ReversionScore
    from leanrag_core.evaluation.audit.answer_files import JudgeFile, SystemAnswers
    from leanrag_core.evaluation.audit.judge_files import JudgeFiles
    from leanrag_core.evaluation.audit.records import Audit
    from leanrag_core.evaluation.gold import GoldQuestion


class Judging(Services):
    """The audit of judgements; corpora without names. See Workbench."""

    def audit(self, judgements: Iterable[Judgement], seed: int = 0) -> "Audit":
        """Whether the verdicts depend on order, length or chance, and which pairs they separate."""
        from leanrag_core.evaluation.audit.audit import audit

        return audit(judgements, seed)

    def read_judge_files(
        self,
        files: "Sequence[JudgeFile]",
        answers: "Mapping[str, SystemAnswers] | None" = None,
        *,
        n_questions: int = 0,
    ) -> "JudgeFiles":
        """The judgements of uploaded files: our own JSONL or CSV, or HiRAG's replies. answers: of runs by name, whose
        lengths are then known. Raises InvalidConfig, naming file and line."""
        from leanrag_core.evaluation.audit.judge_files import read_judge_files

        return read_judge_files(files, answers, n_questions=n_questions)

    def read_answers(self, file: "JudgeFile") -> "SystemAnswers":
        """The answers of a system, a line each. Raises InvalidConfig, naming file and line."""
        from leanrag_core.evaluation.audit.answer_files import read_answers

        return read_answers(file)

    @takes_index
    def anonymise(
        self, index: Index, questions: "Sequence[GoldQuestion]" = (), types: Collection[str] = ()
    ) -> "Anonymous":
        """The documents of the index and the questions with placeholders for names. types: of the entities whose names
        are replaced; empty: all but concepts and headings; "all": every type."""
        from leanrag_core.evaluation.anonymity.corpus import anonymised

        return anonymised(index, questions, types)

    def save_anonymous(self, made: "Anonymous", folder: Path) -> None:
        """Writes documents, questions and dictionary into a folder that is new or empty. Raises InvalidConfig for
        another one, StorageFailed."""
        from leanrag_core.evaluation.anonymity.files import write_anonymous

        write_anonymous(made, folder)

    def read_dictionary(self, path: Path) -> "Dictionary":
        """The dictionary that save_anonymous() wrote. Raises InvalidConfig, RecordDamaged."""
        from leanrag_core.evaluation.anonymity.files import read_dictionary

        return read_dictionary(path)

    def revert(
        self,
        answers: Sequence[tuple[str, str]],
        dictionary: "Dictionary",
        questions: "Sequence[GoldQuestion]" = (),
    ) -> "ReversionScore":
        """Answers to anonymous questions with their names again, and what went wrong. answers: id of the question, and
        the answer. questions: with names and gold answers, by which the answers are graded."""
        from leanrag_core.evaluation.anonymity.scoring import reversion

        return reversion(answers, dictionary, questions)
