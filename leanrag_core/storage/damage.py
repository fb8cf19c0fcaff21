"""The error for a file of an index that is not what was written."""

from pathlib import Path

from leanrag_core.errors import IndexDamaged
from leanrag_core.messages.message import Message


def damaged(path: Path, problem: Message) -> IndexDamaged:
    """That the file has this problem, and what to do. The value "row" of the problem is a row of the file's table."""
    return IndexDamaged("index.damaged", path=str(path), problem=problem)
