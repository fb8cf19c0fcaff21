"""Sweeps: forecast, run here or by a job, read; and taking over the index of a point."""

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path

from leanrag_core.errors import InvalidConfig, RecordDamaged
from leanrag_core.evaluation.experiments.running import Batch, BatchWork, Measured, questions_digest, specification_id
from leanrag_core.evaluation.gold import GoldQuestion
from leanrag_core.evaluation.sweeps.findings import assembled
from leanrag_core.evaluation.sweeps.points import (
    SweptCorpus,
    base_of,
    experiment_of,
    index_config,
    points,
    sweep_forecast,
)
from leanrag_core.execution.executors import opened
from leanrag_core.files.records import plain
from leanrag_core.indexing.build import BuildRequest, is_built
from leanrag_core.jobs.kinds import SWEEP
from leanrag_core.jobs.runner import Done, RunningJob
from leanrag_core.jobs.store import JobStore
from leanrag_core.messages.catalog import ENGLISH, sentence
from leanrag_core.messages.message import message
from leanrag_core.models.registry import Models, require_models
from leanrag_core.retrieval.base import strategies
from leanrag_core.retrieval.variants import Setting, VariantSettings, settings_in_words
from leanrag_core.storage.corpus_record import MAX_NAME
from leanrag_core.storage.experiments import StoredSweep, SweepRecord, SweepStore, SweepWriter
from leanrag_core.storage.indexes import IndexStore, folder_name
from leanrag_core.storage.layout import MANIFEST, read_manifest
from leanrag_core.storage.staging import copy_index, give_up_staging, in_staging
from leanrag_core.types.calls import Budget
from leanrag_core.types.config import IndexConfig, is_remote
from leanrag_core.types.index import Index
from leanrag_core.types.job import JobReport, Progress, Report, silent
from leanrag_core.types.settings import THREADS, Execution
from leanrag_core.types.sweep import (
    INDEX,
    OpenedPoint,
    PointCost,
    PointIndex,
    SweepForecast,
    SweepResult,
    SweepSource,
    SweepSpec,
)
from leanrag_core.types.visible import shortened
from leanrag_core.workbench.builds import Builds
from leanrag_core.workbench.corpora import Corpora
from leanrag_core.workbench.experiment_asking import RunIndexes
from leanrag_core.workbench.experiments import OPEN_STAGE, STORE_STAGE, Experiments, program_versions
from leanrag_core.workbench.models import RunContext, calls_endpoint
from leanrag_core.workbench.question_sets import QuestionSets
from leanrag_core.workbench.samples import sample_id

BUILD_STAGE = "build"

Built = tuple[PointIndex, PointCost]


@dataclass(frozen=True)
class Plan:
    """What a sweep has to do. configs: settings of each index by its folder, in the order of the points; empty where
    an index of the person's is asked."""

    id: str
    spec: SweepSpec
    record: SweepRecord
    configs: Mapping[str, IndexConfig]


class Sweeps:
    """Runs sweeps of a person's corpora and indexes. root: the workbench's folder, which other processes must reach."""

    def __init__(
        self,
        store: SweepStore,
        corpora: Corpora,
        indexes: RunIndexes,
        builds: Builds,
        question_sets: QuestionSets,
        jobs: JobStore,
        root: Path,
    ) -> None:
        self.store, self._corpora, self._indexes, self._builds = store, corpora, indexes, builds
        self._question_sets, self._jobs, self._root = question_sets, jobs, str(root)

    def read(self, id_: str) -> SweepResult:
        """Return the sweep with all that it has so far. Raises SweepNotFound, RecordDamaged."""
        stored = self.store.read(id_)
        experiment = stored.record.experiment
        return assembled(id_, stored, self.store.results(id_).read(experiment) if experiment else None)

    def questions(self, id_: str) -> tuple[GoldQuestion, ...]:
        """Return the questions of the sweep, as they were when it began; none until all indexes are built. Raises as
        read() does."""
        experiment = self.store.read(id_).record.experiment
        return self.store.results(id_).questions(experiment, GoldQuestion) if experiment else ()

    def source(self, name: str) -> SweepSource:
        """Return the index of that folder or id, else the corpus of that id, else the sample corpus of that name.
        Raises InvalidConfig for anything else, IndexDamaged, IndexTooNew."""
        corpora = {corpus.id: corpus.name for corpus in self._corpora.all()}
        folders = [Path(name), *([self._indexes.store.path(name)] if name and "/" not in name else [])]
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

    def plan(self, spec: SweepSpec) -> Plan:
        """Return what the sweep has to do. Raises InvalidConfig, CorpusNotFound, IndexNotFound."""
        listed, questions = points(spec), tuple(self._question_sets.questions(spec.question_set))
        if not questions:
            raise InvalidConfig("experiment.no_questions", set=spec.question_set)
        configs: dict[str, IndexConfig] = {}
        folders: dict[str, str] = {}
        if spec.corpus:
            ids = sorted(row.id for row in self._corpora.documents(spec.corpus))
            if not ids:
                raise InvalidConfig("corpus.no_documents", name=self._corpora.summary(spec.corpus).name)
            inputs = {"documents": " ".join(ids)}
            for point in listed:
                config = index_config(spec, point)
                folders[point.name] = folder_name(spec.corpus, config)
                configs[folders[point.name]] = config
        else:
            inputs = {"index": self._indexes.open(spec.index).id}
            folders = {point.name: spec.index for point in listed}
        inputs["questions"] = questions_digest(questions)
        record = SweepRecord(
            points=listed,
            folders=folders,
            questions=tuple(question.id for question in questions),
            kinds=tuple(question.kind for question in questions),
            versions=program_versions(),
        )
        return Plan(specification_id(spec, inputs), spec, record, configs)

    def forecast(self, spec: SweepSpec) -> SweepForecast:
        """Return what the sweep takes: which stages each point rebuilds, calls and those that are spared, seconds.
        Raises what plan() does, EndpointError."""
        plan = self.plan(spec)
        points_of: dict[IndexConfig, list[str]] = {}
        for point in plan.record.points if plan.configs else ():
            points_of.setdefault(plan.configs[plan.record.folders[point.name]], []).append(point.name)
        corpus = None
        if spec.corpus:
            card = self._corpora.summary(spec.corpus)
            corpus = SweptCorpus(card.documents, card.tokens, partial(self._builds.forecast, spec.corpus))
        model = spec.config.model if spec.corpus else self._indexes.open(spec.index).manifest.config.model
        return sweep_forecast(
            spec,
            points_of,
            corpus,
            self._indexes.models.settings.read(),
            n_points=len(plan.record.points),
            n_questions=len(plan.record.questions),
            asks_model=is_remote(model) and (spec.answers or strategies().named(spec.strategy).calls_model),
        )

    def run(
        self,
        spec: SweepSpec,
        report: Report = silent,
        *,
        models: Models | None = None,
        execution: Execution | None = None,
        again: bool = False,
    ) -> SweepResult:
        """Run the sweep to its end in this process; what is stored of it is not done again.

        models: with the meter and the budget of a job. execution: where the work runs if no model at an endpoint is
        called, by default as the settings say; the result is the same. again: do everything once more. Raises what
        plan() does, BudgetSpent, Cancelled, EndpointError and others that would concern every point; it can be resumed
        then.
        """
        context = self._indexes.models.context(models, execution, report)
        report(Progress(OPEN_STAGE, 0, 0))
        plan = self.plan(spec)
        for config in dict.fromkeys(map(base_of, plan.configs.values())):
            require_models(context.models, config)
        is_there = self.store.is_there(plan.id)
        if again and is_there and not self.store.read(plan.id).is_shipped:
            self.store.delete(plan.id)
            is_there = False
        if again or not is_there:
            self.store.begin(plan.id, spec, plan.record)
        if not self._is_finished(plan.id, self.store.read(plan.id)):
            with self.store.writer(plan.id) as writer:
                self._build(plan, context, writer)
                self._ask(plan, context, writer)
        return self.read(plan.id)

    def _is_finished(self, id_: str, stored: StoredSweep) -> bool:
        """Tell whether nothing is left to do: questions that failed are asked again."""
        if stored.is_shipped or not stored.record.is_complete:
            return stored.is_shipped
        return not self.store.results(id_).summary(stored.record.experiment).errors

    def _build(self, plan: Plan, context: RunContext, writer: SweepWriter) -> None:
        """Build every index of the sweep that is not there yet, or record the one that is asked."""
        spec, models = plan.spec, context.models
        if not plan.configs:
            writer.record([_point_index(spec.index, self._indexes.open(spec.index))], ())
            return
        recorded = {index.folder for index in self.store.read(plan.id).indexes}
        folder, base = self.store.indexes(plan.id), self._builds.of_corpus(spec.corpus, spec.config)
        missing = [
            name
            for name, config in plan.configs.items()
            if name not in recorded or not is_built(folder / name, config, base.documents)
        ]
        todo = _Todo(plan, missing, len(plan.configs), context.report)
        firsts = {base_of(plan.configs[name]): name for name in reversed(missing)}
        first_folders = [name for name in missing if name in firsts.values()]
        later = [name for name in missing if name not in first_folders]
        is_called = any(map(calls_endpoint, plan.configs.values()))

        def build(name: str, *, is_first: bool) -> Built:
            index_context = replace(context, models=models.counted_apart(name), report=todo.within(name))
            return self._build_index(plan, name, base, index_context, is_first=is_first)

        for name in first_folders:  # with all workers: the others take over what it leaves in the stores
            todo.keep(writer, build(name, is_first=True))
        with opened(context.execution) as executor:
            if executor.apart and not is_called:
                for built in executor.apply(partial(sweep_index_built, self._root, plan.id), later):
                    todo.keep(writer, built)
                return
        for name in later:
            todo.keep(writer, build(name, is_first=False))

    def _build_index(
        self, plan: Plan, folder: str, base: BuildRequest, context: RunContext, *, is_first: bool
    ) -> Built:
        """Build the index of that folder; return what it holds and what it took. base: of the corpus."""
        started, out = time.perf_counter(), self.store.indexes(plan.id) / folder
        point = next(point.name for point in plan.record.points if plan.record.folders[point.name] == folder)
        request = replace(base, config=plan.configs[folder], out=out, name=f"{base.corpus.name}, {point}")
        index = self._builds.run(request, context)
        seconds, usage = time.perf_counter() - started, context.models.meter.read().usage
        cost = PointCost(
            folder,
            round(seconds, 3),
            is_first,
            usage.calls,
            usage.prompt_tokens,
            usage.completion_tokens,
            usage.cost if usage.calls else None,
        )
        return _point_index(folder, index), cost

    def build_apart(self, id_: str, folder: str) -> Built:
        """Build the index of that folder in this process, for a sweep that has begun in another one."""
        stored = self.store.read(id_)
        spec, record = stored.spec, stored.record
        configs = {record.folders[point.name]: index_config(spec, point) for point in record.points}
        context = self._indexes.models.context(execution=Execution(THREADS, 1))
        base = self._builds.of_corpus(spec.corpus, spec.config)
        return self._build_index(Plan(id_, spec, record, configs), folder, base, context, is_first=False)

    def asked_indexes(self, id_: str) -> RunIndexes:
        """Return the indexes that the sweep asks: its own, or the person's where it builds none."""
        if not self.store.read(id_).spec.corpus:
            return self._indexes
        return replace(self._indexes, store=IndexStore(self.store.indexes(id_)))

    def _ask(self, plan: Plan, context: RunContext, writer: SweepWriter) -> None:
        """Ask the questions at every point, and complete the sweep."""

        def within(progress: Progress) -> None:
            if progress.stage == OPEN_STAGE:  # of the experiment: indexes are built by now
                progress = replace(progress, stage=BUILD_STAGE, done=len(plan.configs), total=len(plan.configs))
            context.report(progress)

        experiments = Experiments(
            self.store.results(plan.id),
            self.asked_indexes(plan.id),
            self._question_sets,
            self._jobs,
            partial(sweep_batch_done, self._root, plan.id),
        )
        experiment = experiment_of(plan.spec, plan.record.folders)
        id_, _ = experiments.begin(experiment, context.models, make_parts=True)
        stored = self.store.read(plan.id)
        built = _in_order(plan, stored.indexes, stored.costs)
        writer.record(*built, experiment=id_)
        result = experiments.run(experiment, within, models=context.models, execution=context.execution)
        within(Progress(STORE_STAGE, 0, 0))
        writer.record(*built, experiment=id_, is_complete=result.is_complete)

    def start(
        self,
        spec: SweepSpec,
        *,
        budget: Budget | None = None,
        execution: Execution | None = None,
        again: bool = False,
    ) -> str:
        """Start a job in a process of its own that runs the sweep; return the job's id.

        It stops when the budget is spent, and resume() goes on with it. Raises what plan() does, InvalidConfig for a
        sweep that another job runs.
        """
        self._require_idle(self.plan(spec).id, spec)
        arguments = {**self._indexes.models.job_terms(budget, execution), "again": again}
        return self._jobs.begin(spec.title, spec.corpus, plain(spec), arguments, SWEEP)

    def delete(self, id_: str) -> None:
        """Delete the sweep. Raises as its store does, also where a job that runs it has not begun to write."""
        with suppress(RecordDamaged):  # no job runs what cannot be read
            self._require_idle(id_, self.store.read(id_).spec)
        self.store.delete(id_)

    def _require_idle(self, id_: str, spec: SweepSpec) -> None:
        if self._jobs.is_under_way(SWEEP, plain(spec)):
            raise self.store.kind.runs_elsewhere(id_)

    def give_up_builds(self) -> None:
        """Delete what this process has begun to build for a sweep; the process must end at once."""
        for folder in self.store.root.glob("*/indexes"):
            for target in in_staging(folder):
                give_up_staging(target)

    def open_point(self, id_: str, point_name: str, *, language: str = ENGLISH) -> OpenedPoint:
        """Put the point's index into the person's store, to be asked: the one that is there already, else a copy of the
        sweep's; else a job builds it. language: of the name that says which settings of the index were varied.

        Raises SweepNotFound, InvalidConfig for an unknown point, or where the corpus is gone, StorageFailed.
        """
        stored = self.store.read(id_)
        point = next((point for point in stored.record.points if point.name == point_name), None)
        if point is None:
            raise InvalidConfig("sweep.unknown_point", sweep=id_, point=point_name)
        if not stored.spec.corpus:
            return OpenedPoint(stored.spec.index)
        config, folder = index_config(stored.spec, point), stored.record.folders[point.name]
        index_id = folder_name(stored.spec.corpus, config)
        target, source = self._indexes.store.path(index_id), self.store.indexes(id_) / folder
        if (target / MANIFEST).is_file():
            return OpenedPoint(index_id)
        if (source / MANIFEST).is_file():
            copy_index(source, target)
            name = _name_of(read_manifest(target).corpus.name, stored.spec, config, language)
            self._indexes.store.rename(index_id, name)
            return OpenedPoint(index_id)
        names = {corpus.id: corpus.name for corpus in self._corpora.all()}
        if stored.spec.corpus not in names:
            raise InvalidConfig("sweep.point_without_corpus", corpus=stored.spec.corpus)
        name = _name_of(names[stored.spec.corpus], stored.spec, config, language)
        return OpenedPoint(index_id, self._builds.start(stored.spec.corpus, config, name))

    def run_job(self, job: RunningJob) -> Done:
        """Complete the sweep that a job asks for, with what models cost in the job's record; its id is the result.
        After a stop the next attempt continues with what is stored."""
        spec, context = job.spec.configured(SweepSpec), self._indexes.models.job_context(job)
        again = bool(job.spec.arguments.get("again", False))
        with job.metered(context.models.meter.read):
            result = self.run(spec, context.report, models=context.models, execution=context.execution, again=again)
        n_indexes = len({point.index.id for point in result.points if point.index is not None})
        errors = sum(point.errors for point in result.points)
        return Done(result.id, JobReport({"points": len(result.points), "indexes": n_indexes, "errors": errors}))


def sweep_index_built(root: str, sweep_id: str, folder: str) -> Built:
    """Build an index of a sweep with the workbench in that folder: what other processes import by its name."""
    return _sweeps(root).build_apart(sweep_id, folder)


def sweep_batch_done(root: str, sweep_id: str, experiment_id: str, batch: Batch) -> tuple[Measured, ...]:
    """Do a batch of a sweep's questions with the workbench in that folder."""
    return _work(root, sweep_id)(batch)


@lru_cache(maxsize=1)
def _sweeps(root: str) -> Sweeps:
    from leanrag_core.workbench import Workbench  # which has the sweeps among its members

    return Workbench(Path(root)).sweeps


@lru_cache(maxsize=1)  # a worker's models and indexes are opened once for a sweep; the next may have other ones
def _work(root: str, sweep_id: str) -> BatchWork:
    from leanrag_core.workbench import Workbench

    bench = Workbench(Path(root))
    return BatchWork(bench.sweeps.asked_indexes(sweep_id).asking(bench.models.make()))


class _Todo:
    """Counts the indexes of a sweep as they are built. missing: folders that are not built."""

    def __init__(self, plan: Plan, missing: Sequence[str], total: int, report: Report) -> None:
        self.missing, self._total, self._report = missing, total, report
        self._done = total - len(missing)
        self._names = {folder: name for name, folder in reversed(list(plan.record.folders.items()))}
        self._say("")

    def _say(self, folder: str) -> None:
        self._report(Progress(BUILD_STAGE, self._done, self._total, "indexes", self._names.get(folder, "")))

    def within(self, folder: str) -> Report:
        """Return a report that takes progress of that index's build as progress of the sweep."""
        return lambda progress: self._say(folder)

    def keep(self, writer: SweepWriter, built: Built) -> None:
        """Record the index."""
        index, cost = built
        writer.add_index(index, cost)
        self._done += 1
        self._say(index.folder)


def _name_of(corpus: str, spec: SweepSpec, config: IndexConfig, language: str) -> str:
    """Return the name of a point's index: its corpus, and the settings of the index that are varied."""
    varied = [Setting(axis.name, of_index=True) for axis in spec.axes if axis.level == INDEX]
    if not varied:
        return corpus
    settings = settings_in_words(varied, VariantSettings(spec.strategy, {}, vars(config)))
    own = sentence(message("setting.list", first="", rest=settings), language)
    return f"{shortened(corpus, MAX_NAME - len(own))}{own}"


def _point_index(folder: str, index: Index) -> PointIndex:
    counts = index.manifest.counts
    return PointIndex(folder, index.id, counts.chunks, counts.entities, counts.relations)


def _in_order(
    plan: Plan, indexes: Sequence[PointIndex], costs: Sequence[PointCost]
) -> tuple[list[PointIndex], list[PointCost]]:
    """Return each index once, in the order of the points."""
    by_folder = {index.folder: index for index in indexes}
    cost_of = {cost.folder: cost for cost in costs}
    folders = list(dict.fromkeys(plan.record.folders.values()))
    return [by_folder[folder] for folder in folders], [cost_of[folder] for folder in folders if folder in cost_of]
