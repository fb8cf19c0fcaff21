"""Batches at a server that speaks OpenAI's protocol: a file of requests goes up, a file of answers comes down."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from leanrag_core.errors import EndpointBusy, EndpointError
from leanrag_core.models.connection import azure_address
from leanrag_core.models.endpoint import Endpoint, Reply, with_text
from leanrag_core.types.batches import SentBatch, SentCall

_ENDED = frozenset(("completed", "failed", "expired", "cancelled", "canceled"))
_STATUS_SECONDS = 5.0  # for a question about the server itself
_WINDOW = "24h"  # the only one that providers offer
_LISTED = 100  # the newest batches of an account, among which one is looked for
_MARK = "leanrag-batch"
_NOT_DONE = frozenset(("batch_expired", "batch_cancelled"))  # codes of calls that the provider did not make


@dataclass(frozen=True)
class BatchState:
    """What a server says of a batch. files: ids of those with replies and errors. code, reason: why it was refused."""

    status: str
    answered: int
    files: tuple[str, ...] = ()
    code: str = ""
    reason: str = ""

    @property
    def ended(self) -> bool:
        """Whether nothing more will come."""
        return self.status in _ENDED


@dataclass(frozen=True)
class Answer:
    """A line of a file of answers. outcome: the reply, or why there is none."""

    call: SentCall
    outcome: Reply | EndpointError


def has_batches(endpoint: Endpoint) -> bool:
    """Ask the server whether it takes batches: whether it lists them."""
    try:
        listed = endpoint.using(lambda client: client.batches.list(limit=1, timeout=_STATUS_SECONDS))
    except EndpointError:
        return False
    return isinstance(getattr(listed, "data", None), list)


def _path(endpoint: Endpoint) -> str:
    """Return where the calls of a batch go."""
    return "/v1/chat/completions" if azure_address(endpoint.settings.base_url) is None else "/chat/completions"


def request_line(endpoint: Endpoint, call: SentCall, body: dict[str, Any]) -> bytes:
    """Return the line of a file of requests for that call."""
    cells = {"custom_id": call.custom_id, "method": "POST", "url": _path(endpoint), "body": body}
    return json.dumps(cells, ensure_ascii=False).encode() + b"\n"


def upload(endpoint: Endpoint, lines: Sequence[bytes]) -> str:
    """Upload a file of requests; return its id. Raises as Endpoint.chat()."""
    content = b"".join(lines)
    return str(endpoint.using(lambda client: client.files.create(file=("requests.jsonl", content), purpose="batch").id))


def create(endpoint: Endpoint, batch: SentBatch) -> str:
    """Have the server make the batch; return its id. Raises as Endpoint.chat()."""
    created = endpoint.using(
        lambda client: client.batches.create(
            completion_window=_WINDOW, endpoint=_path(endpoint), input_file_id=batch.file_id, metadata={_MARK: batch.id}
        )
    )
    return str(created.id)


def find(endpoint: Endpoint, batch: SentBatch) -> str:
    """Return the id of the batch among the newest of the account, by its file; empty where it was not made. Raises as
    Endpoint.chat()."""
    batches = endpoint.using(lambda client: client.batches.list(limit=_LISTED)).data
    return next((str(each.id) for each in batches if each.input_file_id == batch.file_id), "")


def state_of(endpoint: Endpoint, batch: SentBatch) -> BatchState:
    """Return how far the batch is. Raises as Endpoint.chat()."""
    remote_batch = endpoint.using(lambda client: client.batches.retrieve(batch.batch_id))
    counts = getattr(remote_batch, "request_counts", None)
    n_answered = sum(getattr(counts, name, 0) or 0 for name in ("completed", "failed"))
    files = (getattr(remote_batch, name, None) for name in ("output_file_id", "error_file_id"))
    errors = getattr(getattr(remote_batch, "errors", None), "data", None) or ()
    first = errors[0] if errors else None
    return BatchState(
        str(remote_batch.status or "").lower(),
        n_answered,
        tuple(file for file in files if file),
        str(getattr(first, "code", "") or ""),
        str(getattr(first, "message", "") or "")[:200],
    )


def cancel(endpoint: Endpoint, batch: SentBatch) -> None:
    """Ask the server to end the batch; what it has made by then is paid. Raises as Endpoint.chat()."""
    batch_id = batch.batch_id or find(endpoint, batch)
    if batch_id:
        endpoint.using(lambda client: client.batches.cancel(batch_id, timeout=_STATUS_SECONDS))


def download(endpoint: Endpoint, file_id: str) -> bytes:
    """Return the content of a file of answers. Raises as Endpoint.chat()."""
    return bytes(endpoint.using(lambda client: client.files.content(file_id).content))


def delete_file(endpoint: Endpoint, file_id: str) -> None:
    """Delete a file at the provider. Raises as Endpoint.chat()."""
    endpoint.using(lambda client: client.files.delete(file_id))


def answers(endpoint: Endpoint, batch: SentBatch, output: bytes) -> Iterator[Answer]:
    """Yield one answer for each call that the output has one of: of several the first reply, else the first error.

    Invalid lines, lines that nobody asked for, and those of calls that the provider did not make are skipped.
    """
    of_id = {call.custom_id: call for call in batch.calls}
    errors: dict[str, Answer] = {}
    answered: set[str] = set()
    for custom_id, cells in _lines(output.splitlines()):
        if custom_id not in of_id or custom_id in answered:
            continue
        outcome = _outcome(endpoint, batch, of_id[custom_id], cells)
        if isinstance(outcome, Reply):
            answered.add(custom_id)
            yield Answer(of_id[custom_id], outcome)
        elif outcome is not None:
            errors.setdefault(custom_id, Answer(of_id[custom_id], outcome))
    yield from (answer for custom_id, answer in errors.items() if custom_id not in answered)


def _lines(lines: Iterable[bytes]) -> Iterator[tuple[str, dict[str, Any]]]:
    for line in lines:
        try:
            cells = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(cells, dict):
            yield str(cells.get("custom_id")), cells


def _outcome(
    endpoint: Endpoint, batch: SentBatch, call: SentCall, cells: dict[str, Any]
) -> Reply | EndpointError | None:
    """Return the reply of a line, or our error; None for a call that the provider did not make."""
    response, error = cells.get("response"), cells.get("error")
    if not isinstance(response, dict):
        error = error if isinstance(error, dict) else {}
        if str(error.get("code")) in _NOT_DONE:
            return None
        reason = str(error.get("message") or error.get("code") or "")[:200]
        return EndpointBusy("endpoint.no_reply", address=endpoint.address, reason=reason)
    status = response.get("status_code")
    try:
        reply = endpoint.read_answer(
            batch.model, status if isinstance(status, int) else 200, response.get("body"), as_json=call.as_json
        )
        return with_text(reply, batch.model)
    except EndpointError as problem:
        return problem
