"""Sweeps in this process: indexes of the points built, questions asked at every point, everything kept in the store."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

from leanrag_core.errors import InvalidConfig
from leanrag_core.evaluation.experiments.plan import questions_digest
from leanrag_core.evaluation.gold import GoldQuestion
from leanrag_core.evaluation.sweeps.forecast import SweptCorpus, sweep_forecast
from leanrag_core.evaluation.sweeps.points import experiment_of, index_config, points, sweep_id
from leanrag_core.evaluation.sweeps.stages import base_of
from leanrag_core.execution.choice import opened
from leanrag_core.models.registry import Models, require_models
from leanrag_core.retrieval.base import strategies
from leanrag_core.services.builds import Builds
from leanrag_core.services.experiment_asking import open_run_index
from leanrag_core.services.experiments import OPEN_STAGE, STORE_STAGE, Experiments, program_versions
from leanrag_core.storage.corpora import CorpusStore
from leanrag_core.storage.experiments import ExperimentStore
from leanrag_core.storage.indexes import IndexStore, folder_name
from leanrag_core.storage.sweeps import SweepRecord, SweepStore, SweepWriter
from leanrag_core.types.config import IndexConfig
from leanrag_core.types.corpus import Document
from leanrag_core.types.execution import THREADS, Execution
from leanrag_core.types.index import Index
from leanrag_core.types.model_names import is_remote
from leanrag_core.types.progress import Progress, Report, silent
from leanrag_core.types.sweep import PointCost, PointIndex, SweepForecast, SweepSpec

BUILD_STAGE = "build"

Built = tuple[PointIndex, PointCost]


class ExperimentsOf(Protocol):
    """Makes what runs the experiment of that sweep, kept in that store, on the indexes of the other store."""

    def __call__(self, sweep_id: str, store: ExperimentStore, indexes: IndexStore) -> Experiments: ...


@dataclass(frozen=True)
class Plan:
    """What a sweep has to do. configs: settings of each index by its folder, in the order of the points; empty where
    an index of the person's is asked."""

    id: str
    record: SweepRecord
    configs: Mapping[str, IndexConfig]


class Sweeps:
    """Runs sweeps with the stores of a workbench. builds, indexes, corpora: the person's. question_set: its questions.

    apart: of a sweep's id what builds an index of that folder in another process, which must reach the workbench's
    folder.
    """

    def __init__(
        self,
        store: SweepStore,
        corpora: CorpusStore,
        indexes: IndexStore,
        builds: Builds,
        question_set: Callable[[str], Sequence[GoldQuestion]],
        experiments: ExperimentsOf,
        apart: Callable[[str], Callable[[str], Built]],
    ) -> None:
        self.store, self._corpora, self._indexes, self._builds = store, corpora, indexes, builds
        self._question_set, self._experiments, self._apart = question_set, experiments, apart

    def plan(self, spec: SweepSpec) -> Plan:
        """What the sweep has to do. Raises InvalidConfig, CorpusNotFound, IndexNotFound and others of its inputs."""
        listed, questions = points(spec), tuple(self._question_set(spec.question_set))
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
            inputs = {"index": open_run_index(self._indexes, spec.index).id}
            folders = {point.name: spec.index for point in listed}
        inputs["questions"] = questions_digest(questions)
        record = SweepRecord(
            points=listed,
            folders=folders,
            questions=tuple(question.id for question in questions),
            kinds=tuple(question.kind for question in questions),
            versions=program_versions(),
        )
        return Plan(sweep_id(spec, inputs), record, configs)

    def forecast(self, spec: SweepSpec, models: Models) -> SweepForecast:
        """What the sweep takes. Raises what plan() does, EndpointError."""
        plan = self.plan(spec)
        points_of: dict[IndexConfig, list[str]] = {}
        for point in plan.record.points if plan.configs else ():
            points_of.setdefault(plan.configs[plan.record.folders[point.name]], []).append(point.name)
        corpus = None
        if spec.corpus:
            card = self._corpora.summary(spec.corpus)
            corpus = SweptCorpus(card.documents, card.tokens, partial(self._builds.forecast, spec.corpus))
        model = spec.config.model if spec.corpus else open_run_index(self._indexes, spec.index).manifest.config.model
        return sweep_forecast(
            spec,
            points_of,
            corpus,
            models.settings,
            n_points=len(plan.record.points),
            n_questions=len(plan.record.questions),
            asks_model=is_remote(model) and (spec.answers or strategies().named(spec.strategy).calls_model),
        )

    def run(self, spec: SweepSpec, models: Models, execution: Execution, report: Report, *, again: bool = False) -> str:
        """The id of the complete sweep; what is in the store already is not done again.

        again: everything is done once more. Raises what plan() does, BudgetSpent, Cancelled, EndpointError and others
        that would concern every point; it can be resumed then.
        """
        report(Progress(OPEN_STAGE, 0, 0))
        plan = self.plan(spec)
        for config in dict.fromkeys(map(base_of, plan.configs.values())):
            require_models(models, config)
        is_there = self.store.is_there(plan.id)
        if again and is_there and not self.store.read(plan.id).is_shipped:
            self.store.delete(plan.id)
            is_there = False
        if again or not is_there:
            self.store.begin(plan.id, spec, plan.record)
        stored = self.store.read(plan.id)
        if stored.is_shipped or (stored.record.is_complete and not self._n_errors(plan.id, stored.record.experiment)):
            return plan.id
        with self.store.writer(plan.id) as writer:
            indexes = self._built(plan, spec, models, execution, writer, report)
            self._ask(plan, spec, indexes, models, execution, writer, report)
        return plan.id

    def _n_errors(self, sweep: str, experiment: str) -> int:
        """How many questions failed; they are asked again."""
        return self.store.results(sweep).summary(experiment).errors

    def _built(
        self, plan: Plan, spec: SweepSpec, models: Models, execution: Execution, writer: SweepWriter, report: Report
    ) -> IndexStore:
        """The store with every index of the sweep."""
        if not plan.configs:
            index = open_run_index(self._indexes, spec.index)
            writer.record([_point_index(spec.index, index)], ())
            return self._indexes
        stored = self.store.read(plan.id)
        recorded = {index.folder for index in stored.indexes}
        store = IndexStore(self.store.indexes(plan.id))
        documents = self._documents(spec.corpus)
        missing = [
            folder
            for folder, config in plan.configs.items()
            if folder not in recorded or not self._builds.is_built(store.path(folder), config, documents)
        ]
        todo = _Todo(plan, missing, len(plan.configs), report)
        self._build(spec, plan, todo, documents, models, execution, writer)
        return store

    def _build(
        self,
        spec: SweepSpec,
        plan: Plan,
        todo: "_Todo",
        documents: Sequence[Document],
        models: Models,
        execution: Execution,
        writer: SweepWriter,
    ) -> None:
        firsts = {base_of(plan.configs[folder]): folder for folder in reversed(todo.missing)}
        first_folders = [folder for folder in todo.missing if folder in firsts.values()]
        later = [folder for folder in todo.missing if folder not in first_folders]
        is_called = any(
            is_remote(name) for config in plan.configs.values() for name in (config.model, config.embedding)
        )

        def build(folder: str, *, is_first: bool) -> Built:
            counted, report = models.counted_apart(folder), todo.within(folder)
            return self._build_index(
                spec, plan.id, _named_index(plan, folder), documents, counted, execution, report, is_first=is_first
            )

        for folder in first_folders:  # with all workers: the others take over what it leaves in the stores
            todo.keep(writer, build(folder, is_first=True))
        with opened(execution) as executor:
            if executor.apart and not is_called:
                for built in executor.apply(self._apart(plan.id), later):
                    todo.keep(writer, built)
                return
        for folder in later:
            todo.keep(writer, build(folder, is_first=False))

    def _build_index(
        self,
        spec: SweepSpec,
        sweep: str,
        named: "_NamedIndex",
        documents: Sequence[Document],
        models: Models,
        execution: Execution,
        report: Report,
        *,
        is_first: bool,
    ) -> Built:
        """The index is built; what it holds and what it took."""
        corpus, started = self._corpora.summary(spec.corpus), time.perf_counter()
        index = self._builds.build_documents(
            documents,
            named.config,
            self.store.indexes(sweep) / named.folder,
            models=models,
            name=f"{corpus.name}, {named.point}",
            corpus=corpus,
            refusals=self._corpora.refused(spec.corpus),
            report=report,
            execution=execution,
        )
        seconds, usage = time.perf_counter() - started, models.meter.read().usage
        cost = PointCost(
            named.folder,
            round(seconds, 3),
            is_first,
            usage.calls,
            usage.prompt_tokens,
            usage.completion_tokens,
            usage.cost if usage.calls else None,
        )
        return _point_index(named.folder, index), cost

    def build_apart(self, sweep: str, folder: str, models: Models) -> Built:
        """The index of that folder is built in another process, for a sweep that has begun."""
        stored = self.store.read(sweep)
        point = next(point for point in stored.record.points if stored.record.folders[point.name] == folder)
        named = _NamedIndex(folder, point.name, index_config(stored.spec, point))
        documents, execution = self._documents(stored.spec.corpus), Execution(THREADS, 1)
        return self._build_index(stored.spec, sweep, named, documents, models, execution, silent, is_first=False)

    def _documents(self, corpus_id: str) -> list[Document]:
        return [self._corpora.document(corpus_id, row.id) for row in self._corpora.documents(corpus_id)]

    def _ask(
        self,
        plan: Plan,
        spec: SweepSpec,
        indexes: IndexStore,
        models: Models,
        execution: Execution,
        writer: SweepWriter,
        report: Report,
    ) -> None:
        """The questions are asked at every point, and the sweep is complete."""

        def within(progress: Progress) -> None:
            if progress.stage == OPEN_STAGE:  # of the experiment: indexes are built by now
                progress = replace(progress, stage=BUILD_STAGE, done=len(plan.configs), total=len(plan.configs))
            report(progress)

        results = self.store.results(plan.id)
        experiments = self._experiments(plan.id, results, indexes)
        experiment = experiment_of(spec, plan.record.folders)
        id_, _ = experiments.begin(experiment, models, make_parts=True)
        stored = self.store.read(plan.id)
        built = _in_order(plan, stored.indexes, stored.costs)
        writer.record(*built, experiment=id_)
        result = experiments.run(experiment, models, execution, within)
        within(Progress(STORE_STAGE, 0, 0))
        writer.record(*built, experiment=id_, is_complete=result.is_complete)


@dataclass(frozen=True)
class _NamedIndex:
    """An index of a sweep. point: the first point that has it."""

    folder: str
    point: str
    config: IndexConfig


def _named_index(plan: Plan, folder: str) -> _NamedIndex:
    point = next(point.name for point in plan.record.points if plan.record.folders[point.name] == folder)
    return _NamedIndex(folder, point, plan.configs[folder])


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
        """Reports the progress of that index's build as progress of the sweep."""
        return lambda progress: self._say(folder)

    def keep(self, writer: SweepWriter, built: Built) -> None:
        """The index is recorded."""
        index, cost = built
        writer.add_index(index, cost)
        self._done += 1
        self._say(index.folder)


def _point_index(folder: str, index: Index) -> PointIndex:
    counts = index.manifest.counts
    return PointIndex(folder, index.id, counts.chunks, counts.entities, counts.relations)


def _in_order(
    plan: Plan, indexes: Sequence[PointIndex], costs: Sequence[PointCost]
) -> tuple[list[PointIndex], list[PointCost]]:
    """Each index once, in the order of the points."""
    by_folder = {index.folder: index for index in indexes}
    cost_of = {cost.folder: cost for cost in costs}
    folders = list(dict.fromkeys(plan.record.folders.values()))
    return [by_folder[folder] for folder in folders], [cost_of[folder] for folder in folders if folder in cost_of]
