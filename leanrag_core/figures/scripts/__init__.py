"""Scripts that draw figures in a browser, on the pages and in files that open without a server."""

from collections.abc import Iterable
from pathlib import Path

_HERE = Path(__file__).resolve().parent
# What playRetrieval(host, data, words, options) needs, in this order; svg.js comes before them.
PLAY = (
    "layers",
    "play_values",
    "play_figure",
    "play_cards",
    "play_controls",
    "play_notes",
    "play_map",
    "play_retrieval",
)


def script_path(name: str) -> Path:
    """Return the file of a script."""
    return _HERE / f"{name}.js"


def scripts(names: Iterable[str]) -> str:
    """Return the scripts one after the other, for a classic script element; svg.js first."""
    return "\n".join(script_path(name).read_text(encoding="utf-8") for name in ("svg", *names))


def styles(names: Iterable[str]) -> str:
    """Return the style sheets of those scripts that have one."""
    paths = (script_path(name).with_suffix(".css") for name in names)
    return "\n".join(path.read_text(encoding="utf-8") for path in paths if path.exists())
