"""What a context lacks for want of room, and what its reader should know about the search."""

from leanrag_core.messages.message import Message, message
from leanrag_core.types.trace import Context, ContextSection, Lost


def losses(context: Context) -> tuple[Message, ...]:
    """What the context lacks for want of room, a message for each kind; none when everything is in it whole."""
    return tuple(_loss(section, lost) for section in context.sections for lost in section.lost)


def _loss(section: ContextSection, lost: Lost) -> Message:
    if not lost.trimmed:
        code = "context.loss.left_out"
    else:
        code = "context.loss.both" if lost.left_out else "context.loss.trimmed"
    return message(
        code,
        n=lost.trimmed,
        left_out=lost.left_out,
        offered=message(lost.noun or "count.items", n=lost.offered),
        budget=section.budget,
        section=section.phrase or section.title,
    )


def context_caption(context: Context) -> Message:
    """How much is in the context, and what did not fit."""
    filled = sum(bool(section.items) for section in context.sections)
    return message(
        "context.filled",
        tokens=context.tokens,
        sections=message("count.sections", n=filled),
        fitted=in_order(losses(context)) or message("context.fitted"),
    )


def in_order(messages: tuple[Message, ...]) -> Message | None:
    """The messages as one, sentence after sentence; None when there is none."""
    if not messages:
        return None
    first, rest = messages[0], in_order(messages[1:])
    return message("text.then", first=first, rest=rest) if rest else first
