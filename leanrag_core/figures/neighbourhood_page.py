"""A neighbourhood as one HTML file that needs no network: pyvis with vis-network inside the file.

pyvis 0.3.2 writes links to two content networks even when it is set to put everything in line, takes its heading as
HTML, and draws the tooltips of a graph as HTML as soon as one of them holds "href". The links are taken out, no heading
is given, that word is kept apart, and the page's own policy forbids every request.
"""

import re

from leanrag_core.errors import LeanRAGError
from leanrag_core.figures.neighbourhood import VisGraph, vis_options
from leanrag_core.figures.palette import Palette
from leanrag_core.types.visible import escape

_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; "
    "base-uri 'none'"
)
_FOREIGN = re.compile(r"<link\b[^>]*\bhref=[^>]*>|<script\b[^>]*\bsrc=[^>]*>\s*</script>", re.IGNORECASE)
_HEADING = re.compile(r"<center>\s*<h1>[^<]*</h1>\s*</center>", re.IGNORECASE)
_WORD_JOINER = "\u2060"


def neighbourhood_page(graph: VisGraph, palette: Palette, *, title: str, note: str = "") -> str:
    """The graph as a page for any browser, offline. title: of the window; note: shown in a corner; both plain texts."""
    import json

    from pyvis.network import Network

    network = Network(
        height="100vh", width="100%", bgcolor=palette["bg"], font_color=palette["text"], cdn_resources="in_line"
    )
    for node in graph.nodes:
        drawn = {name: value for name, value in node.items() if name not in ("id", "label", "shape", "color")}
        drawn["title"] = _plain_tooltip(node["title"])
        network.add_node(node["id"], node["label"], node["shape"], node["color"], **drawn)
    for edge in graph.edges:
        drawn = {name: value for name, value in edge.items() if name not in ("from", "to")}
        network.add_edge(edge["from"], edge["to"], **drawn)
    network.set_options(json.dumps(vis_options()))
    page = _HEADING.sub("", _FOREIGN.sub("", network.generate_html(notebook=False)))
    head = (
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}"><title>{escape(title)}</title>'
        f"<style>body{{margin:0;background:{palette['bg']}}}.card{{border:0}}</style>"
    )
    page = page.replace("<head>", f"<head>{head}", 1)
    if note:
        style = f"position:fixed;left:12px;bottom:8px;margin:0;font:14px system-ui;color:{palette['mute']}"
        page = page.replace("</body>", f'<p style="{style}">{escape(note)}</p></body>', 1)
    if _FOREIGN.search(page) or head not in page:
        raise LeanRAGError("figure.page_with_links")
    return page


def _plain_tooltip(text: str) -> str:
    return re.sub("href", lambda word: f"{word[0][:3]}{_WORD_JOINER}{word[0][3:]}", text, flags=re.IGNORECASE)
