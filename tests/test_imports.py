"""What the import contract in pyproject.toml cannot see: modules that are imported by a name in a string."""

import ast

import pytest

from leanrag_core.system.environment import PROGRAM

CORE = PROGRAM / "leanrag_core"
BY_NAME = ("import_module", "__import__")
# These load what lies in a folder below them, by its file's name, and know no module by its own.
DISCOVERING = {"leanrag_core/extensions.py", "leanrag_core/commands/__init__.py"}


def imports_by_name(source: str) -> list[ast.Call]:
    calls = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call))
    return [call for call in calls if ast.unparse(call.func).rpartition(".")[2] in BY_NAME]


@pytest.mark.parametrize("written", ["import_module('leanrag_core.notebook')", "importlib.import_module(name)"])
def test_an_import_by_name_is_seen(written: str) -> None:
    assert len(imports_by_name(f"def show(name):\n    return {written}.html_of(name)\n")) == 1


def test_only_the_discovery_of_extensions_and_commands_imports_by_name() -> None:
    sources = {path.relative_to(PROGRAM).as_posix(): path.read_text(encoding="utf-8") for path in CORE.rglob("*.py")}
    importing = {name: imports_by_name(source) for name, source in sources.items()}
    assert {name for name, calls in importing.items() if calls} == DISCOVERING
    names = [call.args[0] for calls in importing.values() for call in calls]
    assert not [ast.unparse(name) for name in names if isinstance(name, ast.Constant)]
