"""The neighbourhood as one file: nothing in it loads anything, and hostile names stay text."""

import json
import re
from html.parser import HTMLParser

import pytest

from leanrag_core.figures.neighbourhood import vis_graph, vis_page
from leanrag_core.figures.palette import palette
from leanrag_core.types.layer_scene import NearNode, NearRelation, Neighbourhood

HOSTILE = (
    "</script><script>alert(1)</script><img src=http://evil.example/x> \"'` <a href='http://evil.example'>\u202edrow"
)
LOADS = re.compile(
    r"(?:\b(?:src|href|action|data|poster)\s*=\s*[\"']?|@import\s*[\"']?|url\(\s*[\"']?)(?:https?:)?//", re.I
)


class Tags(HTMLParser):
    """The tags of a page and the attributes that load something."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.scripts, self.images, self.loading = 0, 0, []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.scripts += tag == "script"
        self.images += tag in ("img", "iframe", "link", "object", "embed")
        self.loading += [name for name, _ in attrs if name in ("src", "href", "srcset", "action")]


def page_of(name: str, *, dark: bool = False) -> str:
    near = Neighbourhood(
        0,
        (NearNode("a", name, name, 0), NearNode("b", "plain", "place", 1)),
        (NearRelation("r", 0, 1, 2.0, name),),
        0,
    )
    colours = palette(dark=dark)
    return vis_page(vis_graph(near, colours), colours, title=name)


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("name", ["Varroa", HOSTILE])
def test_the_file_loads_nothing_and_has_the_same_tags_whatever_the_names_are(name: str, dark: bool) -> None:
    page = page_of(name, dark=dark)
    tags, plain = Tags(page), Tags(page_of("x", dark=dark))
    assert tags.loading == []
    assert (tags.scripts, tags.images) == (plain.scripts, 0)
    outside_names = page_of("x", dark=dark)
    assert LOADS.search(outside_names) is None
    assert page.index("Content-Security-Policy") < page.index("<script")
    assert "default-src &#39;none&#39;; script-src &#39;sha256-" in page


def test_names_are_in_the_file_as_text_with_unseen_characters_as_marks() -> None:
    page = page_of(HOSTILE)
    assert "alert(1)</script>" not in page
    assert "\u202e" not in page
    assert "[U+202E]drow" in page
    title = re.search("<title>(.*?)</title>", page, re.S)
    assert title is not None
    assert title[1].startswith("&lt;/script&gt;&lt;script&gt;")
    values = re.search(r'<script type="application/json" id="values">(.*?)</script>', page, re.S)
    assert values is not None
    first = json.loads(values[1])["graph"]["nodes"][0]
    assert first["label"].startswith("</script><script>"), "the label is drawn on a canvas, where it is text"
