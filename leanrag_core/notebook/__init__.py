"""HTML of an index, a trace, an answer and a comparison for notebooks: without scripts, and without any request.

Texts of documents and models are escaped. Figures are SVG in the colours of the light theme, on a ground of their own,
so that they can be read in any theme of a notebook.
"""

from collections.abc import Callable, Sequence
from typing import Any

from leanrag_core.comparing.sharing import Comparison
from leanrag_core.figures import numbers
from leanrag_core.figures.palette import known_colour, palette
from leanrag_core.messages.catalog import ENGLISH, sentence
from leanrag_core.messages.message import Message, Value
from leanrag_core.notebook.graph_svg import graph_svg, svg, text
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Answer, Trace
from leanrag_core.types.visible import shortened

_WIDTH, _HEIGHT, _GAP = 900, 26, 2
_CLUSTERS = 12  # the largest ones have a bar of their own
_PASSAGES, _EXCERPT = 8, 160  # rows, and characters of each
_STYLE = """
.leanrag-nb{%s background:var(--lr-bg);color:var(--lr-text);font:14px/1.5 system-ui,sans-serif;
border:1px solid var(--lr-line);border-radius:6px;padding:12px 16px;max-width:960px;overflow-wrap:break-word}
.leanrag-nb h4{margin:0 0 2px;font-size:16px;font-weight:650}
.leanrag-nb .m{color:var(--lr-mute);font-size:13px;margin:0 0 8px}
.leanrag-nb table{border-collapse:collapse;font-size:13px;margin:8px 0;font-variant-numeric:tabular-nums}
.leanrag-nb th{color:var(--lr-mute);font-weight:600;white-space:nowrap}
.leanrag-nb td:first-child,.leanrag-nb td.n{white-space:nowrap}
.leanrag-nb td,.leanrag-nb th{padding:3px 14px 3px 0;border-bottom:1px solid var(--lr-line);text-align:left}
.leanrag-nb td{vertical-align:top}.leanrag-nb td.n,.leanrag-nb th.n{text-align:right}
.leanrag-nb svg{display:block;max-width:100%%;height:auto}
.leanrag-nb text,.leanrag-nb td,.leanrag-nb p{unicode-bidi:plaintext}.leanrag-nb p{max-width:75ch;margin:4px 0}
"""


def index_html(index: Index) -> str:
    """Return title, counts by layer, and the largest clusters of the layer below the root with the entities in them."""
    layers = index.layers
    n_read = {"documents": index.documents.num_rows, "chunks": index.chunks.num_rows}
    facts = say("notebook.index", **n_read, entities=len(layers[0]), layers=len(layers))
    rows = [(f"L{layer.number}", f"{len(layer):,}", f"{layer.relations.num_rows:,}") for layer in reversed(layers)]
    heads = [say("notebook.layer"), say("notebook.entities"), say("notebook.relations")]
    title = index.manifest.name or index.id
    return heading(title, facts) + _clusters(index) + table(heads, rows, numbers=(1, 2))


def say(code: str, **values: Value) -> str:
    """Return the English sentence of that code: a notebook has no language of its own."""
    return sentence(Message(code, values), ENGLISH)


def _clusters(index: Index) -> str:
    if len(index.layers) < 2:
        return ""
    number = max(1, len(index.layers) - 2)
    below = index.leaf_counts[number]
    names = index.layers[number].entities["name"]
    order = sorted(range(len(below)), key=lambda row: (-int(below[row]), row))[:_CLUSTERS]
    colours, largest = palette(dark=False), max(int(below[order[0]]), 1)
    height = len(order) * (_HEIGHT + _GAP)
    said = say("notebook.clusters", n=len(order), of=len(below))
    form = (
        '<rect x="0" y="{}" width="{:.1f}" height="{}" rx="3" fill="{}"/>'
        '<text x="{:.1f}" y="{}" font-size="13">{} ({})</text>'
    )
    parts = [svg(_WIDTH, height, said)]
    for place, row in enumerate(order):
        top, n = place * (_HEIGHT + _GAP), int(below[row])
        width = max(4.0, n / largest * _WIDTH * 0.45)
        bar = (top, width, _HEIGHT, colours.layer(number))
        name, n_entities = names[row].as_py()[:70], numbers.of_unit(n, "entities")
        parts.append(text(form, *bar, width + 8, top + 18, name, n_entities))
    note = text('<p class="m">{}</p>', said)
    return "".join(parts) + "</svg>" + note


def trace_html(trace: Trace) -> str:
    """Return all of a trace, from the question to the passages."""
    facts = f"{sentence(trace.title, ENGLISH)}, {trace.index.name}"
    steps = [
        (place, sentence(step.title, ENGLISH), sentence(step.caption, ENGLISH))
        for place, step in enumerate(trace.steps, 1)
    ]
    heads = [say("notebook.step"), "", ""]
    return heading(trace.question, facts) + graph_svg(trace) + table(heads, steps) + token_bar(trace) + _passages(trace)


def answer_html(answer: Answer) -> str:
    """Return the answer above its trace."""
    return text('<p style="font-size:16px" dir="auto">{}</p>', answer.text) + trace_html(answer.trace)


def token_bar(trace: Trace, width: int = 900) -> str:
    """Return the tokens of the context, a piece for each section, with their numbers below."""
    colours, total = palette(dark=False), max(trace.context.tokens, 1)
    sections = [section for section in trace.context.sections if section.tokens]
    if not sections:
        return ""
    parts, x = [], 0.0
    for section in sections:
        share = section.tokens / total * width
        form = '<rect x="{:.1f}" y="0" width="{:.1f}" height="12" fill="{}"/>'
        parts.append(text(form, x, max(share - 1, 1), colours[known_colour(section.colour)]))
        x += share
    section_tokens = ", ".join(
        f"{section.letter} {sentence(section.title, ENGLISH)} {section.tokens:,}" for section in sections
    )
    label = say("notebook.tokens", n=trace.context.tokens)
    return (
        svg(width, 12, f"{label}: {section_tokens}")
        + "".join(parts)
        + "</svg>"
        + text('<p class="m">{}: {}</p>', label, section_tokens)
    )


def _passages(trace: Trace) -> str:
    shown_passages = trace.passages[:_PASSAGES]
    if not shown_passages:
        return ""
    rows = [
        (place, item.source.title if item.source else "", shortened(" ".join(item.text.split()), _EXCERPT))
        for place, item in enumerate(shown_passages, 1)
    ]
    return table([say("notebook.passage"), say("notebook.document"), ""], rows)


def comparison_html(comparison: Comparison) -> str:
    """Return figures of each column, how many items columns have in common, answers, and the subgraphs."""
    columns = comparison.traces
    heads = ["", *(f"{letter}: {sentence(trace.title, ENGLISH)}" for letter, trace in columns.items())]
    rows: list[list[object]] = [
        [say("notebook.context_tokens"), *(f"{trace.context.tokens:,}" for trace in columns.values())],
        [say("notebook.passages"), *(str(len(trace.passages)) for trace in columns.values())],
        [say("notebook.milliseconds"), *(f"{trace.timings_ms['total']:,.1f}" for trace in columns.values())],
    ]
    if comparison.answers:
        rows.append([say("notebook.answer"), *(comparison.answers[letter].text for letter in columns)])
    shared = [
        (", ".join(part.letters), sharing.kind, f"{len(part.names):,}", ", ".join(part.names[:6]))
        for sharing in comparison.shared.kinds
        for part in sharing.intersections
    ]
    [question] = {trace.question for trace in columns.values()}
    figures = "".join(
        text('<p class="m"><b>{}</b></p>', heads[place]) + token_bar(trace) + graph_svg(trace)
        for place, trace in enumerate(columns.values(), 1)
    )
    listed = table([say("notebook.columns"), say("notebook.kind"), "n", ""], shared, numbers=(2,))
    return heading(question, say("notebook.compared", n=len(columns))) + table(heads, rows) + listed + figures


def framed(content: str) -> str:
    """Return the content as a card of its own colours."""
    style = _STYLE % palette(dark=False).css_variables()
    return f'<div class="leanrag-nb"><style>{style}</style>{content}</div>'


def heading(title: str, facts: str) -> str:
    """Return the first two lines."""
    return text('<h4 dir="auto">{}</h4><p class="m">{}</p>', title, facts)


def table(heads: Sequence[str], rows: Sequence[Sequence[object]], *, numbers: Sequence[int] = ()) -> str:
    """Return a table. numbers: columns that are aligned at the right."""

    def line(cells: Sequence[object], tag: str) -> str:
        made = (
            text(f'<{tag} class="{"n" if place in numbers else "t"}" dir="auto">{{}}</{tag}>', cell)
            for place, cell in enumerate(cells)
        )
        return f"<tr>{''.join(made)}</tr>"

    return f"<table>{line(heads, 'th')}{''.join(line(row, 'td') for row in rows)}</table>"


_DRAWN: dict[type, Callable[[Any], str]] = {
    Index: index_html,
    Trace: trace_html,
    Answer: answer_html,
    Comparison: comparison_html,
}


def html_of(value: object) -> str:
    """Return the HTML of a value. Raises KeyError for a kind that is not drawn."""
    return framed(_DRAWN[type(value)](value))
