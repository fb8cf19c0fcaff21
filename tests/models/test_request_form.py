"""What a server refuses of a request is learnt once; what it refuses of a passage is not taken for that."""

from pathlib import Path

import pytest

from leanrag_core.errors import CallFailed, EndpointRefusal
from leanrag_core.models.registry import Models
from leanrag_core.models.request_form import Form, LearntForms
from leanrag_core.storage.calls import CallStore
from leanrag_core.types.settings import Settings
from tests.endpoint.server import EndpointServer

SCHEMA = {"type": "object"}
UNRELATED = [
    (400, "context_length_exceeded", "This model's maximum context length is 4096 tokens, you asked for max_tokens 9."),
    (400, "content_filter", "The response was filtered by our content management policy. Change the temperature."),
    (400, "odd", "Bad request."),
]


def refusal_saying(text: str) -> EndpointRefusal:
    return EndpointRefusal("endpoint.refuses_request", "", text, address="server", status=400, reason=text)


def models(server: EndpointServer, folder: Path) -> Models:
    return Models(Settings(base_url=server.url, timeout_seconds=3, retries=0), CallStore(folder / "calls"))


def asking(text: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": text}]


@pytest.mark.parametrize(
    ("options", "refusals"),
    [
        (("max_tokens",), 1),
        (("temperature",), 1),
        (("response_format",), 2),
        (("max_tokens", "max_completion_tokens"), 2),
        (("max_tokens", "temperature", "response_format"), 4),
    ],
)
def test_refused_options_are_learnt_once_and_the_work_goes_on(
    tmp_path: Path, options: tuple[str, ...], refusals: int
) -> None:
    with EndpointServer(refused_options=options) as server:
        language = models(server, tmp_path).language("openai:m")
        assert language is not None
        for n in range(4):
            assert language.complete(asking(f"hello {n}"), schema=SCHEMA).text
        assert len([call for call in server.log if call.outcome == "refused"]) == refusals
        assert len(server.answered()) == 4


def test_a_streamed_request_learns_too(tmp_path: Path) -> None:
    with EndpointServer(refused_options=("max_tokens", "stream_options")) as server:
        language = models(server, tmp_path).language("openai:m")
        for n in range(3):
            assert language.stream(asking(f"hello {n}"), lambda text: None).text
        assert len([call for call in server.log if call.outcome == "refused"]) == 2


@pytest.mark.parametrize("refusal", UNRELATED)
@pytest.mark.parametrize("first", [True, False])
def test_a_refused_passage_does_not_switch_the_schema_off(
    tmp_path: Path, refusal: tuple[int, str, str], first: bool
) -> None:
    with EndpointServer(refuses={"forbidden": refusal}) as server:
        made = models(server, tmp_path)
        language = made.language("openai:m")
        assert language is not None
        if not first:
            language.complete(asking("hello"), schema=SCHEMA)
        for n in range(3):
            with pytest.raises(CallFailed, match="400"):
                language.complete(asking(f"forbidden {n}"), schema=SCHEMA)
        assert made.endpoint.chat("m", asking("hello again"), schema=SCHEMA).mode == "schema"


def test_an_unexplained_refusal_of_a_format_is_learnt_when_another_one_is_answered() -> None:
    forms, refusal = LearntForms(), refusal_saying("Bad request.")
    tried = [forms.of("m")]
    for mode in ("object", "plain"):
        form = forms.another("m", tried, refusal, as_json=True)
        assert form == Form(json=mode)
        tried.append(form)
    assert forms.of("m") == Form(), "nothing was answered yet"
    forms.answered("m", tried[-1], as_json=True, after_refusal=True)
    assert forms.of("m") == Form(json="plain")
    assert forms.another("m", [Form(json="plain")], refusal, as_json=True) is None


def test_what_another_thread_has_learnt_is_tried_before_anything_else() -> None:
    forms = LearntForms()
    forms.another("m", [Form()], refusal_saying("'temperature' is unsupported"), as_json=False)
    late = forms.another("m", [Form()], refusal_saying("'temperature' is unsupported"), as_json=False)
    assert late == Form(temperature=False)
    assert forms.another("other", [Form()], refusal_saying("No."), as_json=False) is None


@pytest.mark.parametrize(
    "error_text",
    [
        "This model does not support response format `json_schema`.",
        "Failed to parse grammar",
        "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.",
        "Invalid schema for response_format 'reply'",
        '{"detail": [{"type": "extra_forbidden", "loc": ["body", "response_format"]}]}',
    ],
)
def test_servers_name_the_format_in_many_ways(error_text: str) -> None:
    assert Form().without(refusal_saying(error_text), as_json=True) == Form(json="object")
    assert Form().without(refusal_saying(error_text), as_json=False) is None


@pytest.mark.parametrize(
    "error_text",
    [
        "'max_tokens' or 'max_completion_tokens' is too large: 4096. The maximum context length is 4096 tokens.",
        "max_tokens is too large: 131072. This model supports at most 16384 completion tokens.",
        "The passage was not allowed by our moderation.",
    ],
)
def test_a_number_that_is_too_large_is_no_unknown_option(error_text: str) -> None:
    assert Form().without(refusal_saying(error_text), as_json=True) is None
