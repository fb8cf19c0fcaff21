"""A sweep's result put together from what its store and its experiment have."""

from dataclasses import replace

from leanrag_core.storage.sweeps import StoredSweep
from leanrag_core.types.experiment import ExperimentResult, QuestionRow
from leanrag_core.types.sweep import PointResult, SweepResult


def assembled(id_: str, stored: StoredSweep, experiment: ExperimentResult | None) -> SweepResult:
    """Put the sweep's result together. experiment: that of the sweep, None where it has not begun."""
    record = stored.record
    indexes = {index.folder: index for index in stored.indexes}
    costs = {cost.folder: cost for cost in stored.costs}
    rows: dict[str, dict[str, QuestionRow]] = {point.name: {} for point in record.points}
    for row in experiment.rows if experiment else ():
        rows.setdefault(row.run, {})[row.question] = row
    results = []
    for point in record.points:
        folder, asked = record.folders[point.name], rows[point.name]
        errors = sum(bool(row.error) for row in asked.values())
        scores = _scores(asked, record.questions)
        # A stored record has its keys sorted; figures and titles have the axes in the order of the specification.
        settings = {axis.name: point.settings[axis.name] for axis in stored.spec.axes}
        results.append(
            PointResult(replace(point, settings=settings), indexes.get(folder), costs.get(folder), scores, errors)
        )
    return SweepResult(
        id=id_,
        spec=stored.spec,
        points=tuple(results),
        questions=record.questions,
        kinds=record.kinds,
        is_complete=record.is_complete,
        is_shipped=stored.is_shipped,
        versions=record.versions,
    )


def _scores(rows: dict[str, QuestionRow], questions: tuple[str, ...]) -> dict[str, tuple[float | None, ...]]:
    """Return the scores by measure, each in the order of the questions."""
    measures = sorted({name for row in rows.values() for name in row.scores})
    return {
        name: tuple(rows[question].scores.get(name) if question in rows else None for question in questions)
        for name in measures
    }
