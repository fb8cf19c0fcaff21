"""Experiments: run, resumed, listed, read, deleted."""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import lru_cache, partial
from pathlib import Path

from leanrag_core.atomic import write_bytes, writing
from leanrag_core.errors import InvalidConfig
from leanrag_core.evaluation.experiments.batch_work import BatchWork, Measured
from leanrag_core.evaluation.experiments.plan import Batch
from leanrag_core.evaluation.gold import GoldQuestion
from leanrag_core.facade.services import Services
from leanrag_core.jobs.kinds import EXPERIMENT
from leanrag_core.messages.message import message
from leanrag_core.models.registry import Models
from leanrag_core.queries.index_table import MeasuredRecall
from leanrag_core.records import plain
from leanrag_core.retrieval.base import strategies
from leanrag_core.retrieval.settings import all_settings, official_settings
from leanrag_core.services.experiment_asking import ExperimentAsking, open_run_index
from leanrag_core.services.experiments import Experiments
from leanrag_core.types.execution import Execution
from leanrag_core.types.experiment import ExperimentResult, ExperimentSpec, ExperimentSummary, MissingPart
from leanrag_core.types.index import Index
from leanrag_core.types.progress import Report, silent
from leanrag_core.types.spending import Budget
from leanrag_core.types.summary import Damaged


class Experimenting(Services):
    """Experiments: run, resumed, listed, read, deleted. See Workbench."""

    def experiments(self) -> tuple[ExperimentSummary, ...]:
        """The experiments: the person's own, the last changed first, then those that come with the program."""
        return self.experiment_store.all()

    def damaged_experiments(self) -> tuple[Damaged, ...]:
        """Experiments whose record does not read."""
        return self.experiment_store.damaged()

    def experiment(self, experiment_id: str) -> ExperimentResult:
        """The experiment with all that it has so far. Raises ExperimentNotFound, RecordDamaged."""
        return self.experiment_store.read(experiment_id)

    def measured_recall(self) -> Mapping[str, MeasuredRecall]:
        """By index the evidence recall of LeanRAG with its default options, where an experiment has measured it; of
        several the one over the most questions."""
        best: dict[str, MeasuredRecall] = {}
        for summary in self.experiments():
            for index_id, measured in self._recall_of(summary.id).items():
                if index_id not in best or measured.n_questions > best[index_id].n_questions:
                    best[index_id] = measured
        return best

    def _recall_of(self, experiment_id: str) -> dict[str, MeasuredRecall]:
        result, leanrag = self.experiment(experiment_id), strategies().named("leanrag")
        measured = {}
        for run in result.spec.runs:
            if run.strategy != "leanrag" or all_settings(leanrag, run.options) != official_settings(leanrag):
                continue
            scores = [row.scores.get("evidence-recall") for row in result.rows if row.run == run.name]
            known = [score for score in scores if score is not None]
            if known:
                measured[run.index] = MeasuredRecall(sum(known) / len(known), len(known), experiment_id, run.name)
        return measured

    def experiment_questions(self, experiment_id: str) -> tuple[GoldQuestion, ...]:
        """The questions of the experiment, as they were when it began. Raises as experiment() does."""
        return self.experiment_store.questions(experiment_id, GoldQuestion)

    def missing_parts(self, spec: ExperimentSpec) -> tuple[MissingPart, ...]:
        """The index parts that the runs need and that are not made; a run makes them first. Raises InvalidConfig,
        IndexNotFound, IndexDamaged."""
        return self._experiments().missing_parts(spec)

    def run_experiment(
        self,
        spec: ExperimentSpec,
        report: Report = silent,
        *,
        models: Models | None = None,
        execution: Execution | None = None,
        make_parts: bool = True,
        again: bool = False,
    ) -> ExperimentResult:
        """The complete experiment, run in this process; what is stored of it is not done again.

        models: with the meter and the budget of a job. execution: who works where no model at an endpoint is called, as
        the settings say by default; the result is the same. make_parts: index parts that are missing are made first.
        again: everything is done once more. Raises InvalidConfig for what cannot be run, and BudgetSpent, EndpointError
        and others that would concern every question; it can be resumed then.
        """
        return self._experiments().run(
            spec,
            models or self.models(),
            execution or self.settings().execution,
            report,
            make_parts=make_parts,
            again=again,
        )

    def start_experiment(
        self,
        spec: ExperimentSpec,
        *,
        budget: Budget | None = None,
        execution: Execution | None = None,
        again: bool = False,
    ) -> str:
        """A job in a process of its own runs the experiment; returns the job's id. It stops when the budget is spent,
        and resume() goes on with it. Raises InvalidConfig for what cannot be run, IndexNotFound."""
        experiments, models = self._experiments(), self.models(budget=budget)
        if again:  # here and not in the job, which may be stopped and resumed
            id_, inputs = experiments.begin(spec, models, make_parts=True)
            experiments.forget(id_, inputs)
        else:
            inputs = experiments.inputs(spec, models)
        arguments = {
            "budget": asdict(budget or Budget()),
            "execution": asdict(execution or self.settings().execution),
        }
        return self.job_store.begin(spec.title, "", plain(inputs.spec), arguments, EXPERIMENT)

    def delete_experiment(self, experiment_id: str) -> None:
        """The experiment is gone. Raises ExperimentNotFound, InvalidConfig for one that comes with the program."""
        self.experiment_store.delete(experiment_id)

    def run_index(self, index: str) -> Index:
        """The index that a run names: of that id in the store, or in that folder. Raises IndexNotFound, IndexDamaged,
        IndexTooNew."""
        return open_run_index(self.index_store, index)

    def export_experiment(self, experiment_id: str, format_name: str, out: Path) -> int:
        """The file at `out` holds the experiment as csv, json or html; returns its bytes. Raises ExperimentNotFound,
        InvalidConfig for an unknown format, StorageFailed."""
        content = self.exported_experiment(experiment_id, format_name)
        with writing(message("what.export", path=str(out))):
            write_bytes(out, content)
        return len(content)

    def exported_experiment(self, experiment_id: str, format_name: str, language: str = "en") -> bytes:
        """The content of export_experiment(). language: of a file of HTML."""
        from leanrag_core.evaluation.experiments import exports
        from leanrag_core.evaluation.experiments.html_report import as_html

        if format_name not in exports.FORMATS:
            known = ", ".join(exports.FORMATS)
            raise InvalidConfig("option.not_a_choice", option="format", value=format_name, choices=known)
        result, questions = self.experiment(experiment_id), self.experiment_questions(experiment_id)
        if format_name == "html":
            return as_html(result, questions, language)
        return (exports.as_csv if format_name == "csv" else exports.as_json)(result, questions)

    def experiment_asking(self, models: Models) -> ExperimentAsking:
        """Retrieval and answers for the questions of an experiment, counted by the meter of those models."""
        return ExperimentAsking(self.index_store, models, self.settings, self.searches, self._read_part)

    def _experiments(self) -> Experiments:
        return Experiments(
            self.experiment_store,
            self.index_store,
            self._parts,
            self._question_sets,
            self.experiment_asking,
            self._apart,
        )

    def _apart(self, experiment_id: str) -> Callable[[Batch], tuple[Measured, ...]]:
        return partial(batch_done, str(self.root), experiment_id)


def batch_done(root: str, experiment_id: str, batch: Batch) -> tuple[Measured, ...]:
    """Does a batch with the workbench in that folder: what other processes import by its name."""
    return _work(root, experiment_id)(batch)


@lru_cache(maxsize=1)  # a worker's models and indexes are opened once for an experiment; the next may have other ones
def _work(root: str, experiment_id: str) -> BatchWork:
    bench = Experimenting(Path(root))
    return BatchWork(bench.experiment_asking(bench.models()))
