"""Token budgets of a context's sections, and which texts fit into one whole, trimmed or not at all.

The tokens of a line of the context are counted by adding stored counts, exactly. cl100k first cuts a text into words by
a pattern and then counts each word alone. Where the pattern always cuts between two pieces, the count of the whole is
the sum of the counts. It always cuts

- before a space that follows something other than white space, so that a stored text can be counted with the space
  before it;
- between a letter or digit and a mark such as ":" or ")";
- after a line's end, when what follows is not white space.

Anywhere else the pieces are counted as one text.
"""

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import NamedTuple, TypeVar

import numpy as np
import pyarrow as pa

from leanrag_core.messages.message import Message, message
from leanrag_core.text.sentences import up_to_last_sentence
from leanrag_core.text.tokens import count_tokens, rest_of_line, trim_to_tokens
from leanrag_core.types.trace import ContextItem, ContextSection, Lost

_LONG = 1000  # letters; long runs are cut by position (tokens.py), so that neighbours matter


class Piece(NamedTuple):
    """A part of a line. tokens: its count when it stands alone."""

    text: str
    tokens: int


@lru_cache(maxsize=1 << 14)
def fixed(text: str) -> Piece:
    """Return a piece that occurs often, its count cached: a mark, a conjunction, a title, the names before a
    description."""
    return Piece(text, count_tokens(text))


def joined(pieces: Sequence[Piece]) -> int:
    """Return tokens of the pieces written one after the other."""
    tokens, before = 0, ""
    for text, alone in pieces:
        if before and not _breaks(before, text):
            return count_tokens("".join(piece.text for piece in pieces))
        tokens, before = tokens + alone, text
    return tokens


def _breaks(left: str, right: str) -> bool:
    if not left or not right or len(left) > _LONG:
        return False
    if right[0] == " ":
        return not left[-1].isspace()
    return right[0] in ":)" and _is_word(left[-1])


def _is_word(character: str) -> bool:
    return unicodedata.category(character)[0] in "LN"


def blank_line_tokens(line: str) -> int:
    """Return how many tokens a line (with its end) gains when an empty line follows it."""
    body = line.removesuffix("\n")
    if body and _is_word(body[-1]):
        return fixed("\n\n").tokens - fixed("\n").tokens
    start = len(body)
    while start and len(body) - start <= _LONG and not (body[start - 1].isspace() or _is_word(body[start - 1])):
        start -= 1
    at_space = start > 0 and body[start - 1] == " "
    if start == len(body) or not (at_space or (start and _is_word(body[start - 1]))) or not _broken(body[:start]):
        return count_tokens(f"{line}\n") - count_tokens(line)
    marks = body[start - at_space :]
    return _gain(marks)


@lru_cache(maxsize=4096)
def _gain(marks: str) -> int:
    return count_tokens(f"{marks}\n\n") - count_tokens(f"{marks}\n")


def _broken(text: str) -> bool:
    """Return whether the last run without white space is short."""
    return len(text) < _LONG or any(character.isspace() for character in text[-_LONG:])


T = TypeVar("T")
TRIMMED = "[…]"  # ends a text that was trimmed
LEAST_TOKENS = 24  # tokens of a description; a shorter rest of it says too little
_LONGEST_TOKEN = 128  # characters of the vocabulary's longest entry


@dataclass(frozen=True)
class SectionForm:
    """How a strategy declares a section of its context.

    heading: the line above its items, with its end. letter, colour, title, phrase, noun: see ContextSection. nouns: for
    each kind of items the code of the message that counts them.
    """

    name: str
    title: Message
    phrase: Message
    noun: Message
    letter: str
    colour: str
    heading: str
    nouns: Mapping[str, str] = field(default_factory=dict)

    def made(self, items: Sequence[ContextItem], text: str, tokens: int, budget: int) -> ContextSection:
        """Return the section with those items."""
        form, filling = (self.name, self.title, self.letter, self.colour), (tuple(items), text, tokens, budget)
        return ContextSection(*form, *filling, phrase=self.phrase, noun=self.noun)


def section_form(name: str, letter: str, colour: str, heading: str, nouns: Mapping[str, str]) -> SectionForm:
    """Return the form of a section whose title, phrase and noun are the messages "section.NAME.title" and so on."""
    title, phrase, noun = (message(f"section.{name}.{text}") for text in ("title", "phrase", "noun"))
    return SectionForm(name, title, phrase, noun, letter, colour, heading, nouns)


@dataclass(frozen=True)
class Candidate:
    """What may become a line of a section: `lead`, then `joint`, then the description `text`.

    head: the pieces of the lead, whose counts are known. rest: tokens of f"{joint}{text}\\n". own: tokens of the head;
    None where they depend on the mark before it.
    """

    kind: str
    ref: str
    lead: str
    text: str
    head: tuple[Piece, ...]
    rest: int
    joint: str = " "
    trimmed: bool = False
    own: int | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Count the head once where the tokenizer cuts between mark and head: the count is needed several times."""
        cut = not self.head or self.head[0].text.startswith(" ")
        object.__setattr__(self, "own", joined(self.head) if cut else None)

    def tokens(self, mark: str) -> int:
        """Return tokens of the line, from its mark to its end. A head ends in a mark or a line's end."""
        return self.head_tokens(mark) + self.rest

    def head_tokens(self, mark: str) -> int:
        """Return tokens before the joint."""
        before = fixed(f"[{mark}]")
        return joined((before, *self.head)) if self.own is None else before.tokens + self.own

    def item(self, mark: str) -> ContextItem:
        """Return the item of a context that it becomes."""
        lead = f"{self.lead}{self.joint}"
        return ContextItem(
            mark, self.ref, f"{lead}{self.text}", self.tokens(mark), self.kind, len(lead), trimmed=self.trimmed
        )


def shortened(candidate: Candidate, mark: str, max_tokens: int) -> Candidate | None:
    """Return the candidate with as many whole sentences of its description as fit, or tokens where a sentence is too
    long.

    None when less than a line of it would be left.
    """
    room = max_tokens - candidate.head_tokens(mark)
    kept = candidate.text[: max(room, 0) * _LONGEST_TOKEN]
    text_room = room - count_tokens(f" {TRIMMED}\n")
    while text_room >= LEAST_TOKENS:
        kept = up_to_last_sentence(trim_to_tokens(kept, text_room), lines=True)
        text = f"{kept} {TRIMMED}"
        rest = count_tokens(f"{candidate.joint}{text}\n")
        if rest <= room:
            return replace(candidate, text=text, rest=rest, trimmed=True) if kept else None
        text_room -= max(1, rest - room)
    return None


def choose(candidates: Sequence[Candidate], marks: Sequence[str], budget: int) -> dict[int, Candidate]:
    """Return what is taken of each candidate, by its place, within the budget.

    All are taken whole when they fit. Else they are taken in order, each up to half of the budget; one that does not
    fit is skipped. The remaining room then goes to the first candidates that were trimmed or skipped. marks: of each
    candidate when all before it are taken, so that no mark of the finished section is longer.
    """
    costs = [candidate.tokens(mark) for candidate, mark in zip(candidates, marks, strict=True)]
    if sum(costs) <= budget:
        return dict(enumerate(candidates))
    chosen: dict[int, Candidate] = {}
    room, limit = budget, budget // 2
    for place, candidate in enumerate(candidates):
        wanted = min(costs[place], limit)
        if wanted <= room:
            part = candidate if costs[place] <= limit else shortened(candidate, marks[place], limit)
            if part is not None:
                chosen[place] = part
                room -= part.tokens(marks[place])
    for place, candidate in enumerate(candidates):
        if room < LEAST_TOKENS:
            break
        before = chosen[place].tokens(marks[place]) if place in chosen else 0
        more = candidate if costs[place] <= room + before else shortened(candidate, marks[place], room + before)
        if more is not None and more.tokens(marks[place]) > before:
            chosen[place] = more
            room -= more.tokens(marks[place]) - before
    return chosen


def choose_until_full(candidates: Sequence[Candidate], marks: Sequence[str], budget: int) -> dict[int, Candidate]:
    """Return, by place, what remains of the candidates when their text is cut at the budget: all before the first that
    does not fit, and the part of that one which does. marks: see choose()."""
    chosen: dict[int, Candidate] = {}
    room = budget
    for place, candidate in enumerate(candidates):
        cost = candidate.tokens(marks[place])
        if cost > room:
            part = shortened(candidate, marks[place], room)
            return chosen if part is None else chosen | {place: part}
        chosen[place] = candidate
        room -= cost
    return chosen


def section(
    form: SectionForm,
    offered: Sequence[Candidate],
    budget: int,
    shares: Mapping[str, float] | None = None,
    choice: Callable[[Sequence[Candidate], Sequence[str], int], dict[int, Candidate]] = choose,
) -> ContextSection:
    """Return the section as it is in the context, never above its budget.

    shares: the part of the budget that is kept for a kind, in the order of the candidates; room that a kind does not
    use goes to the others. None: one budget for all. choice: what is taken of them; see choose().
    """
    if not offered:
        return form.made((), "", 0, budget)
    marks = [f"{form.letter}{place}" for place in range(1, len(offered) + 1)]
    room = budget - fixed(form.heading).tokens - 1  # a token for the empty line that ends the section
    chosen = _shared(offered, marks, room, shares) if shares else choice(offered, marks, room)
    kept = [chosen[place] for place in sorted(chosen)]
    items = [candidate.item(f"{form.letter}{place}") for place, candidate in enumerate(kept, start=1)]
    used = fixed(form.heading).tokens + sum(item.tokens for item in items)
    while items:
        tokens = used + blank_line_tokens(f"[{items[-1].mark}] {items[-1].text}\n")
        if tokens <= budget:
            body = "".join(f"[{item.mark}] {item.text}\n" for item in items)
            return _with_losses(form, form.made(items, f"{form.heading}{body}\n", tokens, budget), offered)
        used -= items.pop().tokens
    return _with_losses(form, form.made((), "", 0, budget), offered)


def _shared(
    offered: Sequence[Candidate], marks: Sequence[str], room: int, shares: Mapping[str, float]
) -> dict[int, Candidate]:
    """Return choose() for two kinds: the first within its share, the second in what that leaves, then the first again
    in what the second leaves."""
    first = next(iter(shares))
    places = [
        [place for place, line in enumerate(offered) if (line.kind == first) is wanted] for wanted in (True, False)
    ]

    def choose_side(side: int, budget: int) -> dict[int, Candidate]:
        side_places = places[side]
        chosen = choose([offered[place] for place in side_places], [marks[place] for place in side_places], budget)
        return {side_places[place]: candidate for place, candidate in chosen.items()}

    def cost(chosen: Mapping[int, Candidate]) -> int:
        return sum(candidate.tokens(marks[place]) for place, candidate in chosen.items())

    second = choose_side(1, room - cost(choose_side(0, int(room * shares[first]))))
    return choose_side(0, room - cost(second)) | second


def _with_losses(form: SectionForm, filled: ContextSection, offered: Sequence[Candidate]) -> ContextSection:
    """Return the section with its losses by kind: what was left out or trimmed."""
    if len(filled.items) == len(offered) and not any(item.trimmed for item in filled.items):
        return filled
    lost = []
    for kind in dict.fromkeys(candidate.kind for candidate in offered):
        n_offered = sum(candidate.kind == kind for candidate in offered)
        kept = [item for item in filled.items if item.kind == kind]
        trimmed = sum(item.trimmed for item in kept)
        if trimmed or len(kept) < n_offered:
            lost.append(Lost(kind, n_offered, n_offered - len(kept), trimmed, form.nouns.get(kind, "")))
    return replace(
        filled,
        left_out=sum(kind.left_out for kind in lost),
        trimmed=sum(kind.trimmed for kind in lost),
        lost=tuple(lost),
    )


def scaled(budgets: Mapping[str, int], max_tokens: int) -> dict[str, int]:
    """Return the sections' budgets, made smaller in proportion where their sum is above max_tokens; tokens lost by
    rounding go to the first sections."""
    total = sum(budgets.values())
    if total <= max_tokens:
        return dict(budgets)
    shares = {name: budget * max_tokens // total for name, budget in budgets.items()}
    for name in list(shares)[: max_tokens - sum(shares.values())]:
        shares[name] += 1
    return shares


def until_spent(values: Sequence[T], tokens_of: Callable[[T], int], max_tokens: int) -> list[T]:
    """Return the first values, until they hold more tokens than the budget, and one more, which may be trimmed."""
    used = 0
    for place, value in enumerate(values, start=1):
        used += tokens_of(value)
        if used > max_tokens:
            return list(values[:place])
    return list(values)


def affordable(tokens: pa.ChunkedArray, rows: Sequence[int], max_tokens: int) -> list[int]:
    """Return the first of those rows of a table, until they hold more tokens than the budget, and one more, which may
    be trimmed. tokens: the column of the table."""
    total = np.cumsum(np.asarray(tokens)[np.asarray(rows, dtype=np.int64)])
    return list(rows[: int(np.searchsorted(total, max_tokens)) + 1])


def text_line(kind: str, ref: str, lead: str, text: str, text_tokens: int | None = None) -> Candidate:
    """Return a text as a line of a section. lead: ends in ":" or ")". text_tokens: the count that the index stores for
    the text."""
    text = text.strip() if text_tokens is None else text  # stored counts are those of the text as it is
    rest = count_tokens(rest_of_line(text)) if text_tokens is None else text_tokens
    return Candidate(kind, ref, lead, text, (fixed(f" {lead}"),), rest)
