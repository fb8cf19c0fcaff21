"""Answers of a language model: streamed as they come, none in the way of another, none for a client that left."""

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import openai
import pytest

from leanrag_core import Workbench
from leanrag_core.serving.workers import Look, Workers
from leanrag_core.types.roles import ANSWERS, Role
from leanrag_core.types.settings import Settings
from tests import waiting
from tests.endpoint.server import EndpointServer
from tests.serving.served import INDEX, TOKEN, client_of, events_of

pytestmark = pytest.mark.slow
ASK = f"/api/indexes/{INDEX}/ask"
HELD = frozenset({"answer"})


@pytest.fixture(scope="module")
def writer(bench: Workbench) -> Iterator[EndpointServer]:
    with EndpointServer(models=("writer",)) as endpoint:
        bench.settings.save(Settings().with_role(ANSWERS, Role(endpoint.url, model="openai:writer")))
        yield endpoint


def n_answers(writer: EndpointServer) -> int:
    return sum(request.kind == "answer" for request in writer.log)


def test_a_model_writes_in_pieces_and_its_tokens_are_told(writer: EndpointServer, url: str) -> None:
    with openai.OpenAI(base_url=f"{url}/v1", api_key=TOKEN, max_retries=0) as program:
        messages = [{"role": "user", "content": "How do bees keep warm?"}]
        options = {"include_usage": True}
        stream = program.chat.completions.create(model=INDEX, messages=messages, stream=True, stream_options=options)
        pieces = list(stream)
    texts = [piece.choices[0].delta.content for piece in pieces if piece.choices and piece.choices[0].delta.content]
    assert len(texts) > 3
    assert pieces[-1].usage is not None
    assert pieces[-1].usage.completion_tokens > 0


def test_slow_answers_stand_in_nobodys_way_and_end_with_their_clients(
    writer: EndpointServer, client: httpx.Client, url: str
) -> None:
    writer.held = HELD

    def ask(number: int) -> None:
        with client_of(url) as slow, pytest.raises(httpx.ReadTimeout):
            slow.post(ASK, json={"question": f"What do bees eat, {number}?"}, timeout=3)

    asking = [threading.Thread(target=ask, args=(number,)) for number in range(3)]
    for thread in asking:
        thread.start()
    started = time.monotonic()
    assert client.get("/api/indexes").status_code == 200
    values = client.post(f"/api/indexes/{INDEX}/retrieve", json={"question": "What do bees eat?"}).json()
    assert values["chunks"]
    for thread in asking:
        thread.join(30)
    assert time.monotonic() - started < 30
    writer.held = frozenset()
    answer = client.post(ASK, json={"question": "What do bees eat, at last?"})
    assert answer.status_code == 200


def test_a_client_that_leaves_a_stream_ends_the_work(
    writer: EndpointServer, client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check that its answer is not written to the end: then it would be kept, and the same question would not be asked
    again."""

    def at_work() -> int:
        return sum(thread.name == "request" for thread in threading.enumerate())

    run, taken_back = Workers.run, threading.Event()

    async def watched(workers: Workers, work: Callable[[Look], Any]) -> Any:
        try:
            return await run(workers, work)
        except asyncio.CancelledError:
            taken_back.set()
            raise

    monkeypatch.setattr(Workers, "run", watched)
    waiting.until(lambda: not at_work())
    writer.held = HELD
    body = {"question": "What is wax for?", "stream": True}
    with client.stream("POST", ASK, json=body) as answer:
        event = next(events_of(answer.iter_lines()))
        assert event.name == "step"
        assert at_work() == 1
    assert taken_back.wait(20), "the server has not seen that the client left"
    writer.held = frozenset()
    waiting.until(lambda: not at_work(), seconds=20)
    n_asked = n_answers(writer)
    assert client.post(ASK, json={**body, "stream": False}).json()["answer"]["text"]
    assert n_answers(writer) == n_asked + 1
    assert client.post(ASK, json={**body, "stream": False}).json()["answer"]["text"]
    assert n_answers(writer) == n_asked + 1, "an answer that was written to the end is kept"


def test_a_server_that_refuses_is_an_error_of_the_server(writer: EndpointServer, client: httpx.Client) -> None:
    writer.refuses = {"smoker": (400, "bad", "No smokers here.")}
    answer = client.post(ASK, json={"question": "What is a smoker?"})
    writer.refuses = {}
    assert answer.status_code == 502, answer.text
    assert "(status 400: No smokers here)" in answer.json()["error"]["message"]
