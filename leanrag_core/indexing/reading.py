"""Files and folders to documents."""

import os
import queue
import stat
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from leanrag_core.errors import UnreadableDocument
from leanrag_core.indexing.parsing import ParsedUpload
from leanrag_core.indexing.parsing.blocks import shown_name
from leanrag_core.indexing.parsing.confined import ConfinedParser
from leanrag_core.messages.message import Message, message
from leanrag_core.types.corpus import Document, Refusal

_CODE_OF_KIND = (
    (stat.S_ISFIFO, "file.is_pipe"),
    (stat.S_ISSOCK, "file.is_socket"),
    (stat.S_ISCHR, "file.is_device"),
    (stat.S_ISBLK, "file.is_device"),
)


@dataclass(frozen=True)
class Sources:
    """Files to read, and what was passed over with its reasons. folders: of each file, below the folder that was given,
    with "/"."""

    files: tuple[Path, ...]
    refusals: tuple[Refusal, ...] = ()
    folders: tuple[str, ...] = ()


def sources_below(paths: Sequence[Path], *, follow_links: bool = False) -> Sources:
    """Return the files themselves, and every file of the folders, in order of their paths; hidden ones are left out.

    A path that is given may be a link. Links within a folder are followed only to what lies in one of the given
    folders, or where follow_links is set. Nothing is opened.
    """
    walk = _Walk([_real(path) for path in paths if path.is_dir()], follow_links)
    folder_of: dict[Path, str] = {}
    for path in paths:
        for file in walk.files_of(path):
            folder_of.setdefault(file, _folder_below(path, file))
    return Sources(tuple(folder_of), tuple(walk.refusals), tuple(folder_of.values()))


def _folder_below(folder: Path, file: Path) -> str:
    parts = file.parent.relative_to(folder).parts if file != folder else ()
    return "/".join(shown_name(part) for part in parts)


def why_no_file(mode: int) -> Message | None:
    """Return why a pipe, a device or a socket is passed over; None for anything else."""
    return next((message(code) for test, code in _CODE_OF_KIND if test(mode)), None)


def _real(path: Path) -> Path:
    """Return the path without links; unlike Path.resolve, it leaves a link to itself unchanged."""
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
        # A link to a folder inside is not followed: its files are read at their own place.
        return inside and not target.is_dir()

    def _why_no_file(self, path: Path) -> Message:
        try:
            return why_no_file(path.stat().st_mode) or message("file.is_something_else")
        except OSError as error:
            return message("file.not_readable", reason=str(error.strerror))

    def _refuse(self, path: Path, reason: Message) -> None:
        self.refusals.append(Refusal(shown_name(path.name), reason))


MAX_FILE_BYTES = 200 * 1024 * 1024
_AHEAD = 4  # files that are read before their turn; more would fill the memory
_PORTIONS_AHEAD = 2  # of each of them
_WAIT_SECONDS = 0.2
_TOO_LARGE = message("file.too_large", limit=MAX_FILE_BYTES >> 20)


def read_files(
    paths: Sequence[Path], parser: ConfinedParser | None = None, *, follow_links: bool = False
) -> ParsedUpload:
    """Return the documents of the files and folders, each content once; what could not be read, or is repeated, comes
    back with its reason.

    parser: with its limits; one of its own with the usual limits by default. follow_links: also to targets outside the
    given folders.
    """
    documents: dict[str, Document] = {}
    refused: list[Refusal] = []
    for file in each_file(paths, parser, follow_links=follow_links):
        refused += file.parsed.refusals
        for document in file.parsed.documents:
            if document.id in documents:
                same = message("file.same_content", first=documents[document.id].name)
                refused.append(Refusal(document.name, same))
            else:
                documents[document.id] = document
    return ParsedUpload(tuple(documents.values()), tuple(refused))


@dataclass(frozen=True)
class FileRead:
    """What a file became. name: as it is shown; size_bytes: None where it could not be opened. ends, begins: False
    where more of the same file follows, or went before: one that holds many documents comes in portions."""

    name: str
    size_bytes: int | None
    parsed: ParsedUpload
    ends: bool = True
    begins: bool = True


def each_file(
    paths: Sequence[Path], parser: ConfinedParser | None, *, follow_links: bool = False
) -> Iterator[FileRead]:
    """Yield each file of the files and folders, one after another: a folder may be larger than memory."""
    sources = sources_below(paths, follow_links=follow_links)
    for refusal in sources.refusals:
        yield FileRead(refusal.name, None, ParsedUpload((), (refusal,)))
    refused: list[Refusal] = []
    folders: deque[str] = deque()  # of the files that could be read, in their order

    def contents() -> Iterator[tuple[str, bytes]]:
        for path, folder in zip(sources.files, sources.folders, strict=True):
            try:
                content = _content(path)
                folders.append(folder)
                yield path.name, content
            except UnreadableDocument as error:
                refused.append(Refusal(shown_name(path.name), error.message))
            except OSError as error:
                reason = message("file.not_readable", reason=str(error.strerror))
                refused.append(Refusal(shown_name(path.name), reason))

    for file in each_upload(contents(), parser):
        yield _in_folder(file, folders[0])
        if file.ends:
            folders.popleft()
    for refusal in refused:
        yield FileRead(refusal.name, None, ParsedUpload((), (refusal,)))


def _in_folder(file: FileRead, folder: str) -> FileRead:
    if not folder:
        return file
    documents = tuple(replace(document, folder=folder) for document in file.parsed.documents)
    return replace(file, parsed=replace(file.parsed, documents=documents))


def _content(path: Path) -> bytes:
    """Return the file's bytes. Raises UnreadableDocument for what is no file or too large, before it is opened;
    OSError.
    """
    status = path.stat()
    reason = why_no_file(status.st_mode)
    if reason is not None:
        raise UnreadableDocument(reason)
    if status.st_size > MAX_FILE_BYTES:
        raise UnreadableDocument(_TOO_LARGE)
    with path.open("rb") as file:
        content = file.read(MAX_FILE_BYTES + 1)  # a file may grow, and some of the system's have no end
    if len(content) > MAX_FILE_BYTES:
        raise UnreadableDocument(_TOO_LARGE)
    return content


def each_upload(files: Iterable[tuple[str, bytes]], parser: ConfinedParser | None = None) -> Iterator[FileRead]:
    """Yield each of the named contents as it was read, in their order. Few of them are in memory at one time."""
    if parser is None:
        with ConfinedParser() as own_parser:
            yield from each_upload(files, own_parser)
        return

    with ThreadPoolExecutor(2, thread_name_prefix="reading") as pool:  # as many files as the parser reads at one time
        ahead: deque[_Portions] = deque()
        try:
            for name, content in files:
                ahead.append(_Portions(name, content))
                pool.submit(ahead[-1].read, parser)
                if len(ahead) >= _AHEAD:
                    yield from ahead[0].each()
                    ahead.popleft()
            while ahead:
                yield from ahead[0].each()
                ahead.popleft()
        finally:
            for portions in ahead:
                portions.give_up()


class _Portions:
    """Portions of a file, read by one thread a few ahead of the thread that takes them."""

    def __init__(self, name: str, content: bytes) -> None:
        self._name, self._content, self._size = shown_name(name), (name, content), len(content)
        self._queue: queue.Queue[ParsedUpload | BaseException | None] = queue.Queue(_PORTIONS_AHEAD)
        self._given_up = threading.Event()
        self._ended = False

    def read(self, parser: ConfinedParser) -> None:
        """Read the file, in a thread of its own."""
        try:
            if self._size > MAX_FILE_BYTES:
                self._put(ParsedUpload((), (Refusal(self._name, _TOO_LARGE),)))
            else:
                with closing(parser.parts(*self._content)) as parts:
                    for part in parts:
                        if not self._put(part):
                            break
        except BaseException as error:  # for the thread that takes the portions
            self._put(error)
        else:
            self._put(None)

    def _put(self, part: ParsedUpload | BaseException | None) -> bool:
        """Put the portion, and return False where nobody takes it any more."""
        while not self._given_up.is_set():
            try:
                self._queue.put(part, timeout=_WAIT_SECONDS)
            except queue.Full:
                continue
            return True
        return False

    def each(self) -> Iterator[FileRead]:
        """Yield the portions; an empty one for a file that gave nothing."""
        part, begins = self._next() or ParsedUpload(()), True
        while (following := self._next()) is not None:
            yield FileRead(self._name, self._size, part, ends=False, begins=begins)
            part, begins = following, False
        yield FileRead(self._name, self._size, part, begins=begins)

    def _next(self) -> ParsedUpload | None:
        part = None if self._ended else self._queue.get()
        if isinstance(part, BaseException):
            raise part
        self._ended = part is None
        return part

    def give_up(self) -> None:
        """Have the thread end."""
        self._given_up.set()
