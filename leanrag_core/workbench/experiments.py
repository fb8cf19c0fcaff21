"""Experiments: look up inputs, make parts, ask questions and store the results, in this process or by a job."""

import platform
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path

from leanrag_core.errors import ExperimentNotFound, InvalidConfig, RecordDamaged
from leanrag_core.evaluation.experiments.report import FORMATS, as_csv, as_html, as_json
from leanrag_core.evaluation.experiments.running import (
    Batch,
    BatchWork,
    Measured,
    Way,
    in_order,
    questions_digest,
    require_valid,
    run_questions,
    specification_id,
    with_all_settings,
)
from leanrag_core.evaluation.gold import GoldQuestion
from leanrag_core.evaluation.judging.asking import judge_result, require_judge
from leanrag_core.evaluation.judging.people import WHOLE, Ballot, Voting, last_votes, vote, voting
from leanrag_core.evaluation.judging.tasks import in_order as judgements_in_order
from leanrag_core.evaluation.tables import CORPUS_TOKENS, FROM_GRAPH
from leanrag_core.execution.cluster import program_version
from leanrag_core.execution.executors import ThreadMap, opened
from leanrag_core.files.atomic import write_bytes, writing
from leanrag_core.files.records import plain
from leanrag_core.jobs.kinds import EXPERIMENT
from leanrag_core.jobs.runner import Done, RunningJob
from leanrag_core.jobs.store import JobStore
from leanrag_core.messages.message import message
from leanrag_core.models.registry import Models
from leanrag_core.queries.index_table import MeasuredRecall
from leanrag_core.retrieval.base import parts_needed, strategies
from leanrag_core.retrieval.settings import all_settings, official_settings
from leanrag_core.storage.experiments import ExperimentStore, ExperimentWriter, standing_votes
from leanrag_core.text.tokens import count_many
from leanrag_core.types.calls import Budget
from leanrag_core.types.config import BUILTIN, require_choice
from leanrag_core.types.experiment import ExperimentResult, ExperimentSpec, Judgement, MissingPart, RunSpec, human_judge
from leanrag_core.types.index import Index
from leanrag_core.types.job import JobReport, Progress, Report, silent
from leanrag_core.types.manifest import FINISHED
from leanrag_core.types.question_set import GENERATED
from leanrag_core.types.settings import Execution
from leanrag_core.workbench.experiment_asking import RunIndexes
from leanrag_core.workbench.models import RunContext, calls_endpoint
from leanrag_core.workbench.question_sets import QuestionSets

OPEN_STAGE, PARTS_STAGE, STORE_STAGE = "open", "parts", "store"
_BATCH = 8  # questions: what is lost by a kill is little, and a worker hears of its next batch in good time
_LIBRARIES = ("numpy", "scipy", "scikit-learn", "onnxruntime", "tokenizers", "ir-measures", "statsmodels")


@dataclass(frozen=True)
class Inputs:
    """What an experiment is run on. spec: with all settings of its runs. indexes: by the names that its runs use.
    digests: see specification_id()."""

    spec: ExperimentSpec
    questions: tuple[GoldQuestion, ...]
    indexes: Mapping[str, Index]
    digests: Mapping[str, str]

    @property
    def is_remote(self) -> bool:
        """Whether models at an endpoint are called."""
        configs = [index.manifest.config for index in self.indexes.values()]
        return any(map(calls_endpoint, configs))


class Experiments:
    """Runs experiments on those indexes.

    apart: runs a batch of an experiment, named by its id, in other processes, which must reach the workbench's folder.
    """

    def __init__(
        self,
        store: ExperimentStore,
        indexes: RunIndexes,
        question_sets: QuestionSets,
        jobs: JobStore,
        apart: Callable[[str, Batch], tuple[Measured, ...]],
    ) -> None:
        self.store, self.indexes = store, indexes
        self._question_sets, self._jobs, self._apart = question_sets, jobs, apart

    def inputs(self, spec: ExperimentSpec, models: Models) -> Inputs:
        """Return what the experiment is run on now. Raises InvalidConfig, IndexNotFound and errors of its inputs."""
        questions = tuple(self._question_sets.questions(spec.question_set))
        spec = with_all_settings(spec)
        require_valid(spec, questions)
        for judge in spec.judges:
            require_judge(judge.model, models)
        names = sorted({run.index for run in spec.runs})
        indexes = {name: self.indexes.open(name) for name in names}
        digests = {f"index {name}": index.id for name, index in indexes.items()}
        if spec.answers:
            asking = self.indexes.asking(models)
            digests |= {f"answers {name}": asking.answering_model(index) for name, index in indexes.items()}
        return Inputs(spec, questions, indexes, {**digests, "questions": questions_digest(questions)})

    def missing_parts(self, spec: ExperimentSpec) -> tuple[MissingPart, ...]:
        """Return the index parts that the runs need and that are not made, in the order in which they can be made.

        Raises InvalidConfig for a part that does not exist, IndexNotFound, IndexDamaged.
        """
        missing: dict[tuple[str, str], None] = {}
        opened_indexes: dict[str, Index] = {}
        for run in spec.runs:
            index = opened_indexes.setdefault(run.index, self.indexes.open(run.index))
            part_names = parts_needed(run.strategy, run.options)
            states = {state.name: state for state in self.indexes.parts.all(index)} if part_names else {}
            for name in part_names:
                if name not in states:
                    raise InvalidConfig("experiment.unknown_part", part=name, strategy=run.strategy)
                needs = [need for need in states[name].needs if need in states]
                missing |= dict.fromkeys(
                    (run.index, part) for part in (*needs, name) if states[part].status != FINISHED
                )
        return tuple(MissingPart(index, part) for index, part in missing)

    def begin(self, spec: ExperimentSpec, models: Models, *, make_parts: bool) -> tuple[str, Inputs]:
        """Put the experiment into the store; return its id, and what it is run on. Raises InvalidConfig where parts are
        missing and may not be made, and what inputs() raises."""
        inputs = self.inputs(spec, models)
        missing = () if make_parts else self.missing_parts(spec)
        if missing:
            part_list = ", ".join(f"{each.part} ({each.index})" for each in missing)
            raise InvalidConfig("experiment.parts_missing", n=len(missing), parts=part_list)
        id_ = specification_id(inputs.spec, inputs.digests)
        if not self.store.is_there(id_):
            self._begin(id_, inputs)
        return id_, inputs

    def _begin(self, id_: str, inputs: Inputs) -> None:
        """Put the experiment into the store, with what its findings rest on."""
        card, facts = self._question_sets.card(inputs.spec.question_set), {}
        if card.origin == GENERATED and card.about.get("model") == BUILTIN:
            facts[FROM_GRAPH] = str(card.about.get("index", ""))
        for name, index in inputs.indexes.items():
            facts[f"{CORPUS_TOKENS} {name}"] = str(int(count_many(index.documents["text"].to_pylist()).sum()))
        self.store.begin(id_, inputs.spec, {**program_versions(), **inputs.digests, **facts}, inputs.questions)

    def run(
        self,
        spec: ExperimentSpec,
        report: Report = silent,
        *,
        models: Models | None = None,
        execution: Execution | None = None,
        make_parts: bool = True,
        again: bool = False,
    ) -> ExperimentResult:
        """Run the experiment to its end in this process; what is in the store already is not done again.

        models: with the meter and the budget of a job. execution: where the work runs if no model at an endpoint is
        called, by default as the settings say; the result is the same. make_parts: index parts that are missing are
        made first. again: do everything once more, in place of what is stored. Raises what begin() does, BudgetSpent,
        Cancelled, EndpointError and others that would concern every question; it can be resumed then.
        """
        context = self.indexes.models.context(models, execution, report)
        report(Progress(OPEN_STAGE, 0, 0))
        id_, inputs = self.begin(spec, context.models, make_parts=make_parts)
        if again:
            self.forget(id_, inputs)
        result = self.store.read(id_)
        if result.is_shipped or (result.is_complete and not any(row.error for row in result.rows)):
            return result
        self._make_parts(inputs, context)
        with self.store.writer(id_) as writer:
            with self._way(id_, inputs, context) as asking:
                run_questions(self.store.read(id_), inputs.questions, asking, writer, report)
            judge_result(
                self.store.read(id_),
                inputs.questions,
                context.models,
                ThreadMap(context.models.settings.concurrency),
                lambda judgement: writer.add_judgements([judgement]),
                report,
            )
            return self._finished(id_, inputs, writer, report)

    def forget(self, id_: str, inputs: Inputs) -> None:
        """Drop its results; one that comes with the program stays beside it. Raises InvalidConfig where it runs, and
        where people's verdicts on its answers would be lost."""
        votes = standing_votes(self.store.votes(id_))
        if votes:
            raise InvalidConfig("experiment.has_votes", n=len(votes), experiment=id_)
        if not self.store.is_shipped(id_):
            self.store.delete(id_)
        self._begin(id_, inputs)

    def _make_parts(self, inputs: Inputs, context: RunContext) -> None:
        missing = self.missing_parts(inputs.spec)
        for place, part in enumerate(missing):

            def within(progress: Progress, place: int = place, name: str = part.part) -> None:
                context.report(
                    replace(progress, stage=PARTS_STAGE, done=place, total=len(missing), unit="parts", current=name)
                )

            index = inputs.indexes[part.index]
            self.indexes.parts.build(index, part.part, models=context.models.counted_apart(part.index), report=within)
        if missing:
            context.report(Progress(PARTS_STAGE, len(missing), len(missing), "parts"))

    @contextmanager
    def _way(self, id_: str, inputs: Inputs, context: RunContext) -> Iterator[Way]:
        """Choose threads where a model at an endpoint is waited for, so that the meter and the call store see every
        call; else as the execution says: the result is the same."""
        work = BatchWork(self.indexes.asking(context.models))
        if inputs.is_remote:
            calls = ThreadMap(context.models.settings.concurrency)
            yield Way(lambda todo: calls(work, todo), 1)
            return
        with opened(context.execution) as executor:
            if executor.apart:
                yield Way(lambda todo: executor.apply(partial(self._apart, id_), todo), _BATCH)
            else:  # retrieval holds the interpreter, so threads would not be faster
                yield Way(lambda todo: map(work, todo), _BATCH)

    def _finished(self, id_: str, inputs: Inputs, writer: ExperimentWriter, report: Report) -> ExperimentResult:
        report(Progress(STORE_STAGE, 0, 0))
        result = self.store.read(id_)
        rows, costs = in_order(result, inputs.questions)
        judgements = judgements_in_order(result.spec, rows, result.judgements)
        writer.finish(replace(result, rows=tuple(rows), costs=tuple(costs), judgements=judgements, is_complete=True))
        return self.store.read(id_)

    def start(
        self,
        spec: ExperimentSpec,
        *,
        budget: Budget | None = None,
        execution: Execution | None = None,
        again: bool = False,
    ) -> str:
        """Start a job in a process of its own that runs the experiment; return the job's id.

        It stops when the budget is spent, and resume() goes on with it. Raises InvalidConfig for what cannot be run and
        for what another job runs, IndexNotFound.
        """
        access = self.indexes.models
        models = access.make(budget=budget)
        if again:  # here and not in the job, which may be stopped and resumed
            id_, inputs = self.begin(spec, models, make_parts=True)
            self._require_idle(id_, inputs.spec)
            self.forget(id_, inputs)
        else:
            inputs = self.inputs(spec, models)
            self._require_idle(specification_id(inputs.spec, inputs.digests), inputs.spec)
        arguments = access.job_terms(budget, execution)
        return self._jobs.begin(spec.title, "", plain(inputs.spec), arguments, EXPERIMENT)

    def delete(self, id_: str) -> None:
        """Delete the experiment. Raises as its store does, also where a job that runs it has not begun to write."""
        with suppress(RecordDamaged):  # no job runs what cannot be read
            self._require_idle(id_, self.store.spec(id_))
        self.store.delete(id_)

    def _require_idle(self, id_: str, spec: ExperimentSpec) -> None:
        if self._jobs.is_under_way(EXPERIMENT, plain(spec)):
            raise self.store.kind.runs_elsewhere(id_)

    def questions(self, experiment_id: str) -> tuple[GoldQuestion, ...]:
        """Return the questions as they were when the experiment began. Raises ExperimentNotFound, RecordDamaged."""
        return self.store.questions(experiment_id, GoldQuestion)

    def measured_recall(self, corpus_of: Mapping[str, str]) -> Mapping[str, MeasuredRecall]:
        """Return by index the evidence recall of LeanRAG with its default options, where a readable experiment has
        measured it; of several, the one over the most questions, and none over questions about another corpus. Only
        results of experiments on these indexes are read. corpus_of: of each index the id of its corpus."""
        about = {card.id: card.corpus_id for card in self._question_sets.all()}
        best: dict[str, MeasuredRecall] = {}
        for id_, _ in self.store.changes():
            with suppress(ExperimentNotFound, RecordDamaged):  # deleted just now, or damaged: lists report it
                spec = self.store.spec(id_)
                asked = about.get(spec.question_set, "")
                runs = [run for run in spec.runs if run.index in corpus_of and asked in ("", corpus_of[run.index])]
                for index_id, measured in self._recall_of(id_, runs).items():
                    if index_id not in best or measured.n_questions > best[index_id].n_questions:
                        best[index_id] = measured
        return best

    def _recall_of(self, experiment_id: str, runs: Sequence[RunSpec]) -> dict[str, MeasuredRecall]:
        leanrag = strategies().named("leanrag")
        official = official_settings(leanrag)
        runs = [run for run in runs if run.strategy == "leanrag" and all_settings(leanrag, run.options) == official]
        measured = {}
        for run in runs:
            scores = [row.scores.get("evidence-recall") for row in self.store.rows(experiment_id, run.key)]
            known_scores = [score for score in scores if score is not None]
            if known_scores:
                measured[run.index] = MeasuredRecall(
                    sum(known_scores) / len(known_scores), len(known_scores), experiment_id, run.key
                )
        return measured

    def exported(self, experiment_id: str, format_name: str, language: str = "en") -> bytes:
        """Return the experiment as csv, json or html. language: of a file of HTML. Raises ExperimentNotFound,
        InvalidConfig for an unknown format."""
        require_choice("format", format_name, FORMATS)
        result, questions = self.store.read(experiment_id), self.questions(experiment_id)
        if format_name == "html":
            return as_html(result, questions, language)
        return (as_csv if format_name == "csv" else as_json)(result, questions)

    def export(self, experiment_id: str, format_name: str, out: Path) -> int:
        """Write the experiment to a file; return its bytes. Raises what exported() does, StorageFailed."""
        content = self.exported(experiment_id, format_name)
        with writing(message("what.export", path=str(out))):
            write_bytes(out, content)
        return len(content)

    def run_job(self, job: RunningJob) -> Done:
        """Complete the experiment that a job asks for, with what models cost in the job's record; its id is the result.
        After a stop the next attempt continues with what is stored."""
        spec, context = job.spec.configured(ExperimentSpec), self.indexes.models.job_context(job)
        with job.metered(context.models.meter.read):
            result = self.run(spec, context.report, models=context.models, execution=context.execution)
        errors = sum(bool(row.error) for row in result.rows)
        counts = {"rows": len(result.rows), "errors": errors, "judgements": len(result.judgements)}
        return Done(result.id, JobReport(counts))


def batch_done(root: str, experiment_id: str, batch: Batch) -> tuple[Measured, ...]:
    """Do a batch with the workbench in that folder: what other processes import by its name."""
    return _work(root, experiment_id)(batch)


@lru_cache(maxsize=1)  # a worker's models and indexes are opened once for an experiment; the next may have other ones
def _work(root: str, experiment_id: str) -> BatchWork:
    from leanrag_core.workbench import Workbench  # which has the experiments among its members

    bench = Workbench(Path(root))
    return BatchWork(bench.experiments.indexes.asking(bench.models.make()))


def program_versions() -> dict[str, str]:
    """Return versions of the program, of Python and of the libraries that figures depend on."""
    from importlib.metadata import PackageNotFoundError, version

    versions = {"program": program_version(), "python": platform.python_version()}
    for name in _LIBRARIES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue  # an optional one
    return versions


class Verdicts:
    """Keeps what people vote. voter: the person's name, "" for nobody in particular."""

    def __init__(self, store: ExperimentStore) -> None:
        self._store = store

    def voting(
        self, experiment_id: str, runs: Sequence[str], *, voter: str = "", criteria: Sequence[str] = WHOLE
    ) -> Voting:
        """Return what the person votes on, and what they voted. runs: keys of two or more. Raises ExperimentNotFound,
        RecordDamaged, InvalidConfig."""
        questions = self._store.questions(experiment_id, GoldQuestion)
        return voting(self._store.read(experiment_id), questions, runs, human_judge(voter), criteria)

    def standing(self, experiment_id: str) -> tuple[Judgement, ...]:
        """Return the judgements of all persons that nobody took back. Raises ExperimentNotFound, RecordDamaged."""
        return standing_votes(self._store.votes(experiment_id))

    def vote(self, experiment_id: str, ballot: Ballot, verdict: float, *, voter: str = "", criterion: str) -> None:
        """Keep the verdict: 1 for the left answer, 2 for the right one, 0 for a tie. Raises ExperimentNotFound,
        InvalidConfig, StorageFailed."""
        self._store.add_votes(experiment_id, [vote(ballot, human_judge(voter), criterion, verdict)])

    def last(self, experiment_id: str, runs: Sequence[str], *, voter: str = "", n: int = 1) -> tuple[Judgement, ...]:
        """Return what takes back each of the person's last n verdicts on pairs of these runs, the last first. Raises
        ExperimentNotFound, RecordDamaged."""
        return last_votes(self._store.votes(experiment_id), human_judge(voter), runs, n)

    def undo(self, experiment_id: str, runs: Sequence[str], *, voter: str = "") -> Judgement | None:
        """Take back the person's last verdict on a pair of these runs; return what says so, None where there was none.
        Raises ExperimentNotFound, StorageFailed."""
        back = self.last(experiment_id, runs, voter=voter)
        if not back:
            return None
        self._store.add_votes(experiment_id, back)
        return back[0]
