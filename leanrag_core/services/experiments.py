"""Experiments in this process: inputs looked up, parts made, questions done, everything kept in the store."""

import platform
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from typing import Protocol

from leanrag_core.errors import InvalidConfig
from leanrag_core.evaluation.experiments.batch_work import BatchWork, Measured
from leanrag_core.evaluation.experiments.plan import (
    Batch,
    experiment_id,
    in_order,
    needed_parts,
    questions_digest,
    require_valid,
    with_all_settings,
)
from leanrag_core.evaluation.experiments.running import Way, run_questions
from leanrag_core.evaluation.gold import GoldQuestion
from leanrag_core.evaluation.grounds import CORPUS_TOKENS, FROM_GRAPH
from leanrag_core.evaluation.judging.asking import require_judge
from leanrag_core.evaluation.judging.running import judge_result
from leanrag_core.evaluation.judging.tasks import in_order as judgements_in_order
from leanrag_core.execution.choice import opened
from leanrag_core.execution.cluster_status import program_version
from leanrag_core.execution.threads import ThreadMap
from leanrag_core.models.registry import Models
from leanrag_core.services.experiment_asking import ExperimentAsking, open_run_index
from leanrag_core.services.index_parts import IndexParts
from leanrag_core.services.question_sets import QuestionSets
from leanrag_core.storage.experiments import ExperimentStore, ExperimentWriter
from leanrag_core.storage.indexes import IndexStore
from leanrag_core.tokens import count_many
from leanrag_core.types.execution import Execution
from leanrag_core.types.experiment import ExperimentResult, ExperimentSpec, MissingPart
from leanrag_core.types.index import Index
from leanrag_core.types.model_names import BUILTIN, is_remote
from leanrag_core.types.part import FINISHED
from leanrag_core.types.progress import Progress, Report
from leanrag_core.types.question_set import GENERATED

OPEN_STAGE, PARTS_STAGE, STORE_STAGE = "open", "parts", "store"
_BATCH = 8  # questions: what is lost by a kill is little, and a worker hears of its next batch in good time
_LIBRARIES = ("numpy", "scipy", "scikit-learn", "onnxruntime", "tokenizers", "ir-measures", "statsmodels")


class AskingWith(Protocol):
    """Makes what retrieves and answers with those models."""

    def __call__(self, models: Models) -> ExperimentAsking: ...


@dataclass(frozen=True)
class Inputs:
    """What an experiment is run on. spec: with all settings of its runs. indexes: by the names that its runs use.
    digests: see experiment_id()."""

    spec: ExperimentSpec
    questions: tuple[GoldQuestion, ...]
    indexes: Mapping[str, Index]
    digests: Mapping[str, str]

    @property
    def is_remote(self) -> bool:
        """Whether models at an endpoint are called."""
        configs = [index.manifest.config for index in self.indexes.values()]
        return any(is_remote(name) for config in configs for name in (config.model, config.embedding))


class Experiments:
    """Runs experiments with the stores of a workbench.

    asking: see AskingWith. apart: of an experiment's id what does its
    batches in other processes, which must reach the workbench's folder.
    """

    def __init__(
        self,
        store: ExperimentStore,
        indexes: IndexStore,
        parts: IndexParts,
        question_sets: QuestionSets,
        asking: AskingWith,
        apart: Callable[[str], Callable[[Batch], tuple[Measured, ...]]],
    ) -> None:
        self.store, self._indexes, self._parts = store, indexes, parts
        self._question_sets, self._asking, self._apart = question_sets, asking, apart

    def inputs(self, spec: ExperimentSpec, models: Models) -> Inputs:
        """What the experiment is run on now. Raises InvalidConfig, IndexNotFound and other errors of its inputs."""
        questions = tuple(self._question_sets.questions(spec.question_set))
        spec = with_all_settings(spec)
        require_valid(spec, questions)
        for judge in spec.judges:
            require_judge(judge.model, models)
        names = sorted({run.index for run in spec.runs})
        indexes = {name: open_run_index(self._indexes, name) for name in names}
        digests = {f"index {name}": index.id for name, index in indexes.items()}
        if spec.answers:
            asking = self._asking(models)
            digests |= {f"answers {name}": asking.answering_model(index) for name, index in indexes.items()}
        return Inputs(spec, questions, indexes, {**digests, "questions": questions_digest(questions)})

    def missing_parts(self, spec: ExperimentSpec) -> tuple[MissingPart, ...]:
        """The index parts that the runs need and that are not made, in the order in which they can be made.

        Raises InvalidConfig for a part that does not exist, IndexNotFound, IndexDamaged.
        """
        missing: dict[tuple[str, str], None] = {}
        opened_indexes: dict[str, Index] = {}
        for run in spec.runs:
            index = opened_indexes.setdefault(run.index, open_run_index(self._indexes, run.index))
            wanted = needed_parts(run)
            states = {state.name: state for state in self._parts.all(index)} if wanted else {}
            for name in wanted:
                if name not in states:
                    raise InvalidConfig("experiment.unknown_part", part=name, strategy=run.strategy)
                needs = [need for need in states[name].needs if need in states]
                missing |= dict.fromkeys(
                    (run.index, part) for part in (*needs, name) if states[part].status != FINISHED
                )
        return tuple(MissingPart(index, part) for index, part in missing)

    def begin(self, spec: ExperimentSpec, models: Models, *, make_parts: bool) -> tuple[str, Inputs]:
        """The experiment is in the store; its id, and what it is run on. Raises InvalidConfig where parts are missing
        and may not be made, and what inputs() raises."""
        inputs = self.inputs(spec, models)
        missing = () if make_parts else self.missing_parts(spec)
        if missing:
            listed = ", ".join(f"{each.part} ({each.index})" for each in missing)
            raise InvalidConfig("experiment.parts_missing", n=len(missing), parts=listed)
        id_ = experiment_id(inputs.spec, inputs.digests)
        if not self.store.is_there(id_):
            self._begin(id_, inputs)
        return id_, inputs

    def _begin(self, id_: str, inputs: Inputs) -> None:
        """The store has the experiment, with what its findings rest on."""
        card, facts = self._question_sets.card(inputs.spec.question_set), {}
        if card.origin == GENERATED and card.about.get("model") == BUILTIN:
            facts[FROM_GRAPH] = str(card.about.get("index", ""))
        for name, index in inputs.indexes.items():
            facts[f"{CORPUS_TOKENS} {name}"] = str(int(count_many(index.documents["text"].to_pylist()).sum()))
        self.store.begin(id_, inputs.spec, {**program_versions(), **inputs.digests, **facts}, inputs.questions)

    def run(
        self,
        spec: ExperimentSpec,
        models: Models,
        execution: Execution,
        report: Report,
        *,
        make_parts: bool = True,
        again: bool = False,
    ) -> ExperimentResult:
        """The complete experiment; what is in the store already is not done again.

        again: everything is done once more, and takes the place of what is stored. Raises what begin() does,
        BudgetSpent, Cancelled, EndpointError and others that would concern every question; it can be resumed then.
        """
        report(Progress(OPEN_STAGE, 0, 0))
        id_, inputs = self.begin(spec, models, make_parts=make_parts)
        if again:
            self.forget(id_, inputs)
        result = self.store.read(id_)
        if result.is_shipped or (result.is_complete and not any(row.error for row in result.rows)):
            return result
        self._make_parts(inputs, models, report)
        with self.store.writer(id_) as writer:
            with self._way(id_, inputs, models, execution) as way:
                run_questions(self.store.read(id_), inputs.questions, way, writer, report)
            calls = ThreadMap(models.settings.concurrency)
            judge_result(
                self.store.read(id_),
                inputs.questions,
                models,
                calls,
                lambda judgement: writer.add_judgements([judgement]),
                report,
            )
            return self._finished(id_, inputs, writer, report)

    def forget(self, id_: str, inputs: Inputs) -> None:
        """The store has the experiment without results; one that comes with the program stays beside it. Raises
        InvalidConfig where another process runs it."""
        if not self.store.is_shipped(id_):
            self.store.delete(id_)
        self._begin(id_, inputs)

    def _make_parts(self, inputs: Inputs, models: Models, report: Report) -> None:
        missing = self.missing_parts(inputs.spec)
        for place, part in enumerate(missing):

            def within(progress: Progress, place: int = place, name: str = part.part) -> None:
                report(replace(progress, stage=PARTS_STAGE, done=place, total=len(missing), unit="parts", current=name))

            index = inputs.indexes[part.index]
            self._parts.build(index, part.part, models=models.counted_apart(part.index), report=within)
        if missing:
            report(Progress(PARTS_STAGE, len(missing), len(missing), "parts"))

    @contextmanager
    def _way(self, id_: str, inputs: Inputs, models: Models, execution: Execution) -> Iterator[Way]:
        """Threads where a model at an endpoint is waited for, so that the meter and the call store see every call; else
        as the execution says: the result is the same."""
        work = BatchWork(self._asking(models))
        if inputs.is_remote:
            calls = ThreadMap(models.settings.concurrency)
            yield Way(lambda todo: calls(work, todo), 1)
            return
        with opened(execution) as executor:
            if executor.apart:
                yield Way(lambda todo: executor.apply(self._apart(id_), todo), _BATCH)
            else:  # retrieval holds the interpreter, so threads would not be faster
                yield Way(lambda todo: map(work, todo), _BATCH)

    def _finished(self, id_: str, inputs: Inputs, writer: ExperimentWriter, report: Report) -> ExperimentResult:
        report(Progress(STORE_STAGE, 0, 0))
        result = self.store.read(id_)
        rows, costs = in_order(result, inputs.questions)
        judgements = judgements_in_order(result.spec, rows, result.judgements)
        writer.finish(replace(result, rows=tuple(rows), costs=tuple(costs), judgements=judgements, is_complete=True))
        return self.store.read(id_)


def program_versions() -> dict[str, str]:
    """Of the program, of Python and of the libraries that figures depend on."""
    versions = {"program": program_version(), "python": platform.python_version()}
    for name in _LIBRARIES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue  # an optional one
    return versions
