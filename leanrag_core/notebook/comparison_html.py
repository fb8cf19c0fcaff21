"""A comparison in a notebook: a column a strategy, what they share, and their subgraphs below one another."""

from leanrag_core.comparing.side_by_side import Comparison
from leanrag_core.messages.catalog import ENGLISH, sentence
from leanrag_core.notebook.frame import heading, table, text
from leanrag_core.notebook.graph_svg import graph_svg
from leanrag_core.notebook.index_html import say
from leanrag_core.notebook.trace_html import token_bar


def comparison_html(comparison: Comparison) -> str:
    """Figures of each column, how many items columns have in common, answers, and the subgraphs."""
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
