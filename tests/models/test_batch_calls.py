"""What a server says of batches, and the lines that it sends."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from leanrag_core.errors import EndpointBusy, EndpointPaused, EndpointRefusal
from leanrag_core.models.batch_calls import answers, has_batches
from leanrag_core.models.endpoint import Endpoint, Reply
from leanrag_core.types.batches import SentBatch, SentCall
from leanrag_core.types.settings import Settings
from tests.endpoint.batches import ScriptedBatches
from tests.endpoint.server import EndpointServer

CALL = SentCall("k" * 64, "extract_graph.v1:1", False)
BATCH = SentBatch("one", "http://localhost:1/v1", "m", "index", (CALL,), "file-1", 1.0)
BODY = {
    "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Yes."}}],
    "usage": {"prompt_tokens": 20, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 16}},
}


def line(**cells: object) -> dict[str, object]:
    return {"custom_id": CALL.custom_id, "error": None, "response": {"status_code": 200, "body": BODY}, **cells}


def outcome(*lines: dict[str, object]) -> object:
    """Return what is made of the lines about the call; None where they are passed over."""
    endpoint = Endpoint(Settings(base_url="http://127.0.0.1:1/v1"))
    output = b"\n".join(json.dumps(each).encode() for each in lines)
    found = [answer.outcome for answer in answers(endpoint, BATCH, output)]
    assert len(found) <= 1
    return found[0] if found else None


def failed(status: int, code: str, message: str = "No.") -> dict[str, object]:
    body = {"error": {"message": message, "type": code, "code": code}}
    return line(response={"status_code": status, "body": body}, error={"code": code, "message": message})


def test_a_server_has_batches_where_it_lists_them(tmp_path: Path) -> None:
    with EndpointServer() as server:
        endpoint = Endpoint(Settings(base_url=server.url))
        assert not has_batches(endpoint)
        server.batches = ScriptedBatches()
        assert has_batches(endpoint)
    assert not has_batches(endpoint), "nobody answers"


def test_a_reply_has_its_text_and_its_tokens() -> None:
    reply = outcome(line())
    assert isinstance(reply, Reply)
    assert (reply.text, reply.finish_reason) == ("Yes.", "stop")
    assert (reply.prompt_tokens, reply.completion_tokens, reply.cached_tokens) == (20, 2, 16)


def test_a_reply_is_taken_before_an_error_about_the_same_call() -> None:
    assert isinstance(outcome(failed(500, "server_error"), line()), Reply)
    other = replace(CALL, key="x" * 64).custom_id
    assert outcome(line(custom_id=other)) is None, "nobody asked for it"


@pytest.mark.parametrize("code", ["batch_expired", "batch_cancelled"])
def test_a_call_that_was_not_made_is_no_fault(code: str) -> None:
    assert outcome(line(response=None, error={"code": code, "message": "late"})) is None


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        (failed(500, "server_error"), EndpointBusy),
        (failed(429, "rate_limit_exceeded"), EndpointBusy),
        (failed(429, "insufficient_quota"), EndpointPaused),
        (failed(400, "context_length_exceeded", "maximum context length is 4096 tokens"), EndpointRefusal),
        (line(response=None, error={"code": "whatever", "message": "broke"}), EndpointBusy),
        (line(response={"status_code": 200, "body": "<html>"}), EndpointBusy),
        (line(response={"status_code": 200, "body": {"choices": []}}), EndpointBusy),
        (
            line(
                response={
                    "status_code": 200,
                    "body": {
                        **BODY,
                        "choices": [
                            {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": ""}}
                        ],
                    },
                }
            ),
            EndpointBusy,
        ),
    ],
)
def test_errors_are_those_of_direct_calls(given: dict[str, object], kind: type) -> None:
    assert type(outcome(given)) is kind
