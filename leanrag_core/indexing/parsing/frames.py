"""How the process that reads files talks to the one that asks it: a JSON header and bytes, each with its length.

Nothing is unpickled: the process has read hostile files, so what it says is data.
"""

import json
import struct
from dataclasses import asdict
from typing import IO, Any

from leanrag_core.files.records import from_json, json_bytes, plain
from leanrag_core.indexing.parsing.upload import ParsedUpload
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
