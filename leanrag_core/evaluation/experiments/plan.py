"""What an experiment has to do: its specification checked, its id, and the work that is left, in batches."""

import hashlib
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from leanrag_core.errors import InvalidConfig
from leanrag_core.evaluation.gold import GoldQuestion
from leanrag_core.files.records import json_bytes, to_json
from leanrag_core.retrieval.base import strategies, strategy
from leanrag_core.retrieval.settings import all_settings
from leanrag_core.types.experiment import (
    ALL_JUDGEMENTS,
    MODES,
    ExperimentResult,
    ExperimentSpec,
    QuestionRow,
    RunCost,
    RunSpec,
)

_SLUG = 40  # characters of the title in an id

Key = tuple[str, str]  # name of a run, id of a question


@dataclass(frozen=True)
class Batch:
    """Questions of a run that are done together, in the order of the set."""

    run: RunSpec
    questions: tuple[GoldQuestion, ...]
    answers: bool
    mode: str
    claims: bool = False


def require_valid(spec: ExperimentSpec, questions: Sequence[GoldQuestion]) -> None:
    """Raise InvalidConfig for what would fail later: unknown strategies and options, names that are not unique, no
    questions."""
    names = [run.name for run in spec.runs]
    if not spec.title.strip():
        raise InvalidConfig("experiment.no_title")
    if not names:
        raise InvalidConfig("experiment.no_runs")
    if not questions:
        raise InvalidConfig("experiment.no_questions", set=spec.question_set)
    for name in names:
        if not name.strip() or names.count(name) > 1:
            raise InvalidConfig("experiment.same_name", name=name)
    ids = [question.id for question in questions]
    if len(set(ids)) < len(ids):
        raise InvalidConfig("experiment.same_question", question=next(id_ for id_ in ids if ids.count(id_) > 1))
    if spec.mode not in MODES:
        raise InvalidConfig("option.not_a_choice", option="mode", value=spec.mode, choices=", ".join(MODES))
    for run in spec.runs:
        strategy(run.strategy, run.options)
    mentioned = [spec.baseline] if spec.baseline else []
    for judge in spec.judges:
        mentioned += [name for pair in judge.pairs for name in pair]
        for kind in judge.kinds:
            if kind not in ALL_JUDGEMENTS:
                choices = ", ".join(ALL_JUDGEMENTS)
                raise InvalidConfig("option.not_a_choice", option="kinds", value=kind, choices=choices)
        if judge.repeats < 1:
            raise InvalidConfig("option.too_small", option="repeats", value=judge.repeats, low=1)
        if not spec.answers:
            raise InvalidConfig("experiment.judges_need_answers")
    for name in mentioned:
        if name not in names:
            raise InvalidConfig("experiment.unknown_run", name=name, known=", ".join(names))


def with_all_settings(spec: ExperimentSpec) -> ExperimentSpec:
    """Fill in every option of the specification's runs, as stored. Raises InvalidConfig for an unknown strategy."""
    known = strategies()
    runs = (replace(run, options=all_settings(known.named(run.strategy), run.options)) for run in spec.runs)
    return replace(spec, runs=tuple(runs))


def experiment_id(spec: ExperimentSpec, inputs: Mapping[str, str]) -> str:
    """Return an id that is the same for the same specification on the same inputs. inputs: digests of the indexes and
    the questions.

    A rebuilt index with other content, or an edited question set, begins another experiment, to be compared with.
    """
    slug = re.sub(r"[^a-z0-9]+", "-", spec.title.lower()).strip("-")[:_SLUG].strip("-")
    digest = hashlib.sha256(to_json(spec) + json_bytes(dict(inputs))).hexdigest()[:12]
    return f"{slug}-{digest}" if slug else digest


def questions_digest(questions: Sequence[GoldQuestion]) -> str:
    """Return a digest that changes when a question, its kind or its gold does."""
    return hashlib.sha256(b"\n".join(map(to_json, questions))).hexdigest()[:16]


def needed_parts(run: RunSpec) -> tuple[str, ...]:
    """Return the index parts that the run's strategy needs."""
    return strategies().named(run.strategy).parts


def batches(
    spec: ExperimentSpec, questions: Sequence[GoldQuestion], done: Collection[Key], size: int
) -> Iterator[Batch]:
    """Yield the work that is left, run by run. done: what need not be done again. size: most questions of a batch."""
    for run in spec.runs:
        left = [question for question in questions if (run.name, question.id) not in done]
        for start in range(0, len(left), size):
            yield Batch(run, tuple(left[start : start + size]), spec.answers, spec.mode, spec.claims)


def in_order(result: ExperimentResult, questions: Sequence[GoldQuestion]) -> tuple[list[QuestionRow], list[RunCost]]:
    """Put rows and costs in the order of the specification's runs and questions; of several for a question keep the
    last."""
    rows = {(row.run, row.question): row for row in result.rows}
    costs = {(cost.run, cost.question): cost for cost in result.costs}
    keys = [(run.name, question.id) for run in result.spec.runs for question in questions]
    return [rows[key] for key in keys if key in rows], [costs[key] for key in keys if key in rows and key in costs]
