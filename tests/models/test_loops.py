"""Replies that repeat themselves are ended while they stream, and what came before is kept."""

import json
from pathlib import Path

import pytest

from leanrag_core import IndexConfig
from leanrag_core.errors import EndpointRefusal
from leanrag_core.indexing.extraction.advice import advice_for
from leanrag_core.indexing.extraction.llm import LLMExtractor
from leanrag_core.indexing.extraction.reply import SHORT_GRAPH_SCHEMA
from leanrag_core.indexing.model_check import check_model
from leanrag_core.models.loops import LoopWatch, repeats
from leanrag_core.models.registry import Models
from leanrag_core.models.remote import RemoteLanguageModel
from leanrag_core.prompts.catalog import load_prompt
from leanrag_core.storage.calls import CallStore
from leanrag_core.text.tokens import count_tokens
from leanrag_core.types.corpus import Chunk
from leanrag_core.types.settings import Settings
from tests.endpoint.coast import story
from tests.endpoint.scripted_model import ScriptedModel, extracted
from tests.endpoint.server import EndpointServer

PASSAGE = "\n\n".join(story(1).decode().split("\n\n")[:4])
GOOD = json.dumps(extracted(story(1).decode()))
ENTITY = '{"name": "Ada Thornbury", "type": "person", "description": "Ada Thornbury built the Lantern House."}, '


class Loops(ScriptedModel):
    """Lists two entities and then the second one for ever."""

    def reply(self, messages, *, as_json=False):  # type: ignore[no-untyped-def]
        answered = super().reply(messages, as_json=as_json)
        first = '{"entities": [{"name": "Fog Bell", "type": "work", "description": "The Fog Bell."}, '
        return type(answered)(answered.task, first + ENTITY * 400)


def chunk(text: str) -> Chunk:
    return Chunk("c1", "d", 0, 0, len(text), count_tokens(text), text)


def models_at(server: EndpointServer, root: Path, **settings: object) -> Models:
    return Models(Settings(base_url=server.url, retries=0, **settings), CallStore(root))  # type: ignore[arg-type]


def test_repetition_is_seen_soon_and_lists_of_different_entities_are_none() -> None:
    watch = LoopWatch()
    seen = next(n for n in range(2000) if watch.loops((ENTITY * 40)[n * 5 : n * 5 + 5]))
    assert seen * 5 < 1200
    assert repeats("la " * 100)
    assert not repeats(GOOD[-1800:])
    watch = LoopWatch()
    assert not any(watch.loops(GOOD[n : n + 7]) for n in range(0, len(GOOD), 7))


def test_the_short_form_is_short_and_bounded() -> None:
    assert count_tokens(load_prompt("extract_graph_short").text) <= 350
    entities = SHORT_GRAPH_SCHEMA["properties"]["entities"]
    assert entities["maxItems"] == 12
    assert entities["items"]["properties"]["description"]["maxLength"] == 200


@pytest.mark.parametrize(
    ("window", "form", "short"),
    [(4096, "auto", True), (8192, "auto", False), (None, "auto", False), (8192, "short", True), (2048, "full", False)],
)
def test_the_form_follows_the_window_unless_it_is_chosen(
    window: int | None, form: str, short: bool, tmp_path: Path
) -> None:
    with EndpointServer(slot_n_ctx=window, ollama=False) as server:
        language = models_at(server, tmp_path, prompt_form=form).language("openai:m")
        assert isinstance(language, RemoteLanguageModel)
        assert language.short_prompts is short
        extractor = LLMExtractor.of(language, IndexConfig(model="openai:m"))
        extraction = extractor.extract_chunk(chunk(PASSAGE))
        assert extraction.mentions
        assert len(server.answered("glean_graph")) == (0 if short or window == 2048 else 1)
        own = (("extract_graph", load_prompt("extract_graph").text + "\nBe brief."),)
        edited = LLMExtractor.of(language, IndexConfig(model="openai:m", prompts=own))
        assert "Be brief." in edited.first_messages(PASSAGE)[0]["content"]


def test_a_loop_is_ended_while_it_streams_and_what_came_before_is_kept(tmp_path: Path) -> None:
    with EndpointServer(Loops(), slot_n_ctx=4096, ollama=False) as server:
        models = models_at(server, tmp_path)
        language = models.language("openai:m")
        assert language is not None
        extraction = LLMExtractor.of(language, IndexConfig(model="openai:m")).extract_chunk(chunk(PASSAGE))
        assert {mention.name for mention in extraction.mentions} == {"Fog Bell", "Ada Thornbury"}
        (drop,) = [drop for drop in extraction.drops if "repeat" in drop.reason]
        assert drop.reason == "the reply began to repeat itself and was ended; what was complete is kept"
        assert len(server.log) == 1, "the same is not asked again"
        assert models.meter.read().usage.completion_tokens < 600
        check = check_model(models, "m", PASSAGE, IndexConfig())
        codes = [remark.code for remark in check.remarks]
        assert "model_check.loops" in codes
        assert "model_check.cut" not in codes, "a loop is no short limit"


def test_what_has_to_change_before_a_retry_follows_from_what_went_wrong() -> None:
    def code(*reasons: str) -> str:
        advice = advice_for(reasons)
        return advice.code if advice else ""

    assert code() == ""
    assert code("the reply began to repeat itself and was ended", "the server fails, after 7 tries") in (
        "advice.loops",
        "advice.no_answer",
    )
    assert (
        code("the reply repeats itself over and over", "the reply repeats itself over and over", "x") == "advice.loops"
    )
    assert code("the reply was cut at the token limit; what was complete is kept") == "advice.cut"
    assert code("connection lost, after 7 tries") == "advice.no_answer"
    assert code("the prompt of 9 tokens leaves no room for a reply in the window") == "advice.too_long"
    assert code("no JSON object") == "advice.unreadable"
    for problem in (
        EndpointRefusal("endpoint.refuses_request", address="http://a", status=400, reason="context length exceeded"),
        EndpointRefusal("endpoint.content_filter", address="http://a"),
        EndpointRefusal("endpoint.model_refuses", model="m", reason="no"),
    ):
        assert code(str(problem)) == "advice.refused"
