"""A graph is looked at in a process of its own, as documents are read: what it holds may take any time and memory.

The process is this module: it is told what to look at on its standard input, and answers on its standard output.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

from leanrag_core.errors import ImportFailed, LeanRAGError
from leanrag_core.files.records import from_json, json_bytes, plain
from leanrag_core.importing.base import Restorer, graph_by, importer, importer_for, preview_of
from leanrag_core.indexing.parsing.blocks import shown_name
from leanrag_core.indexing.parsing.limits import ParseLimits, limit_memory
from leanrag_core.messages.message import Message
from leanrag_core.system.environment import PACKAGES, without_secrets
from leanrag_core.types.imported import ImportPreview

_MEMORY_OF_FILES = 15  # times their size, which a graph takes as objects
_MEGABYTE = 1 << 20
_MAX_ANSWER = 100_000_000


def confined_preview(path: Path, format_name: str, limits: ParseLimits) -> ImportPreview:
    """Describe what an import of the path would make and leave out, within the time of an archive, and the memory of
    a document plus that for files of such a size. Raises ImportFailed, InvalidConfig."""
    chosen = importer_for(path, format_name)
    if isinstance(chosen, Restorer):
        return chosen.preview(path)
    memory_mb = limits.memory_mb + _MEMORY_OF_FILES * _size_bytes(path) // _MEGABYTE
    request = {"path": str(path), "format": chosen.name, "memory_mb": memory_mb}
    paths = [str(PACKAGES), os.environ.get("PYTHONPATH", "")]
    try:
        process = subprocess.run(
            [sys.executable, "-P", "-m", "leanrag_core.importing.confined"],
            input=json_bytes(request),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=limits.archive_seconds,
            env={**without_secrets(), "PYTHONPATH": os.pathsep.join(filter(None, paths))},
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise ImportFailed("import.took_too_long", file=_shown(path), seconds=limits.archive_seconds) from error
    kind, answer = process.stdout[:1], process.stdout[1:]
    if kind == b"p":
        return from_json(ImportPreview, answer, max_bytes=_MAX_ANSWER)
    if kind == b"e":
        raise ImportFailed(from_json(Message, answer, max_bytes=_MAX_ANSWER))
    raise ImportFailed("import.reader_ended", file=_shown(path), limit=memory_mb)


def _shown(path: Path) -> str:
    return shown_name(path.resolve().name)


def _size_bytes(path: Path) -> int:
    files = [path] if path.is_file() else [each for each in path.rglob("*") if each.is_file() and not each.is_symlink()]
    return sum(file.stat().st_size for file in files)


def main() -> None:
    """Answer the one request: p and the preview, or e and the reason why there is none; nothing where memory ends."""
    request = json.loads(sys.stdin.buffer.read())
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # output of a library must not mix with the answer
    limit_memory(request["memory_mb"] * _MEGABYTE)
    path, chosen = Path(request["path"]), importer(request["format"])
    try:
        answer = b"p" + json_bytes(plain(preview_of(graph_by(chosen, path), chosen.name)))
    except MemoryError:
        return
    except LeanRAGError as error:
        answer = b"e" + json_bytes(plain(error.message))
    answers.write(answer)
    answers.close()


if __name__ == "__main__":
    main()
