"""The sections of a context as the play's bar of tokens shows them: tokens, budget, and how many items are in it."""

from dataclasses import dataclass

from leanrag_core.figures.palette import known_colour
from leanrag_core.messages.catalog import sentence
from leanrag_core.messages.message import Message, message
from leanrag_core.types.trace import ContextSection, Trace

_MAX_TOKENS = "max_tokens"  # the option of strategies whose sections have a budget in common


@dataclass(frozen=True)
class Part:
    """A section of the context. note: how many of its items are in it, such as "5 of 23, 18 left out"."""

    letter: str
    title: str
    colour: str
    tokens: int
    budget: int
    note: str = ""


def parts(trace: Trace, language: str) -> tuple[Part, ...]:
    """The sections in their order."""
    return tuple(
        Part(
            each.letter,
            sentence(each.title, language),
            known_colour(each.colour),
            each.tokens,
            each.budget,
            _note(trace, each, language),
        )
        for each in trace.context.sections
    )


def budget_of(trace: Trace) -> int:
    """The tokens that the whole context may take."""
    context, common = trace.context, trace.parameters.get(_MAX_TOKENS)
    total = sum(section.budget for section in context.sections)
    return common if isinstance(common, int) and context.tokens <= common < total else total


def _note(trace: Trace, section: ContextSection, language: str) -> str:
    """Passages are taken of candidates, since they may be shorter than the ranked chunks; what counts nothing is left
    out."""
    n, ids = len(section.items), {passage.id for passage in trace.passages}
    total = message("ask.taken_of", n=n, offered=n + section.left_out)
    out = message("ask.left_out", n=section.left_out)
    if trace.ranked_chunks and any(item.ref in ids for item in section.items):
        total = message("ask.taken_of_candidates", n=n, offered=max(len(trace.ranked_chunks), n))
        out = message("ask.did_not_fit", n=section.left_out)
    more: tuple[Message, ...] = (out, message("ask.trimmed", n=section.trimmed))
    said = [sentence(part, language) for part in (total, *more) if part is total or part.values["n"]]
    return sentence(message("ask.comma"), language).join(said)
