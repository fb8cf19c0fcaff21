"""HTML of an index, a trace, an answer and a comparison for notebooks: without scripts, and without any request.

Texts of documents and models are escaped. Figures are SVG in the colours of the light theme, on a ground of their own,
so that they can be read in any theme of a notebook.
"""

from collections.abc import Callable
from typing import Any

from leanrag_core.comparing.side_by_side import Comparison
from leanrag_core.notebook.comparison_html import comparison_html
from leanrag_core.notebook.frame import framed
from leanrag_core.notebook.index_html import index_html
from leanrag_core.notebook.trace_html import answer_html, trace_html
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Answer, Trace

_DRAWN: dict[type, Callable[[Any], str]] = {
    Index: index_html,
    Trace: trace_html,
    Answer: answer_html,
    Comparison: comparison_html,
}


def html_of(value: object) -> str:
    """The HTML of a value. Raises KeyError for a kind that is not drawn."""
    return framed(_DRAWN[type(value)](value))
