"""Files that are either as they were or complete, whatever happens while they are written."""

import json
import os
import threading
from pathlib import Path
from typing import Any


def write_json(path: Path, value: Any) -> None:
    """The value stands in the file, keys sorted, or the file is as it was."""
    beside = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}")
    beside.write_text(json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8")
    os.replace(beside, path)
