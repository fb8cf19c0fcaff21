"""The files that given paths mean: regular files alone, and none outside of a given folder."""

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from leanrag_core.indexing.parsing.blocks import shown_name
from leanrag_core.messages.message import Message, message
from leanrag_core.types.corpus import Refusal

_CODE_OF_KIND = (
    (stat.S_ISFIFO, "file.is_pipe"),
    (stat.S_ISSOCK, "file.is_socket"),
    (stat.S_ISCHR, "file.is_device"),
    (stat.S_ISBLK, "file.is_device"),
)


@dataclass(frozen=True)
class Sources:
    """Files to read, and what was passed over with its reasons."""

    files: tuple[Path, ...]
    refusals: tuple[Refusal, ...] = ()


def sources_below(paths: Sequence[Path], *, follow_links: bool = False) -> Sources:
    """Return the files themselves, and every file of the folders, in order of their paths; hidden ones are left out.

    A path that is given may be a link. Links within a folder are followed only to what lies in one of the given
    folders, or where follow_links is set. Nothing is opened.
    """
    walk = _Walk([_real(path) for path in paths if path.is_dir()], follow_links)
    files = [file for path in paths for file in walk.files_of(path)]
    return Sources(tuple(dict.fromkeys(files)), tuple(walk.refusals))


def why_no_file(mode: int) -> Message | None:
    """Return why a pipe, a device or a socket is passed over; None for anything else."""
    return next((message(code) for test, code in _CODE_OF_KIND if test(mode)), None)


def _real(path: Path) -> Path:
    """Return the path without links; unlike Path.resolve, a link to itself stays what it is."""
    return Path(os.path.realpath(path))


class _Walk:
    def __init__(self, given: list[Path], follow_links: bool) -> None:
        self.given, self.follow_links = given, follow_links
        self.refusals: list[Refusal] = []

    def files_of(self, path: Path) -> list[Path]:
        if not path.is_dir():
            return [path]
        return sorted(self._below(path, frozenset([_real(path)])))

    def _below(self, folder: Path, above: frozenset[Path]) -> Iterator[Path]:
        """Yield files in and below the folder. above: that folder and those above, so that no link leads in a
        circle.
        """
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError as error:
            self._refuse(folder, message("file.folder_not_readable", reason=str(error.strerror)))
            return
        for entry in entries:
            path = folder / entry.name
            if entry.name.startswith("."):
                continue
            if entry.is_symlink() and not self._is_followed(path):
                continue
            if path.is_dir():
                if _real(path) not in above:
                    yield from self._below(path, above | {_real(path)})
            elif path.is_file():
                yield path
            else:
                self._refuse(path, self._why_no_file(path))

    def _is_followed(self, link: Path) -> bool:
        target = _real(link)
        if self.follow_links:
            return True
        inside = any(target.is_relative_to(folder) for folder in self.given)
        if not inside:
            self._refuse(link, message("file.link_outside"))
        # The files of a folder within are read where they are.
        return inside and not target.is_dir()

    def _why_no_file(self, path: Path) -> Message:
        try:
            return why_no_file(path.stat().st_mode) or message("file.is_something_else")
        except OSError as error:
            return message("file.not_readable", reason=str(error.strerror))

    def _refuse(self, path: Path, reason: Message) -> None:
        self.refusals.append(Refusal(shown_name(path.name), reason))
