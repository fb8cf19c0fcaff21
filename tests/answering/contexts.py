"""Traces that hold passages alone, each a chunk of a document of its own that begins in its middle."""

from collections.abc import Sequence

from leanrag_core.messages.message import message
from leanrag_core.types.trace import Context, ContextItem, ContextSection, Source, Trace, TraceIndex, TraceItem


def trace_of_passages(question: str, passages: Sequence[str]) -> Trace:
    """Return a trace whose context is these passages, C1 the first."""
    found = tuple(
        TraceItem(f"chunk-{n}", "passage", f"chunk {n}", ("passage",), text=text, source=_source(n, text))
        for n, text in enumerate(passages, start=1)
    )
    items = tuple(
        ContextItem(f"C{n}", f"chunk-{n}", text, len(text.split())) for n, text in enumerate(passages, start=1)
    )
    text = "\n".join(passages)
    title = message("strategy.vector.title")
    section = ContextSection("chunks", title, "C", "chunk", items, text, len(text.split()), 1000)
    context = Context(text, len(text.split()), (section,))
    return Trace(question, "vector", title, {}, found, (), context, (), (), TraceIndex("index", "Index", (0,)))


def _source(n: int, text: str) -> Source:
    return Source(f"document-{n}.md", n, f"Document {n}", 40, 40 + len(text), None, len(text.split()))
