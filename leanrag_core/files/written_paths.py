"""Paths as a person writes them into a field."""

import os
from pathlib import Path


def written_path(text: str) -> Path:
    """Return the path. A ~ at its beginning is a folder of a user; where there is no such user, it is a name."""
    return Path(os.path.expanduser(text))  # Path.expanduser() raises there


def is_one_name(text: str) -> bool:
    """Return whether the text names a visible file or folder below another, and can lead nowhere else."""
    return bool(text) and "/" not in text and "\\" not in text and not text.startswith(".")


def is_there(path: Path) -> bool:
    """Return whether there is anything at the path, False for one that is too long for the system."""
    return os.path.exists(path)  # Path.exists() raises there
