"""JSON stores of other programs: one object a file, whose values are objects by id."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from leanrag_core.errors import ImportFailed
from leanrag_core.importing.rows import file_text
from leanrag_core.indexing.parsing.blocks import shown_name
from leanrag_core.text.plain_words import in_words

MAX_STORE_BYTES = 1_000_000_000
_MAX_LEVEL = 1000


def json_file(path: Path) -> Any:
    """Read the value of the file. Raises ImportFailed for one that is too large or no JSON."""
    try:
        if path.stat().st_size > MAX_STORE_BYTES:
            raise ImportFailed("import.too_large", file=shown_name(path.name), limit=MAX_STORE_BYTES)
        return json.loads(file_text(path))
    except (OSError, ValueError, RecursionError) as error:
        raise ImportFailed("import.unreadable", file=shown_name(path.name), reason=in_words(error)[:300]) from error


def store_rows(path: Path) -> dict[str, Mapping[str, Any]]:
    """Read the objects of the store by id, none for a file that is absent; values that are no objects are left out."""
    if not path.is_file():
        return {}
    values = json_file(path)
    if not isinstance(values, dict):
        raise ImportFailed("import.no_store", file=shown_name(path.name))
    return {str(id_): row for id_, row in values.items() if isinstance(row, dict)}


def text_of(row: Mapping[str, Any], *names: str) -> str:
    """Return the first of the values that is a text or a number and not empty."""
    for name in names:
        value = row.get(name)
        if isinstance(value, str | int | float) and str(value).strip():
            return str(value)
    return ""


def number_of(value: Any) -> float | None:
    """Return the number; None for no value, NaN for a value that is no number."""
    if value is None or value == "":
        return None
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return float("nan")


def level_of(value: Any) -> int:
    """Return the level that the value names; 0 for anything that is no level."""
    number = number_of(value)
    return int(number) if number is not None and 0 <= number < _MAX_LEVEL else 0
