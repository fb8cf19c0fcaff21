"""Judges and the audit of their judgements."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from leanrag_core.facade.services import Services
from leanrag_core.types.experiment import Judgement

if TYPE_CHECKING:
    from leanrag_core.evaluation.audit.answer_files import JudgeFile, SystemAnswers
    from leanrag_core.evaluation.audit.judge_files import JudgeFiles
    from leanrag_core.evaluation.audit.records import Audit


class Judging(Services):
    """Judges and the audit of their judgements. See Workbench."""

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
