"""Specifications that are asked for often: every strategy on an index, and those that a file holds."""

from collections.abc import Collection, Sequence
from pathlib import Path

from leanrag_core.errors import InvalidConfig, RecordDamaged
from leanrag_core.files.records import from_values, values_of
from leanrag_core.messages.catalog import sentence
from leanrag_core.retrieval.base import StrategyInfo, equal_budget, strategies
from leanrag_core.types.experiment import ExperimentSpec, JudgeSpec, RunSpec

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
    answers: bool = True,
    judges: Sequence[JudgeSpec] = (),
    seed: int = 0,
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
    baseline = next((run.name for run in runs if run.strategy == BASELINE), "")
    return ExperimentSpec(title, question_set, runs, baseline, answers, judges=tuple(judges), seed=seed)


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
        held = values.get("spec", values) if isinstance(values, dict) else values
        return from_values(ExperimentSpec, held, name=path.name, closed=True)
    except OSError as error:
        raise InvalidConfig("experiment.no_spec_file", file=str(path)) from error
    except RecordDamaged as error:
        raise InvalidConfig("experiment.bad_spec_file", file=path.name, reason=error.reason) from error
