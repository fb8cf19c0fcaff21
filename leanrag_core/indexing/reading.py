"""Files and folders to documents."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from leanrag_core.indexing.parsing import ParsedUpload
from leanrag_core.indexing.parsing.blocks import shown_name
from leanrag_core.indexing.parsing.confined import ConfinedParser
from leanrag_core.types.corpus import Document, Refusal

MAX_FILE_BYTES = 200 * 1024 * 1024
_TOO_LARGE = "larger than 200 MB: split it and add the parts"


def files_below(paths: Sequence[Path]) -> list[Path]:
    """The files themselves, and every file of the folders, in order of their paths; hidden ones are left out."""
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            below = (one for one in path.rglob("*") if one.is_file())
            found += sorted(
                one for one in below if not any(part.startswith(".") for part in one.relative_to(path).parts)
            )
        else:
            found.append(path)
    return list(dict.fromkeys(found))


def read_files(paths: Sequence[Path], parser: ConfinedParser | None = None) -> ParsedUpload:
    """The documents of the files and folders; what could not be read comes back with its reason.

    parser: with its limits; one of its own with the usual limits by default.
    """
    refused: list[Refusal] = []

    def contents() -> Iterator[tuple[str, bytes]]:  # one at a time: a folder may be larger than memory
        for path in files_below(paths):
            try:
                if path.stat().st_size > MAX_FILE_BYTES:
                    refused.append(Refusal(path.name, _TOO_LARGE))
                    continue
                content = path.read_bytes()
            except OSError as error:
                said = f"cannot be read ({error.strerror}): check that it exists and its rights"
                refused.append(Refusal(path.name, said))
                continue
            yield path.name, content

    parsed = read_uploads(contents(), parser)
    return ParsedUpload(parsed.documents, (*refused, *parsed.refusals))


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
                refused.append(Refusal(document.name, f"the same content as {first}, which is taken once"))
            else:
                documents[document.id] = document
    return ParsedUpload(tuple(documents.values()), tuple(refused))
