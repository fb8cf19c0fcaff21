"""Embedding models at an endpoint: paced, metered, every vector checked and kept."""

import base64
import hashlib
import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np

from leanrag_core.errors import CallFailed, EndpointBusy, EndpointError, EndpointRefusal, RecordDamaged
from leanrag_core.files.records import from_values
from leanrag_core.models.endpoint import Endpoint
from leanrag_core.models.pacing import Meter, Pacer
from leanrag_core.models.remote import CallMemory
from leanrag_core.types.calls import CallRecord, Usage
from leanrag_core.types.config import endpoint_model
from leanrag_core.types.roles import Role

_TEXTS_A_CALL = 64
_PROBES = ("bees make honey", "a river runs to the sea", "seven hills", "the king is dead", "snow", "iron rusts")
_CHARACTERS_A_TOKEN = 4  # for the pace only


@dataclass(frozen=True)
class EmbeddingForm:
    """How texts are embedded beside the model's name. query, passage: before each text that one searches with, and
    before each that is searched. dimensions: that are asked for, 0 for all; more: of each request, as JSON."""

    query: str = ""
    passage: str = ""
    dimensions: int = 0
    more: str = ""

    @property
    def fields(self) -> dict[str, Any]:
        """Fields of each request beside the texts."""
        dimensions_field = {"dimensions": self.dimensions} if self.dimensions else {}
        return {**(json.loads(self.more) if self.more else {}), **dimensions_field}


def form_of(role: Role) -> EmbeddingForm:
    """Return the form in which the role embeds now."""
    more = json.dumps(role.body_fields, sort_keys=True) if role.body_fields else ""
    return EmbeddingForm(role.query_prefix, role.passage_prefix, role.dimensions, more)


def recorded_form(name: str, fingerprint: str) -> EmbeddingForm:
    """Return the form that a fingerprint of the model records, so that an index is asked as it was built."""
    text = fingerprint.removeprefix(f"{name}@")
    if not text.startswith("{"):
        return EmbeddingForm()
    try:
        return from_values(EmbeddingForm, json.loads(text))
    except (ValueError, RecordDamaged):
        return EmbeddingForm()


class RemoteEmbeddingModel:
    """An embedding model. See EmbeddingModel. Vectors are checked and normalised; each text is asked for once. form:
    how texts are embedded; a part of the fingerprint."""

    def __init__(
        self,
        model: str,
        endpoint: Endpoint,
        pacer: Pacer,
        meter: Meter,
        memory: CallMemory,
        *,
        index: str = "",
        form: EmbeddingForm | None = None,
    ) -> None:
        self.model = model
        self.name = endpoint_model(model)
        self.form = form or EmbeddingForm()
        self.endpoint, self.pacer, self.meter, self.memory = endpoint, pacer, meter, memory
        self.index = index
        self._lock = threading.Lock()
        self._dimension = 0

    @property
    def fingerprint(self) -> str:
        """The name: a server does not identify its weights. With the form, where it is not the plain one."""
        form_values = {name: value for name, value in asdict(self.form).items() if value}
        return (
            f"{self.name}@{json.dumps(form_values, sort_keys=True, ensure_ascii=False)}" if form_values else self.name
        )

    @property
    def dimension(self) -> int:
        """Length of a vector, as three replies of the server agree on it."""
        self._settle_dimension()
        return self._dimension

    def embed(self, texts: list[str]) -> np.ndarray:
        """Return (len(texts), d) float32 unit rows. Raises EndpointError when the server gives no usable vector."""
        return self._rows([f"{self.form.passage}{text}" for text in texts] if self.form.passage else texts)

    def embed_queries(self, texts: list[str]) -> np.ndarray:
        """Return (len(texts), d) float32 unit rows of texts that one searches with. Raises as embed()."""
        return self._rows([f"{self.form.query}{text}" for text in texts] if self.form.query else texts)

    def _rows(self, texts: list[str]) -> np.ndarray:
        """Return (len(texts), d) float32 unit rows of the texts as they are sent."""
        self._settle_dimension()
        unique = list(dict.fromkeys(texts))
        vectors = self._kept(unique)
        if vectors:
            self.meter.add_reused()
        missing = [text for text in unique if text not in vectors]
        batches = [missing[start : start + _TEXTS_A_CALL] for start in range(0, len(missing), _TEXTS_A_CALL)]
        with ThreadPoolExecutor(max(1, min(self.endpoint.settings.concurrency, len(batches)))) as pool:
            for batch, rows in zip(batches, pool.map(self._asked, batches), strict=True):
                vectors.update(zip(batch, rows, strict=True))
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        return np.stack([vectors[text] for text in texts]).astype(np.float32)

    def _kept(self, texts: list[str]) -> dict[str, np.ndarray]:
        """Return the stored vectors of those texts that were asked for before, each (d,) float32."""
        records = self.memory.get_many([self._key(text) for text in texts])
        vectors = {text: _decoded(record) for text, record in zip(texts, records, strict=True)}
        return {
            text: vector for text, vector in vectors.items() if vector is not None and len(vector) == self._dimension
        }

    def _settle_dimension(self) -> None:
        """Find out the dimension: kept from before, or that of three probes that agree, since a reply may be faulty."""
        with self._lock:
            if self._dimension:
                return
            with self.memory.locked(self._key(_PROBES[0])):
                self._probe_dimension()

    def _probe_dimension(self) -> None:
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
        raise EndpointError("embedding.changing_length", model=self.model, lengths=str(lengths))

    def _probe(self, text: str) -> np.ndarray:
        """Embed the text, and return its (d,) float32 unit vector."""
        return np.asarray(unit_rows(self.endpoint.embed(self.model, [text], self.form.fields).rows, self.model)[0])

    def _record(self, row: np.ndarray) -> CallRecord:
        """Make the record of a text's vector. row: (d,) float32."""
        vector = base64.b64encode(row.tobytes()).decode("ascii")
        return CallRecord(model=self.name, task="embed", index=self.index, vector=vector)

    def _key(self, text: str) -> str:
        made_of: list[Any] = ["embedding", self.name, text]
        if self.form.fields:
            made_of.append(self.form.fields)
        return hashlib.sha256(json.dumps(made_of, sort_keys=True, ensure_ascii=False).encode()).hexdigest()

    def _asked(self, batch: list[str]) -> np.ndarray:
        """Return (len(batch), d) float32 unit rows. Equal batches at a time are asked for once, in all processes."""
        with self.memory.locked(hashlib.sha256("".join(map(self._key, batch)).encode()).hexdigest()):
            known = self._kept(batch)  # by the caller that had the lock before
            missing = [text for text in batch if text not in known]
            if missing:
                known.update(zip(missing, self._from_server(missing), strict=True))
        return np.stack([known[text] for text in batch])

    def _from_server(self, batch: list[str]) -> np.ndarray:
        """Ask the server for (len(batch), d) float32 unit rows, and store them. A batch that it refuses is asked in
        halves."""
        self.meter.require_budget()
        started = time.perf_counter()

        def call() -> tuple[np.ndarray, int]:
            """Return the (len(batch), d) float32 unit rows, and the tokens that the server counted."""
            vectors = self.endpoint.embed(self.model, batch, self.form.fields)
            return self._checked(vectors.rows), vectors.prompt_tokens

        try:
            rows, tokens = self.pacer.call(
                call, tokens=sum(map(len, batch)) // _CHARACTERS_A_TOKEN, on_fault=self.meter.add_fault
            )
        except EndpointRefusal as error:
            if len(batch) > 1:
                middle = len(batch) // 2
                return np.concatenate([self._from_server(batch[:middle]), self._from_server(batch[middle:])])
            raise EndpointError("embedding.refused", problem=error.message, text=batch[0][:60]) from None
        except CallFailed as error:
            raise EndpointError("embedding.failed", problem=error.message) from None
        cost = self.endpoint.settings.price(self.model).of(tokens, 0)
        self.meter.add("embed", Usage(1, tokens, seconds=time.perf_counter() - started, cost=cost))
        self.memory.put_many({self._key(text): self._record(row) for text, row in zip(batch, rows, strict=True)})
        return rows

    def _checked(self, rows: list[list[float]]) -> np.ndarray:
        """Return the rows as (n, d) float32 unit vectors of the settled dimension. Raises EndpointBusy for others."""
        vectors = unit_rows(rows, self.model)
        if vectors.shape[1] != self._dimension:
            raise EndpointBusy(
                "embedding.wrong_dimension", model=self.model, sent=int(vectors.shape[1]), expected=self._dimension
            )
        return vectors


def unit_rows(rows: list[list[float]], model: str) -> np.ndarray:
    """Return the rows that the model sent as (n, d) float32 unit vectors. Raises EndpointBusy for rows that are not
    vectors."""
    try:
        vectors = np.asarray(rows, dtype=np.float32)
    except (ValueError, TypeError):
        raise EndpointBusy("embedding.different_lengths", model=model) from None
    if vectors.ndim != 2 or not np.isfinite(vectors).all():
        raise EndpointBusy("embedding.not_numbers", model=model)
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    if (norms < 1e-6).any():
        raise EndpointBusy("embedding.zero_vector", model=model)
    return np.asarray(vectors / norms, dtype=np.float32)


def _decoded(record: CallRecord | None) -> np.ndarray | None:
    """Return the vector of a record, (d,) float32; None for a record without one."""
    if record is None or record.vector is None:
        return None
    try:
        vector = np.frombuffer(base64.b64decode(record.vector, validate=True), dtype="<f4")
    except ValueError:
        return None
    return (
        vector if len(vector) and np.isfinite(vector).all() and abs(float(np.linalg.norm(vector)) - 1) < 1e-3 else None
    )
