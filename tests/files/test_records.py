"""Records are read strictly, written the same every time, and refused with the file and the field."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import pytest

from leanrag_core.errors import RecordDamaged
from leanrag_core.files.records import absent_at_default, from_json, to_json
from leanrag_core.messages.message import Message, message


@dataclass(frozen=True)
class Wheel:
    __pydantic_config__: ClassVar[Any] = {"extra": "forbid"}
    size: float


@dataclass(frozen=True)
class Cart:
    name: str
    wheels: tuple[Wheel, ...] = ()
    price: int = 0
    marks: Mapping[str, int] = field(default_factory=dict)
    note: str = absent_at_default("")


CART = Cart("Ålesund", (Wheel(1.5), Wheel(2.0)), 3, {"b": 1, "a": 2})


def test_a_record_is_read_as_it_was_written() -> None:
    assert from_json(Cart, to_json(CART)) == CART


def test_keys_are_sorted_and_a_field_at_its_default_may_be_left_out() -> None:
    assert to_json(CART).decode() == (
        '{"marks":{"a":2,"b":1},"name":"Ålesund","price":3,"wheels":[{"size":1.5},{"size":2.0}]}'
    )
    assert b'"note":"new"' in to_json(Cart("a", note="new"))


def test_messages_within_messages_come_back() -> None:
    nested = message(
        "a.b", n=3, share=3.0, sure=True, none=None, inner=message("c.d", name="Ada"), many=(Message("e"),), no=()
    )
    read = from_json(Message, to_json(nested))
    assert read == nested
    assert [type(read.values[name]) for name in ("n", "share", "sure", "inner", "many")] == [
        int,
        float,
        bool,
        Message,
        tuple,
    ]


def test_a_field_of_a_newer_version_is_passed_over_unless_the_class_refuses_it() -> None:
    assert from_json(Cart, b'{"name": "a", "colour": "red"}') == Cart("a")
    with pytest.raises(RecordDamaged) as caught:
        from_json(Cart, b'{"name": "a", "wheels": [{"size": 1, "colour": "red"}]}', name="cart.json")
    assert caught.value.field == "wheels.0.colour"
    assert str(caught.value) == (
        "cart.json is not as expected: wheels.0.colour is a field that this version does not know"
    )


@pytest.mark.parametrize(
    ("content", "field"),
    [
        (b"{}", "name"),
        (b'{"name": 3}', "name"),
        (b'{"name": "a", "price": 3.0}', "price"),
        (b'{"name": "a", "price": "3"}', "price"),
        (b'{"name": "a", "price": true}', "price"),
        (b'{"name": "a", "marks": {"b": null}}', "marks.b"),
        (b'{"name": "a", "wheels": {}}', "wheels"),
        (b"[]", ""),
        (b'"cart"', ""),
    ],
)
def test_another_type_is_refused_with_its_field(content: bytes, field: str) -> None:
    with pytest.raises(RecordDamaged, match=r"cart\.json") as caught:
        from_json(Cart, content, name="cart.json")
    assert caught.value.field == field
    assert caught.value.message.code == "record.damaged"


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", "record.not_json"),
        (b"{", "record.not_json"),
        (b"\xff\xfe", "record.not_json"),
        (b'{"name": "a", "later": NaN}', "record.not_json"),
        (b'{"name": "a", "later": 1e999}', "record.not_json"),
        (b'{"name": "\\ud83d"}', "record.not_json"),
        (b'{"name": "a", "later": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "record.too_deep"),
        (b'{"name": "a", "later": ' + b" " * 1000 + b"1}", "record.too_large"),
    ],
)
def test_what_is_no_sound_json_is_refused(content: bytes, code: str) -> None:
    with pytest.raises(RecordDamaged, match=r"cart\.json") as caught:
        from_json(Cart, content, name="cart.json", max_bytes=1000 if code == "record.too_large" else 1_000_000)
    assert caught.value.reason.code == code


@pytest.mark.parametrize("cart", [Cart(3), Cart("a", price=1.5), Cart("a", wheels=(Wheel("big"),))])
def test_a_value_that_could_not_be_read_again_is_not_written(cart: Cart) -> None:
    with pytest.raises(TypeError, match="Cart cannot be stored"):
        to_json(cart)


def test_a_number_that_is_none_is_not_written() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        to_json(Wheel(float("nan")))
