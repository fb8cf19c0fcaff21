"""The verbs of the command line, one file a family: each adds its own with add_verbs()."""

import importlib
import keyword
import pkgutil
from collections.abc import Iterator
from types import ModuleType

# Verbs whose file has another name than they have.
_FAMILIES = {
    "infer-names": "anonymise",
    "mcp": "serve",
    "part": "parts",
    "remove": "update",
    "revert": "anonymise",
    "show-run": "show",
    "undo": "update",
    "without": "why_not",
}


def families(verb: str) -> Iterator[ModuleType]:
    """Import the file of the verb alone, which a process needs to run it; every file where there is no such verb. Files
    with an underscore in front hold what verbs share.
    """
    names = [info.name for info in pkgutil.iter_modules(__path__) if not info.name.startswith("_")]
    file_name = _FAMILIES.get(verb, "" if "_" in verb else verb.replace("-", "_") + "_" * keyword.iskeyword(verb))
    for name in [file_name] if file_name in names else names:
        yield importlib.import_module(f"{__name__}.{name}")
