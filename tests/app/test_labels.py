"""Texts of labels: what reads Markdown gets its signs escaped, and nothing else does."""

import ast
from pathlib import Path

import pytest

from leanrag_core import IndexConfig
from leanrag_core.errors import InvalidConfig
from leanrag_core.retrieval.strategies import lightrag
from leanrag_core.types.roles import Role
from pages.common.messages import as_sentence, words

PAGES = Path(__file__).parents[2] / "pages"
WITHOUT_MARKDOWN = {"selectbox", "multiselect", "dropdown"}


def escaped_options(tree: ast.Module) -> list[int]:
    """Return lines of lists whose options are escaped although they are no Markdown, in their arguments or by a
    variable."""
    lines = []
    for function in [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]:
        escaped = {
            target.id
            for node in ast.walk(function)
            if isinstance(node, ast.Assign) and "forms.plain" in ast.unparse(node.value)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for call in [node for node in ast.walk(function) if isinstance(node, ast.Call)]:
            if ast.unparse(call.func).rpartition(".")[2] in WITHOUT_MARKDOWN:
                options = ast.unparse(call)
                names = {node.id for node in ast.walk(call) if isinstance(node, ast.Name)}
                lines += [call.lineno] if "forms.plain" in options or names & escaped else []
    return lines


def test_options_of_a_list_are_not_escaped_since_they_are_no_markdown() -> None:
    files = {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(PAGES.rglob("*.py"))}
    assert {path.name: lines for path, tree in files.items() if (lines := escaped_options(tree))} == {}
    wrong = "def f():\n    titles = {1: forms.plain(x)}\n    choices.dropdown('a', 'b', titles)\n"
    assert escaped_options(ast.parse(wrong)) == [3]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("bad.csv: no column is called question", "bad.csv: no column is called question."),
        ("gpt-4o does not answer", "gpt-4o does not answer."),
        ("https://x.org refuses", "https://x.org refuses."),
        ("the file is empty", "The file is empty."),
        ("file: it is empty", "File: it is empty."),
    ],
)
def test_a_sentence_begins_with_a_capital_but_for_the_name_of_a_file(text: str, shown: str) -> None:
    assert as_sentence(text) == shown


@pytest.mark.parametrize(
    ("config", "values", "shown"),
    [
        (IndexConfig, {"chunk_tokens": 8}, "Chunk size, tokens is 8; the smallest value is 32"),
        (lightrag.Config, {"chunk_tokens": -1}, "Budget: chunks, tokens is -1; the smallest value is 0"),
        (
            IndexConfig,
            {"chunk_tokens": 64, "overlap_tokens": 128},
            "Overlap, tokens is 128; it must be smaller than Chunk size, tokens (64)",
        ),
        (
            Role,
            {"timeout_seconds": 0.5},
            "Timeout, seconds of a role is 0.5; it is at least 1.0, or 0 to be as it is for all",
        ),
    ],
)
def test_an_error_names_a_setting_by_its_title_on_pages(config: type, values: dict[str, float], shown: str) -> None:
    with pytest.raises(InvalidConfig) as refused:
        config(**values)
    assert words(refused.value) == shown
    assert next(iter(values)) in str(refused.value), "commands and Python name the field"
