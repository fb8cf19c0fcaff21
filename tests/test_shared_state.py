"""What all sessions of a process share, found in the source: nothing that is changed without a lock."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from leanrag_core.system.threads import collector_paused

ROOT = Path(__file__).parents[1]
FOLDERS = ("pages", "leanrag_core")
BUILDERS = {"dict", "list", "set", "defaultdict", "OrderedDict", "Counter", "deque", "WeakValueDictionary", "bytearray"}
DISPLAYS = (ast.Dict, ast.List, ast.Set, ast.DictComp, ast.ListComp, ast.SetComp)
CHANGES = {
    *("append", "appendleft", "extend", "insert", "add", "update", "setdefault", "clear"),
    *("pop", "popitem", "popleft", "remove", "discard", "move_to_end", "sort", "reverse"),
}
# Shared, and neither frozen nor with a lock of its own, each with the reason why that is right.
REASONS = {
    "Segmenter": "its dictionary is whole when it is made, and no word is added after",
    "QuestionScorer": "its questions stay as they are, and its texts are in a cache with a lock",
    "GoldFinder": "its dictionary is filled when it is made, and read from then on",
    "WindowedModel": "its session is made once (cached_property) and can be asked by any number of threads",
    "BatchWork": "of a worker process, which does one batch after the other in one thread",
    "Sweeps": "of the workbench of a worker process, which builds one index after the other",
}


@dataclass(frozen=True)
class Place:
    """A line of a source file and what is shared there."""

    where: str
    name: str
    what: str


@cache
def nodes_of(tree: ast.Module) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(tree))


@collector_paused()
def trees() -> dict[str, ast.Module]:
    paths = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]
    return {str(path.relative_to(ROOT)): ast.parse(path.read_text(encoding="utf-8")) for path in paths}


def guarded_classes(modules: dict[str, ast.Module]) -> dict[str, bool]:
    """Return of each class whether its objects may be shared: it is frozen, an enumeration, a protocol, or holds a
    lock."""
    classes = [node for tree in modules.values() for node in nodes_of(tree) if isinstance(node, ast.ClassDef)]
    return {node.name: is_guarded(node) for node in classes}


def is_guarded(node: ast.ClassDef) -> bool:
    decorators = " ".join(map(ast.unparse, node.decorator_list))
    bases = {ast.unparse(base).rpartition(".")[2] for base in node.bases}
    locks = {ast.unparse(call.func).rpartition(".")[2] for call in ast.walk(node) if isinstance(call, ast.Call)}
    return "frozen=True" in decorators or bool(
        bases & {"Enum", "StrEnum", "NamedTuple"} or locks & {"Lock", "RLock", "Condition"}
    )


def name_of(node: ast.expr | None) -> str:
    """Return the last word of a name, a call or an annotation: "dict" of dict[str, int]."""
    while isinstance(node, ast.Subscript | ast.Call):
        node = node.value if isinstance(node, ast.Subscript) else node.func
    return "" if node is None else ast.unparse(node).rpartition(".")[2].strip("'\"").partition("[")[0]


def assigned(body: list[ast.stmt]) -> Iterator[tuple[str, ast.expr]]:
    """Yield the names that a module or a class binds itself, with their values."""
    for node in body:
        if isinstance(node, ast.Assign):
            yield from ((target.id, node.value) for target in node.targets if isinstance(target, ast.Name))
        elif isinstance(node, ast.AnnAssign) and node.value is not None and isinstance(node.target, ast.Name):
            yield node.target.id, node.value


def is_changeable(value: ast.expr) -> bool:
    return isinstance(value, DISPLAYS) or (isinstance(value, ast.Call) and name_of(value) in BUILDERS)


def changed_names(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield every line that changes what a name or an attribute holds, with the last word of that name."""
    for node in nodes_of(tree):
        targets: list[ast.expr] = []
        if isinstance(node, ast.Assign | ast.Delete):
            targets = [target.value for target in node.targets if isinstance(target, ast.Subscript)]
        elif isinstance(node, ast.AugAssign | ast.AnnAssign) and isinstance(node.target, ast.Subscript):
            targets = [node.target.value]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CHANGES:
            targets = [node.func.value]
        yield from ((node.lineno, name_of(target)) for target in targets if not isinstance(target, ast.Call))


def local_names(tree: ast.Module) -> set[str]:
    """Return names that a function binds: there the module's own is not meant."""
    outer = [node for node in ast.iter_child_nodes(tree) if not isinstance(node, ast.Assign | ast.AnnAssign)]
    functions = [node for part in outer for node in ast.walk(part) if isinstance(node, ast.FunctionDef)]
    inside = [inner for function in functions for inner in ast.walk(function)]
    stored = {node.id for node in inside if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    return stored | {node.arg for node in inside if isinstance(node, ast.arg)}


def changed_tables(modules: dict[str, ast.Module]) -> Iterator[Place]:
    """Yield tables of a module or a class that something changes, whether there or through an import."""
    for path, tree in modules.items():
        bodies = [tree.body, *(node.body for node in nodes_of(tree) if isinstance(node, ast.ClassDef))]
        own = {name for body in bodies for name, value in assigned(body) if is_changeable(value)} - {"__all__"}
        own -= local_names(tree) if own else set()
        imported = {
            alias.asname or alias.name
            for node in nodes_of(tree)
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(FOLDERS)
            for alias in node.names
        }
        tables = {name for name in imported if name.isupper()}
        for line, name in changed_names(tree) if own or tables else ():
            if name in own:
                yield Place(f"{path}:{line}", name, "a table of the module is changed")
            elif name in tables:
                yield Place(f"{path}:{line}", name, "a table of another module is changed")


def rebound_globals(modules: dict[str, ast.Module]) -> Iterator[Place]:
    for path, tree in modules.items():
        for node in nodes_of(tree):
            if isinstance(node, ast.Global):
                yield Place(f"{path}:{node.lineno}", ", ".join(node.names), "a global name is bound again")


def shared_objects(modules: dict[str, ast.Module]) -> Iterator[Place]:
    """Yield objects of a module, and what functions return whose results are kept for the whole process."""
    guarded = guarded_classes(modules)
    for path, tree in modules.items():
        for name, value in assigned(tree.body):
            if isinstance(value, ast.Call) and not guarded.get(name_of(value), True):
                yield Place(f"{path}:{value.lineno}", name_of(value), f"{name} is an object without a lock")
        for node in tree.body:
            if not isinstance(node, ast.FunctionDef):
                continue
            kept_by = {name_of(decorator) for decorator in node.decorator_list} & {
                "cache_resource",
                "cache",
                "lru_cache",
            }
            made = name_of(node.returns)
            if kept_by and made in BUILDERS:  # a Mapping is a dictionary that mypy lets nobody change
                yield Place(f"{path}:{node.lineno}", node.name, f"all sessions share its {made}")
            elif kept_by and not guarded.get(made, True):
                yield Place(f"{path}:{node.lineno}", made, f"all sessions share that of {node.name}()")


def test_nothing_that_all_sessions_share_is_changed_without_a_lock() -> None:
    modules = trees()
    places = [*changed_tables(modules), *rebound_globals(modules), *shared_objects(modules)]
    assert [place for place in places if place.name not in REASONS] == []
    assert set(REASONS) == {place.name for place in places if place.name in REASONS}, "a reason without its place"


def test_the_search_finds_what_it_is_to_find() -> None:
    source = """
TABLE: dict[str, int] = {}
LISTED = [1]
CALLS = Unlocked()
SAFE = Locked()

class Unlocked:
    seen = set()
    def see(self, what):
        self.seen.add(what)

class Locked:
    def __init__(self):
        self.lock = threading.Lock()

def keep(key):
    global LISTED
    TABLE[key] = 1
    local = {}
    local[key] = 2

@st.cache_resource(show_spinner=False)
def shared() -> dict[str, int]:
    return {}

@st.cache_resource
def owner() -> Unlocked:
    return Unlocked()
"""
    modules = {"a.py": ast.parse(source)}
    found = [*changed_tables(modules), *rebound_globals(modules), *shared_objects(modules)]
    assert [place.name for place in found] == ["TABLE", "seen", "LISTED", "Unlocked", "shared", "Unlocked"]
