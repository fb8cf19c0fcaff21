"""The process in which files are read: asked on its standard input, it answers on its standard output.

It is started by `confined`, which ends it when a file takes too long or too much. When the parent process is gone, its
own limits still hold: the alarm, and the memory that the system grants.
"""

import json
import os
import select
import signal
import struct
import sys
import threading
import time
from dataclasses import asdict
from typing import IO, Any, BinaryIO

from leanrag_core.files.records import from_json, json_bytes, plain
from leanrag_core.indexing.parsing.limits import ParseLimits, limit_memory
from leanrag_core.indexing.parsing.upload import Begun, ParsedUpload, parse_parts
from leanrag_core.types.corpus import Refusal, document_of

_LENGTHS = struct.Struct(">QQ")  # of the header, of the body


class FrameTooLarge(Exception):
    """A frame is longer than its reader takes."""


def write_frame(stream: IO[bytes], header: dict[str, Any], body: bytes = b"") -> None:
    """Write the frame to the stream and flush it."""
    head = json.dumps(header).encode()
    stream.write(_LENGTHS.pack(len(head), len(body)) + head)
    stream.write(body)
    stream.flush()


def read_frame(stream: IO[bytes], max_bytes: int) -> tuple[dict[str, Any], bytes] | None:
    """Return header and body; None at the end of the stream. Raises FrameTooLarge, ValueError."""
    lengths = stream.read(_LENGTHS.size)
    if len(lengths) < _LENGTHS.size:
        return None
    head_length, body_length = _LENGTHS.unpack(lengths)
    if head_length + body_length > max_bytes:
        raise FrameTooLarge
    head, body = stream.read(head_length), stream.read(body_length)
    if len(head) < head_length or len(body) < body_length:
        return None
    header = json.loads(head)
    if not isinstance(header, dict):
        raise ValueError("a frame's header is no object")
    return header, body


def packed(upload: ParsedUpload) -> tuple[dict[str, Any], bytes]:
    """Return the upload as a header and the texts of its documents as a body."""
    texts = [document.text.encode() for document in upload.documents]
    documents = [
        {**asdict(document), "text": len(text)} for document, text in zip(upload.documents, texts, strict=True)
    ]
    refusals = [plain(refusal) for refusal in upload.refusals]
    return {"documents": documents, "refusals": refusals}, b"".join(texts)


def unpacked(header: dict[str, Any], body: bytes) -> ParsedUpload:
    """Return the upload of a header and its body."""
    documents, start = [], 0
    for cells in header["documents"]:
        end = start + cells["text"]
        documents.append(document_of({**cells, "text": body[start:end].decode()}))
        start = end
    return ParsedUpload(
        tuple(documents), tuple(from_json(Refusal, json_bytes(values)) for values in header["refusals"])
    )


_IDLE_SECONDS = 120.0  # then it ends by itself; the next file starts another one
_GRACE_SECONDS = 5.0  # after the time in which the parent process ends it
_MAX_REQUEST = 1 << 40
_OF_ITS_OWN = 0.9  # of the memory; what is left is for the libraries' files, which the system does not count here


def main() -> None:
    """Answer requests until the parent process closes the pipe."""
    requests = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)  # output of a library must not mix with the frames
    threading.Thread(target=_end_with_parent, args=(os.getppid(),), daemon=True).start()
    while _is_asked(requests):
        frame = read_frame(requests, _MAX_REQUEST)
        if frame is None:
            return
        header, content = frame
        if not _answer(answers, header, content):
            return


def _is_asked(requests: BinaryIO) -> bool:
    if sys.platform == "win32":
        return True  # pipes cannot be waited for there
    return bool(select.select([requests], [], [], _IDLE_SECONDS)[0])


def _answer(answers: BinaryIO, header: dict[str, Any], content: bytes) -> bool:
    """Send the file's parts, each after its name; False when the process is no longer fit for another file."""
    limits = ParseLimits(**header["limits"])
    limit_memory(int(_OF_ITS_OWN * limits.memory_bytes))
    try:
        for part in parse_parts(header["name"], content, done=header["done"], broken=frozenset(header["broken"])):
            if isinstance(part, Begun):
                _set_alarm(limits.seconds + _GRACE_SECONDS)
                write_frame(answers, {"begun": part.name} | ({"portion": True} if part.portion else {}))
                continue
            if not _sent(answers, part, limits.output_bytes):
                write_frame(answers, {"broken": "output"})
                return False
        write_frame(answers, {"end": True})
    except MemoryError:
        write_frame(answers, {"broken": "memory"})
        return False
    _set_alarm(0.0)
    return True


def _sent(answers: BinaryIO, part: ParsedUpload, max_bytes: int) -> bool:
    """Send the part where it is short enough, and return whether it was."""
    header, texts = packed(part)
    if len(texts) > max_bytes:
        return False
    write_frame(answers, header, texts)
    return True


def _set_alarm(seconds: float) -> None:
    """Have the system end this process after so many seconds, whatever it does; never, for 0."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds)


def _end_with_parent(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


if __name__ == "__main__":
    main()
