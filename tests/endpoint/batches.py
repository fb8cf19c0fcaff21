"""A provider's batches: files of calls that are answered late, in part, out of order, twice, or not at all."""

import json
import re
import threading
from dataclasses import dataclass, field
from typing import Any

from tests.endpoint import protocol
from tests.endpoint.protocol import Refusal

_FILE = re.compile(rb'name="file"; filename="[^"]*"\r\nContent-Type: [^\r]*\r\n\r\n(.*?)\r\n--', re.DOTALL)


@dataclass
class Batch:
    """A batch as the server has it. lines: its calls. polls: how often it was asked for."""

    id: str
    file_id: str
    lines: list[dict[str, Any]]
    metadata: dict[str, str]
    status: str = "in_progress"
    polls: int = 0
    n_done: int = 0
    files: dict[str, str] = field(default_factory=dict)
    error: tuple[str, str] | None = None

    @property
    def cells(self) -> dict[str, Any]:
        """The batch as the protocol has it."""
        errors = [{"code": self.error[0], "message": self.error[1]}] if self.error else []
        return {
            "id": self.id,
            "object": "batch",
            "endpoint": "/v1/chat/completions",
            "input_file_id": self.file_id,
            "completion_window": "24h",
            "status": self.status,
            "created_at": 0,
            "metadata": self.metadata,
            "errors": {"object": "list", "data": errors} if errors else None,
            "request_counts": {"total": len(self.lines), "completed": self.n_done, "failed": 0},
            **self.files,
        }


class ScriptedBatches:
    """What a server does with batches; attributes may be changed while it runs.

    polls: how often a batch is said to be under way before it ends; a third of its calls are then done. held: none ends
    while this is set. reverse: lines come last first. twice: each line comes twice, the second one with another text.
    omit: so many calls of each batch have no line, of the first `omit_batches` of them. expire: so many batches end as
    expired with every second call done. fail: (code, message) with which batches of more than `fail_above` calls are
    refused. refuse_file: why a file is not taken. errors: {text: (status, code, message)}; a call that holds the text
    has a line with that error in the first `error_batches` batches. junk: lines that are none stand between the others.
    lose: answers to so many requests that make a batch are lost on the way. gone: ids of batches that the server does
    not know any more.
    """

    def __init__(self) -> None:
        self.polls = 0
        self.held = False
        self.reverse = self.twice = self.junk = False
        self.omit, self.omit_batches = 0, 1
        self.expire = 0
        self.fail: tuple[str, str] | None = None
        self.fail_above = 0
        self.refuse_file = ""
        self.errors: dict[str, tuple[int, str, str]] = {}
        self.error_batches = 1
        self.lose = 0
        self.gone: set[str] = set()
        self.files: dict[str, bytes] = {}
        self.made: list[Batch] = []
        self._lock = threading.RLock()

    @property
    def calls(self) -> list[str]:
        """The custom ids of all calls that were made, in their order, once for each batch that they were done in."""
        return [line["custom_id"] for batch in self.made for line in batch.lines[: batch.n_done]]

    def respond(self, served: Any, method: str, path: str, raw: bytes) -> tuple[int, bytes, bool]:
        """Return status and body, and whether the answer is lost on the way. Raises Refusal."""
        with self._lock:
            parts = path.partition("?")[0].strip("/").split("/")[1:]
            match method, parts:
                case "POST", ["files"]:
                    return 200, _json(self._upload(raw)), False
                case "GET", ["files", name, "content"] if name in self.files:
                    return 200, self.files[name], False
                case "DELETE", ["files", name] if name in self.files:
                    return 200, _json({"id": name, "object": "file", "deleted": bool(self.files.pop(name))}), False
                case "POST", ["batches"]:
                    made = self._make(protocol.body_of(raw))
                    lost = self.lose > 0
                    self.lose -= lost
                    return 200, _json(made.cells), lost
                case "GET", ["batches"]:
                    listed = [batch.cells for batch in reversed(self.made)]
                    return 200, _json({"object": "list", "data": listed, "has_more": False}), False
                case "GET", ["batches", name]:
                    return 200, _json(self._polled(served, self._batch(name)).cells), False
                case "POST", ["batches", name, "cancel"]:
                    return 200, _json(self._cancelled(self._batch(name)).cells), False
        raise Refusal(404, "not_found", f"There is no {method} {path}.")

    def _upload(self, raw: bytes) -> dict[str, Any]:
        if self.refuse_file:
            raise Refusal(400, "invalid_file", self.refuse_file)
        content = _FILE.search(raw)
        if content is None or b"batch" not in raw:
            raise Refusal(400, "invalid_file", "No file with the purpose batch.")
        name = f"file-{len(self.files) + len(self.made) + 1}"
        self.files[name] = content[1]
        return {"id": name, "object": "file", "bytes": len(content[1]), "purpose": "batch", "filename": "r.jsonl"}

    def _make(self, body: dict[str, Any]) -> Batch:
        lines = [json.loads(line) for line in self.files[body["input_file_id"]].splitlines()]
        ids = [line["custom_id"] for line in lines]
        if len(set(ids)) != len(ids):
            raise Refusal(400, "invalid_file", "custom ids are not unique")
        batch = Batch(f"batch-{len(self.made) + 1}", body["input_file_id"], lines, body.get("metadata") or {})
        if self.fail is not None and len(lines) > self.fail_above:
            batch.status, batch.error = "failed", self.fail
        self.made.append(batch)
        return batch

    def _batch(self, name: str) -> Batch:
        found = next((batch for batch in self.made if batch.id == name and name not in self.gone), None)
        if found is None:
            raise Refusal(404, "not_found", f"No batch found with id {name}.")
        return found

    def _polled(self, served: Any, batch: Batch) -> Batch:
        batch.polls += 1
        if batch.status == "in_progress" and (self.held or batch.polls <= self.polls):
            batch.n_done = len(batch.lines) // 3
        elif batch.status == "in_progress":
            expires = self.expire > 0
            self.expire -= expires
            self._end(served, batch, "expired" if expires else "completed")
        elif batch.status == "cancelling":
            self._end(served, batch, "cancelled")
        return batch

    def _cancelled(self, batch: Batch) -> Batch:
        if batch.status == "in_progress":
            batch.status = "cancelling"
        return batch

    def _end(self, served: Any, batch: Batch, status: str) -> None:
        done = batch.lines
        if status == "expired":
            done = batch.lines[::2]
        elif status == "cancelled":
            done = batch.lines[: batch.n_done]
        lines, errors = [], []
        omitted = self.omit if self.omit_batches > 0 else 0
        self.omit_batches -= 1
        for line in done[omitted:]:
            answer = self._answer(served, batch, line)
            (lines if answer["error"] is None else errors).append(answer)
        undone = [line for line in batch.lines if line not in done]
        errors += [
            {"custom_id": line["custom_id"], "response": None, "error": {"code": f"batch_{status}", "message": "late"}}
            for line in undone
        ]
        if self.twice:
            lines = [each for line in lines for each in (line, _other_text(line))]
        if self.reverse:
            lines = lines[::-1]
        batch.status, batch.n_done = status, len(done) - omitted
        for name, content in (("output_file_id", lines), ("error_file_id", errors)):
            if content:
                batch.files[name] = f"{name}-{batch.id}"
                written = [json.dumps(line) for line in content]
                if self.junk:
                    written = [each for line in written for each in ("", "not json", '{"custom_id": "who"}', line)]
                self.files[batch.files[name]] = "\n".join(written).encode()

    def _answer(self, served: Any, batch: Batch, line: dict[str, Any]) -> dict[str, Any]:
        head = {"id": f"r-{line['custom_id'][:8]}", "custom_id": line["custom_id"]}
        said = json.dumps(line["body"]["messages"])
        if len(self.made) <= self.error_batches:
            for text, (status, code, message) in self.errors.items():
                if text in said:
                    cells = {"error": {"message": message, "type": "error", "code": code}}
                    error = {"code": code, "message": message}
                    return {
                        **head,
                        "response": {"status_code": status, "request_id": "r", "body": cells},
                        "error": error,
                    }
        try:
            body = protocol.respond(served, "chat", line["body"]).cells
        except Refusal as refusal:
            response = {"status_code": refusal.status, "request_id": "r", "body": refusal.cells}
            return {**head, "response": response, "error": {"code": "refused", "message": "refused"}}
        return {**head, "response": {"status_code": 200, "request_id": "r", "body": body}, "error": None}


def _other_text(line: dict[str, Any]) -> dict[str, Any]:
    other = json.loads(json.dumps(line))
    other["response"]["body"]["choices"][0]["message"]["content"] = "the same call, done twice"
    return other


def _json(cells: dict[str, Any]) -> bytes:
    return json.dumps(cells).encode()
