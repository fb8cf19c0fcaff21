"""Reasoning models against the real server: their reasoning is left out everywhere."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from leanrag_core.errors import CallFailed, ReplyError
from leanrag_core.indexing.aggregation.llm_writer import LLMWriter
from leanrag_core.indexing.aggregation.writer import RelationGroupView
from leanrag_core.indexing.extraction.llm import LLMExtractor
from leanrag_core.indexing.model_check import check_model
from leanrag_core.models.base import Call
from leanrag_core.models.registry import Models
from leanrag_core.storage.calls import CallStore
from leanrag_core.types.calls import CallRecord
from leanrag_core.types.config import IndexConfig
from leanrag_core.types.corpus import Chunk
from leanrag_core.types.settings import Settings
from tests.endpoint.server import EndpointServer

HELLO = [{"role": "user", "content": "Hello there, you with the long words"}]
PASSAGE = "Ada Thornbury built the Lantern House at Marram Point. Bela Kraus lived at Marram Point with Ada Thornbury."
GROUP = RelationGroupView(
    1, "Pests", "Harmful.", "Hives", "Homes.", 5, (("stated", 5),), (), ("Mites enter hives.",), (("mite", "hive"),)
)
FORMS = ["tags", "unopened", "field", "misfiled"]


@pytest.fixture
def server() -> Iterator[EndpointServer]:
    with EndpointServer() as endpoint:
        yield endpoint


def models(server: EndpointServer, folder: Path) -> Models:
    return Models(Settings(base_url=server.url, timeout_seconds=3, retries=0), CallStore(folder / "calls"))


@pytest.mark.parametrize("form", FORMS)
def test_a_reasoning_model_gives_the_same_as_another_one(server: EndpointServer, tmp_path: Path, form: str) -> None:
    def made(folder: str) -> tuple[object, ...]:
        language = models(server, tmp_path / folder).language("openai:m")
        assert language is not None
        extractor = LLMExtractor(language, gleaning_rounds=1)
        extraction = extractor.extract_chunk(Chunk("c", "d", 0, 0, len(PASSAGE), 1, PASSAGE))
        return extraction.mentions, extraction.relations, extraction.drops, LLMWriter(language).relation(GROUP).text

    plain = made("plain")
    server.thoughts = form
    assert made("thinking") == plain
    assert "Okay" not in str(plain)


@pytest.mark.parametrize("form", FORMS)
def test_a_streamed_reply_is_passed_on_without_reasoning(server: EndpointServer, tmp_path: Path, form: str) -> None:
    server.thoughts = form
    language = models(server, tmp_path).language("openai:m")
    pieces: list[str] = []
    reply = language.stream(HELLO, pieces.append)
    assert reply.text.strip() == "You said: Hello there, you with the long words"
    if form != "unopened":  # until its closing tag comes it looks like a reply
        assert "".join(pieces).strip() == reply.text.strip()
    again: list[str] = []
    language.stream([*HELLO, *HELLO], again.append)
    assert "".join(again).strip() == "You said: Hello there, you with the long words"


def test_thoughts_without_an_end_are_no_reply_and_are_not_kept(server: EndpointServer, tmp_path: Path) -> None:
    server.thoughts = "unclosed"
    made = models(server, tmp_path)
    with pytest.raises(CallFailed, match="thoughts without a reply"):
        made.language("openai:m").complete(HELLO)
    with pytest.raises(ReplyError, match="thoughts without a reply"):
        made.language("openai:m").stream(HELLO, lambda text: None)
    assert len(made.memory) == 0


def test_a_reply_that_was_stored_with_its_reasoning_is_read_without_them(
    server: EndpointServer, tmp_path: Path
) -> None:
    made = models(server, tmp_path)
    language = made.language("openai:m")
    key = language.key(Call(HELLO))
    made.memory.put(key, CallRecord(text="<think>\nhm\n</think>\nGood day.", finish_reason="stop"))
    assert language.complete(HELLO).text.strip() == "Good day."
    assert server.log == []


def test_the_check_of_a_model_says_that_it_reasons(server: EndpointServer, tmp_path: Path) -> None:
    server.thoughts = "tags"
    checked = check_model(models(server, tmp_path), "m", PASSAGE, IndexConfig())
    assert "Okay" not in checked.raw
    assert checked.entities
    assert "model_check.reasons" in {remark.code for remark in checked.remarks}
