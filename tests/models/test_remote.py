"""Language and embedding models against the scripted server: what is stored, what is refused, what is reported."""

import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import numpy as np
import pytest

from leanrag_core.errors import BudgetSpent, CallFailed, EndpointBusy, EndpointError, LeanRAGError, ReplyError
from leanrag_core.models.base import Completion, Sample
from leanrag_core.models.endpoint import Reply
from leanrag_core.models.registry import Models
from leanrag_core.storage.calls import CallStore
from leanrag_core.text.tokens import count_tokens
from leanrag_core.types.calls import Budget
from leanrag_core.types.settings import Price, Settings
from tests.endpoint import faults
from tests.endpoint.faults import FaultPlan
from tests.endpoint.server import EndpointServer

pytestmark = pytest.mark.slow

HELLO = [{"role": "user", "content": "Hello there"}]
KEY = "sk-planted-0123456789abcdef"


@pytest.fixture
def server() -> Iterator[EndpointServer]:
    with EndpointServer() as endpoint:
        yield endpoint


def models(server: EndpointServer, folder: Path, budget: Budget | None = None, **more: object) -> Models:
    settings = Settings(base_url=server.url, **{"timeout_seconds": 3, "retries": 3, **more})
    return Models(settings, CallStore(folder / "calls"), budget or Budget(), "an index")


def test_an_answered_call_is_never_made_again(server: EndpointServer, tmp_path: Path) -> None:
    first = models(server, tmp_path).language("openai:m").complete(HELLO)
    again = models(server, tmp_path)
    assert again.language("openai:m").complete(HELLO) == first
    assert len(server.answered()) == 1
    assert (again.meter.read().reused, again.meter.read().usage.calls) == (1, 0)


def test_other_messages_models_or_limits_are_other_calls(server: EndpointServer, tmp_path: Path) -> None:
    made = models(server, tmp_path)
    made.language("openai:m").complete(HELLO)
    made.language("openai:m").complete(HELLO, max_tokens=70)
    made.language("openai:m").complete(HELLO, task="another.v2")
    made.language("openai:n").complete(HELLO)
    assert len(server.answered()) == 4


def test_each_sample_of_a_reply_is_made_once_at_its_temperature(server: EndpointServer, tmp_path: Path) -> None:
    language = models(server, tmp_path).language("openai:m")
    language.complete(HELLO)
    for sample in (Sample(1, 0.7), Sample(2, 0.7), Sample(2, 0.7)):
        language.complete(HELLO, sample=sample)
    plain, first, second = (request.key for request in server.answered())
    assert plain != first == second  # the temperature is part of the request, the number is not


def test_a_reply_that_is_refused_is_not_kept(server: EndpointServer, tmp_path: Path) -> None:
    made = models(server, tmp_path)

    def refuse(completion: Completion) -> None:
        raise ReplyError("not good enough")

    for _ in range(2):
        with pytest.raises(ReplyError):
            made.language("openai:m").complete(HELLO, accept=refuse)
    assert len(server.answered()) == 2
    assert len(made.memory) == 0
    assert made.meter.read().usage.calls == 2, "the meter counts what was paid for"


def test_a_second_question_answers_the_first_for_the_next_time(server: EndpointServer, tmp_path: Path) -> None:
    language = models(server, tmp_path).language("openai:m")
    asked_again = [*HELLO, {"role": "assistant", "content": "?"}, {"role": "user", "content": "Once more"}]
    reply = language.complete(asked_again, stands_for=HELLO)
    assert language.complete(HELLO).text == reply.text
    assert len(server.answered()) == 1


@pytest.mark.parametrize(
    "kind",
    [
        faults.RATE_LIMIT,
        faults.RATE_LIMIT_BARE,
        faults.HTTP_500,
        faults.HTTP_503,
        faults.RESET,
        faults.EMPTY_BODY,
        faults.HTML_200,
        faults.HTML_502,
        faults.EMPTY_CONTENT,
    ],
)
def test_a_passing_fault_is_retried_and_reported(server: EndpointServer, tmp_path: Path, kind: str) -> None:
    server.plan = FaultPlan(share=1.0, kinds=(kind,), recover_after=2)
    made = models(server, tmp_path)
    assert made.language("openai:m").complete(HELLO).text
    reading = made.meter.read()
    assert reading.faults == 2
    assert len(reading.last_faults) == 2
    assert len(server.failed()) == 2


def test_a_stall_ends_at_the_time_limit(server: EndpointServer, tmp_path: Path) -> None:
    server.plan = FaultPlan(share=1.0, kinds=(faults.STALL,), recover_after=1, stall_seconds=3.0)
    made = models(server, tmp_path, timeout_seconds=1.0)
    assert made.language("openai:m").complete(HELLO).text
    assert "did not answer within 1 s" in made.meter.read().last_faults[0]


def test_a_call_that_always_fails_is_lost_alone(server: EndpointServer, tmp_path: Path) -> None:
    server.plan = FaultPlan(share=1.0, kinds=(faults.HTTP_500,), recover_after=None)
    with pytest.raises(CallFailed, match="after 2 tries"):
        models(server, tmp_path, retries=1).language("openai:m").complete(HELLO)


def test_a_server_that_is_not_there_is_reported_with_its_address(tmp_path: Path) -> None:
    settings = Settings(base_url="http://127.0.0.1:9/v1", retries=0)
    language = Models(settings, CallStore(tmp_path)).language("openai:m")
    with pytest.raises(
        CallFailed, match=r"http://127\.0\.0\.1:9/v1 does not answer: is it running\? \(Connection refused\)"
    ):
        language.complete(HELLO)


def test_a_refused_key_stops_everything_and_is_shown_nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with EndpointServer(api_key="another") as server:
        with pytest.raises(EndpointError, match="refuses the key") as caught:
            models(server, tmp_path).language("openai:m").complete(HELLO)
        assert KEY not in str(caught.value)
        assert caught.value.__cause__ is None
        assert "OPENAI_API_KEY" in str(caught.value)


@pytest.mark.parametrize("formats", [("json_object", "text"), ("text",)])
def test_a_server_without_json_schemas_is_asked_in_its_own_way(tmp_path: Path, formats: tuple[str, ...]) -> None:
    with EndpointServer(response_formats=formats) as server:
        language = models(server, tmp_path).language("openai:m")
        for n in range(3):
            assert language.complete([{"role": "user", "content": f"hello {n}"}], schema={"type": "object"}).text
        refused = [call for call in server.log if call.outcome == "refused"]
        assert len(refused) == 3 - len(formats), "what the server lacks is learnt once"


def test_money_is_counted_and_a_budget_stops_the_next_call(server: EndpointServer, tmp_path: Path) -> None:
    made = models(server, tmp_path, Budget(dollars=0.01), prices={"m": Price(prompt=1000.0, completion=2000.0)})
    language = made.language("openai:m")
    language.complete(HELLO)
    spent = made.meter.read().usage
    assert spent.cost == pytest.approx((spent.prompt_tokens * 1000 + spent.completion_tokens * 2000) / 1e6)
    with pytest.raises(BudgetSpent, match=r"the budget of \$0\.01 is spent: 1 calls"):
        language.complete([{"role": "user", "content": "more"}])
    assert language.complete(HELLO).text, "what is stored costs nothing"


def test_tokens_that_a_server_does_not_tell_are_counted_here_and_count_against_the_budget(
    server: EndpointServer, tmp_path: Path
) -> None:
    server.tells_usage = False
    made = models(server, tmp_path, Budget(tokens=12), prices={"m": Price(1e6, 2e6), "e": Price(1e6, 0.0)})
    reply = made.language("openai:m").complete(HELLO)
    spent = made.meter.read().usage
    assert (spent.prompt_tokens, spent.completion_tokens) == (2, count_tokens(reply.text)), "Hello| there"
    assert spent.cost == 2 + 2 * spent.completion_tokens
    made.language("openai:m").stream([{"role": "user", "content": "Hello"}], lambda text: None)
    assert made.meter.read().usage.prompt_tokens == 3
    with pytest.raises(BudgetSpent):
        made.embedding("openai:e").embed(["bees"])
    unlimited = models(server, tmp_path)
    unlimited.embedding("openai:e").embed(["honey bees", "hives"])
    assert unlimited.meter.read().usage.prompt_tokens == sum(map(count_tokens, ("honey bees", "hives")))


def test_a_reply_without_a_text_is_paid_for_too(server: EndpointServer, tmp_path: Path) -> None:
    server.plan = FaultPlan(share=1.0, kinds=(faults.EMPTY_CONTENT,), recover_after=2)
    made = models(server, tmp_path)
    made.language("openai:m").complete(HELLO)
    spent = made.meter.read().usage
    assert spent.calls == 3
    assert spent.prompt_tokens == sum(call.prompt_tokens for call in server.log)


def test_cached_tokens_are_counted_at_their_price_kept_with_the_reply_and_not_recorded_in_an_index(
    tmp_path: Path,
) -> None:
    beginning = "word " * 900
    with EndpointServer(cached_from=1024) as server:
        made = models(server, tmp_path, prices={"m": Price(prompt=1000.0, completion=2000.0, cached=100.0)})
        language = made.language("openai:m")
        first, second = (
            language.complete([{"role": "user", "content": f"{beginning} {end}"}]) for end in ("one", "two")
        )
        language.stream([{"role": "user", "content": f"{beginning} six"}], lambda text: None)
    spent = made.meter.read().usage
    assert spent.cached_tokens == 2 * 1200
    full = spent.prompt_tokens - spent.cached_tokens
    assert spent.cost == pytest.approx((full * 1000 + 2400 * 100 + spent.completion_tokens * 2000) / 1e6)
    assert [made.memory.get(each.key).cached_tokens for each in (first, second)] == [None, 1200]
    assert second.usage.cached_tokens == 0, "an index records the price of the list"
    assert first.usage.cost == pytest.approx(second.usage.cost, rel=0.01)


def test_a_stream_is_passed_on_in_pieces_and_stored(server: EndpointServer, tmp_path: Path) -> None:
    language = models(server, tmp_path).language("openai:m")
    pieces: list[str] = []
    whole = language.stream(HELLO, pieces.append)
    assert "".join(pieces) == whole.text
    assert len(pieces) > 1
    again: list[str] = []
    assert language.stream(HELLO, again.append).text == whole.text
    assert again == [whole.text]
    assert len(server.answered()) == 1


def test_a_stream_that_breaks_off_is_an_error_and_not_an_answer(server: EndpointServer, tmp_path: Path) -> None:
    server.plan = FaultPlan(share=1.0, kinds=(faults.RESET,), recover_after=None)
    made = models(server, tmp_path)
    with pytest.raises(LeanRAGError):
        made.language("openai:m").stream(HELLO, lambda text: None)
    assert len(made.memory) == 0


class _CutOff(BaseHTTPRequestHandler):
    """Sends two words of a stream, and closes the connection."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        event = b'data: {"choices": [{"index": 0, "delta": {"content": "The bees"}}]}\n\n'
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
        self.wfile.write(head + b"%x\r\n%b\r\n" % (len(event), event))


def test_a_server_that_breaks_off_within_its_reply_is_not_said_to_be_silent(tmp_path: Path) -> None:
    pieces: list[str] = []
    with HTTPServer(("127.0.0.1", 0), _CutOff) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        settings = Settings(base_url=f"http://127.0.0.1:{server.server_port}/v1", timeout_seconds=30)
        language = Models(settings, CallStore(tmp_path / "calls"), Budget(), "an index").language("openai:m")
        with pytest.raises(EndpointBusy, match="broke off in the middle of its reply"):
            language.stream(HELLO, pieces.append)
        server.shutdown()
    assert pieces == ["The bees"]


@pytest.mark.parametrize("kind", [faults.RATE_LIMIT, faults.HTTP_500, faults.HTML_200])
def test_a_stream_that_fails_before_its_text_is_made_again(server: EndpointServer, tmp_path: Path, kind: str) -> None:
    server.plan = FaultPlan(share=1.0, kinds=(kind,), recover_after=1)
    language = models(server, tmp_path).language("openai:m")
    pieces: list[str] = []
    whole = language.stream(HELLO, pieces.append)
    assert "".join(pieces) == whole.text
    assert len(server.answered()) == 1
    server.plan = FaultPlan()
    for question in ("Who made the first comb foundation of wax?", "Where was the first comb foundation made?"):
        pieces = []
        language.stream([{"role": "user", "content": question}], pieces.append)
    assert len(pieces) > 1, "one bad reply does not end streaming"


def test_the_page_of_a_proxy_in_the_place_of_every_reply_does_not_end_streaming(
    server: EndpointServer, tmp_path: Path
) -> None:
    server.plan = FaultPlan(share=1.0, kinds=(faults.HTML_200,), recover_after=None)
    language = models(server, tmp_path).language("openai:m")
    with pytest.raises(LeanRAGError, match="page of a proxy"):
        language.stream(HELLO, lambda text: None)
    server.plan = FaultPlan()
    pieces: list[str] = []
    language.stream([{"role": "user", "content": "Who made the first comb foundation of wax?"}], pieces.append)
    assert len(pieces) > 1


def test_a_stream_that_broke_off_after_text_is_not_made_again(
    server: EndpointServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = models(server, tmp_path)
    language, calls = made.language("openai:m"), []

    def stream(model: str, messages: object, on_text: Callable[[str], None], **more: object) -> Reply:
        calls.append(model)
        on_text("The bees")
        raise EndpointBusy("endpoint.broke_off", address="there")

    monkeypatch.setattr(language.endpoint, "stream", stream)
    with pytest.raises(EndpointBusy, match="there"):
        language.stream(HELLO, lambda text: None)
    assert len(calls) == 1


def test_vectors_are_unit_rows_in_order_and_asked_once(server: EndpointServer, tmp_path: Path) -> None:
    texts = [f"text {n % 90}" for n in range(150)]
    made = models(server, tmp_path).embedding("openai:e")
    vectors = made.embed(texts)
    assert vectors.shape == (150, 64)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-5)
    np.testing.assert_array_equal(vectors[0], vectors[90])
    before = len(server.log)
    np.testing.assert_array_equal(models(server, tmp_path).embedding("openai:e").embed(texts), vectors)
    assert len(server.log) == before


@pytest.mark.parametrize(
    "kind",
    [faults.WRONG_DIMENSION, faults.NOT_A_NUMBER, faults.ZERO_VECTOR, faults.FEWER_VECTORS, faults.WRONG_ORDER],
)
def test_bad_vectors_are_asked_again_or_put_in_order(server: EndpointServer, tmp_path: Path, kind: str) -> None:
    texts = [f"text {n}" for n in range(20)]
    expected = models(server, tmp_path / "good").embedding("openai:e").embed(texts)
    server.plan = FaultPlan(share=1.0, kinds=(kind,), recover_after=1)
    vectors = models(server, tmp_path / "bad").embedding("openai:e").embed(texts)
    np.testing.assert_array_equal(vectors, expected)


def test_one_faulty_first_reply_does_not_decide_the_dimension(server: EndpointServer, tmp_path: Path) -> None:
    server.plan = FaultPlan(share=0.3, kinds=(faults.WRONG_DIMENSION,), recover_after=1, seed=1)
    assert models(server, tmp_path).embedding("openai:e").dimension == 64
    assert server.failed(), "a faulty reply was among them"


def test_a_server_that_asks_to_wait_no_time_is_still_left_alone(server: EndpointServer, tmp_path: Path) -> None:
    server.plan = FaultPlan(share=1.0, kinds=(faults.RATE_LIMIT,), recover_after=3, retry_after="0")
    made = models(server, tmp_path, retries=0, concurrency=8)
    assert made.language("openai:m").complete(HELLO).text
    assert len(server.log) == 4
    assert made.pacer.limit < 8
