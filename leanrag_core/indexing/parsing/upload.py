"""One uploaded file to documents, by the reader of its format."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from types import ModuleType

from leanrag_core.errors import UnreadableDocument
from leanrag_core.extensions import BrokenExtension, Extensions, discover
from leanrag_core.indexing.parsing.blocks import FormatResult, assemble, shown_name, shown_path
from leanrag_core.indexing.parsing.limits import Allowance, Member
from leanrag_core.messages.catalog import codes
from leanrag_core.messages.message import Message, message
from leanrag_core.types.corpus import Document, Refusal


@dataclass(frozen=True)
class ParsedUpload:
    """What a file, or several, became: documents, and refusals with their reasons."""

    documents: tuple[Document, ...]
    refusals: tuple[Refusal, ...] = ()

    @classmethod
    def joined(cls, parts: Sequence["ParsedUpload"]) -> "ParsedUpload":
        """Return what all parts became, one after another."""
        documents = chain.from_iterable(part.documents for part in parts)
        return cls(tuple(documents), tuple(chain.from_iterable(part.refusals for part in parts)))


@dataclass(frozen=True)
class Begun:
    """The file of that name is being read; what follows is about it. portion: it is the next portion of a file that
    holds many documents.
    """

    name: str
    portion: bool = False


def formats() -> dict[str, ModuleType]:
    """Return the reader of each file suffix; a file of the folder that does not load is passed over (see
    broken_formats()).
    """
    return {suffix: module for module in _found().modules for suffix in module.SUFFIXES}


def broken_formats() -> tuple[BrokenExtension, ...]:
    """Return the files of formats/ that do not load."""
    return _found().broken


def _found() -> Extensions:
    from leanrag_core.indexing.parsing import formats as folder

    return discover(folder, required=("SUFFIXES", "MEDIA_TYPE"))


def known() -> tuple[Message, ...]:
    """Return titles of the formats that are read, sorted: the catalog's, a reader's TITLE, or its MEDIA_TYPE in
    capitals."""
    titles = {
        getattr(module, "TITLE", module.MEDIA_TYPE.upper()): f"library.type.{module.MEDIA_TYPE}"
        for module in formats().values()
    }
    return tuple(
        message(code) if code in codes() else message("plain", text=title)
        for title, code in sorted(titles.items(), key=lambda item: item[0].casefold())
    )


def parse_upload(name: str, content: bytes) -> ParsedUpload:
    """Return the documents in a file of that name, read in this process; never raises for what the file holds.

    Files of unknown suffix are refused with the list of those that are read. `confined` does the same under limits.
    """
    return ParsedUpload.joined([part for part in parse_parts(name, content) if isinstance(part, ParsedUpload)])


def parse_parts(
    name: str, content: bytes, *, done: int = 0, broken: frozenset[int] = frozenset()
) -> Iterator[Begun | ParsedUpload]:
    """Yield what the file, or each file in an archive, became; each after its name.

    done: number of parts that were begun before and are not yielded again. broken: numbers of those that are not even
    opened.
    """
    yield from _Parts(done, broken).of(shown_name(name), shown_name(name), lambda: content)


class _Parts:
    """Walks through a file and the archives in it, and counts what it begins."""

    def __init__(self, done: int, broken: frozenset[int]) -> None:
        self.done, self.broken, self.number = done, broken, 0
        self.allowance = Allowance()

    def of(self, name: str, label: str, read: Callable[[], bytes], depth: int = 0) -> Iterator[Begun | ParsedUpload]:
        """Yield what the file, or each file in the archive, becomes, each after its name.

        name: of the file alone. label: with the archives that it lies in.
        """
        number, self.number = self.number, self.number + 1
        reader = formats().get(suffix_of(name))
        is_archive, is_new = hasattr(reader, "members"), number >= self.done
        holds_parts = is_archive or hasattr(reader, "portions")
        if number in self.broken or not (is_new or holds_parts):
            return
        if is_new:
            yield Begun(label)
        members: Iterable[Member] = ()
        try:
            content = read()
            if reader is not None and is_archive and content.strip():
                members = reader.members(content, self.allowance, depth)
            elif reader is not None and hasattr(reader, "portions") and content.strip():
                yield from self._portions(name, label, reader.portions(shown_name(name), content), reader, is_new)
            elif is_new:
                yield _parsed(name, label, content, reader)
        except UnreadableDocument as error:
            if is_new:
                yield ParsedUpload((), (Refusal(label, error.message),))
        except RecursionError:  # of a file that is read whole before its portions
            if is_new:
                yield ParsedUpload((), (Refusal(label, message("file.nested_too_deeply")),))
        for member in members:
            yield from self.of(shown_name(member.name), f"{label}, {shown_path(member.name)}", member.read, depth + 1)

    def _portions(
        self, name: str, label: str, portions: Iterator[Callable[[], FormatResult]], reader: ModuleType, is_new: bool
    ) -> Iterator[Begun | ParsedUpload]:
        """Yield what each portion of the file becomes, each but the first after the file's name.

        is_new: the first one was not read before, and the name was given.
        """
        for place, portion in enumerate(portions):
            if place:
                number, self.number = self.number, self.number + 1
                is_new = number >= self.done
                if is_new:
                    yield Begun(label, portion=True)
            if is_new:
                yield _documents(name, label, reader, portion)


def suffix_of(name: str) -> str:
    """Return the suffix by which a file's reader is chosen; a file without one is text."""
    return name.rsplit(".", 1)[1].lower() if "." in name else "txt"


def _parsed(shown: str, label: str, content: bytes, reader: ModuleType | None) -> ParsedUpload:
    if reader is None:
        suffix, broken = suffix_of(shown), tuple(each.message for each in broken_formats())
        reason = message("file.unknown_format", suffix=suffix, formats=known())
        if broken:
            reason = message("file.unknown_format_or_broken", suffix=suffix, formats=known(), broken=broken)
        return ParsedUpload((), (Refusal(label, reason),))
    if not content.strip():
        return ParsedUpload((), (Refusal(label, message("file.empty")),))
    return _documents(shown, label, reader, lambda: reader.parse(shown, content))


def _documents(shown: str, label: str, reader: ModuleType, read: Callable[[], FormatResult]) -> ParsedUpload:
    """Return the documents of what the reader gives of the file, or why there are none."""
    try:
        result = read()
    except UnreadableDocument as error:
        return ParsedUpload((), (Refusal(label, error.message),))
    except RecursionError:
        return ParsedUpload((), (Refusal(label, message("file.nested_too_deeply")),))
    documents: list[Document] = []
    refusals = list(result.refusals)
    for parsed in result.parsed:
        try:
            documents.append(assemble(shown, reader.MEDIA_TYPE, parsed))
        except UnreadableDocument as error:
            refusals.append(Refusal(shown_name(parsed.name) if parsed.name else label, error.message))
    return ParsedUpload(tuple(documents), tuple(refusals))
