"""The package of OpenAI asks the chat route, as front ends of chats do."""

import shutil
from collections.abc import Iterator

import openai
import pytest

from leanrag_core import Workbench
from leanrag_core.serving.asking import AskBody
from leanrag_core.serving.chat import ChatBody, ChatMessage, Pieces, chat_of
from tests.serving.served import INDEX, QUESTION, TOKEN

pytestmark = pytest.mark.slow
MODEL = f"{INDEX}/leanrag"
CHAT = [
    {"role": "system", "content": "Answer briefly."},
    {"role": "user", "content": "What is a drone?"},
    {"role": "assistant", "content": "A male bee."},
    {"role": "user", "content": QUESTION},
]


@pytest.fixture(scope="module")
def program(url: str) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{url}/v1", api_key=TOKEN, max_retries=0) as program:
        yield program


def test_models_are_indexes_with_the_strategies_that_can_be_asked_of_them(program: openai.OpenAI) -> None:
    names = [model.id for model in program.models.list()]
    assert MODEL in names
    assert f"{INDEX}/vector" in names
    assert f"{INDEX}/hipporag" not in names, "its part is missing"
    assert f"{INDEX}/zero_shot" not in names, "no model would answer"
    assert program.models.retrieve(MODEL).id == MODEL
    with pytest.raises(openai.NotFoundError):
        program.models.retrieve("none/leanrag")


def test_a_damaged_index_hides_no_model_of_another_one(program: openai.OpenAI, bench: Workbench) -> None:
    before = [model.id for model in program.models.list()]
    damaged = bench.indexes.path("damaged")
    shutil.copytree(bench.indexes.path(INDEX), damaged)
    for table in damaged.glob("*.arrow"):
        table.write_bytes(b"no table")
    try:
        assert [model.id for model in program.models.list()] == before
        with pytest.raises(openai.InternalServerError) as caught:
            program.chat.completions.create(model="damaged", messages=CHAT)
        assert caught.value.type == "server_error"
    finally:
        shutil.rmtree(damaged)


def test_the_last_message_of_the_person_is_the_question(program: openai.OpenAI, bench: Workbench) -> None:
    for model in (MODEL, INDEX):
        answer = program.chat.completions.create(model=model, messages=CHAT)
        text, _, sources = (answer.choices[0].message.content or "").partition("\n\nSources:\n")
        own = bench.ask(INDEX, QUESTION)
        assert text == own.text
        marks = [line.partition("] ")[0].removeprefix("- [") for line in sources.splitlines()]
        assert sorted(marks) == sorted(own.citations)
        assert (answer.model, answer.choices[0].finish_reason) == (model, "stop")


def test_a_streamed_chat_has_the_same_text_and_tells_its_usage_when_asked(program: openai.OpenAI) -> None:
    whole = program.chat.completions.create(model=MODEL, messages=CHAT).choices[0].message.content
    for _ in range(2):
        pieces = list(
            program.chat.completions.create(
                model=MODEL, messages=CHAT, stream=True, stream_options={"include_usage": True}
            )
        )
        assert pieces[0].choices[0].delta.role == "assistant"
        assert "".join(piece.choices[0].delta.content or "" for piece in pieces if piece.choices) == whole
        assert pieces[-2].choices[0].finish_reason == "stop"
        assert pieces[-1].usage is not None
        assert pieces[-1].usage.total_tokens == 0, "no model was called"
        assert len({piece.id for piece in pieces}) == 1


def test_options_and_scope_come_in_the_extra_body(program: openai.OpenAI) -> None:
    extra = {"options": {"top_c": 1}, "scope": {"documents": ["season-calendar.html"]}}
    asked = program.chat.completions.create(model=MODEL, messages=CHAT, extra_body=extra)
    text = asked.choices[0].message.content or ""
    passages = [line for line in text.partition("Sources:")[2].splitlines() if line.startswith("- [C")]
    assert all("season-calendar.html" in line for line in passages)
    assert len(passages) <= 1


@pytest.mark.parametrize(
    ("model", "extra", "kind", "code"),
    [
        ("none/leanrag", {}, openai.NotFoundError, "index.not_found"),
        (f"{INDEX}/none", {}, openai.UnprocessableEntityError, "strategy.unknown"),
        (MODEL, {"options": {"top_n": -1}}, openai.UnprocessableEntityError, "option.too_small"),
        (MODEL, {"n": 2}, openai.UnprocessableEntityError, "serving.one_answer"),
        (MODEL, {"messages": []}, openai.UnprocessableEntityError, "serving.no_user_message"),
        (MODEL, {"messages": "none"}, openai.UnprocessableEntityError, "serving.request_wrong"),
        (MODEL, {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {}}]}]},
         openai.UnprocessableEntityError, "serving.texts_alone"),
    ],
)  # fmt: skip
def test_errors_are_in_the_form_of_openai(
    program: openai.OpenAI, model: str, extra: dict[str, object], kind: type[openai.APIStatusError], code: str
) -> None:
    for stream in (False, True):
        with pytest.raises(kind) as caught:
            program.chat.completions.create(model=model, messages=CHAT, stream=stream, extra_body=extra)
        assert (caught.value.code, caught.value.type) == (code, "invalid_request_error")


def test_an_error_of_a_streamed_chat_reaches_the_client(program: openai.OpenAI) -> None:
    with pytest.raises(openai.APIError, match="synonyms"):
        list(program.chat.completions.create(model=f"{INDEX}/hipporag", messages=CHAT, stream=True))


def test_a_wrong_token_is_an_error_of_authentication(url: str) -> None:
    with (
        openai.OpenAI(base_url=f"{url}/v1", api_key="wrong", max_retries=0) as stranger,
        pytest.raises(openai.AuthenticationError),
    ):
        stranger.models.list()


def test_earlier_messages_are_read_only_where_the_last_one_follows_up() -> None:
    messages = (ChatMessage("user", "Who?"), ChatMessage("assistant", "She."), ChatMessage("user", "And he?"))
    assert chat_of(ChatBody("a/vector", messages)).body == AskBody("And he?", "vector")
    assert chat_of(ChatBody("a", messages, follow_up=True)).body == AskBody("And he?", "leanrag", after=("Who?",))
    parts = ({"type": "text", "text": "one"}, {"type": "text", "text": "two"})
    assert chat_of(ChatBody("a", (ChatMessage("user", parts),))).body.question == "one\ntwo"


def test_no_picture_of_a_document_is_fetched_by_a_front_end() -> None:
    written: list[dict[str, object]] = []
    pieces = Pieces(written.append, "a")
    for piece in ("See !", "[p](http://evil.example)", " now!", " ![q](x)"):
        pieces.text(piece)
    texts = [piece["choices"][0]["delta"].get("content", "") for piece in written]  # type: ignore[index]
    assert "".join(texts) == "See !\\[p](http://evil.example) now! !\\[q](x)"
