"""Settings out of their bounds, or of another kind, are refused by name."""

from dataclasses import fields
from typing import Any

import pytest

from leanrag_core.errors import InvalidConfig
from leanrag_core.messages.catalog import sentence
from leanrag_core.messages.message import Message
from leanrag_core.retrieval.strategies.leanrag import Config
from leanrag_core.types.config import IndexConfig, help_of
from leanrag_core.types.roles import Role
from leanrag_core.types.settings import Execution, Settings


@pytest.mark.parametrize(
    ("kind", "options", "reason"),
    [
        (Config, {"top_n": "x"}, "top_n is 'x'; write a whole number"),
        (Config, {"top_n": 5.5}, "top_n is 5.5; write a whole number"),
        (Config, {"top_n": True}, "top_n is True; write a whole number"),
        (Config, {"top_n": None}, "top_n is None; write a whole number"),
        (Config, {"top_n": [5]}, "top_n is [5]; write a whole number"),
        (Config, {"findings": "maybe"}, "findings is 'maybe'; write true or false"),
        (Config, {"findings": 1}, "findings is 1; write true or false"),
        (Settings, {"timeout_seconds": "soon"}, "timeout_seconds is 'soon'; write a number"),
        (Config, {"top_n": 0}, "top_n is 0; the smallest value is 1"),
        (IndexConfig, {"cap_by": 3}, "cap_by is 3; choose one of capacity, split"),
    ],
)
def test_an_option_of_another_kind_or_out_of_bounds_is_refused(kind: Any, options: dict[str, Any], reason: str) -> None:
    with pytest.raises(InvalidConfig) as refused:
        kind(**options)
    assert sentence(refused.value.message) == reason


def test_a_whole_number_serves_where_a_fraction_may_be() -> None:
    assert Settings(timeout_seconds=30).timeout_seconds == 30


@pytest.mark.parametrize("kind", [IndexConfig, Settings, Execution, Role])
def test_every_option_says_what_it_is(kind: type[Any]) -> None:
    for spec in fields(kind):
        help_text = help_of(spec)
        said = sentence(help_text) if isinstance(help_text, Message) else help_text
        assert said or "help" not in spec.metadata, spec.name
