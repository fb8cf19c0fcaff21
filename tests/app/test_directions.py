"""An index of Arabic and Hebrew texts: names are isolated, and nothing is claimed of how they were read."""

import json
import re
from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from leanrag_core import IndexConfig, Workbench
from leanrag_core.indexing.extraction.builtin import chunks_read
from tests.app import drawn

Visit = Callable[..., AppTest]
ARABIC = (
    "تقع مدينة مراكش في المغرب. بنى يوسف بن تاشفين مدينة مراكش عام 1070. يزور السياح مدينة مراكش في الشتاء. "
    "كتب ابن بطوطة عن مدينة مراكش وعن المغرب. ولد ابن بطوطة في طنجة عام 1304. تقع طنجة في شمال المغرب. "
)
HEBREW = (
    "העיר ירושלים עומדת בהרים. דוד בנה את ירושלים. תיירים רבים מבקרים בעיר ירושלים בקיץ. "
    "הרכבת נוסעת מתל אביב אל ירושלים. תל אביב שוכנת על חוף הים. "
)
QUESTION = "מי בנה את ירושלים?"
FROM_THE_RIGHT = re.compile(r"[\u0590-\u06ff]")


@pytest.fixture
def mixed(home: Workbench) -> Workbench:
    files = [("مراكش.txt", ARABIC.encode()), ("ירושלים.txt", HEBREW.encode())]
    corpus = home.add_documents("ערים مدن", files).corpus_id
    home.build(corpus, IndexConfig(cluster_size=4))
    return home


def test_names_from_the_right_are_isolated_and_what_was_read_without_grammar_is_reported(
    mixed: Workbench, visit: Visit
) -> None:
    index = next(listed for listed in mixed.indexes.all() if listed.name == "ערים مدن")
    app = visit("ask", mixed, index=index.id, q=QUESTION)
    drawn.assert_sound(app)
    page_text = drawn.text(app)
    assert "without grammar, which is known of English alone" in page_text
    assert "Entities are reliable" not in page_text
    assert "\u2068ערים مدن\u2069" in page_text, "in the page's facts, before the number of documents"
    [graph] = drawn.plays(app)
    named = [item for item in graph["play"]["items"].values() if FROM_THE_RIGHT.search(item["name"])]
    assert named
    for item in named:
        if not item.get("is_card"):
            assert item["about"].startswith(f"\u2068{item['name']}\u2069: ")
    [answer] = drawn.component(app, "lr_citations")
    assert any(FROM_THE_RIGHT.search(part["text"]) for part in answer["parts"])
    entity = mixed.open(index.id).layers[0].entity(0)
    app = visit("explore", mixed, index=index.id, node=entity.id)
    drawn.assert_sound(app)
    [inspected] = drawn.component(app, "lr_inspector")  # whose script gives every text the direction of its own
    assert entity.name in json.dumps(inspected, ensure_ascii=False)
    assert FROM_THE_RIGHT.search(entity.name)


def test_english_is_read_with_grammar(home: Workbench, visit: Visit) -> None:
    assert "Entities are reliable, relations are rough." in drawn.text(visit("ask", home))
    index = home.indexes.open(home.indexes.all()[0].id)
    assert chunks_read(index)[1:] == (0, 0)


def test_chinese_is_read_with_a_dictionary(home: Workbench, visit: Visit) -> None:
    chinese = ("运河.txt", ("大运河连接北京和杭州。北京的粮仓储存漕粮。" * 8).encode())
    english = ("canal.txt", ("The Grand Canal of China joins Beijing and Hangzhou. " * 8).encode())
    pages = []
    for name, files in (("运河", [chinese]), ("both", [chinese, english])):
        home.build(home.add_documents(name, files).corpus_id, IndexConfig(cluster_size=4))
        index = next(listed for listed in home.indexes.all() if listed.name == name)
        pages.append(drawn.text(visit("ask", home, index=index.id)))
    assert "with a dictionary of Chinese: entities are names and nouns" in pages[0]
    assert "But 50 % of the chunks are in Chinese and were read with a dictionary" in pages[1]
    assert not any("words that stand out" in page_text for page_text in pages)
