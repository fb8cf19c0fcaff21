"""A trace or an answer in a notebook: the subgraph, what each step did, the context by section, and the passages."""

from leanrag_core.figures.palette import known_colour, palette
from leanrag_core.messages.catalog import ENGLISH, sentence
from leanrag_core.notebook.frame import heading, table, text
from leanrag_core.notebook.graph_svg import graph_svg
from leanrag_core.notebook.index_html import say
from leanrag_core.types.trace import Answer, Trace

_PASSAGES, _EXCERPT = 8, 160  # rows, and characters of each


def trace_html(trace: Trace) -> str:
    """All of it, from the question to the passages."""
    facts = f"{sentence(trace.title, ENGLISH)}, {trace.index.name}"
    steps = [
        (place, sentence(step.title, ENGLISH), sentence(step.caption, ENGLISH))
        for place, step in enumerate(trace.steps, 1)
    ]
    heads = [say("notebook.step"), "", ""]
    return heading(trace.question, facts) + graph_svg(trace) + table(heads, steps) + token_bar(trace) + _passages(trace)


def answer_html(answer: Answer) -> str:
    """The answer above its trace."""
    return text('<p style="font-size:16px" dir="auto">{}</p>', answer.text) + trace_html(answer.trace)


def token_bar(trace: Trace, width: int = 900) -> str:
    """The tokens of the context, a piece for each section, with their numbers below."""
    colours, total = palette(dark=False), max(trace.context.tokens, 1)
    sections = [section for section in trace.context.sections if section.tokens]
    if not sections:
        return ""
    parts, x = [], 0.0
    for section in sections:
        share = section.tokens / total * width
        parts.append(
            text(
                '<rect x="{:.1f}" y="0" width="{:.1f}" height="12" fill="{}"/>',
                x,
                max(share - 1, 1),
                colours[known_colour(section.colour)],
            )
        )
        x += share
    said = ", ".join(f"{section.letter} {sentence(section.title, ENGLISH)} {section.tokens:,}" for section in sections)
    label = say("notebook.tokens", n=trace.context.tokens)
    bar = text('<svg viewBox="0 0 {} 12" width="{}" role="img" aria-label="{}">', width, width, f"{label}: {said}")
    return bar + "".join(parts) + "</svg>" + text('<p class="m">{}: {}</p>', label, said)


def _passages(trace: Trace) -> str:
    taken = trace.passages[:_PASSAGES]
    if not taken:
        return ""
    rows = [(place, item.source.title if item.source else "", _cut(item.text)) for place, item in enumerate(taken, 1)]
    return table([say("notebook.passage"), say("notebook.document"), ""], rows)


def _cut(passage: str) -> str:
    flat = " ".join(passage.split())
    return flat if len(flat) <= _EXCERPT else f"{flat[: _EXCERPT - 1].rstrip()}…"
