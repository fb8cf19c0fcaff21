"""What every exporter gives, how exporters are found (one file each in formats/), and writing a file in one step; what
files of XML and of zip have in common.
"""

import re
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

from leanrag_core.errors import FolderRefused, InvalidConfig
from leanrag_core.extensions import BrokenExtension, Extensions, discover
from leanrag_core.files.atomic import replacing, sync_file, sync_folder, sync_tree, writing
from leanrag_core.messages.catalog import ENGLISH
from leanrag_core.messages.message import Message, message
from leanrag_core.types.imported import Exported
from leanrag_core.types.index import Index
from leanrag_core.types.trace import RecordedRun

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")  # of valid Unicode, what XML 1.0 cannot hold
_MADE = (1980, 1, 1, 0, 0, 0)


class Exporter(Protocol):
    """Writes an index for another program. name: what a command calls it. title, help: as a form shows them.

    suffix: of its files, with the dot. media_type: of its files, for downloads.
    """

    name: str
    title: Message
    help: Message
    suffix: str
    media_type: str

    def write(self, index: Index, path: Path) -> int:
        """Write the file; returns how many characters it had to replace by U+FFFD. The index is read in batches of
        rows, so that memory does not grow with it."""


@runtime_checkable
class ForReaders(Protocol):
    """An exporter whose ZIP file people read, with words in their language and recorded runs."""

    def for_reader(self, language: str, runs: Sequence[RecordedRun]) -> Exporter:
        """Return the exporter with that language and those runs."""


def exporters() -> tuple[Exporter, ...]:
    """Return one exporter of each format, by name."""
    all_exporters: list[Exporter] = [module.Exporter() for module in _discovered().modules]
    return tuple(sorted(all_exporters, key=lambda exporter: exporter.name))


def broken_exporters() -> tuple[BrokenExtension, ...]:
    """Return the files of formats/ that do not load."""
    return _discovered().broken


def _discovered() -> Extensions:
    from leanrag_core.exporting import formats

    return discover(formats, "Exporter", ("name", "title", "help", "suffix", "media_type", "write"))


def exporter(name: str) -> Exporter:
    """Return the exporter of that format. Raises InvalidConfig for a name that none has."""
    known = {each.name: each for each in exporters()}
    if name not in known:
        broken = tuple(each.message for each in broken_exporters())
        if broken:
            raise InvalidConfig("export.unknown_format_or_broken", name=name, known=", ".join(known), broken=broken)
        raise InvalidConfig("export.unknown_format", name=name, known=", ".join(known))
    return known[name]


def export_index(
    index: Index, format_name: str, out: Path, *, language: str = ENGLISH, runs: Sequence[RecordedRun] = ()
) -> Exported:
    """Write the index to the file at `out` in that format; until it is complete, the file is as it was.

    A format for readers takes their language and recorded runs; where `out` has no ending of a ZIP file, it becomes the
    folder with the files. Raises InvalidConfig for an unknown format and for runs that it has no place for,
    FolderRefused where a folder is, or inside the index, StorageFailed.
    """
    chosen, is_folder = exporter(format_name), False
    if isinstance(chosen, ForReaders):
        chosen, is_folder = chosen.for_reader(language, runs), out.suffix != ".zip"
    elif runs:
        raise InvalidConfig("export.no_runs", name=chosen.name)
    if out.is_dir() and not is_folder:
        raise FolderRefused("export.is_folder", path=str(out))
    if is_folder and out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise FolderRefused("export.site.not_empty", path=str(out))
    if index.path is not None and out.resolve().is_relative_to(index.path.resolve()):
        raise FolderRefused("export.inside_index", path=str(out))
    with writing(message("what.export", path=str(out))):
        if is_folder:
            with tempfile.TemporaryDirectory(prefix=f".{out.name}.", dir=out.parent) as folder:
                replaced = chosen.write(index, Path(folder) / "site.zip")
                n_bytes = _unpack(Path(folder) / "site.zip", Path(folder) / "site", out)
        else:
            with replacing(out) as new_path:
                replaced = chosen.write(index, new_path)
                sync_file(new_path)
                n_bytes = new_path.stat().st_size
    layers = index.layers
    return Exported(
        path=out,
        format=chosen.name,
        entities=sum(map(len, layers)),
        relations=sum(layer.relations.num_rows for layer in layers),
        parent_links=sum(len(layer.parent) for layer in layers),
        replaced=replaced,
        bytes=n_bytes,
    )


def _unpack(packed: Path, beside: Path, out: Path) -> int:
    """Unpack the file, and let its files take the place of an empty folder or of none; return their bytes."""
    with zipfile.ZipFile(packed) as archive:
        archive.extractall(beside)
        n_bytes = sum(entry.file_size for entry in archive.infolist())
    sync_tree(beside)
    if out.exists():
        out.rmdir()
    beside.rename(out)
    sync_folder(out.parent)
    return n_bytes


class XmlCharacters:
    """Replaces what XML cannot hold, and counts it. replaced: so far."""

    def __init__(self) -> None:
        self.replaced = 0

    def __call__(self, text: str) -> str:
        """Return the text with U+FFFD for each character that XML cannot hold."""
        cleaned, n = NOT_XML.subn(REPLACEMENT, text)
        self.replaced += n
        return cleaned


def zip_entry(name: str, *, is_packed: bool) -> zipfile.ZipInfo:
    """Return an entry of that name, the same at any time. is_packed: its content is compressed."""
    entry = zipfile.ZipInfo(name, _MADE)
    entry.compress_type = zipfile.ZIP_DEFLATED if is_packed else zipfile.ZIP_STORED
    entry.external_attr = 0o644 << 16
    return entry
