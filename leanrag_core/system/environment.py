"""This process's environment without what other processes need not know, and where the program's own files are."""

import os
import re
from pathlib import Path

import platformdirs

_SECRET = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.I)


def holds_secrets() -> bool:
    """Return whether a variable is named like a key or password."""
    return any(_SECRET.search(name) for name in os.environ)


def without_secrets() -> dict[str, str]:
    """Return all variables except those that are named like a key or password."""
    return {name: value for name, value in os.environ.items() if not _SECRET.search(name)}


_PACKAGE = Path(__file__).resolve().parents[1]
_INSTALLED = _PACKAGE / "_program"

PACKAGES = _PACKAGE.parent
"""The folder that leanrag_core is imported from, for processes that are started with it on their path."""

PROGRAM = _INSTALLED if _INSTALLED.is_dir() else PACKAGES
"""The folder with app.py, pages and sample_corpora."""

API_PORT_VARIABLE = "LEANRAG_API_PORT"
"""Tells the app to serve the API for programs beside it, at that port."""


def default_home() -> Path:
    """Return the folder of corpora, indexes and settings, unless LEANRAG_HOME names one: the checkout's cache, or
    the user's data folder where the program is installed."""
    if PROGRAM == _INSTALLED:
        return Path(platformdirs.user_data_dir("leanrag", appauthor=False))
    return PROGRAM / "cache"
