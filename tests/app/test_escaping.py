import re
from pathlib import Path

PAGES = Path(__file__).resolve().parents[2] / "pages"


def test_pages_escape_by_the_one_function_that_shows_what_is_not_seen() -> None:
    files = sorted(PAGES.rglob("*.py"))
    assert len(files) > 20
    direct = [
        path.name for path in files if re.search(r"from html import|import html\b|html\.escape", path.read_text())
    ]
    assert direct == []
