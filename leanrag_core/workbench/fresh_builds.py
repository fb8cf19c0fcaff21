"""How far an updated index is from a fresh build of its documents: clusters, and recall of gold evidence."""

import tempfile
from collections.abc import Sequence
from pathlib import Path

from leanrag_core.evaluation.base import Outcome
from leanrag_core.evaluation.gold import GoldQuestion
from leanrag_core.evaluation.tables import means
from leanrag_core.indexing.build import BuildRequest
from leanrag_core.indexing.updating.before import agreement_of_bases
from leanrag_core.indexing.updating.preview import documents_after, require_updatable
from leanrag_core.jobs.kinds import COMPARE_FRESH
from leanrag_core.jobs.runner import Done, RunningJob
from leanrag_core.messages.catalog import sentence
from leanrag_core.messages.message import message
from leanrag_core.models.registry import Models
from leanrag_core.storage.earlier_states import FreshDistances
from leanrag_core.storage.layout import read_edits, read_index
from leanrag_core.types.calls import Budget
from leanrag_core.types.index import Index
from leanrag_core.types.job import JobReport, Report, silent
from leanrag_core.types.summary import recorded_config
from leanrag_core.types.updating import DocumentChanges, FreshDistance
from leanrag_core.workbench.builds import Builds
from leanrag_core.workbench.indexes import Indexes
from leanrag_core.workbench.models import ModelAccess, metered
from leanrag_core.workbench.question_sets import QuestionSets
from leanrag_core.workbench.questions import AskRequest, Questions
from leanrag_core.workbench.updates import Updates

_MEASURE = "evidence-recall"


class FreshBuilds:
    """Compares updated indexes with fresh builds. store: the distances of indexes that were compared."""

    def __init__(
        self,
        store: FreshDistances,
        indexes: Indexes,
        updates: Updates,
        builds: Builds,
        questions: Questions,
        question_sets: QuestionSets,
        models: ModelAccess,
    ) -> None:
        self.store, self._indexes = store, indexes
        self._updates, self._builds = updates, builds
        self._questions, self._question_sets, self._models = questions, question_sets, models

    def compare(
        self,
        folder: Path,
        questions: Sequence[GoldQuestion] | None = None,
        *,
        models: Models | None = None,
        report: Report = silent,
    ) -> FreshDistance:
        """Store and return how far the index in the folder is from a fresh build of its documents, which is made in a
        temporary folder; leave the index unchanged.

        questions: with gold evidence; by default all question sets about the index's corpus. Only the retrieval of
        LeanRAG is measured. Models are asked for the texts of a fresh build that no store holds.
        """
        index = read_index(folder)
        manifest = index.manifest
        asked_questions = self._question_sets.with_evidence(manifest.corpus.id) if questions is None else questions
        require_updatable(manifest)
        with tempfile.TemporaryDirectory(prefix="leanrag-fresh-") as beside:
            request = BuildRequest(
                documents_after(index, DocumentChanges()),
                manifest.config.checked(),
                Path(beside) / "index",
                manifest.name,
                edits=read_edits(folder),
            )
            fresh = self._builds.run(request, self._models.context(models, report=report, index=folder.name))
            clusters = agreement_of_bases(index, fresh)
            recall, fresh_recall = self._recall(index, asked_questions), self._recall(fresh, asked_questions)
        distance = FreshDistance(clusters, recall, fresh_recall, len(asked_questions))
        self.store.write(index.id, distance)
        return distance

    def _recall(self, index: Index, questions: Sequence[GoldQuestion]) -> float | None:
        """Return the mean recall of gold evidence by LeanRAG's own retrieval."""
        retrieved = ((each, self._questions.retrieve(index, AskRequest(each.question))) for each in questions)
        outcomes = [Outcome(question, trace) for question, trace in retrieved]
        return next((mean.value for mean in means(outcomes) if mean.measure == _MEASURE), None)

    def start(self, index_id: str, *, budget: Budget | None = None) -> str:
        """Start a job that compares the index with a fresh build; return the job's id. Raises InvalidConfig."""
        name = self._indexes.open(index_id).manifest.name
        title = sentence(message("job.compare_fresh.title", name=name))
        return self._updates.begin(COMPARE_FRESH, index_id, {}, budget, title=title)

    def run_job(self, job: RunningJob) -> Done:
        """Store the distance of the index that a job names to a fresh build, which is deleted afterwards: its temporary
        folder goes with the process. The index is unchanged."""
        spec, index_id = job.spec, str(job.spec.arguments["index"])
        config = recorded_config(spec.config)
        models = self._models.job_context(job, index=index_id).models
        with metered(job, models, config):
            distance = self.compare(self._indexes.path(index_id), models=models, report=job.report)
        return Done(index_id, JobReport({"layers": len(distance.clusters), "questions": distance.n_questions}))
