"""What every importer gives, and how importers are found: one file each in formats/."""

from pathlib import Path
from typing import Protocol

from leanrag_core.errors import InvalidConfig
from leanrag_core.extensions import BrokenExtension, Extensions, discover
from leanrag_core.messages.message import Message
from leanrag_core.types.imported import ImportedGraph


class Importer(Protocol):
    """Reads the graph of another system. name: what a command calls it. title, help: as a form shows them."""

    name: str
    title: Message
    help: Message

    def read(self, path: Path) -> ImportedGraph:
        """The graph at that path. Raises ImportFailed for files that cannot be read as this format; single rows that
        cannot be used are drops."""


def importers() -> tuple[Importer, ...]:
    """One importer of each format, by name."""
    made: list[Importer] = [module.Importer() for module in _found().modules]
    return tuple(sorted(made, key=lambda importer: importer.name))


def broken_importers() -> tuple[BrokenExtension, ...]:
    """The files of formats/ that do not load."""
    return _found().broken


def _found() -> Extensions:
    from leanrag_core.importing import formats

    return discover(formats, "Importer", ("name", "title", "help", "read"))


def importer(name: str) -> Importer:
    """The importer of that format. Raises InvalidConfig for a name that none has."""
    known = {each.name: each for each in importers()}
    if name not in known:
        broken = tuple(each.message for each in broken_importers())
        if broken:
            raise InvalidConfig("import.unknown_format_or_broken", name=name, known=", ".join(known), broken=broken)
        raise InvalidConfig("import.unknown_format", name=name, known=", ".join(known))
    return known[name]
