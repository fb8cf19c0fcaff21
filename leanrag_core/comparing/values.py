"""A comparison as the plain values that `compare --json` gives: the facts that the Compare page shows."""

from collections.abc import Mapping, Sequence
from typing import Any

from leanrag_core.comparing.gold_passages import Gold
from leanrag_core.comparing.lost_evidence import Lane
from leanrag_core.comparing.over_questions import SetResult
from leanrag_core.comparing.remedies import Remedy
from leanrag_core.comparing.sharing import Shared
from leanrag_core.comparing.why_not import WhyNot
from leanrag_core.figures.passages import passage_name
from leanrag_core.files.records import plain
from leanrag_core.messages.catalog import sentence
from leanrag_core.types.trace import Answer, Trace


def column_values(index: str, trace: Trace, answer: Answer | None) -> dict[str, Any]:
    """Return what a column retrieved, what it cost, and which of its passages the answer cites."""
    marks = trace.context.mark_of
    cited = {mark for part in answer.parts for mark in part.marks} if answer else set()
    usage = trace.usage + answer.usage if answer else trace.usage
    return {
        "index": index,
        "strategy": trace.strategy,
        "title": sentence(trace.title),
        "options": dict(trace.parameters),
        "tokens": {"total": trace.context.tokens, **{part.name: part.tokens for part in trace.context.sections}},
        "milliseconds": round(trace.timings_ms["total"], 3),
        "usage": plain(usage),
        "steps": [{"name": step.name, "said": sentence(step.caption)} for step in trace.steps],
        "passages": [
            {
                "id": passage.id,
                "name": passage_name(passage),
                "mark": marks.get(passage.id, ""),
                "cited": marks.get(passage.id, "") in cited,
            }
            for passage in trace.passages
        ],
        "answer": answer.text if answer else None,
        "notes": [sentence(note) for note in trace.notes],
    }


def shared_values(shared: Shared) -> list[dict[str, Any]]:
    """Return for each kind of items how many each column has, and the items of each intersection of columns."""
    return [
        {
            "kind": sharing.kind,
            "sizes": dict(sharing.sizes),
            "in_all": sharing.total,
            "intersections": [
                {"columns": list(part.letters), "names": list(part.names)} for part in sharing.intersections
            ],
        }
        for sharing in shared.kinds
    ]


def gold_values(
    gold: Sequence[Gold], lanes: Mapping[str, Sequence[Lane]], remedies: Mapping[tuple[str, int], Remedy | None]
) -> list[dict[str, Any]]:
    """Return how far each piece of gold came in each column. remedies: what was tried, by column and place of the
    gold."""
    return [
        {
            "kind": piece.kind,
            "document": piece.document,
            "quote": piece.quote,
            "columns": {
                letter: {
                    **lane_values(ways[place]),
                    **({"tried": _remedy_values(remedies[letter, place])} if (letter, place) in remedies else {}),
                }
                for letter, ways in lanes.items()
            },
        }
        for place, piece in enumerate(gold)
    ]


def lane_values(lane: Lane) -> dict[str, Any]:
    """Return the stages that it passed, and where it was lost."""
    return {
        "found": lane.is_found,
        "lost_at": lane.lost_at,
        "place": lane.place,
        "mark": lane.mark,
        "said": [sentence(part) for part in lane.said],
    }


def _remedy_values(remedy: Remedy | None) -> dict[str, Any] | None:
    if remedy is None:
        return None
    changes = {change.option: [change.before, change.after] for change in remedy.changes}
    return {"changes": changes, "tokens": remedy.tokens, **lane_values(remedy.lane)}


def why_values(why: WhyNot, offers: Sequence[Remedy] = ()) -> dict[str, Any]:
    """Return the stages of what was wanted, the first that lost it, and the changes that were run and find it."""
    return {
        "wanted": why.gold.quote or why.gold.name(),
        "kind": why.gold.kind,
        "lost_at": why.loss.stage if why.loss else "",
        "said": sentence(why.headline),
        "rank": why.rank.rank if why.rank else None,
        "stages": [{"stage": each.stage, "state": each.state, "said": sentence(each.said)} for each in why.checks],
        "notes": [sentence(note) for note in why.notes],
        "offers": [_remedy_values(each) for each in offers],
    }


def set_values(result: SetResult) -> dict[str, Any]:
    """Return a column's result over a question set."""
    return {
        "gold": result.n_gold,
        "losses": result.losses,
        "tokens": round(result.mean_tokens, 1),
        "median_ms": round(result.median_ms, 3),
        "measures": [{"measure": mean.measure, "value": mean.value, "n": mean.n} for mean in result.means],
        "questions": [
            {
                "id": each.question.id,
                "question": each.question.question,
                "found": each.n_found,
                "gold": len(each.evidence),
                "lost_at": [judged.lane.lost_at for judged in each.evidence],
            }
            for each in result.questions
        ],
    }
