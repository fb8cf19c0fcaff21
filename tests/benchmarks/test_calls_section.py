"""The section of calls asks about each passage once and reads every reply whole."""

import json

import pytest

from benchmarks import calls
from benchmarks.calls import canned_server, measure, passages, reply
from leanrag_core.indexing.extraction.reply import parse_reply
from leanrag_core.models.endpoint import Endpoint
from leanrag_core.text.tokens import count_tokens
from leanrag_core.types.settings import Settings


def test_passages_are_different_always_the_same_and_about_as_long_as_said() -> None:
    chunks = passages(50)
    assert chunks == passages(50)
    assert len({chunk.text for chunk in chunks}) == 50
    assert all(400 <= count_tokens(chunk.text) <= 620 for chunk in chunks)


def test_the_server_answers_with_the_text_it_was_given() -> None:
    with canned_server(reply(), 0.0) as url:
        completion = Endpoint(Settings(base_url=url)).chat("m", [{"role": "user", "content": "Hello"}])
    assert completion.text == reply()
    assert len(parse_reply(completion.text, "c").mentions) == len(json.loads(reply())["entities"]) == 12


def test_figures_count_every_call_and_lose_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls, "LATENCY_SECONDS", 0.01)
    figures = measure(40)
    assert (figures["calls"], figures["entities"], figures["lost"]) == (40, 480, 0)
    assert float(figures["calls_a_second"]) > 0
