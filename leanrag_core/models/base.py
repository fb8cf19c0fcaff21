"""The two interfaces to models: language and embedding."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypedDict, Unpack, runtime_checkable

import numpy as np

from leanrag_core.messages.message import Message
from leanrag_core.models.loops import LOOPED
from leanrag_core.types.calls import CallMade, JsonSchema, Usage
from leanrag_core.types.cosines import BUILTIN_COSINES, Cosines


@dataclass(frozen=True)
class Completion:
    """A language model's reply. finish_reason: stop, length, or what the server sends. asked_again: it replies
    to a complaint about an earlier reply. key: of the question and its stored reply, empty where none is kept.

    usage is what the reply cost when it was first made, without its seconds, so that a resumed build records the same.
    """

    text: str
    finish_reason: str
    usage: Usage
    asked_again: bool = False
    key: str = ""

    @property
    def cut(self) -> bool:
        """Whether the reply ended at the token limit."""
        return self.finish_reason == "length"

    @property
    def looped(self) -> bool:
        """Whether the reply was ended since it repeated itself."""
        return self.finish_reason == LOOPED


def call_made(completion: Completion) -> CallMade:
    """Return the call of a reply that was used, as an index records it."""
    return CallMade(completion.key, completion.usage)


@dataclass(frozen=True)
class Sample:
    """Which of several replies to the same messages is meant, each remembered by itself. number: from 1. temperature:
    at which it is drawn, whatever the settings have."""

    number: int
    temperature: float


Accept = Callable[[Completion], object]


class CallOptions(TypedDict, total=False):
    """What a call may have besides its messages.

    schema asks for JSON of that JSON schema. task: the prompt's fingerprint, a part of the call's key; calls are
    counted by its stage. accept raises ReplyError for a reply that cannot be used; the error is passed on, and the
    reply is not remembered. stands_for: the messages that these ask once more; the reply is remembered as the answer to
    them, too. sample: one of several replies; None for the one reply.
    """

    schema: JsonSchema | None
    max_tokens: int | None
    task: str
    accept: Accept | None
    stands_for: list[dict[str, str]] | None
    sample: Sample | None


@dataclass(frozen=True)
class Call:
    """Chat messages ({"role", "content"}) and the options of their call."""

    messages: list[dict[str, str]]
    schema: JsonSchema | None = None
    max_tokens: int | None = None
    task: str = ""
    accept: Accept | None = None
    stands_for: list[dict[str, str]] | None = None
    sample: Sample | None = None

    @property
    def question(self) -> list[dict[str, str]]:
        """The messages that are answered: these, or those that they ask once more."""
        return self.stands_for or self.messages

    @property
    def temperature(self) -> float | None:
        """The temperature of its sample; None for that of the settings."""
        return None if self.sample is None else self.sample.temperature


class LanguageModel(Protocol):
    """Writes text from messages."""

    name: str

    @property
    def fingerprint(self) -> str:
        """Name and version, as manifests record them."""

    def complete(self, messages: list[dict[str, str]], **options: Unpack[CallOptions]) -> Completion:
        """Reply to chat messages ({"role", "content"}). Raises CallFailed when this call got no reply, and what its
        accept raises."""


class EmbeddingModel(Protocol):
    """Phi of eq. 3. name and fingerprint go into the manifest; vectors of two fingerprints never mix."""

    name: str

    @property
    def dimension(self) -> int:
        """Length of a vector."""

    @property
    def fingerprint(self) -> str:
        """Name and hash of the weights, as manifests record them."""

    def embed(self, texts: list[str]) -> np.ndarray:
        """Return (len(texts), dimension) float32, unit rows; the same text gives the same row alone or in any batch."""


@runtime_checkable
class TellsQueriesApart(Protocol):
    """An embedding model that embeds queries differently from the texts that are searched."""

    def embed_queries(self, texts: list[str]) -> np.ndarray:
        """Return (len(texts), dimension) float32, unit rows, of questions and other texts that one searches with."""


def embed_queries(model: EmbeddingModel, texts: list[str]) -> np.ndarray:
    """Return the (len(texts), dimension) float32 unit rows of texts that one searches with: as the model has them, or
    as it embeds any text."""
    return model.embed_queries(texts) if isinstance(model, TellsQueriesApart) else model.embed(texts)


@runtime_checkable
class KnowsItsCosines(Protocol):
    """An embedding model whose cosines are not comparable with those of the built-in one."""

    @property
    def cosines(self) -> Cosines:
        """What the model's cosines mean, as benchmarks/cosine_probe.py measures it."""


def cosines_of(model: EmbeddingModel) -> Cosines:
    """Return what the model's cosines mean: as it says, or the same as those of the built-in model."""
    return model.cosines if isinstance(model, KnowsItsCosines) else BUILTIN_COSINES


class Backend(Protocol):
    """Serves models by name; one file in models/backends. What it costs goes through the meter of `models`."""

    name: str
    title: Message

    def __init__(self, models: Any) -> None:
        """Keep the Models of one piece of work: settings, meter, pace, budget and stored answers."""

    def language(self, model: str) -> LanguageModel | None:
        """Return the language model of that name; None for a back-end without one."""

    def embedding(self, model: str, fingerprint: str) -> EmbeddingModel:
        """Return the embedding model of that name; of several forms the one with the fingerprint."""
