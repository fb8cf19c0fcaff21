"""The exported file: texts are text, nothing can be asked of a network, its size is bounded."""

import base64
import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from leanrag_core.errors import InvalidConfig
from leanrag_core.figures.fonts import font_faces
from leanrag_core.presenting import slides
from leanrag_core.presenting.slides import deck_of, values_of_deck
from leanrag_core.presenting.story import Presentation

Make = Callable[..., Presentation]
HOSTILE = "</script><script>alert(1)</script><!-- <img src=x onerror=alert(2)> \u202e &amp; \"'"


def hostile(made: Presentation) -> Presentation:
    document = replace(made.documents.drawn[0], title=HOSTILE)
    return replace(
        made,
        title=HOSTILE[:100],
        index=replace(made.index, name=HOSTILE),
        documents=replace(made.documents, drawn=(document,)),
        notes={"cost": HOSTILE},
    )


def test_the_deck_is_in_the_file_as_it_is_on_the_page(make: Make) -> None:
    page = slides.as_html(hostile(make())).decode()
    [block] = re.findall(r'<script type="application/json" id="values">(.*?)</script>', page, re.DOTALL)
    assert json.loads(block) == values_of_deck(deck_of(hostile(make())))


def test_texts_of_others_cannot_become_elements(make: Make) -> None:
    page = slides.as_html(hostile(make())).decode()
    assert page.count("<script") == 2
    assert page.count("</script>") == 2
    assert "<img" not in page
    assert "alert(1)</script>" not in page
    assert "\u202e" not in page
    assert "[U+202E]" in page


def test_the_policy_allows_the_one_script_by_its_hash_and_no_request(make: Make) -> None:
    page = slides.as_html(make()).decode().replace(font_faces(), "")  # the type faces are in the file itself
    [policy] = re.findall(r'Content-Security-Policy" content="([^"]*)"', page)
    script = page.rsplit("<script>", 1)[1].rsplit("</script>", 1)[0]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src &#39;sha256-{digest}&#39;" in policy
    assert policy.startswith("default-src &#39;none&#39;")
    assert not re.search(r"(src|href)=|url\(|@import|fetch\(|XMLHttp|innerHTML|document\.write|eval\(", page)
    assert "https://" not in page


def test_a_file_that_would_be_too_large_is_refused_with_the_remedy(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slides, "MAX_BYTES", 1_000)
    with pytest.raises(InvalidConfig, match="choose fewer questions"):
        slides.as_html(make())
