"""The style sheet of a comparison."""

from functools import cache
from pathlib import Path


@cache
def sheet() -> str:
    """Return its rules, beside those that all pages have."""
    return Path(__file__).with_name("compare.css").read_text(encoding="utf-8")
