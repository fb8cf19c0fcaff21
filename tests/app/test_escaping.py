import re
from pathlib import Path

PAGES = Path(__file__).resolve().parents[2] / "pages"
BUILDER = PAGES / "common" / "html.py"
# HTML that is drawn or declared to be safe anywhere but in the builder; style sheets of our own are the exception.
SHEETS = r"colours\(\)|_style_sheet\("
AROUND = re.compile(rf"st\.html\(|from html import|^import html\b|html\.escape|Markup\((?!{SHEETS})")


def test_pages_draw_html_through_the_builder_that_escapes() -> None:
    files = [path for path in sorted(PAGES.rglob("*.py")) if path != BUILDER]
    assert len(files) > 20
    around = {
        path.name for path in files for line in path.read_text(encoding="utf-8").splitlines() if AROUND.search(line)
    }
    assert around == set()
