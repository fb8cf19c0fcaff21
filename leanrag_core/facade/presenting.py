"""Presentations: made of an index, stored whole, exported as one HTML file."""

from collections.abc import Sequence
from pathlib import Path

from leanrag_core.atomic import write_bytes, writing
from leanrag_core.errors import LeanRAGError
from leanrag_core.facade.asking import Asking
from leanrag_core.facade.experimenting import Experimenting
from leanrag_core.facade.taking_index import takes_index
from leanrag_core.messages.message import message
from leanrag_core.presenting.making import make_presentation
from leanrag_core.presenting.storing import PresentationList, presentation_of, read_presentation
from leanrag_core.presenting.story import Presentation, PresentationPlan, PresentedStrategy
from leanrag_core.types.experiment import ExperimentResult
from leanrag_core.types.index import Index
from leanrag_core.types.progress import Report, silent
from leanrag_core.types.trace import Answer


class Presenting(Experimenting, Asking):
    """Presentations. See Workbench."""

    def presentations(self) -> PresentationList:
        """All presentations, a person's own first."""
        return self.presentation_store.all()

    def presentation(self, presentation_id: str) -> Presentation:
        """The presentation; neither its index nor a model is needed. Raises PresentationNotFound, PresentationTooNew,
        RecordDamaged."""
        return self.presentation_store.read(presentation_id)

    def presentation_changed(self, presentation_id: str) -> int:
        """When its file last changed, in nanoseconds. Raises PresentationNotFound."""
        return self.presentation_store.path(presentation_id).stat().st_mtime_ns

    def open_presentation(self, path: Path) -> Presentation:
        """The presentation in that file. Raises as presentation() does."""
        return read_presentation(path)

    @takes_index
    def make_presentation(self, index: Index, plan: PresentationPlan, *, report: Report = silent) -> Presentation:
        """Asks the plan's questions and keeps all that the slides show. Raises InvalidConfig, and errors of retrieval
        and of models."""
        return make_presentation(
            index, plan, self._ask_for_presentation, experiments=self._experiments_of(index), report=report
        )

    def add_presentation(self, presentation: Presentation) -> str:
        """Stores the presentation; returns its id. Raises InvalidConfig, StorageFailed."""
        return self.presentation_store.add(presentation)

    def add_presentation_file(self, name: str, content: bytes) -> str:
        """Stores an uploaded presentation; returns its id. Raises as presentation() does, StorageFailed."""
        return self.presentation_store.add(presentation_of(content, name=name))

    def delete_presentation(self, presentation_id: str) -> None:
        """The presentation is gone, a damaged one too. Raises PresentationNotFound, InvalidConfig for one that comes
        with the program."""
        self.presentation_store.delete(presentation_id)

    def exported_presentation(self, presentation: Presentation, language: str = "en") -> bytes:
        """One HTML file that opens without server and network. Raises InvalidConfig where it would be too large."""
        from leanrag_core.presenting.html_file import as_html

        return as_html(presentation, language)

    def export_presentation(self, presentation: Presentation, out: Path, language: str = "en") -> int:
        """Writes exported_presentation() to `out`; returns its bytes. Raises StorageFailed, too."""
        content = self.exported_presentation(presentation, language)
        with writing(message("what.export", path=str(out))):
            write_bytes(out, content)
        return len(content)

    def _ask_for_presentation(self, index: Index, question: str, strategy: PresentedStrategy) -> Answer:
        return self.ask(index, question, strategy.name, **strategy.options)

    def _experiments_of(self, index: Index) -> Sequence[ExperimentResult]:
        """The experiments with a run on that index; those that do not read are passed over."""
        results = []
        for summary in self.experiments():
            try:
                result = self.experiment(summary.id)
            except LeanRAGError:
                continue  # Evaluate lists it with its damage
            if any(result.versions.get(f"index {run.index}") == index.id for run in result.spec.runs):
                results.append(result)
        return results
