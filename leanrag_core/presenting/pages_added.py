"""The slides that other pages add: a comparison, whole or at equal tokens, the board, a picture of Explore."""

from dataclasses import replace
from typing import Any

from leanrag_core.figures.drawing import isolated
from leanrag_core.figures.numbers import decimal, difference, score, share
from leanrag_core.messages.catalog import joined_sentences
from leanrag_core.messages.message import Message, message
from leanrag_core.presenting import claims
from leanrag_core.presenting.claims import Claim, Page
from leanrag_core.presenting.pages_of_question import Words, column
from leanrag_core.presenting.story import AddedBoard, AddedComparison, AddedPicture, AddedSlide, BoardPoint, Side
from leanrag_core.types.trace import Trace

LETTERS = "ABCD"


def added_page(added: AddedSlide, words: Words) -> Page:
    """Return the slide."""
    if isinstance(added, AddedComparison):
        return _comparison(added, words)
    if isinstance(added, AddedBoard):
        return _board(added, words)
    return _picture(added, words)


def cut_to(trace: Trace, budget: int) -> Trace:
    """Return the trace with the part of its context that fits the budget: whole items, in the context's own order, up
    to the first that does not fit. Passages are those that are left in it."""
    sections, left, is_full = [], budget, False
    for section in trace.context.sections:
        kept = []
        for item in section.items:
            is_full = is_full or item.tokens > left
            if not is_full:
                kept.append(item)
                left -= item.tokens
        tokens = sum(item.tokens for item in kept)
        sections.append(replace(section, items=tuple(kept), tokens=tokens, text="\n".join(item.text for item in kept)))
    tokens = sum(section.tokens for section in sections)
    context = replace(trace.context, sections=tuple(sections), tokens=tokens, text="")
    refs = context.mark_of
    relations = tuple(relation for relation in trace.relations if relation.id in refs)
    items = tuple(item for item in trace.items if item.source is None or item.id in refs)
    return replace(trace, context=context, relations=relations, items=items)


def cut_side(side: Side, budget: int, gold_items: frozenset[str] | None = None) -> Side:
    """Return the side with its context cut to the budget. gold_items: ids of the items that hold gold quotes, where
    they are known; without them a count of gold is kept only where nothing was cut. The answer is dropped where a text
    that it cites is cut away, since it was written from the whole context."""
    trace = side.run.trace
    if not budget or trace.context.tokens <= budget:
        return side
    cut = cut_to(trace, budget)
    marks = {item.mark for item in cut.context.items}
    stored = side.run.answer
    answer = stored if stored is not None and set(stored.citations) <= marks else None
    gold = None if gold_items is None else len(gold_items & cut.context.mark_of.keys())
    return replace(side, run=replace(side.run, trace=cut, answer=answer), gold=gold)


def _comparison(added: AddedComparison, words: Words) -> Page:
    sides = added.sides
    tokens = [side.run.trace.context.tokens for side in sides]
    most = max(1, *tokens)
    columns = [column(added.n_gold, side, letter, most, words) for side, letter in zip(sides, LETTERS, strict=False)]
    foot = [_of(added.index, added.made, words)]
    if added.budget:
        title = message("present.equal.title", n=added.budget)
        foot.append(message("present.equal.foot", n=added.budget))
        if any(side.run.answer is None for side in sides):
            foot.append(message("present.equal.no_answer"))
    elif claims.less_reading(tokens[0], min(tokens[1:])) and not all(map(_declines, sides)):
        title = message("present.compare.title", share=share(tokens[0] / min(tokens[1:])))
    else:
        title = message("present.added.compare_title")
    if any(each["is_cut"] for each in columns):
        foot.append(message("present.compare.opening"))
    return Page(title, Claim(None), {"question": added.question, "columns": columns}, tuple(foot))


def _declines(side: Side) -> bool:
    answer = side.run.answer
    return answer is not None and not answer.grounded


def _board(added: AddedBoard, words: Words) -> Page:
    points = [
        {
            "name": words.say(point.name),
            "tokens": point.tokens.value,
            "value": point.value.value,
            "low": point.value.low,
            "high": point.value.high,
            "said": joined_sentences(map(words.say, _said(point, added, is_pinned=place == added.pinned))),
        }
        for place, point in enumerate(added.points)
    ]
    n = added.points[added.now].value.n
    picture = {
        "points": points,
        "now": added.now,
        "pinned": added.pinned,
        "measure": words.say(added.measure),
        "head": [words.say(message(f"present.board.{name}")) for name in ("setting", "value", "tokens", "changed")],
        "rows": [[words.say(point.name), *_row(point, is_pinned=place == added.pinned, words=words)]
                 for place, point in enumerate(added.points)],
    }  # fmt: skip
    foot = (_of(added.index, added.made, words), message("present.board.foot", n=n, settings=added.settings))
    return Page(message("present.board.title", name=added.system), Claim(None), picture, foot)


def _row(point: BoardPoint, *, is_pinned: bool, words: Words) -> list[str]:
    won_lost = message("present.board.won_lost", won=point.won, lost=point.lost)
    changed = message("present.board.pinned") if is_pinned else won_lost
    return [score(point.value.value), decimal(point.tokens.value, 0), words.say(changed)]


def _said(point: BoardPoint, added: AddedBoard, *, is_pinned: bool) -> tuple[Message, ...]:
    """Return what a setting brings, against the pinned one."""
    value, tokens = score(point.value.value), decimal(point.tokens.value, 0)
    first = message("present.board.said", measure=added.measure, value=value, tokens=tokens)
    if is_pinned:
        return (first,)
    pinned = added.points[added.pinned]
    against = difference(point.value.value - pinned.value.value)
    return (first, message("present.board.against", difference=against, won=point.won, lost=point.lost))


def _picture(added: AddedPicture, words: Words) -> Page:
    picture: dict[str, Any] = {name: getattr(added, name) for name in ("light", "dark", "width", "height")}
    picture["about"] = added.title
    foot = (_of(added.index, added.made, words), message("plain", text=added.note))
    return Page(message("plain", text=added.title), Claim(None), picture, foot)


def _of(index: str, made: str, words: Words) -> Message:
    return message("present.added.foot", index=isolated(index), day=words.day(made) or made)
