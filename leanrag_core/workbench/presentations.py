"""Presentations: made of an index, stored whole, exported as one HTML file."""

from pathlib import Path

from leanrag_core.errors import LeanRAGError
from leanrag_core.files.atomic import write_bytes, writing
from leanrag_core.messages.message import message
from leanrag_core.presenting.making import make_presentation
from leanrag_core.presenting.slides import as_html
from leanrag_core.presenting.storing import PresentationStore
from leanrag_core.presenting.story import Presentation, PresentationPlan, PresentedStrategy
from leanrag_core.storage.experiments import ExperimentStore
from leanrag_core.storage.history import from_record
from leanrag_core.types.experiment import ExperimentResult
from leanrag_core.types.index import Index
from leanrag_core.types.job import Report, silent
from leanrag_core.types.trace import Answer, RecordedRun
from leanrag_core.workbench.questions import AskRequest, Questions


class Presentations(PresentationStore):
    """The store of presentations, which makes new ones. experiments: whose results slides show."""

    def __init__(self, root: Path, shipped: Path, questions: Questions, experiments: ExperimentStore) -> None:
        super().__init__(root, shipped)
        self._questions, self._experiments = questions, experiments

    def make(self, index: Index, plan: PresentationPlan, *, report: Report = silent) -> Presentation:
        """Ask the plan's questions and keep all that the slides show. Raises InvalidConfig, and errors of retrieval and
        of models."""
        return make_presentation(index, plan, self._ask, experiments=self._experiments_of(index), report=report)

    def runs_of(self, index_id: str) -> tuple[RecordedRun, ...]:
        """Return the questions that presentations of that index have recorded, each with each system once. Those that
        do not read are passed over: Present lists them with their damage."""
        runs: dict[tuple[str, str, str], RecordedRun] = {}
        for summary in self.all().presentations:
            if summary.index_id != index_id:
                continue
            try:
                presentation = self.read(summary.id)
            except LeanRAGError:
                continue  # it was changed since the list was read
            for question in presentation.questions:
                for side in question.sides:
                    run = from_record(side.run, name=summary.id)
                    if run.trace.index.id != index_id:
                        continue
                    key = (run.trace.question, run.trace.strategy, str(sorted(run.trace.parameters.items())))
                    runs.setdefault(key, run)
        return tuple(runs.values())

    def _ask(self, index: Index, question: str, strategy: PresentedStrategy) -> Answer:
        trace = self._questions.retrieve(index, AskRequest(question, strategy.name, strategy.options))
        return self._questions.answer(index, trace)

    def _experiments_of(self, index: Index) -> list[ExperimentResult]:
        """Return the experiments with a run on that index; those that do not read are passed over."""
        results = []
        for summary in self._experiments.all():
            try:
                result = self._experiments.read(summary.id)
            except LeanRAGError:
                continue  # Evaluate lists it with its damage
            if any(result.versions.get(f"index {run.index}") == index.id for run in result.spec.runs):
                results.append(result)
        return results


def export_presentation(presentation: Presentation, out: Path, language: str = "en") -> int:
    """Write the presentation to `out` as one HTML file; return its bytes. Raises InvalidConfig where it would be too
    large, StorageFailed."""
    content = as_html(presentation, language)
    with writing(message("what.export", path=str(out))):
        write_bytes(out, content)
    return len(content)
