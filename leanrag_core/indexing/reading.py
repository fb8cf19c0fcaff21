"""Files and folders to documents."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from leanrag_core.errors import UnreadableDocument
from leanrag_core.indexing.parsing import ParsedUpload
from leanrag_core.indexing.parsing.blocks import shown_name
from leanrag_core.indexing.parsing.confined import ConfinedParser
from leanrag_core.indexing.sources import sources_below, why_no_file
from leanrag_core.messages.message import message
from leanrag_core.types.corpus import Document, Refusal

MAX_FILE_BYTES = 200 * 1024 * 1024
_TOO_LARGE = message("file.too_large", limit=MAX_FILE_BYTES >> 20)


def files_below(paths: Sequence[Path]) -> list[Path]:
    """The files themselves, and every file of the folders, in order of their paths; hidden ones are left out."""
    return list(sources_below(paths).files)


def read_files(
    paths: Sequence[Path], parser: ConfinedParser | None = None, *, follow_links: bool = False
) -> ParsedUpload:
    """The documents of the files and folders; what could not be read comes back with its reason.

    parser: with its limits; one of its own with the usual limits by default. follow_links: out of the given folders.
    """
    sources = sources_below(paths, follow_links=follow_links)
    refused = list(sources.refusals)

    def contents() -> Iterator[tuple[str, bytes]]:  # one at a time: a folder may be larger than memory
        for path in sources.files:
            try:
                yield path.name, _content(path)
            except UnreadableDocument as error:
                refused.append(Refusal(shown_name(path.name), error.message))
            except OSError as error:
                reason = message("file.not_readable", reason=str(error.strerror))
                refused.append(Refusal(shown_name(path.name), reason))

    parsed = read_uploads(contents(), parser)
    return ParsedUpload(parsed.documents, (*refused, *parsed.refusals))


def _content(path: Path) -> bytes:
    """The file's bytes. Raises UnreadableDocument for what is no file or too large, before it is opened; OSError."""
    seen = path.stat()
    reason = why_no_file(seen.st_mode)
    if reason is not None:
        raise UnreadableDocument(reason)
    if seen.st_size > MAX_FILE_BYTES:
        raise UnreadableDocument(_TOO_LARGE)
    with path.open("rb") as file:
        content = file.read(MAX_FILE_BYTES + 1)  # a file may grow, and some of the system's have no end
    if len(content) > MAX_FILE_BYTES:
        raise UnreadableDocument(_TOO_LARGE)
    return content


def read_uploads(files: Iterable[tuple[str, bytes]], parser: ConfinedParser | None = None) -> ParsedUpload:
    """The documents of named contents; one bad file does not stop the others. Repeated content is refused."""
    if parser is None:
        with ConfinedParser() as own:
            return read_uploads(files, own)
    documents: dict[str, Document] = {}
    refused: list[Refusal] = []
    for name, content in files:
        if len(content) > MAX_FILE_BYTES:
            refused.append(Refusal(shown_name(name), _TOO_LARGE))
            continue
        parsed = parser.parse(name, content)
        refused += parsed.refusals
        for document in parsed.documents:
            if document.id in documents:
                first = documents[document.id].name
                refused.append(Refusal(document.name, message("file.same_content", first=first)))
            else:
                documents[document.id] = document
    return ParsedUpload(tuple(documents.values()), tuple(refused))
