"""Sweeps: forecast, run, resumed, listed, read, deleted, and a point of one taken over."""

from collections.abc import Callable
from dataclasses import asdict
from functools import lru_cache, partial
from pathlib import Path

from leanrag_core.errors import InvalidConfig
from leanrag_core.evaluation.experiments.batch_work import BatchWork, Measured
from leanrag_core.evaluation.experiments.plan import Batch
from leanrag_core.evaluation.gold import GoldQuestion
from leanrag_core.evaluation.sweeps.results import assembled
from leanrag_core.facade.corpora import Corpora
from leanrag_core.facade.experimenting import Experimenting
from leanrag_core.jobs.kinds import SWEEP
from leanrag_core.models.registry import Models
from leanrag_core.records import plain
from leanrag_core.services.experiment_asking import ExperimentAsking
from leanrag_core.services.experiments import Experiments
from leanrag_core.services.samples import sample_id
from leanrag_core.services.sweeps import Built, Sweeps
from leanrag_core.storage.experiments import ExperimentStore
from leanrag_core.storage.indexes import IndexStore
from leanrag_core.storage.layout import MANIFEST, read_manifest
from leanrag_core.storage.staging import give_up_staging, in_staging
from leanrag_core.types.execution import Execution
from leanrag_core.types.progress import Report, silent
from leanrag_core.types.spending import Budget
from leanrag_core.types.summary import Damaged
from leanrag_core.types.sweep import SweepForecast, SweepResult, SweepSource, SweepSpec, SweepSummary


class Sweeping(Corpora, Experimenting):
    """Sweeps: forecast, run, resumed, listed, read, deleted. See Workbench."""

    def sweeps(self) -> tuple[SweepSummary, ...]:
        """The sweeps: the person's own, the last changed first, then those that come with the program."""
        return self.sweep_store.all()

    def damaged_sweeps(self) -> tuple[Damaged, ...]:
        """Sweeps whose record does not read."""
        return self.sweep_store.damaged()

    def sweep(self, sweep_id: str) -> SweepResult:
        """The sweep with all that it has so far. Raises SweepNotFound, RecordDamaged."""
        stored = self.sweep_store.read(sweep_id)
        experiment = stored.record.experiment
        result = self.sweep_store.results(sweep_id).read(experiment) if experiment else None
        return assembled(sweep_id, stored, result)

    def sweep_questions(self, sweep_id: str) -> tuple[GoldQuestion, ...]:
        """The questions of the sweep, as they were when it began; empty until all indexes are built. Raises as sweep()
        does."""
        experiment = self.sweep_store.read(sweep_id).record.experiment
        return self.sweep_store.results(sweep_id).questions(experiment, GoldQuestion) if experiment else ()

    def sweep_source(self, name: str) -> SweepSource:
        """The index of that folder or id, else the corpus of that id, else the sample corpus of that name. Raises
        InvalidConfig for anything else, IndexDamaged, IndexTooNew."""
        corpora = {corpus.id: corpus.name for corpus in self.corpora()}
        folders = [Path(name), *([self.index_store.path(name)] if name and "/" not in name else [])]
        for folder in folders:
            if (folder / MANIFEST).is_file():
                manifest = read_manifest(folder)
                corpus = manifest.corpus.id if manifest.corpus.id in corpora else ""
                index = name if folder is not folders[0] else str(folder.resolve())
                return SweepSource(manifest.name, corpus, index, manifest.config.checked())
        for corpus in (name, sample_id(name)):
            if corpus in corpora:
                return SweepSource(corpora[corpus], corpus)
        raise InvalidConfig("sweep.what_is_it", name=name)

    def forecast_sweep(self, spec: SweepSpec) -> SweepForecast:
        """What the sweep takes: which stages each point rebuilds, calls and those that are spared, seconds. Raises
        InvalidConfig for what cannot be run, CorpusNotFound, IndexNotFound, EndpointError."""
        return self._sweeps().forecast(spec, self.models())

    def run_sweep(
        self,
        spec: SweepSpec,
        report: Report = silent,
        *,
        models: Models | None = None,
        execution: Execution | None = None,
        again: bool = False,
    ) -> SweepResult:
        """The complete sweep, run in this process; what is stored of it is not done again.

        models: with the meter and the budget of a job. execution: who builds and asks where no model at an endpoint is
        called, as the settings say by default; the result is the same. again: everything is done once more. Raises
        InvalidConfig for what cannot be run, and BudgetSpent, EndpointError and others that would concern every point;
        it can be resumed then.
        """
        models = models or self.models()
        return self.sweep(self._sweeps().run(spec, models, execution or self.settings().execution, report, again=again))

    def start_sweep(
        self,
        spec: SweepSpec,
        *,
        budget: Budget | None = None,
        execution: Execution | None = None,
        again: bool = False,
    ) -> str:
        """A job in a process of its own runs the sweep; returns the job's id. It stops when the budget is spent, and
        resume() goes on with it. Raises InvalidConfig for what cannot be run, CorpusNotFound, IndexNotFound."""
        self._sweeps().plan(spec)
        arguments = {
            "budget": asdict(budget or Budget()),
            "execution": asdict(execution or self.settings().execution),
            "again": again,
        }
        return self.job_store.begin(spec.title, spec.corpus, plain(spec), arguments, SWEEP)

    def delete_sweep(self, sweep_id: str) -> None:
        """The sweep is gone, with its indexes. Raises SweepNotFound, InvalidConfig for one that comes with the
        program."""
        self.sweep_store.delete(sweep_id)

    def give_up_sweeping(self) -> None:
        """What this process has begun to build for a sweep is deleted; the process must end at once."""
        for folder in self.sweep_store.root.glob("*/indexes"):
            for target in in_staging(folder):
                give_up_staging(target)

    def sweep_index_built(self, sweep_id: str, folder: str) -> Built:
        """The index of that folder is built for the sweep, in this process."""
        return self._sweeps().build_apart(sweep_id, folder, self.models())

    def sweep_asking(self, sweep_id: str, models: Models) -> ExperimentAsking:
        """Retrieval and answers for the questions of a sweep, counted by the meter of those models."""
        return self._asking_in(self._sweep_indexes(sweep_id), models)

    def _asking_in(self, indexes: IndexStore, models: Models) -> ExperimentAsking:
        return ExperimentAsking(indexes, models, self.settings, self.searches, self._read_part)

    def _sweep_indexes(self, sweep_id: str) -> IndexStore:
        """The store of the indexes that the sweep asks: its own, or the person's where it builds none."""
        builds = bool(self.sweep_store.read(sweep_id).spec.corpus)
        return IndexStore(self.sweep_store.indexes(sweep_id)) if builds else self.index_store

    def _sweeps(self) -> Sweeps:
        def experiments(sweep_id: str, store: ExperimentStore, indexes: IndexStore) -> Experiments:
            return Experiments(
                store,
                indexes,
                self._parts,
                self._question_sets,
                partial(self._asking_in, indexes),
                lambda experiment_id: partial(sweep_batch_done, str(self.root), sweep_id),
            )

        return Sweeps(
            self.sweep_store,
            self.corpus_store,
            self.index_store,
            self._builds,
            self._question_sets.questions,
            experiments,
            self._built_apart,
        )

    def _built_apart(self, sweep_id: str) -> Callable[[str], Built]:
        return partial(sweep_index_built, str(self.root), sweep_id)


def sweep_index_built(root: str, sweep_id: str, folder: str) -> Built:
    """Builds an index of a sweep with the workbench in that folder: what other processes import by its name."""
    return _bench(root).sweep_index_built(sweep_id, folder)


def sweep_batch_done(root: str, sweep_id: str, batch: Batch) -> tuple[Measured, ...]:
    """Does a batch of a sweep's questions with the workbench in that folder."""
    return _work(root, sweep_id)(batch)


@lru_cache(maxsize=1)
def _bench(root: str) -> Sweeping:
    return Sweeping(Path(root))


@lru_cache(maxsize=1)  # a worker's models and indexes are opened once for a sweep; the next may have other ones
def _work(root: str, sweep_id: str) -> BatchWork:
    bench = Sweeping(Path(root))
    return BatchWork(bench.sweep_asking(sweep_id, bench.models()))
