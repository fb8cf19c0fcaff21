"""What every importer gives, and how importers are found: one file each in formats/."""

from pathlib import Path
from typing import Protocol, runtime_checkable

from leanrag_core.errors import ImportFailed, InvalidConfig, LeanRAGError
from leanrag_core.extensions import BrokenExtension, Extensions, discover
from leanrag_core.files.written_paths import is_there
from leanrag_core.messages.message import Message
from leanrag_core.text.plain_words import in_words
from leanrag_core.types.imported import ImportedGraph, ImportPreview
from leanrag_core.types.index import Index

MAX_LISTED = 200  # drops of a preview


class Importer(Protocol):
    """Reads the graph of another system. name: what a command calls it. title, help: as a form shows them.

    Files are written by strangers: whatever they hold, the errors are ImportFailed and drops.
    """

    name: str
    title: Message
    help: Message

    def recognises(self, path: Path) -> bool:
        """Return whether the file or folder looks like this format; looks at names, and at the beginning of files."""

    def read(self, path: Path) -> ImportedGraph:
        """Read the graph at that path. Raises ImportFailed for files that cannot be read as this format; single rows
        that cannot be used are drops."""


@runtime_checkable
class Restorer(Protocol):
    """An importer of files that hold a whole index: nothing is built."""

    def preview(self, path: Path) -> ImportPreview:
        """Describe what the index holds. Raises ImportFailed."""

    def restore(self, path: Path, out: Path, *, in_store: bool) -> Index:
        """Restore the index into the folder `out`. Raises ImportFailed, FolderRefused."""


def importer_for(path: Path, format_name: str) -> Importer:
    """Return the importer of that format; without a format, the first one that recognises the path.

    Raises ImportFailed for a path where nothing is, or of no known format, InvalidConfig for an unknown format.
    """
    if not is_there(path):
        raise ImportFailed("import.no_path", path=str(path))
    chosen = importer(format_name) if format_name else recognised(path)
    if chosen is None:
        raise ImportFailed("import.not_recognised", path=str(path), known=", ".join(each.name for each in importers()))
    return chosen


def graph_by(chosen: Importer, path: Path) -> ImportedGraph:
    """Let the importer read the graph. Raises ImportFailed, also where the importer raises anything else."""
    try:
        return chosen.read(path)
    except (LeanRAGError, MemoryError):
        raise
    except Exception as error:  # an importer that somebody wrote may raise anything
        raise ImportFailed(
            "import.importer_failed", name=chosen.name, path=str(path), reason=in_words(error)
        ) from error


def preview_of(imported: ImportedGraph, format_name: str) -> ImportPreview:
    """Describe what an index over the graph would hold, and what the import leaves out."""
    extras = imported.extras
    return ImportPreview(
        format=format_name,
        documents=len(imported.documents),
        chunks=len(imported.chunks),
        entities=imported.graph.entities.num_rows,
        relations=imported.graph.relations.num_rows,
        communities=len(extras.communities),
        reports=sum(community.report is not None for community in extras.communities),
        claims=len(extras.claims),
        counts=imported.counts,
        notes=imported.notes,
        drops=imported.drops[:MAX_LISTED],
        n_drops=len(imported.drops),
    )


def importers() -> tuple[Importer, ...]:
    """Return one importer of each format, by name."""
    all_importers: list[Importer] = [module.Importer() for module in _discovered().modules]
    return tuple(sorted(all_importers, key=lambda importer: importer.name))


def broken_importers() -> tuple[BrokenExtension, ...]:
    """Return the files of formats/ that do not load."""
    return _discovered().broken


def recognised(path: Path) -> Importer | None:
    """Return the first importer, by name, that recognises the file or folder; None where none does. Raises
    ImportFailed where none does and one of them failed on it."""
    failed: ImportFailed | None = None
    for each in importers():
        try:
            if each.recognises(path):
                return each
        except (OSError, ValueError, ImportFailed):  # a file that cannot be looked at, such as no text, is of no format
            continue
        except Exception as error:  # an importer that somebody wrote may raise anything
            failed = ImportFailed("import.importer_failed", name=each.name, path=str(path), reason=in_words(error))
    if failed is not None:
        raise failed
    return None


def _discovered() -> Extensions:
    from leanrag_core.importing import formats

    return discover(formats, "Importer", ("name", "title", "help", "recognises", "read"))


def importer(name: str) -> Importer:
    """Return the importer of that format. Raises InvalidConfig for a name that none has."""
    known = {each.name: each for each in importers()}
    if name not in known:
        broken = tuple(each.message for each in broken_importers())
        if broken:
            raise InvalidConfig("import.unknown_format_or_broken", name=name, known=", ".join(known), broken=broken)
        raise InvalidConfig("import.unknown_format", name=name, known=", ".join(known))
    return known[name]
