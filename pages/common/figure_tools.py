"""The line below a figure: what is drawn, its keys, and the figure as a table, a PNG or a page of its own.

A component with `parts=("figure_tools",)` puts `tools(...)` into its values and calls figureTools(host, values) of
figure_tools.js once it has drawn.
"""

from typing import Any

from leanrag_core.types.visible import visible_values
from pages.common.messages import say


def tools(title: str, note: str, *, keys: str = "") -> dict[str, Any]:
    """What figureTools takes. title: names the files. note: what is drawn of how many. keys: which keys do what."""
    words = {"table": say("figure.as_table"), "png": say("figure.as_png"), "html": say("figure.as_html")}
    values: dict[str, Any] = visible_values({"title": title, "note": note, "keys": keys, "words": words})
    return values
