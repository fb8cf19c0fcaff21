"""Extensions of one file each: whatever is in a folder, or installed for it by another package, is found.

A file that is broken hides none of the others.
"""

import importlib
import pkgutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from types import MappingProxyType, ModuleType

from leanrag_core.messages.message import Message, message
from leanrag_core.text.plain_words import in_words


@dataclass(frozen=True)
class BrokenExtension:
    """A file that cannot be used. file: its path; message: why, and what to do."""

    file: str
    message: Message


@dataclass(frozen=True)
class Extensions:
    """The modules of a folder by name, and the files that do not import or lack something."""

    modules: tuple[ModuleType, ...]
    broken: tuple[BrokenExtension, ...] = ()


def discover(folder: ModuleType, kind: str = "", required: Sequence[str] = (), own: Sequence[str] = ()) -> Extensions:
    """Return the extensions in that package, by file name, and those that installed packages declare as entry points in
    the group of the package's name. Files whose name begins with "_" are parts of others.

    kind: name of the class that each of them has, with the attributes `required`; empty: the module itself has them.
    own: what the module has beside that class. Each file is imported once.
    """
    installed = _installed(tuple(sys.path)).get(folder.__name__, ())
    return _discovered(folder.__name__, tuple(folder.__path__), installed, kind, tuple(required), tuple(own))


@cache
def _discovered(
    package: str,
    places: tuple[str, ...],
    installed: tuple[tuple[str, str], ...],
    kind: str,
    required: tuple[str, ...],
    own: tuple[str, ...],
) -> Extensions:
    modules: list[ModuleType] = []
    broken: list[BrokenExtension] = []
    in_folder = sorted(each.name for each in pkgutil.iter_modules(places) if not each.name.startswith("_"))
    path_of = {name: f"{package}.{name}" for name in in_folder}
    for name, path in installed:
        if name in path_of:
            broken.append(BrokenExtension(path, message("extension.name_taken", file=path, name=name)))
        else:
            path_of[name] = path
    for name, path in path_of.items():
        module, reason = imported(path)
        if module is not None:
            reason = _lack(module, kind, required, own)
        if module is not None and reason is None:
            modules.append(module)
        elif reason is not None:
            broken.append(BrokenExtension(f"{name}.py", reason))
    return Extensions(tuple(modules), tuple(broken))


@cache
def _installed(path: tuple[str, ...]) -> Mapping[str, tuple[tuple[str, str], ...]]:
    """Return name and module of the entry points of the program's groups, by group. path: where packages are sought."""
    from importlib.metadata import distributions

    groups: dict[str, set[tuple[str, str]]] = {}
    for entry in chain.from_iterable(each.entry_points for each in distributions(path=list(path))):
        if entry.group.startswith("leanrag_core."):
            groups.setdefault(entry.group, set()).add((entry.name, entry.module))
    return MappingProxyType({group: tuple(sorted(entries)) for group, entries in groups.items()})


def imported(name: str) -> tuple[ModuleType | None, Message | None]:
    """Import a module that anybody may have written; return it, or None and why it does not load."""
    try:
        return importlib.import_module(name), None
    except (Exception, SystemExit) as error:  # a file that somebody wrote may raise anything, or end the process
        file = f"{name.rsplit('.', 1)[-1]}.py"
        return None, message("extension.import_failed", file=file, reason=in_words(error))


def _lack(module: ModuleType, kind: str, required: tuple[str, ...], own: tuple[str, ...]) -> Message | None:
    """Return what the module lacks, None when it has everything."""
    file = f"{module.__name__.rsplit('.', 1)[-1]}.py"
    absent = [name for name in (*own, kind) if name and not hasattr(module, name)]
    if absent:
        return message("extension.lacks", file=file, name=absent[0])
    holder = getattr(module, kind) if kind else module
    absent = [name for name in required if not hasattr(holder, name)]
    if absent:
        return message("extension.lacks", file=file, name=f"{kind}.{absent[0]}" if kind else absent[0])
    return None
