"""What a finding of an experiment rests on, and what limits it: said beside the finding, wherever it is shown."""

from collections.abc import Mapping, Sequence
from statistics import fmean

from leanrag_core.evaluation.tables import TOKENS, questions_of, scores_of
from leanrag_core.messages.message import Message, message
from leanrag_core.types.experiment import ExperimentResult

# What an experiment records of its inputs beside their digests.
FROM_GRAPH = "questions generated from"  # the index whose graph they were made from
CORPUS_TOKENS = "tokens"  # and the name of an index: of the texts of its documents
_HALF = 0.5
_EQUAL = 1e-9  # scores that differ by less are equal


def grounds(result: ExperimentResult, runs: Sequence[str], measure: str, kind: str = "") -> tuple[Message, ...]:
    """Say what a reader has to know of these runs compared by the measure, over the questions of a kind, "" for all."""
    questions = questions_of(result, kind)
    scores = scores_of(result, measure, questions)
    columns = {run: scores[run] for run in runs}
    said = []
    if result.versions.get(FROM_GRAPH):
        said.append(message("grounds.from_graph"))
    said += _large_contexts(result, runs, questions)
    without = sum(not any(score is not None for score in row) for row in zip(*columns.values(), strict=True))
    if without:
        said.append(message("grounds.without_gold", n=without, all=len(questions)))
    if len(runs) > 1 and _is_level(columns, len(questions) - without):
        said.append(message("grounds.level"))
    return tuple(said)


def _large_contexts(result: ExperimentResult, runs: Sequence[str], questions: Sequence[str]) -> list[Message]:
    """Say for each run whose mean context is larger than half of its corpus how large it is."""
    index_of, said = {run.name: run.index for run in result.spec.runs}, []
    tokens = scores_of(result, TOKENS, questions)
    for run in runs:
        known = [value for value in tokens[run] if value is not None]
        corpus = int(result.versions.get(f"{CORPUS_TOKENS} {index_of[run]}", "0"))
        if known and corpus and fmean(known) > _HALF * corpus:
            code = "grounds.whole_corpus" if fmean(known) >= corpus else "grounds.half_corpus"
            said.append(message(code, run=run, tokens=round(fmean(known)), corpus=corpus))
    return said


def _is_level(columns: Mapping[str, Sequence[float | None]], n_scored: int) -> bool:
    """Return whether every question that has a score has the same with all runs."""
    rows = [[score for score in row if score is not None] for row in zip(*columns.values(), strict=True)]
    alike = [row for row in rows if len(row) == len(columns)]
    return 0 < n_scored == len(alike) and all(max(row) - min(row) <= _EQUAL for row in alike)
