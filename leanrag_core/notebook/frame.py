"""The frame around everything that is drawn in a notebook, its style sheet, and tables."""

from collections.abc import Sequence

from markupsafe import Markup

from leanrag_core.figures.palette import palette
from leanrag_core.types.visible import visible

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


def framed(content: str) -> str:
    """The content as a card of its own colours."""
    style = _STYLE % palette(dark=False).css_variables()
    return f'<div class="leanrag-nb"><style>{style}</style>{content}</div>'


def text(form: str, *values: object) -> str:
    """The form with the values as text: what is seen of them, escaped."""
    shown = (visible(value) if type(value) is str else value for value in values)
    return str(Markup(form).format(*shown))


def heading(title: str, facts: str) -> str:
    """The first two lines."""
    return text('<h4 dir="auto">{}</h4><p class="m">{}</p>', title, facts)


def table(heads: Sequence[str], rows: Sequence[Sequence[object]], *, numbers: Sequence[int] = ()) -> str:
    """A table. numbers: columns that are aligned at the right."""

    def line(cells: Sequence[object], tag: str) -> str:
        made = (
            text(f'<{tag} class="{"n" if place in numbers else "t"}" dir="auto">{{}}</{tag}>', cell)
            for place, cell in enumerate(cells)
        )
        return f"<tr>{''.join(made)}</tr>"

    return f"<table>{line(heads, 'th')}{''.join(line(row, 'td') for row in rows)}</table>"
