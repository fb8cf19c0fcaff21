"""The question set that a command names: one that is stored, or a file."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from leanrag_core.workbench import Workbench


def question_set_of(given: str, bench: "Workbench") -> str:
    """Return the id of the set; a file is stored as one first. Raises InvalidConfig for a file that does not read."""
    path = Path(given)
    return bench.question_sets.add_file(path.name, path.read_bytes()) if path.is_file() else given
