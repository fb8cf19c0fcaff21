"""Extensions of one file each: whatever is in a folder is found, and a file that is broken hides none of the others."""

import importlib
import pkgutil
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from types import ModuleType

from leanrag_core.messages.message import Message, message
from leanrag_core.plain_words import in_words


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
    """The extensions in that package, by file name; files whose name begins with "_" are parts of others.

    kind: name of the class that each of them has, with the attributes `required`; empty: the module itself has them.
    own: what the module has beside that class. Each file is imported once.
    """
    return _discovered(folder.__name__, tuple(folder.__path__), kind, tuple(required), tuple(own))


@cache
def _discovered(
    package: str, places: tuple[str, ...], kind: str, required: tuple[str, ...], own: tuple[str, ...]
) -> Extensions:
    modules: list[ModuleType] = []
    broken: list[BrokenExtension] = []
    for name in sorted(entry.name for entry in pkgutil.iter_modules(places)):
        if name.startswith("_"):
            continue
        module, reason = _imported(f"{package}.{name}")
        if module is not None:
            reason = _lack(module, kind, required, own)
        if module is not None and reason is None:
            modules.append(module)
        elif reason is not None:
            broken.append(BrokenExtension(f"{name}.py", reason))
    return Extensions(tuple(modules), tuple(broken))


def _imported(name: str) -> tuple[ModuleType | None, Message | None]:
    try:
        return importlib.import_module(name), None
    except (Exception, SystemExit) as error:  # a file that somebody wrote may raise anything, or end the process
        file = f"{name.rsplit('.', 1)[-1]}.py"
        return None, message("extension.import_failed", file=file, reason=in_words(error))


def _lack(module: ModuleType, kind: str, required: tuple[str, ...], own: tuple[str, ...]) -> Message | None:
    """What the module lacks, None when it has everything."""
    file = f"{module.__name__.rsplit('.', 1)[-1]}.py"
    absent = [name for name in (*own, kind) if name and not hasattr(module, name)]
    if absent:
        return message("extension.lacks", file=file, name=absent[0])
    holder = getattr(module, kind) if kind else module
    absent = [name for name in required if not hasattr(holder, name)]
    if absent:
        return message("extension.lacks", file=file, name=f"{kind}.{absent[0]}" if kind else absent[0])
    return None
