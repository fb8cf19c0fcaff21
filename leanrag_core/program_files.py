"""Where the program's own files are: in a checkout beside this package, in an installed wheel inside it."""

from pathlib import Path

import platformdirs

_PACKAGE = Path(__file__).resolve().parent
_INSTALLED = _PACKAGE / "_program"

PACKAGES = _PACKAGE.parent
"""The folder that leanrag_core is imported from, for processes that are started with it on their path."""

PROGRAM = _INSTALLED if _INSTALLED.is_dir() else PACKAGES
"""The folder with app.py, pages and sample_corpora."""


def default_home() -> Path:
    """Return the folder of corpora, indexes and settings, unless LEANRAG_HOME names one: the checkout's cache, or
    the user's data folder where the program is installed."""
    if PROGRAM == _INSTALLED:
        return Path(platformdirs.user_data_dir("leanrag", appauthor=False))
    return PROGRAM / "cache"
