"""Roles are set in Settings: each server gets what its role asks; the sidebar says what would leave the machine."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from leanrag_core.types.roles import ANSWERS, EMBEDDINGS, JUDGING
from tests import waiting
from tests.browser.conftest import Server, Watched
from tests.browser.runs import excess_width, settled
from tests.browser.test_endpoint_story import home_with_documents
from tests.browser.test_local_models import looked_at
from tests.browser.test_story import snap
from tests.endpoint.listener import listener
from tests.endpoint.server import EndpointServer

pytestmark = pytest.mark.browser


def opened(page: Page, address: str) -> None:
    page.goto(address)
    expect(page.get_by_text("who does what")).to_be_visible(timeout=60_000)
    settled(page)


def choose(page: Page, label: str, text: str) -> None:
    """Write a value into a select that takes new ones."""
    field = page.get_by_role("combobox", name=label)
    field.click()
    field.fill(text)
    field.press("Enter")
    page.keyboard.press("Tab")
    settled(page)


def last_first(path: str, body: dict[str, Any]) -> Any:
    return {"results": [{"index": n, "relevance_score": float(n)} for n in range(len(body.get("documents", ())))]}


def test_two_roles_are_set_to_two_servers_and_each_gets_its_own(
    server_in: Callable[[Path], Server], watch: Callable[..., Watched], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("WRITER_KEY", "writer-secret-0815")
    looked_at(monkeypatch)
    bench, corpus = home_with_documents(tmp_path / "home")
    bench.build(corpus)
    with (
        EndpointServer(api_key="writer-secret-0815") as writer,
        EndpointServer() as embeds,
        listener(last_first) as ranks,
    ):
        app, watched = server_in(tmp_path / "home"), watch()
        page = watched.page
        opened(page, f"{app.url}/settings")
        snap(page, "r1_roles_empty")
        for address in (embeds.url, writer.url):  # a second one over the first
            choose(page, "Address of Answers", address)
        choose(page, "Model of Answers", "scripted-chat")
        choose(page, "Address of Embeddings", embeds.url)
        for model in ("another", "scripted-embedding"):
            choose(page, "Model of Embeddings", model)
        waiting.until(lambda: bench.settings.read().build_embedding == "openai:scripted-embedding")
        assert bench.settings.read().answer_model == "openai:scripted-chat"
        expect(page.get_by_text("The models that are asked run on this machine.")).to_be_visible()

        answers = page.locator(".st-key-role_answers")
        for body in ('{"reasoning_effort": "high"}', '{"reasoning_effort": "low"}'):
            answers.get_by_role("button", name="More").click()
            snap(page, "r0_more")
            page.get_by_test_id("stPopoverBody").get_by_role("textbox", name="Variable that holds the key").fill(
                "WRITER_KEY"
            )
            page.get_by_role("textbox", name="More fields of each request").fill(body)
            page.get_by_role("button", name="Keep", exact=True).click()
            settled(page)
            waiting.until(lambda body=body: bench.settings.read().roles[ANSWERS].body == body)
            answers.get_by_role("button", name="More").click()  # which closes it
            expect(page.get_by_test_id("stPopoverBody")).to_have_count(0)
        assert bench.settings.read().roles[ANSWERS].key_variable == "WRITER_KEY"
        written = page.get_by_role("textbox", name="More fields of each request")
        for text in ('{"top_p": 1}', '{"top_p": 0.5}'):  # what is not yet kept is there when it is opened again
            answers.get_by_role("button", name="More").click()
            written.fill(text)
            answers.get_by_role("button", name="More").click()
            expect(page.get_by_test_id("stPopoverBody")).to_have_count(0)
            settled(page)
            answers.get_by_role("button", name="More").click()
            expect(written).to_have_value(text)
            answers.get_by_role("button", name="More").click()
            expect(page.get_by_test_id("stPopoverBody")).to_have_count(0)

        page.locator(".st-key-check_answers").get_by_role("button").click()
        settled(page)
        expect(answers.get_by_text("not to the question")).to_be_visible()
        expect(page.get_by_text("64 numbers, same text same vector")).to_have_count(0)
        page.get_by_role("button", name="Check all roles").click()
        settled(page)
        expect(page.get_by_text("64 numbers, same text same vector")).to_be_visible()
        snap(page, "r2_roles_checked")
        label = page.get_by_role("button", name="Check again").first.get_by_text("Check again")
        assert label.evaluate(
            """element => {
                const range = document.createRange();
                range.selectNodeContents(element);
                return range.getBoundingClientRect().width <= element.parentElement.getBoundingClientRect().width;
            }"""
        ), "the label is not cut"
        assert {call.path for call in embeds.log} == {"/v1/embeddings"}
        assert {call.path for call in writer.log} == {"/v1/chat/completions"}

        # Another machine: only that role would leave; a wrong address is refused beside its row, and not kept.
        choose(page, "Address of Judging", "https://judge.example.org/v1")
        choose(page, "Model of Judging", "judge-1")
        expect(page.get_by_text("Only judging would leave this machine.")).to_be_visible()
        expect(page.get_by_text("not tried: JUDGING_API_KEY is not set")).to_be_visible()
        choose(page, "Address of Extraction", "http://me:secret@example.org/v1")
        expect(page.get_by_text("holds a name or password")).to_be_visible()
        assert "secret@" not in json.dumps(json.loads((tmp_path / "home" / "settings.json").read_text()))
        assert set(bench.settings.read().roles) == {ANSWERS, EMBEDDINGS, JUDGING}

        # Reranking: an option of Ask, a step of its own.
        choose(page, "Address of Reranking", ranks.url)
        choose(page, "Model of Reranking", "last-first")
        snap(page, "r3_roles_set")
        index = bench.indexes.all()[0]
        page.goto(f"{app.url}/ask?index={index.id}&strategy=vector&c=3&rerank=4&q=Who+built+the+Lantern+House%3F")
        settled(page)
        page.get_by_role("button", name="Ask", exact=True).click()
        expect(page.get_by_text("reranker 3.00, was number 4").first).to_be_visible(timeout=60_000)
        expect(page.locator(".lr-play").get_by_text("Reranking").first).to_be_visible()
        snap(page, "r4_reranked")
        assert ranks.paths == ["/v1/rerank"]
        watched.assert_clean()

        # The table fits on a phone, dark and in Chinese.
        phone = watch(width=390, dark=True).page
        phone.goto(f"{app.url}/settings?lang=zh")
        expect(phone.locator(".st-key-role_reranking")).to_be_visible(timeout=60_000)
        settled(phone)
        snap(phone, "r5_roles_phone")
        assert excess_width(phone) <= 0
