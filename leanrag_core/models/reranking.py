"""Rerankers: a server that scores passages by how well they answer a question; each reply is kept.

What servers differ in, path and names of fields, is data: assets/rerank_forms.json.
"""

import hashlib
import json
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib.resources import files
from typing import Any

from leanrag_core.errors import BudgetSpent, EndpointBusy, InvalidConfig, PromptTooLong
from leanrag_core.files.records import from_json
from leanrag_core.models.endpoint import count_at
from leanrag_core.models.registry import Models
from leanrag_core.models.remote import asked_otherwise
from leanrag_core.models.window import USUAL_FACTOR
from leanrag_core.text.tokens import count_many, count_tokens, trim_to_tokens
from leanrag_core.types.calls import CallRecord, PassageScores, Usage
from leanrag_core.types.config import endpoint_model, model_title
from leanrag_core.types.roles import RERANKING

_STAGE = "rerank"
_CHARACTERS_A_TOKEN = 4  # for the pace only
_TEMPLATE = 16  # tokens that a model adds to a question and a passage
_LEAST_PASSAGE = 32  # tokens; what is left for a passage is no passage below


@dataclass(frozen=True)
class RerankForm:
    """How a server is asked. path: below its address. model, query, documents, most: fields of the request, "" for one
    that it has not; more: others of each request. results: the field of the reply that lists them, "" where the reply
    is the list; index, score: fields of each. most_texts: that a request may have, 0 for any number. about: the path
    where the server tells of itself, window: the field there of the tokens that it reads; "" where its list of models
    tells."""

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
    more: Mapping[str, bool | int | str] = field(default_factory=dict)
    most_texts: int = 0
    about: str = ""
    window: str = ""


@cache
def rerank_forms() -> tuple[RerankForm, ...]:
    """Return the forms that servers have."""
    content = files("leanrag_core.models").joinpath("assets", "rerank_forms.json").read_bytes()
    return from_json(tuple[RerankForm, ...], content, name="rerank_forms.json")


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

    @cached_property
    def _form(self) -> RerankForm:
        return rerank_form(self._role.rerank_form)

    def scores(self, question: str, texts: Sequence[str], *, keep: bool = True) -> PassageScores:
        """Return the score of each text; of one that is longer than the model's window, that of its beginning. keep: a
        kept reply is taken, and a new one kept.

        Raises EndpointError when the server gives none that can be used, PromptTooLong for a question that leaves a
        passage no room, BudgetSpent when no further call is allowed, InvalidConfig for an unknown form.
        """
        read, n_cut = self._within_window(question, texts)
        most = self._form.most_texts or len(read)
        values: list[float] = []
        for start in range(0, len(read), most):
            values += self._scored(question, read[start : start + most], keep=keep)
        return PassageScores(tuple(values), n_cut, self._window or 0)

    @cached_property
    def _window(self) -> int | None:
        """Tokens that the model reads of a question and a passage, as a person says or the server, the smaller of both;
        None where nobody does."""
        endpoint, form = self._work.endpoint, self._form
        if not form.about:
            server_window = endpoint.window(self._model)
            tokens = None if server_window is None else server_window.tokens
        else:
            tokens = endpoint.forms.window(
                self._model, lambda: count_at(endpoint.about(form.about), (form.window,)) or None
            )
        by_hand = self._role.window or self._work.settings.windows.get(self._model)
        return min(filter(None, (by_hand, tokens)), default=None)

    def _within_window(self, question: str, texts: Sequence[str]) -> tuple[list[str], int]:
        """Return the texts, cut where they are longer than the model reads, and how many are cut."""
        if self._window is None:
            return list(texts), 0
        question_tokens = count_tokens(question)
        room = int(self._window / USUAL_FACTOR) - _TEMPLATE - question_tokens
        if room < _LEAST_PASSAGE:
            raise PromptTooLong("rerank.question_too_long", tokens=question_tokens, window=self._window)
        longer = [bool(n > room) for n in count_many(texts)]
        read = [trim_to_tokens(text, room) if cut else text for text, cut in zip(texts, longer, strict=True)]
        return read, sum(longer)

    def _scored(self, question: str, texts: Sequence[str], *, keep: bool) -> list[float]:
        """Return the score of each text, in their order."""
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
        fields_of_request: dict[str, Any] = {
            form.model: self._model,
            form.query: question,
            form.documents: list(texts),
            form.most: len(texts),
        }
        body: dict[str, Any] = {name: value for name, value in form.more.items() if name not in self._role.body_fields}
        body |= {name: value for name, value in fields_of_request.items() if name and value != ""}
        started = time.perf_counter()

        def call() -> tuple[list[float], int]:
            reply = work.endpoint.post(form.path, body)
            return self._scores_of(reply, len(texts)), count_at(reply, ("usage", "total_tokens"))

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
        result_list = reply.get(form.results) if form.results and isinstance(reply, dict) else reply
        scores: dict[int, float] = {}
        for each in result_list if isinstance(result_list, list) else ():
            place, score = (each.get(form.index), each.get(form.score)) if isinstance(each, dict) else (None, None)
            if type(place) is int and isinstance(score, int | float) and math.isfinite(score):
                scores[place] = float(score)
        if sorted(scores) != list(range(n)):
            raise EndpointBusy("rerank.not_scores", address=self._work.endpoint.address, n=n, sent=len(scores))
        return [scores[place] for place in range(n)]


def reranker(models: Models) -> Reranker | None:
    """Return the reranker that the settings name, None where they name none."""
    role = models.settings.roles.get(RERANKING)
    return Reranker(models) if role is not None and (role.base_url or role.model) else None


def _read(record: CallRecord | None, n: int) -> list[float] | None:
    if record is None or record.text is None:
        return None
    try:
        scores = json.loads(record.text)
    except ValueError:
        return None
    is_right = isinstance(scores, list) and len(scores) == n and all(isinstance(each, float) for each in scores)
    return scores if is_right else None
