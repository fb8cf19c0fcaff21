"""The style sheet of Evaluate."""

from functools import cache
from pathlib import Path


@cache
def sheet() -> str:
    """Its rules, beside those that all pages have."""
    return Path(__file__).with_name("evaluate.css").read_text(encoding="utf-8")
