"""Why a passage came into a retrieval, in one sentence that its trace proves."""

from itertools import pairwise

from leanrag_core.figures import numbers
from leanrag_core.figures.anchors import anchors
from leanrag_core.figures.direction import isolated
from leanrag_core.messages.catalog import codes
from leanrag_core.messages.message import Message, message
from leanrag_core.types.trace import Trace, TraceItem

STOP = message("play.stop")


def passage_said(trace: Trace, passage: TraceItem, *, first: bool) -> tuple[Message, ...]:
    """What is to be said of the passage: how many items lead to it where that ranks the passages, else its score."""
    marks = {item.ref: item.mark for section in trace.context.sections for item in section.items}
    label = marks.get(passage.id) or isolated(passage.name)
    end = STOP if passage.id in marks or not marks else message("play.not_in_context")
    leading = anchors(trace)
    if leading and _ranked_by_count(trace):
        share = count_of(passage, leading)
        if not first:
            return message("play.follows_with", label=label, share=share), end
        return message("play.first_because", label=label, share=share), _lead(trace, passage, marks), end
    if passage.score is not None:
        score = numbers.decimal(passage.score, 2)
        others = [each.score for each in trace.passages if each.id != passage.id]
        if first and others and all(each is not None and each < passage.score for each in others):
            why = message("play.best_score_of", score=score, n=len(trace.passages))
            return message("play.first", name=label), why, end
        return message("play.follows_scored", label=label, score=score), end
    return message("play.enters", label=label), end


def count_of(passage: TraceItem, leading: list[TraceItem]) -> Message:
    """ "7 of 30 seeds", of those that lead to passages."""
    code = f"markup.of_items.{leading[0].role.replace('-', '_')}"
    return message(code if code in codes() else "markup.of_items", count=n_leading(passage), n=len(leading))


def n_leading(passage: TraceItem) -> int:
    """How many items lead to the passage."""
    return len(passage.source.items) if passage.source else 0


def _ranked_by_count(trace: Trace) -> bool:
    """Whether no passage has more items that lead to it than the one before: then their number explains the order."""
    counts = [n_leading(passage) for passage in trace.passages]
    return all(before >= after for before, after in pairwise(counts)) and bool(counts) and counts[0] > 0


def _lead(trace: Trace, passage: TraceItem, marks: dict[str, str]) -> Message:
    """Whether others have as many."""
    others = [each for each in trace.passages if each.id != passage.id]
    equal = [each for each in others if n_leading(each) == n_leading(passage)]
    if equal:
        return message("play.as_many_as", n=len(equal), label=marks.get(equal[0].id) or isolated(equal[0].name))
    return message("play.more_than_others", n=len(others)) if others else message("plain", text="")
