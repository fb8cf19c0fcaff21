"""What people read is written in one form: checked in the source, since no test reaches every message."""

import ast
from collections.abc import Iterator
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
SOURCES = sorted([*(PROJECT / "pages").rglob("*.py"), *(PROJECT / "leanrag_core").rglob("*.py")])


def formatted(path: Path) -> Iterator[tuple[str, str]]:
    """Each value that the module puts into a text, and its format."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FormattedValue):
            yield ast.unparse(node.value), ast.unparse(node.format_spec) if node.format_spec else ""


def test_percentages_have_one_form_and_no_class_of_an_exception_is_named() -> None:
    texts = [(path.relative_to(PROJECT), value, form) for path in SOURCES for value, form in formatted(path)]
    assert len(texts) > 500
    assert [(path, value) for path, value, form in texts if "%'" in form] == [], "figures.numbers.share writes them"
    named = [(path, value) for path, value, _ in texts if "type(error).__name__" in value]
    assert named == [], "plain_words.in_words says what an exception says"
