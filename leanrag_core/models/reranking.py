"""Rerankers: a server that scores passages by how well they answer a question; each reply is kept.

What servers differ in, path and names of fields, is data: assets/rerank_forms.json.
"""

import hashlib
import json
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from leanrag_core.errors import BudgetSpent, EndpointBusy, InvalidConfig
from leanrag_core.files.records import from_json
from leanrag_core.models.registry import Models
from leanrag_core.models.remote import asked_otherwise
from leanrag_core.types.calls import CallRecord, Usage
from leanrag_core.types.config import endpoint_model, model_title
from leanrag_core.types.roles import RERANKING

_STAGE = "rerank"
_CHARACTERS_A_TOKEN = 4  # for the pace only


@dataclass(frozen=True)
class RerankForm:
    """How a server is asked. path: below its address. model, query, documents, most: fields of the request, "" for one
    that it has not. results: the field of the reply that lists them, "" where the reply is the list; index, score:
    fields of each."""

    name: str
    title: str
    path: str
    model: str
    query: str
    documents: str
    most: str
    results: str
    index: str
    score: str


@cache
def rerank_forms() -> tuple[RerankForm, ...]:
    """Return the forms that servers have."""
    data = files("leanrag_core.models").joinpath("assets", "rerank_forms.json").read_bytes()
    return from_json(tuple[RerankForm, ...], data, name="rerank_forms.json")


def rerank_form(name: str) -> RerankForm:
    """Return the form of that name. Raises InvalidConfig for an unknown one."""
    known = {form.name: form for form in rerank_forms()}
    if name not in known:
        raise InvalidConfig("rerank.unknown_form", form=name, known=", ".join(known))
    return known[name]


class Reranker:
    """Scores passages at the server of the role. name: of the model, or of the server where it has one alone."""

    def __init__(self, models: Models) -> None:
        settings = models.settings
        self._work = models.in_role(RERANKING)
        self._role = settings.own_role(RERANKING)
        self._model = model_title(settings.role_model(RERANKING))
        self.name = self._model or self._work.endpoint.settings.host
        self._form = rerank_form(self._role.rerank_form)

    def scores(self, question: str, texts: Sequence[str], *, keep: bool = True) -> list[float]:
        """Return the score of each text, in their order; a higher one is better. keep: a kept reply is taken, and a new
        one kept.

        Raises EndpointError when the server gives none that can be used, BudgetSpent when no further call is allowed.
        """
        if not keep:
            return self._asked("", question, texts)
        key = self._key(question, texts)
        known = _read(self._work.memory.get(key), len(texts))
        if known is not None:
            self._work.meter.add_reused()
            return known
        with self._work.memory.locked(key):
            known = _read(self._work.memory.get(key), len(texts))  # by the caller that had the lock before
            return self._asked(key, question, texts) if known is None else known

    def _key(self, question: str, texts: Sequence[str]) -> str:
        made_of = ["rerank", endpoint_model(self._model) or self._work.endpoint.address, asked_otherwise(self._role)]
        content = json.dumps([*made_of, question, list(texts)], ensure_ascii=False)
        return hashlib.sha256(content.encode()).hexdigest()

    def _asked(self, key: str, question: str, texts: Sequence[str]) -> list[float]:
        work, form = self._work, self._form
        work.meter.require_budget()
        if not work.count_reranking(self._role.max_calls):
            raise BudgetSpent("rerank.calls_spent", n=self._role.max_calls)
        body = {form.model: self._model, form.query: question, form.documents: list(texts), form.most: len(texts)}
        body = {name: value for name, value in body.items() if name and value != ""}
        started = time.perf_counter()

        def call() -> tuple[list[float], int]:
            reply = work.endpoint.post(form.path, body)
            return self._scores_of(reply, len(texts)), _tokens_of(reply)

        n_characters = len(question) * len(texts) + sum(map(len, texts))
        scores, tokens = work.pacer.call(
            call, tokens=n_characters // _CHARACTERS_A_TOKEN, on_fault=work.meter.add_fault
        )
        seconds = time.perf_counter() - started
        cost = work.settings.price(self._model).of(tokens, 0)
        work.meter.add(_STAGE, Usage(1, tokens, seconds=seconds, cost=cost))
        record = CallRecord(
            model=endpoint_model(self._model) or self.name,
            task=_STAGE,
            index=work.index,
            text=json.dumps(scores),
            prompt_tokens=tokens,
            seconds=round(seconds, 3),
        )
        if key:
            work.memory.put(key, record)
        return scores

    def _scores_of(self, reply: Any, n: int) -> list[float]:
        """Return the scores of a reply, in the order of the texts. Raises EndpointBusy for one without a finite number
        for each text."""
        form = self._form
        listed = reply.get(form.results) if form.results and isinstance(reply, dict) else reply
        scores: dict[int, float] = {}
        for each in listed if isinstance(listed, list) else ():
            place, score = (each.get(form.index), each.get(form.score)) if isinstance(each, dict) else (None, None)
            if type(place) is int and isinstance(score, int | float) and math.isfinite(score):
                scores[place] = float(score)
        if sorted(scores) != list(range(n)):
            raise EndpointBusy("rerank.not_scores", address=self._work.endpoint.address, n=n, sent=len(scores))
        return [scores[place] for place in range(n)]


def reranker(models: Models) -> Reranker | None:
    """Return the reranker that the settings name, None where they name none. Raises InvalidConfig for an unknown
    form."""
    own = models.settings.roles.get(RERANKING)
    return Reranker(models) if own is not None and (own.base_url or own.model) else None


def _tokens_of(reply: Any) -> int:
    """Return the tokens that a server counted, where it says."""
    usage = reply.get("usage") if isinstance(reply, dict) else None
    total = usage.get("total_tokens") if isinstance(usage, dict) else None
    return total if isinstance(total, int) and not isinstance(total, bool) and total > 0 else 0


def _read(record: CallRecord | None, n: int) -> list[float] | None:
    if record is None or record.text is None:
        return None
    try:
        scores = json.loads(record.text)
    except ValueError:
        return None
    is_right = isinstance(scores, list) and len(scores) == n and all(isinstance(each, float) for each in scores)
    return scores if is_right else None
