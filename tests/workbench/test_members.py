"""How the workbench is made: members with a subject each, and no method that only hands on."""

import ast
import inspect
from pathlib import Path

import pytest

from leanrag_core import Workbench
from leanrag_core.system.environment import PROGRAM

FILES = sorted((PROGRAM / "leanrag_core" / "workbench").glob("*.py"))


def hands_on(method: ast.FunctionDef) -> bool:
    """Return whether all that the method does is to call a method of another object with its own arguments."""
    body = [each for each in method.body if not (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant))]
    if len(body) != 1 or not isinstance(body[0], ast.Return | ast.Expr) or not isinstance(body[0].value, ast.Call):
        return False
    call, taken = body[0].value, method.args
    names = [each.arg for each in (*taken.posonlyargs, *taken.args, *taken.kwonlyargs)][1:]
    given = [*call.args, *(each.value for each in call.keywords)]
    is_of_member = isinstance(call.func, ast.Attribute) and ast.unparse(call.func.value).startswith("self.")
    return is_of_member and [ast.unparse(each) for each in given] == names and bool(names)


def methods(source: str) -> list[ast.FunctionDef]:
    classes = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ClassDef))
    return [each for kind in classes for each in kind.body if isinstance(each, ast.FunctionDef)]


def test_a_method_that_hands_on_is_seen() -> None:
    source = "class A:\n    def read(self, id_, *, whole=False):\n        return self.store.read(id_, whole=whole)\n"
    assert [hands_on(each) for each in methods(source)] == [True]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_no_method_only_hands_on(path: Path) -> None:
    assert [each.name for each in methods(path.read_text(encoding="utf-8")) if hands_on(each)] == []


def test_a_workbench_has_members_and_inherits_nothing(tmp_path: Path) -> None:
    assert Workbench.__bases__ == (object,)
    bench = Workbench(tmp_path)
    files = {path.stem for path in FILES} - {"__init__", "experiment_asking", "samples"}
    assert files <= set(vars(bench))
    for name in files:
        assert type(getattr(bench, name)).__module__ in (f"leanrag_core.workbench.{name}",)


def test_no_method_takes_more_than_seven_parameters_and_options() -> None:
    def n_parameters(method: ast.FunctionDef) -> int:
        return len(method.args.posonlyargs) + len(method.args.args) + len(method.args.kwonlyargs) - 1

    found = {f"{path.stem}.{each.name}": n_parameters(each) for path in FILES for each in methods(path.read_text())}
    assert {name for name, n in found.items() if n > 7} == set()


def test_every_daily_method_about_an_index_takes_it_or_its_id_or_its_path() -> None:
    daily = {name: method for name, method in inspect.getmembers(Workbench, inspect.isfunction) if name[0] != "_"}
    first = {name: list(inspect.signature(method).parameters.values())[1:2] for name, method in daily.items()}
    about = {name: each[0].annotation for name, each in first.items() if each and each[0].name == "index"}
    assert {"ask", "retrieve", "answer", "export", "suggest"} <= set(about)
    assert {str(annotation) for annotation in about.values()} == {
        "leanrag_core.types.index.Index | str | pathlib.Path",
    }
