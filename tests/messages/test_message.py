"""Messages become sentences; what they are filled with is data."""

import copy
import pickle
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest

from leanrag_core.errors import EndpointBusy, EndpointRefusal, LeanRAGError, UnreadableDocument
from leanrag_core.messages import catalog
from leanrag_core.messages.catalog import sentence
from leanrag_core.messages.message import Message, message, with_text_replaced

TEMPLATES = {"plain": ("{text}",), "count.chunks": ("{n:,} chunk", "{n:,} chunks")}
HOSTILE = ["{n}", "{0.__class__}", "{", "}}", "%s", "{n:>9999999999}", "\u202ecod"]


@pytest.fixture(autouse=True)
def small_catalog(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give English two sentences, and every other language none."""
    monkeypatch.setattr(catalog, "_templates", lambda language: TEMPLATES if language == "en" else {})


@pytest.mark.parametrize(("n", "text"), [(0, "0 chunks"), (1, "1 chunk"), (2, "2 chunks"), (12345, "12,345 chunks")])
def test_the_count_decides_between_singular_and_plural(n: int, text: str) -> None:
    assert sentence(message("count.chunks", n=n)) == text


@pytest.mark.parametrize("text", HOSTILE)
def test_values_are_data_at_every_depth(text: str) -> None:
    plain = message("plain", text=text)
    assert sentence(plain) == text
    assert sentence(message("plain", text=plain)) == text
    assert sentence(message("plain", text=(plain, plain))) == f"{text} and {text}"


def test_messages_in_messages_are_filled_in_the_same_language_and_joined() -> None:
    three = tuple(message("count.chunks", n=n) for n in (1, 2, 3))
    assert sentence(message("plain", text=three)) == "1 chunk, 2 chunks and 3 chunks"
    assert sentence(message("plain", text=three[:1])) == "1 chunk"


def test_a_language_without_the_code_takes_the_english_sentence() -> None:
    assert sentence(message("count.chunks", n=1), "zh") == "1 chunk"


def test_an_unknown_code_and_a_missing_value_are_errors_of_the_programmer() -> None:
    with pytest.raises(KeyError):
        sentence(message("no.such-code"))
    with pytest.raises(KeyError):
        sentence(message("plain"))


def test_a_value_may_have_the_name_of_a_parameter() -> None:
    assert message("a.b", code="x").values == {"code": "x"}
    assert LeanRAGError("a.b", code="x").message == message("a.b", code="x")


ERRORS = [
    UnreadableDocument("count.chunks", n=3),
    EndpointBusy("count.chunks", 2.5, overloaded=True, n=1),
    EndpointRefusal("plain text of a server {n}", "temperature"),
    LeanRAGError(message("plain", text=message("count.chunks", n=2))),
]


def raised(error: LeanRAGError) -> None:
    raise error


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("restored", [copy.copy, lambda error: pickle.loads(pickle.dumps(error))])
def test_an_error_survives_pickling_with_its_code_values_and_own_fields(error: LeanRAGError, restored: object) -> None:
    again = restored(error)
    assert type(again) is type(error)
    assert vars(again) == vars(error)
    assert str(again) == str(error)


def test_an_error_comes_whole_out_of_another_process() -> None:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool, pytest.raises(EndpointBusy) as caught:
        pool.submit(raised, ERRORS[1]).result()
    assert vars(caught.value) == vars(ERRORS[1])


def test_text_is_replaced_in_values_at_every_depth() -> None:
    inner = message("plain", text="key 123")
    whole = Message("a.b", {"n": 1, "text": "123!", "inner": inner, "all": (inner,)})
    masked = message("plain", text="key •")
    assert with_text_replaced(whole, "123", "•") == Message(
        "a.b", {"n": 1, "text": "•!", "inner": masked, "all": (masked,)}
    )
