"""The page of a site: the scripts that draw Explore, put together, and the values that they begin with."""

import re
from pathlib import Path
from typing import Any

from leanrag_core.figures import scripts as figures
from leanrag_core.figures.html import html, html_file
from leanrag_core.figures.palette import palette
from leanrag_core.figures.play import play_words
from leanrag_core.messages.catalog import Say, codes, joined_sentences, saying, templates
from leanrag_core.system.environment import PROGRAM
from leanrag_core.types.index import Index
from leanrag_core.types.visible import visible_values
from leanrag_core.views.graph import graph_legend, graph_words, hues

_HERE, _PAGES = Path(__file__).resolve().parent, PROGRAM / "pages"
_OWN = ("site_store", "site_blocks", "site_graph", "site_inspect", "site_questions", "site")
# The components that draw a view, and the scripts of pages/explore that each is made of; its own comes last.
_COMPONENTS = {
    "hierarchy": ("block_cells", "block_shapes", "blocks"),
    "graph": (
        *("layer_marks", "layer_gestures", "layer_bar", "layer_chosen", "layer_nodes", "layer_canvas", "layer_graph"),
    ),
    "schema": ("schema_lines", "schema_graph"),
    "map": ("map_panel", "map_names", "map"),
    "islands": ("islands",),
    "clusters": ("clusters",),
    "search": ("search",),
    "inspector": ("inspector",),
}
# Of the pages' own style sheet.
_RULES = re.compile(r"^\.(?:lr-read|lr-label|lr-find|lr-muted|lr-small|lr-num)\b[^{]*\{[^}]*\}", re.MULTILINE)
_CODES = re.compile(r'"((?:explore|ask|passage|page|figure)\.[a-z_.]+[a-z])"')
_FAMILIES = ("explore.view.", "explore.inspect.kind.", "explore.inspect.first.", "explore.graph.hops.")
# Words that the scripts say.
_WORDS = (
    "chunk_after", "chunk_before", "context_tokens", "graph_keys", "graph_label", "in_hierarchy", "list",
    "no_answer", "not_loaded", "passages", "play_of", "question", "questions", "schema_note", "shared",
)  # fmt: skip
_BLOCKS = ("crumbs", "no_type")


def page(
    index: Index, language: str, *, views: dict[str, list[int]], questions: list[dict[str, Any]], n_cut: int
) -> str:
    """Return the page. views: the layers that each can show. questions: recorded ones. n_cut: texts that are cut."""
    say, base = saying(language), index.layers[0]
    name = index.manifest.name or index.id
    aggregated = " + ".join(f"{len(layer):,}" for layer in index.layers[1:]) or "0"
    facts = say("site.facts", n=len(base), layers=len(index.layers), aggregated=aggregated)
    note = joined_sentences([say("site.note"), say("site.cut", n=n_cut) if n_cut else ""])
    script = _script()
    values = {
        "name": name,
        "facts": facts,
        "note": note,
        "language": language,
        "sizes": [len(layer) for layer in index.layers],
        "chunks": index.chunks.num_rows,
        "views": views | ({"questions": [0]} if questions else {}),
        "questions": questions,
        "templates": {code: list(templates(code, language)) for code in _codes_of(script)},
        "playWords": play_words(language) if questions else {},
        "graphWords": graph_words(say),
        "legends": {"around": graph_legend(say, whole=False), "all": graph_legend(say, whole=True)},
        "blockWords": _block_words(say, sum(map(len, index.layers))),
        "hues": {theme: _hues(dark=theme == "dark") for theme in ("light", "dark")},
    }
    return html_file(
        html('<div class="lr-site"></div>'),
        title=name,
        language=language,
        styles=_styles(),
        script=f'{script}\nnew Site(document.querySelector(".lr-site"),values);',
        values=visible_values(values),
        has_own_files=True,
    )


def _hues(*, dark: bool) -> dict[str, list[str]]:
    colours = palette(dark=dark)
    return {"clouds": hues(colours), "clusters": [colours.clusters[0], *colours.clusters[2:]]}


def _block_words(say: Say, total: int) -> dict[str, str]:
    return {name: say(f"explore.{name}") for name in _BLOCKS} | {
        "hits": "",
        "folded": say("explore.legend.folded"),
        "found": say("explore.legend.found"),
        "drawn": say("explore.drawn", drawn="{drawn}", total=total),
        "all_drawn": say("explore.all_drawn", n=total),
        "entity": say("explore.about.entity", name="{name}", type="{type}"),
        "more_cells": say("explore.more_cells", count="{count}", name="{name}"),
    }


def _codes_of(script: str) -> list[str]:
    """Return the codes of all sentences that the scripts may say."""
    named = set(_CODES.findall(script)) & codes() | {f"site.{name}" for name in _WORDS}
    return sorted(named | {code for code in codes() if code.startswith(_FAMILIES)})


def _read(folder: Path, names: tuple[str, ...], ending: str) -> str:
    paths = [folder / f"{name}.{ending}" for name in names]
    return "\n".join(path.read_text(encoding="utf-8") for path in paths if path.exists())


def _script() -> str:
    """Return all scripts: modules of the pages become functions, so that their names do not clash."""
    shared = figures.scripts(("layers",)) + _read(_PAGES / "common", ("elements", "figure_tools"), "js")
    parts = [shared, _read(_HERE, _OWN, "js")]
    for name, modules in _COMPONENTS.items():
        module = _read(_PAGES / "explore", modules, "js").replace("export default function", "drawn=function", 1)
        more = "SITE_COMPONENTS.sorted=boardRows;" if name == "clusters" else ""
        parts.append(f"SITE_COMPONENTS.{name}=(()=>{{let drawn;{module}\n;{more}return drawn}})();")
    plays = figures.scripts(figures.PLAY)
    parts.append(f"SITE_COMPONENTS.play=(()=>{{{plays}\nreturn playRetrieval}})();")
    return "\n".join(parts)


def _styles() -> str:
    names = tuple(name for modules in _COMPONENTS.values() for name in modules)
    common = _RULES.findall(_read(_PAGES / "common", ("style",), "css"))
    site_styles = _read(_HERE, ("site",), "css")
    figure = _read(_PAGES / "common", ("figure_tools",), "css")
    return "\n".join(
        (*common, figures.styles(figures.PLAY), figure, _read(_PAGES / "explore", names, "css"), site_styles)
    )
