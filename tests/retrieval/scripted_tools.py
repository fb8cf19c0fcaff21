"""Tools for strategies that call a model: scripted replies, vectors of texts, and parts."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from leanrag_core.models.base import Completion
from leanrag_core.models.pacing import Meter
from leanrag_core.retrieval.tools import Tools
from leanrag_core.types.calls import Budget, Usage
from leanrag_core.types.trace import TraceStep


class ScriptedModel:
    """Gives the replies in turn, a call each."""

    name = fingerprint = "scripted"

    def __init__(self, replies: Sequence[str], meter: Meter) -> None:
        self.replies, self.meter = list(replies), meter
        self.asked: list[str] = []

    def complete(self, messages: list[dict[str, str]], **options: Any) -> Completion:
        self.asked.append(messages[-1]["content"])
        self.meter.add("test", Usage(calls=1, prompt_tokens=10, completion_tokens=2))
        reply = Completion(self.replies[len(self.asked) - 1], "stop", Usage(calls=1))
        options["accept"](reply)
        return reply


class Scripted:
    """The tools, what the model was asked, and the steps that were heard. vectors: of texts; replies: None for the
    built-in engine; parts: by name."""

    def __init__(
        self,
        vectors: Mapping[str, np.ndarray] | None = None,
        replies: Sequence[str] | None = None,
        parts: Mapping[str, Any] | None = None,
        *,
        calls: int = 0,
    ) -> None:
        meter = Meter(Budget(calls=calls))
        self.model = None if replies is None else ScriptedModel(replies, meter)
        self.steps: list[TraceStep] = []
        self.tools = Tools(
            embed=lambda texts: np.array([(vectors or {})[text] for text in texts]),
            language=self.model,
            meter=meter,
            part=(parts or {}).__getitem__,
            on_step=self.steps.append,
        )

    @property
    def asked(self) -> list[str]:
        """What the model was asked, in order."""
        return [] if self.model is None else self.model.asked
