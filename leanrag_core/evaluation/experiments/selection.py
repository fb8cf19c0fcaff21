"""Some of an experiment's questions: what the tables say of these alone, and how a link names them."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from leanrag_core.types.experiment import ExperimentResult


def of_questions(result: ExperimentResult, questions: Collection[str]) -> ExperimentResult:
    """Return the result as if it had been run over these questions alone."""
    return replace(
        result,
        rows=tuple(row for row in result.rows if row.question in questions),
        costs=tuple(cost for cost in result.costs if cost.question in questions),
        judgements=tuple(each for each in result.judgements if each.question in questions),
    )


def written_places(chosen: Collection[str], ids: Sequence[str]) -> str:
    """Return which of the ids are chosen, by their places from 1 on, such as "1-3,7"; those that are not among them
    are left out."""
    parts: list[list[int]] = []
    for place, id_ in enumerate(ids, 1):
        if id_ not in chosen:
            continue
        if parts and parts[-1][-1] == place - 1:
            parts[-1][1:] = [place]
        else:
            parts.append([place])
    return ",".join("-".join(map(str, part)) for part in parts)


def chosen_ids(written: str, ids: Sequence[str]) -> tuple[str, ...]:
    """Return the ids at those places, in their order. Raises ValueError for what written_places() does not write."""
    places: set[int] = set()
    for part in filter(None, written.split(",")):
        first, _, last = part.partition("-")
        if int(first) < 1 or int(last or first) > len(ids):
            raise ValueError(part)
        places.update(range(int(first), int(last or first) + 1))
    return tuple(id_ for place, id_ in enumerate(ids, 1) if place in places)
