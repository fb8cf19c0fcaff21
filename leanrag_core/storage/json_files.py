"""JSON files of an index, read as what anybody may have written: of a bounded size and depth, every number finite.

A sealed object carries the hash of its other values, so that a changed character is noticed where no other file says
what it should be.
"""

import hashlib
import json
from pathlib import Path
from typing import Any

from leanrag_core.errors import IndexDamaged
from leanrag_core.plain_words import in_words

SEAL = "sha256"
REMEDY = "delete the index in the app and build it again"


def read_object(path: Path, *, most_bytes: int) -> dict[str, Any]:
    """The JSON object in the file. Raises IndexDamaged, naming the file, for anything else."""
    try:
        size = path.stat().st_size
        if size > most_bytes:
            raise IndexDamaged(f"{path} has {size:,} bytes, more than {most_bytes:,}: {REMEDY}")
        value = json.loads(path.read_bytes(), parse_constant=_refuse, parse_float=_finite)
        if not isinstance(value, dict):
            raise ValueError("it holds no JSON object")
        _canonical(value)  # a lone surrogate can be read, but neither shown nor written
    except RecursionError as error:
        raise IndexDamaged(f"{path} cannot be read (it is nested too deeply): {REMEDY}") from error
    except (OSError, ValueError) as error:
        raise IndexDamaged(f"{path} cannot be read ({in_words(error)}): {REMEDY}") from error
    return value


def sealed(values: dict[str, Any]) -> dict[str, Any]:
    """The values with their own hash."""
    bare = {name: value for name, value in values.items() if name != SEAL}
    return {**bare, SEAL: hashlib.sha256(_canonical(bare)).hexdigest()}


def require_seal(values: dict[str, Any], path: Path) -> None:
    """Raises IndexDamaged when the values are not those that were sealed; what was never sealed passes."""
    if SEAL in values and values != sealed(values):
        raise IndexDamaged(f"{path} was changed after it was written: {REMEDY}")


def _canonical(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode()


def _refuse(name: str) -> float:
    raise ValueError(f"{name} is no number")


def _finite(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise ValueError(f"{text} is too large a number")
    return number
