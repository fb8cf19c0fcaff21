"""Language and embedding models at an endpoint: paced, metered, and every answer kept."""

import base64
import hashlib
import json
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Protocol

import numpy as np

from leanrag_core.errors import CallFailed, EndpointBusy, EndpointError, EndpointRefusal, ReplyCut, ReplyError
from leanrag_core.models.base import Accept, Completion
from leanrag_core.models.endpoint import Endpoint, Reply
from leanrag_core.models.metering import Meter
from leanrag_core.models.pacing import Pacer
from leanrag_core.tokens import count_tokens
from leanrag_core.types.usage import Usage

_STAGE_OF = {  # the stage of a build that a prompt belongs to
    "extract_graph": "extract",
    "glean_graph": "extract",
    "merge_descriptions": "merge",
    "aggregate_entity": "aggregate entities",
    "aggregate_relation": "aggregate relations",
    "answer": "answer",
}
_TEXTS_A_CALL = 64
_PROBES = ("bees make honey", "a river runs to the sea", "seven hills", "the king is dead", "snow", "iron rusts")
_CHARACTERS_A_TOKEN = 4  # for the pace only


class CallMemory(Protocol):
    """Where answered calls are kept, by a key of their content."""

    def get(self, key: str) -> dict[str, Any] | None:
        """The record of that key, if any."""

    def get_many(self, keys: list[str]) -> list[dict[str, Any] | None]:
        """The records of those keys, in order."""

    def put(self, key: str, record: Mapping[str, Any]) -> None:
        """Keep a record."""

    def put_many(self, records: Mapping[str, Mapping[str, Any]]) -> None:
        """Keep records."""


class RemoteLanguageModel:
    """A chat model. See LanguageModel. index: for which index calls are made, so that they can be deleted with it."""

    def __init__(
        self, model: str, endpoint: Endpoint, pacer: Pacer, meter: Meter, memory: CallMemory, *, index: str = ""
    ) -> None:
        self.model = model
        self.name = f"openai:{model}"
        self.endpoint, self.pacer, self.meter, self.memory = endpoint, pacer, meter, memory
        self.index = index

    @property
    def fingerprint(self) -> str:
        """Name and temperature; the same model at another address is the same model."""
        return f"{self.name}@t{self.endpoint.settings.temperature:g}"

    def key(
        self,
        messages: list[dict[str, str]],
        *,
        schema: dict[str, Any] | None = None,
        max_tokens: int | None = None,
        task: str = "",
    ) -> str:
        """Content key of a call: model, prompt version, messages and parameters."""
        limit = max_tokens or self.endpoint.settings.max_reply_tokens
        made_of = ["chat", self.fingerprint, task, messages, schema, limit]
        return hashlib.sha256(json.dumps(made_of, sort_keys=True, ensure_ascii=False).encode()).hexdigest()

    def complete(
        self,
        messages: list[dict[str, str]],
        *,
        schema: dict[str, Any] | None = None,
        max_tokens: int | None = None,
        task: str = "",
        accept: Accept | None = None,
        stands_for: list[dict[str, str]] | None = None,
    ) -> Completion:
        """See LanguageModel; a call that was answered before is not made again."""
        key = self.key(messages, schema=schema, max_tokens=max_tokens, task=task)
        known = self.recalled(key, accept, stands_for or messages)
        if known is not None:
            return known
        self.meter.require_budget()
        started = time.perf_counter()
        expected = sum(len(one["content"]) for one in messages) // _CHARACTERS_A_TOKEN + 500

        def call() -> Reply:
            reply = self.endpoint.chat(self.model, messages, schema=schema, max_tokens=max_tokens)
            if not reply.text.strip():
                raise EndpointBusy(f"{self.model} sent an empty reply")
            return reply

        try:
            reply = self.pacer.call(call, tokens=expected, on_fault=self.meter.add_fault)
        except EndpointRefusal as error:
            raise CallFailed(str(error)) from None
        keys, question = [key], stands_for or messages
        if stands_for is not None:
            keys.append(self.key(stands_for, schema=schema, max_tokens=max_tokens, task=task))
        return self._kept(keys, question, reply, task, started, accept)

    def stream(self, messages: list[dict[str, str]], on_text: Callable[[str], None], *, task: str = "") -> Completion:
        """The reply, told piece by piece; one that was given before is told at once. No second try: text was shown."""
        key = self.key(messages, task=task)
        known = self.recalled(key, None, messages)
        if known is not None:
            on_text(known.text)
            return known
        self.meter.require_budget()
        started = time.perf_counter()
        reply = self.endpoint.stream(self.model, messages, on_text)
        return self._kept([key], messages, reply, task, started, _not_empty)

    def recall(self, messages: list[dict[str, str]], *, schema: dict[str, Any], task: str) -> Completion | None:
        """The stored reply to the messages, with the seconds it took, if there is one; for forecasts."""
        record = self.memory.get(self.key(messages, schema=schema, task=task))
        if record is None or not isinstance(record.get("text"), str):
            return None
        usage = Usage(
            1,
            int(record.get("prompt_tokens", 0)),
            int(record.get("completion_tokens", 0)),
            seconds=float(record.get("seconds", 0.0)),
        )
        return Completion(record["text"], str(record.get("finish_reason", "stop")), usage)

    def recalled(self, key: str, accept: Accept | None, question: list[dict[str, str]]) -> Completion | None:
        """The stored reply of that key, when there is one and it can still be used."""
        record = self.memory.get(key)
        if record is None or not isinstance(record.get("text"), str):
            return None
        usage = self._usage(question, int(record.get("completion_tokens", 0)))
        known = Completion(record["text"], str(record.get("finish_reason", "stop")), usage)
        if accept is not None:
            try:
                accept(known)
            except ReplyCut:  # as it was when it came
                self.meter.add_reused()
                raise
            except ReplyError:  # the rules have changed since
                return None
        self.meter.add_reused()
        return known

    def _usage(self, question: list[dict[str, str]], completion_tokens: int) -> Usage:
        """What an index records of a call: the question by our own count, so that a detour to its reply (a complaint,
        a resumed build) changes nothing. The meter has the server's figures."""
        tokens = sum(count_tokens(message["content"]) for message in question), completion_tokens
        return Usage(1, *tokens, cost=self.endpoint.settings.price(self.model).of(*tokens))

    def _kept(
        self,
        keys: list[str],
        question: list[dict[str, str]],
        reply: Reply,
        task: str,
        started: float,
        accept: Accept | None,
    ) -> Completion:
        tokens = reply.prompt_tokens, reply.completion_tokens
        cost = self.endpoint.settings.price(self.model).of(*tokens)
        seconds = time.perf_counter() - started
        self.meter.add(_STAGE_OF.get(task.split(".")[0], "other"), Usage(1, *tokens, seconds=seconds, cost=cost))
        completion = Completion(reply.text, reply.finish_reason, self._usage(question, reply.completion_tokens))
        record = {
            "model": self.name,
            "task": task,
            "index": self.index,
            "text": reply.text,
            "finish_reason": reply.finish_reason,
            "prompt_tokens": reply.prompt_tokens,
            "completion_tokens": reply.completion_tokens,
            "seconds": round(seconds, 3),
        }
        if accept is not None:
            try:
                accept(completion)
            except ReplyCut:  # the passage is too much for one reply: true the next time, too
                self.memory.put_many(dict.fromkeys(keys, record))
                raise
            except ReplyError as error:
                self.meter.add_fault(f"{task.split(':')[0] or 'call'}: {error}")
                raise
        self.memory.put_many(dict.fromkeys(keys, record))
        return completion


def _not_empty(completion: Completion) -> None:
    if not completion.text.strip():
        raise ReplyError("the reply is empty")


class RemoteEmbeddingModel:
    """An embedding model. See EmbeddingModel. Vectors are checked and normalised; each text is asked for once."""

    def __init__(
        self, model: str, endpoint: Endpoint, pacer: Pacer, meter: Meter, memory: CallMemory, *, index: str = ""
    ) -> None:
        self.model = model
        self.name = f"openai:{model}"
        self.endpoint, self.pacer, self.meter, self.memory = endpoint, pacer, meter, memory
        self.index = index
        self._lock = threading.Lock()
        self._dimension = 0

    @property
    def fingerprint(self) -> str:
        """The name: a server tells nothing of its weights."""
        return self.name

    @property
    def dimension(self) -> int:
        """Length of a vector, as three replies of the server agree on it."""
        self._settle_dimension()
        return self._dimension

    def embed(self, texts: list[str]) -> np.ndarray:
        """(len(texts), d) float32 unit rows. Raises EndpointError when the server gives no usable vector."""
        self._settle_dimension()
        unique = list(dict.fromkeys(texts))
        keys = [self._key(text) for text in unique]
        found: dict[str, np.ndarray] = {}
        for text, record in zip(unique, self.memory.get_many(keys), strict=True):
            vector = _decoded(record)
            if vector is not None and len(vector) == self._dimension:
                found[text] = vector
        if found:
            self.meter.add_reused()
        missing = [text for text in unique if text not in found]
        batches = [missing[start : start + _TEXTS_A_CALL] for start in range(0, len(missing), _TEXTS_A_CALL)]
        with ThreadPoolExecutor(max(1, min(self.endpoint.settings.concurrency, len(batches)))) as pool:
            for batch, rows in zip(batches, pool.map(self._asked, batches), strict=True):
                found.update(zip(batch, rows, strict=True))
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        return np.stack([found[text] for text in texts]).astype(np.float32)

    def _settle_dimension(self) -> None:
        """The dimension is known: kept from before, or that of three probes that agree, since a reply may be faulty."""
        with self._lock:
            if self._dimension:
                return
            kept = _decoded(self.memory.get(self._key(_PROBES[0])))
            if kept is not None:
                self._dimension = len(kept)
                return
            lengths: list[int] = []
            for text in _PROBES:
                row = self.pacer.call(partial(self._probe, text), on_fault=self.meter.add_fault)
                self.meter.add("embed", Usage(1))
                if lengths.count(len(row)) == 2:
                    self._dimension = len(row)
                    self.memory.put(self._key(_PROBES[0]), self._record(row))
                    return
                lengths.append(len(row))
            raise EndpointError(f"{self.model} sends vectors of changing length ({lengths}): choose another model")

    def _probe(self, text: str) -> np.ndarray:
        return np.asarray(self._unit_rows(self.endpoint.embed(self.model, [text]).rows)[0])

    def _record(self, row: np.ndarray) -> dict[str, Any]:
        vector = base64.b64encode(row.tobytes()).decode("ascii")
        return {"model": self.name, "task": "embed", "index": self.index, "vector": vector}

    def _key(self, text: str) -> str:
        return hashlib.sha256(json.dumps(["embedding", self.name, text], ensure_ascii=False).encode()).hexdigest()

    def _asked(self, batch: list[str]) -> np.ndarray:
        """(len(batch), d) unit rows from the server, kept. A batch that it refuses is asked in halves."""
        self.meter.require_budget()
        started = time.perf_counter()

        def call() -> tuple[np.ndarray, int]:
            vectors = self.endpoint.embed(self.model, batch)
            return self._checked(vectors.rows), vectors.prompt_tokens

        try:
            rows, tokens = self.pacer.call(
                call, tokens=sum(map(len, batch)) // _CHARACTERS_A_TOKEN, on_fault=self.meter.add_fault
            )
        except EndpointRefusal as error:
            if len(batch) > 1:
                middle = len(batch) // 2
                return np.concatenate([self._asked(batch[:middle]), self._asked(batch[middle:])])
            raise EndpointError(f"{error}, for the text {batch[0][:60]!r}: choose smaller chunks") from None
        except CallFailed as error:
            raise EndpointError(
                f"{error}: without its vectors the build stops; resume when the server is well"
            ) from None
        cost = self.endpoint.settings.price(self.model).of(tokens, 0)
        self.meter.add("embed", Usage(1, tokens, seconds=time.perf_counter() - started, cost=cost))
        self.memory.put_many({self._key(text): self._record(row) for text, row in zip(batch, rows, strict=True)})
        return rows

    def _checked(self, rows: list[list[float]]) -> np.ndarray:
        """The rows as unit vectors of the settled dimension; EndpointBusy for others."""
        vectors = self._unit_rows(rows)
        if vectors.shape[1] != self._dimension:
            raise EndpointBusy(f"{self.model} sent vectors of {vectors.shape[1]} dimensions, not {self._dimension}")
        return vectors

    def _unit_rows(self, rows: list[list[float]]) -> np.ndarray:
        """The rows as unit vectors; EndpointBusy for rows that are none."""
        try:
            vectors = np.asarray(rows, dtype=np.float32)
        except (ValueError, TypeError):
            raise EndpointBusy(f"{self.model} sent vectors of different lengths") from None
        if vectors.ndim != 2 or not np.isfinite(vectors).all():
            raise EndpointBusy(f"{self.model} sent vectors that are not numbers")
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        if (norms < 1e-6).any():
            raise EndpointBusy(f"{self.model} sent a zero vector")
        return np.asarray(vectors / norms, dtype=np.float32)


def _decoded(record: dict[str, Any] | None) -> np.ndarray | None:
    """The vector of a record; None for one that holds none."""
    if record is None or not isinstance(record.get("vector"), str):
        return None
    try:
        vector = np.frombuffer(base64.b64decode(record["vector"], validate=True), dtype="<f4")
    except ValueError:
        return None
    return (
        vector if len(vector) and np.isfinite(vector).all() and abs(float(np.linalg.norm(vector)) - 1) < 1e-3 else None
    )
