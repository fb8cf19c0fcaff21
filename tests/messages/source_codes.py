"""The codes of messages that the source uses and the values of its texts, read from its syntax trees."""

import ast
import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from leanrag_core import errors
from leanrag_core.system.threads import collector_paused

PROJECT = Path(__file__).resolve().parents[2]
CODE = errors._CODE
_SHORTHANDS = {"message", "Message"}
_KINDS = (ast.Call, ast.ClassDef, ast.Constant, ast.FormattedValue, ast.JoinedStr)


@dataclass(frozen=True)
class Use:
    """A message that is made in the source. values: the names given to it, None where they are not literal."""

    place: str
    code: str
    values: frozenset[str] | None


@dataclass(frozen=True)
class Module:
    """A source file and the nodes of its tree that say something of messages and texts."""

    path: str
    nodes: tuple[ast.AST, ...]


@cache
@collector_paused()
def modules() -> tuple[Module, ...]:
    """Read the source without its tests."""
    files = [PROJECT / "app.py", *(PROJECT / "leanrag_core").rglob("*.py"), *(PROJECT / "pages").rglob("*.py")]
    return tuple(Module(path.relative_to(PROJECT).as_posix(), _nodes(path)) for path in sorted(files))


def _nodes(path: Path) -> tuple[ast.AST, ...]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return tuple(node for node in ast.walk(tree) if isinstance(node, _KINDS))


@cache
def error_classes() -> dict[str, frozenset[str]]:
    """Return the classes of errors that carry messages, each with the parameters that are no values of its message."""
    own = {
        name: frozenset(inspect.signature(kind).parameters) - {"code", "values"}
        for name, kind in vars(errors).items()
        if inspect.isclass(kind) and issubclass(kind, errors.LeanRAGError)
    }
    classes = [(node, base) for module in modules() for node in module.nodes if isinstance(node, ast.ClassDef)
               for base in node.bases]  # fmt: skip
    n_known = 0
    while len(own) > n_known:
        n_known = len(own)
        for node, base in classes:
            name = base.id if isinstance(base, ast.Name) else base.attr if isinstance(base, ast.Attribute) else ""
            if name in own:
                own.setdefault(node.name, own[name])
    return own


@cache
def made_messages() -> tuple[tuple[Module, ast.Call], ...]:
    """Return each call that makes a message or raises one."""
    made = []
    for module in modules():
        for node in module.nodes:
            if isinstance(node, ast.Call) and node.args:
                has_code = any(CODE.fullmatch(text) for text in literals(node.args[0]))
                if _name(node) in error_classes() or (_name(node) in _SHORTHANDS and has_code):
                    made.append((module, node))
    return tuple(made)


def uses() -> Iterator[Use]:
    """Yield each literal code with the names of its values."""
    for module, call in made_messages():
        for text in literals(call.args[0]):
            if CODE.fullmatch(text):
                yield Use(f"{module.path}:{call.lineno}", text, _value_names(call))


def texts_without_code() -> Iterator[str]:
    """Yield where an error is raised with a sentence instead of a code."""
    for module, call in made_messages():
        first = call.args[0]
        if any(isinstance(node, ast.JoinedStr) for node in _choices(first)) or any(
            not CODE.fullmatch(text) for text in literals(first)
        ):
            yield f"{module.path}:{call.lineno}"


def mentioned() -> frozenset[str]:
    """Return all literal texts of the source that have the form of a code."""
    return frozenset(
        node.value
        for module in modules()
        for node in module.nodes
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and CODE.fullmatch(node.value)
    )


def patterns() -> frozenset[str]:
    """Return the beginnings of codes that are completed when the program runs: f"count.{kind}" gives "count."."""
    starts: set[str] = set()
    for module in modules():
        for node in module.nodes:
            if isinstance(node, ast.JoinedStr) and isinstance(node.values[0], ast.Constant):
                start = str(node.values[0].value)
                if start.endswith((".", "-")) and CODE.fullmatch(start + "x"):
                    starts.add(start)
    return frozenset(starts)


def steps_of_strategies() -> frozenset[str]:
    """Return the codes of steps: a strategy names a step, and Retrieval.step() puts its own name before."""
    return frozenset(
        f"{Path(module.path).stem}.step.{node.value}"
        for module in modules()
        if "retrieval/strategies/" in module.path
        for node in module.nodes
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def filled_in() -> list[tuple[str, str, str]]:
    """Return each value that the source puts into a text: its module, the value, its format."""
    return [
        (module.path, ast.unparse(node.value), ast.unparse(node.format_spec) if node.format_spec else "")
        for module in modules()
        for node in module.nodes
        if isinstance(node, ast.FormattedValue)
    ]


def literals(node: ast.expr) -> list[str]:
    """Return the texts that an expression may be: a literal, or either side of an if."""
    return [part.value for part in _choices(node) if isinstance(part, ast.Constant) and isinstance(part.value, str)]


def _choices(node: ast.expr) -> list[ast.expr]:
    return [*_choices(node.body), *_choices(node.orelse)] if isinstance(node, ast.IfExp) else [node]


def _name(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")


def _value_names(call: ast.Call) -> frozenset[str] | None:
    if _name(call) == "Message":
        values = call.args[1] if len(call.args) > 1 else next((k.value for k in call.keywords), ast.Dict([], []))
        if not isinstance(values, ast.Dict) or not all(isinstance(key, ast.Constant) for key in values.keys):
            return None
        return frozenset(str(key.value) for key in values.keys if isinstance(key, ast.Constant))
    names = [keyword.arg for keyword in call.keywords]
    own = error_classes().get(_name(call), frozenset())
    return None if None in names else frozenset(name for name in names if name is not None) - own
