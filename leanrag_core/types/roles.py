"""Roles of models: what is asked of one, and where each is asked when it is not the endpoint of all."""

import json
import re
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

from leanrag_core.errors import InvalidConfig
from leanrag_core.files.records import absent_at_default
from leanrag_core.messages.message import message
from leanrag_core.system.addresses import ENDPOINT, Fault, fault_of
from leanrag_core.types.config import option, validate

EXTRACTION, AGGREGATION, ANSWERS, JUDGING, REWRITING, EMBEDDINGS, RERANKING = ROLES = (
    "extraction",
    "aggregation",
    "answers",
    "judging",
    "rewriting",
    "embeddings",
    "reranking",
)
# Where a role without settings and a model of its own is asked: with the role whose model it takes over.
WITH = {AGGREGATION: EXTRACTION, ANSWERS: EXTRACTION, REWRITING: ANSWERS}
# Limits of a role that take the place of the settings' own where they are set.
OWN_LIMITS = ("concurrency", "requests_per_minute", "tokens_per_minute", "timeout_seconds", "max_reply_tokens")
_OURS = ("model", "messages", "stream", "input", "response_format", "query", "documents", "texts")
MAX_BODY = 4000  # characters
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
_LOOKS_LIKE_A_KEY = re.compile(r"sk-|[A-Za-z0-9]{20,}")
_SECRET = re.compile(
    r"(^|[^a-z])(authorization|api[-_]?key|secret|password|bearer|access[-_]?token)|"
    r'"(auth|key|token|credentials?)" *:|"(sk|hf|gsk|xai|pa|jina)[-_][A-Za-z0-9_-]{16,}"|"AIza[A-Za-z0-9_-]{20,}"',
    re.IGNORECASE,
)
# What a limit is at least where it is set; the settings have the same bounds.
_LEAST = {"timeout_seconds": 1.0, "max_reply_tokens": 64, "window": 512}


@dataclass(frozen=True)
class Price:
    """US dollars for a million tokens. cached: for those of a prompt that the provider had read before; None where it
    takes nothing off."""

    __pydantic_config__ = {"extra": "forbid"}  # noqa: RUF012 - read by pydantic

    prompt: float = 0.0
    completion: float = 0.0
    cached: float | None = absent_at_default()

    def of(self, prompt_tokens: int, completion_tokens: int, cached_tokens: int = 0) -> float:
        """Compute the cost in US dollars. cached_tokens: of the prompt's."""
        cost = prompt_tokens * self.prompt + completion_tokens * self.completion
        if self.cached is not None:
            cost += cached_tokens * (self.cached - self.prompt)
        return cost / 1e6


@dataclass(frozen=True)
class Role:
    """Where and how the models of a role are asked; an empty or zero field means: as for all roles.

    A role with an address of its own is never sent the key of another one. model: of a role without a field of its own
    in the settings (settings.role_model). price, window: of the role's model. body: a JSON object of more fields of
    each request. query_prefix, passage_prefix, dimensions: of an embedding model. rerank_form, max_calls: of reranking.
    """

    base_url: str = option("", absent=True, help=message("role.help.base_url"))
    key_variable: str = option("", absent=True, help=message("role.help.key_variable"))
    model: str = option("", absent=True, help=message("role.help.model"))
    concurrency: int = option(0, low=0, high=256, absent=True)
    requests_per_minute: int = option(0, low=0, high=1_000_000, absent=True)
    tokens_per_minute: int = option(0, low=0, high=1_000_000_000, absent=True)
    timeout_seconds: float = option(0.0, low=0.0, high=3600.0, absent=True)
    temperature: float | None = option(None, low=0.0, high=2.0, absent=True)
    max_reply_tokens: int = option(0, low=0, high=131_072, absent=True)
    price: Price | None = absent_at_default()
    window: int = option(0, low=0, high=10_000_000, absent=True, help=message("role.help.window"))
    body: str = option("", absent=True, help=message("role.help.body"))
    query_prefix: str = option("", absent=True, help=message("role.help.query_prefix"))
    passage_prefix: str = option("", absent=True, help=message("role.help.passage_prefix"))
    dimensions: int = option(0, low=0, high=65_536, absent=True, help=message("role.help.dimensions"))
    rerank_form: str = option("cohere", absent=True, help=message("role.help.rerank_form"))
    max_calls: int = option(0, low=0, high=1_000_000, absent=True, help=message("role.help.max_calls"))

    def __post_init__(self) -> None:
        validate(self)
        for name, least in _LEAST.items():
            value = getattr(self, name)
            if value and value < least:
                raise InvalidConfig("role.limit_too_small", option=name, value=value, low=least)
        fault = fault_of(self.base_url, ENDPOINT)
        if fault is Fault.SECRET:
            raise InvalidConfig("role.base_url_holds_secrets")
        if fault is not None:
            raise InvalidConfig("role.base_url_invalid")
        if self.key_variable and (
            not _VARIABLE.fullmatch(self.key_variable)
            or (_LOOKS_LIKE_A_KEY.match(self.key_variable) and "_" not in self.key_variable)
        ):
            raise InvalidConfig("role.key_variable_invalid")  # not repeated: it may be the key
        _ = self.body_fields

    @cached_property
    def body_fields(self) -> dict[str, Any]:
        """The fields of `body`. Raises InvalidConfig for a text that is no JSON object, for a field that the program
        sets itself, and for one that holds a key."""
        if not self.body.strip():
            return {}
        try:
            cells = json.loads(self.body, parse_constant=_refuse) if len(self.body) <= MAX_BODY else None
        except (ValueError, RecursionError):
            cells = None
        if not isinstance(cells, dict):
            raise InvalidConfig("role.body_invalid")
        ours = sorted(set(cells) & set(_OURS))
        if ours:
            raise InvalidConfig("role.body_sets_ours", field=ours[0])
        if _SECRET.search(json.dumps(cells)):
            raise InvalidConfig("role.body_holds_key")
        return cells

    @property
    def is_empty(self) -> bool:
        """Whether the role has no settings of its own."""
        return all(getattr(self, spec.name) == spec.default for spec in fields(self))


def _refuse(constant: str) -> None:
    raise ValueError(constant)
