"""What has to change before chunks whose replies were lost are asked again: the same request fails the same way."""

from collections.abc import Iterable

from leanrag_core.messages.message import Message, message

# By words of the reasons that a report lists, the most telling first.
_ADVICE = (
    ("repeat", "advice.loops"),
    ("no room for a reply", "advice.too_long"),
    ("cut at the token limit", "advice.cut"),
    ("tries", "advice.no_answer"),
    ("refuses the request", "advice.refused"),
    ("content filter", "advice.refused"),
    ("declines to answer", "advice.refused"),
    ("a quarter of the reply", "advice.too_slow"),
)


def advice_for(reasons: Iterable[str]) -> Message | None:
    """Return what to change first, by the most frequent kind of reason; None where nothing was lost."""
    counts: dict[str, int] = {}
    for reason in reasons:
        code = next((code for words, code in _ADVICE if words in reason), "advice.unreadable")
        counts[code] = counts.get(code, 0) + 1
    return message(max(counts, key=lambda code: (counts[code], code))) if counts else None
