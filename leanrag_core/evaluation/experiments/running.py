"""Running an experiment's questions in batches, in whatever executor; each result is stored at once."""

import hashlib
import re
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from leanrag_core.errors import (
    BudgetSpent,
    Cancelled,
    ClusterUnavailable,
    EndpointError,
    EndpointRefusal,
    IndexDamaged,
    IndexNotFound,
    InvalidConfig,
    LeanRAGError,
    ModelMismatch,
    ModelUnavailable,
    PartDamaged,
    PartMissing,
    RecordDamaged,
    SearchIndexFailed,
    StorageFailed,
    WorkersLost,
)
from leanrag_core.evaluation.base import Outcome
from leanrag_core.evaluation.gold import ChunkTexts, GoldQuestion
from leanrag_core.evaluation.measuring import scores
from leanrag_core.evaluation.run_titles import with_ids
from leanrag_core.files.records import from_values, json_bytes, to_json, values_of
from leanrag_core.messages.catalog import sentence
from leanrag_core.messages.message import message
from leanrag_core.retrieval.base import RERANK, StrategyInfo, equal_budget, strategies, strategy
from leanrag_core.retrieval.settings import all_settings
from leanrag_core.storage.experiments import ExperimentWriter
from leanrag_core.text.plain_words import in_words
from leanrag_core.types.calls import NO_USAGE, Usage
from leanrag_core.types.config import require_choice
from leanrag_core.types.experiment import (
    ALL_JUDGEMENTS,
    MODES,
    ExperimentResult,
    ExperimentSpec,
    QuestionRow,
    RunCost,
    RunSpec,
)
from leanrag_core.types.index import Index
from leanrag_core.types.job import Progress, Report
from leanrag_core.types.sweep import SweepSpec
from leanrag_core.types.trace import Answer, Trace

_SLUG = 40  # characters of the title in an id

Key = tuple[str, str]  # key of a run, id of a question


@dataclass(frozen=True)
class Batch:
    """Questions of a run that are done together, in the order of the set."""

    run: RunSpec
    questions: tuple[GoldQuestion, ...]
    answers: bool
    mode: str
    claims: bool = False


def require_valid(spec: ExperimentSpec, questions: Sequence[GoldQuestion]) -> None:
    """Raise InvalidConfig for what would fail later: unknown strategies and options, runs of one id, no
    questions."""
    keys = [run.key for run in spec.runs]
    if not spec.title.strip():
        raise InvalidConfig("experiment.no_title")
    if not keys:
        raise InvalidConfig("experiment.no_runs")
    if not questions:
        raise InvalidConfig("experiment.no_questions", set=spec.question_set)
    for key in keys:
        if not key.strip() or keys.count(key) > 1:
            raise InvalidConfig("experiment.same_name", name=key)
    ids = [question.id for question in questions]
    if len(set(ids)) < len(ids):
        raise InvalidConfig("experiment.same_question", question=next(id_ for id_ in ids if ids.count(id_) > 1))
    require_choice("mode", spec.mode, MODES)
    for run in spec.runs:
        strategy(run.strategy, run.options)
    mentioned = [spec.baseline] if spec.baseline else []
    for judge in spec.judges:
        mentioned += [key for pair in judge.pairs for key in pair]
        for kind in judge.kinds:
            require_choice("kinds", kind, ALL_JUDGEMENTS)
        if judge.repeats < 1:
            raise InvalidConfig("option.too_small", option="repeats", value=judge.repeats, low=1)
        if not spec.answers:
            raise InvalidConfig("experiment.judges_need_answers")
    for key in mentioned:
        if key not in keys:
            raise InvalidConfig("experiment.unknown_run", name=key, known=", ".join(keys))


def with_all_settings(spec: ExperimentSpec) -> ExperimentSpec:
    """Fill in every option of the specification's runs, and their ids, as stored. Raises InvalidConfig for an unknown
    strategy."""
    known = strategies()
    runs = (replace(run, options=all_settings(known.named(run.strategy), run.options)) for run in with_ids(spec.runs))
    return replace(spec, runs=tuple(runs))


def specification_id(spec: ExperimentSpec | SweepSpec, inputs: Mapping[str, str]) -> str:
    """Return an id that is the same for the same specification on the same inputs. inputs: digests of the documents or
    the indexes, and of the questions.

    A rebuilt index with other content, or an edited question set, begins another experiment, to be compared with.
    """
    slug = re.sub(r"[^a-z0-9]+", "-", spec.title.lower()).strip("-")[:_SLUG].strip("-")
    digest = hashlib.sha256(to_json(spec) + json_bytes(dict(inputs))).hexdigest()[:12]
    return f"{slug}-{digest}" if slug else digest


def questions_digest(questions: Sequence[GoldQuestion]) -> str:
    """Return a digest that changes when a question, its kind or its gold does."""
    return hashlib.sha256(b"\n".join(map(to_json, questions))).hexdigest()[:16]


def batches(
    spec: ExperimentSpec, questions: Sequence[GoldQuestion], done: Collection[Key], size: int
) -> Iterator[Batch]:
    """Yield the work that is left, run by run. done: what need not be done again. size: most questions of a batch."""
    for run in spec.runs:
        remaining = [question for question in questions if (run.key, question.id) not in done]
        for start in range(0, len(remaining), size):
            yield Batch(run, tuple(remaining[start : start + size]), spec.answers, spec.mode, spec.claims)


def in_order(result: ExperimentResult, questions: Sequence[GoldQuestion]) -> tuple[list[QuestionRow], list[RunCost]]:
    """Put rows and costs in the order of the specification's runs and questions; of several for a question keep the
    last."""
    rows = {(row.run, row.question): row for row in result.rows}
    costs = {(cost.run, cost.question): cost for cost in result.costs}
    keys = [(run.key, question.id) for run in result.spec.runs for question in questions]
    return [rows[key] for key in keys if key in rows], [costs[key] for key in keys if key in rows and key in costs]


BASELINE, NO_SEARCH = "vector", "zero_shot"
_MAX_BYTES = 50_000_000


def strategies_spec(
    title: str,
    index: str,
    question_set: str,
    names: Collection[str] = (),
    *,
    asks_model: bool,
    equal_tokens: int | None = None,
) -> ExperimentSpec:
    """Specify an experiment of strategies on one index with their official settings, naive vectors being the baseline.

    names: of the strategies, all by default; zero-shot is among all only where a model answers, since it searches
    nothing. equal_tokens: the same token budget for all instead. Raises InvalidConfig for an unknown strategy.
    """
    known = strategies()
    infos = tuple(map(known.named, names)) or tuple(
        info for info in known.strategies if asks_model or info.name != NO_SEARCH
    )
    runs = tuple(_run(info, index, equal_tokens) for info in infos)
    baseline = next((run.key for run in runs if run.strategy == BASELINE), "")
    return ExperimentSpec(title, question_set, runs, baseline)


def usual_baseline(runs: Sequence[RunSpec]) -> str:
    """Return the key of the run that others are compared with by default: naive vectors, else the last; "" for a single
    run."""
    vectors = next((run.key for run in runs if run.strategy == BASELINE), "")
    return (vectors or runs[-1].key) if len(runs) > 1 else ""


def _run(info: StrategyInfo, index: str, equal_tokens: int | None) -> RunSpec:
    options = equal_budget(info, equal_tokens) if equal_tokens else {}
    return RunSpec(sentence(info.title), index, info.name, options)


def read_spec(path: Path) -> ExperimentSpec:
    """Read the specification in the file: spec.json of an experiment, or an export as JSON, which holds it.

    Raises InvalidConfig for another file.
    """
    try:
        with path.open("rb") as file:
            values = values_of(file.read(_MAX_BYTES + 1), name=path.name, max_bytes=_MAX_BYTES)
        spec_values = values.get("spec", values) if isinstance(values, dict) else values
        return from_values(ExperimentSpec, spec_values, name=path.name, closed=True)
    except OSError as error:
        raise InvalidConfig("experiment.no_spec_file", file=str(path)) from error
    except RecordDamaged as error:
        raise InvalidConfig("experiment.bad_spec_file", file=path.name, reason=error.reason) from error


_PLACES = 6  # decimals of a score: sums in another order differ in later ones
_WARM_UP = "What is this about?"
# What would fail for every question: the experiment stops, and goes on when the cause is gone.
_STOPPING = (
    BudgetSpent,
    Cancelled,
    ClusterUnavailable,
    EndpointError,
    IndexDamaged,
    IndexNotFound,
    ModelMismatch,
    ModelUnavailable,
    PartDamaged,
    PartMissing,
    SearchIndexFailed,
    StorageFailed,
    WorkersLost,
)


class Asked(Protocol):
    """Retrieves and answers, as the workbench does."""

    def open(self, index_id: str) -> Index: ...

    def retrieve_run(self, index: Index, question: str, run: RunSpec) -> Trace: ...

    def answer(self, index: Index, trace: Trace, mode: str) -> Answer: ...

    def claims(self, index: Index, answer: Answer) -> tuple[str, ...] | None: ...

    def asks_model(self, index_model: str) -> bool: ...


@dataclass(frozen=True)
class Measured:
    """The result row of a question of a run, and its cost."""

    row: QuestionRow
    cost: RunCost


@dataclass
class BatchWork:
    """Runs batches in this process. The first retrieval of each strategy reads its index parts, so an untimed one comes
    before."""

    asked: Asked
    clock: Callable[[], float] = time.perf_counter
    _warm: set[tuple[str, str]] = field(default_factory=set)
    _texts: dict[str, ChunkTexts] = field(default_factory=dict)

    def __call__(self, batch: Batch) -> tuple[Measured, ...]:
        """Do the batch's questions, in its order. Raises an error that every question would raise."""
        index = self.asked.open(batch.run.index)
        self._warm_up(index, batch.run)
        return tuple(self._question(index, batch, question) for question in batch.questions)

    def _warm_up(self, index: Index, run: RunSpec) -> None:
        key = run.index, run.strategy
        calls_model = strategies().named(run.strategy).calls_model and self.asked.asks_model(
            index.manifest.config.writer
        )
        if key not in self._warm and not calls_model:
            options = {name: value for name, value in run.options.items() if name != RERANK}  # which calls a server
            with suppress(Exception):  # the same error is raised again for each question
                self.asked.retrieve_run(index, _WARM_UP, replace(run, options=options))
        self._warm.add(key)

    def _question(self, index: Index, batch: Batch, question: GoldQuestion) -> Measured:
        run, answer, answer_ms, usage = batch.run, None, 0.0, NO_USAGE
        started = self.clock()
        try:
            trace = self.asked.retrieve_run(index, question.question, run)
            retrieval_ms, usage = 1000 * (self.clock() - started), trace.usage
            if batch.answers:
                started = self.clock()
                answer = self.asked.answer(index, trace, batch.mode)
                answer_ms, usage = 1000 * (self.clock() - started), usage + answer.usage
            texts = self._texts.setdefault(run.index, ChunkTexts(index))
            claims = self.asked.claims(index, answer) if batch.claims and answer is not None else None
            row = _row(index, run, question, Outcome(question, trace, answer, texts, claims))
        except EndpointRefusal as error:  # of this request: the next one may be shorter
            return _failed(run, question, str(error), usage)
        except _STOPPING:
            raise
        except LeanRAGError as error:
            return _failed(run, question, str(error), usage)
        except Exception as error:  # a fault of a strategy or measure must not take the other questions with it
            return _failed(run, question, sentence(message("experiment.unexpected", reason=in_words(error))), usage)
        return Measured(row, _cost(run, question, retrieval_ms, answer_ms, usage))


def _row(index: Index, run: RunSpec, question: GoldQuestion, outcome: Outcome) -> QuestionRow:
    kept = outcome.trace.context.mark_of
    rows = [passage.row for passage in outcome.trace.passages if passage.id in kept and passage.row is not None]
    return QuestionRow(
        run=run.key,
        question=question.id,
        kind=question.kind,
        scores={
            name: None if score is None else round(float(score), _PLACES) for name, score in scores(outcome).items()
        },
        passages=tuple(index.chunk_cells.value("id", row) for row in rows),
        answer=outcome.answer.text if outcome.answer is not None else "",
    )


def _failed(run: RunSpec, question: GoldQuestion, error: str, usage: Usage) -> Measured:
    row = QuestionRow(run.key, question.id, question.kind, {}, error=error)
    return Measured(row, _cost(run, question, 0.0, 0.0, usage))


def _cost(run: RunSpec, question: GoldQuestion, retrieval_ms: float, answer_ms: float, usage: Usage) -> RunCost:
    return RunCost(
        run=run.key,
        question=question.id,
        retrieval_ms=round(retrieval_ms, 3),
        answer_ms=round(answer_ms, 3),
        calls=usage.calls,
        prompt_tokens=usage.prompt_tokens,
        completion_tokens=usage.completion_tokens,
        cost=usage.cost if usage.calls else None,
    )


STAGE = "questions"

DoBatches = Callable[[Iterable[Batch]], Iterable[tuple[Measured, ...]]]


@dataclass(frozen=True)
class Way:
    """How batches are done. do: yields their results in their order. size: most questions of a batch."""

    do: DoBatches
    size: int


def run_questions(
    result: ExperimentResult, questions: Sequence[GoldQuestion], way: Way, writer: ExperimentWriter, report: Report
) -> None:
    """Run every question of every run and store its row. Questions that failed earlier are done again.

    result: what the store has already. Raises what a batch raises; what was done until then is kept.
    """
    done = {(row.run, row.question) for row in result.rows if not row.error}
    total, n_done = len(result.spec.runs) * len(questions), len(done)
    report(Progress(STAGE, n_done, total, "results"))
    for measured in way.do(batches(result.spec, questions, done, way.size)):
        writer.add_rows([each.row for each in measured], [each.cost for each in measured])
        n_done += len(measured)
        report(Progress(STAGE, n_done, total, "results", current=measured[-1].row.run))
