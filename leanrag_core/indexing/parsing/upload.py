"""One uploaded file to documents, by the reader of its format."""

import importlib
import pkgutil
from dataclasses import dataclass
from functools import cache
from types import ModuleType

from leanrag_core.errors import UnreadableDocument
from leanrag_core.indexing.parsing.blocks import assemble, shown_name
from leanrag_core.types.corpus import Document, Refusal


@dataclass(frozen=True)
class ParsedUpload:
    """What a file, or several, became: documents, and refusals with their reasons in the user's words."""

    documents: tuple[Document, ...]
    refusals: tuple[Refusal, ...] = ()


@cache
def formats() -> dict[str, ModuleType]:
    """Reader of each file suffix. A reader is a module of this folder with SUFFIXES, MEDIA_TYPE and parse()."""
    from leanrag_core.indexing import parsing

    found: dict[str, ModuleType] = {}
    for info in pkgutil.iter_modules(parsing.__path__):
        if info.name.startswith("read_"):
            module = importlib.import_module(f"{parsing.__name__}.{info.name}")
            found |= dict.fromkeys(module.SUFFIXES, module)
    return dict(sorted(found.items()))


def parse_upload(name: str, content: bytes) -> ParsedUpload:
    """The documents in a file of that name; never raises for what the file holds.

    Files of unknown suffix are refused with the list of those that are read.
    """
    shown = shown_name(name)
    suffix = shown.rsplit(".", 1)[1].lower() if "." in shown else "txt"
    reader = formats().get(suffix)
    if reader is None:
        known = ", ".join(sorted({module.MEDIA_TYPE.upper() for module in formats().values()}))
        return ParsedUpload((), (Refusal(shown, f".{suffix} files are not read: save it as one of {known}"),))
    if not content.strip():
        return ParsedUpload((), (Refusal(shown, "has no text: the file is empty"),))
    try:
        result = reader.parse(shown, content)
    except UnreadableDocument as error:
        return ParsedUpload((), (Refusal(shown, str(error)),))
    except RecursionError:
        return ParsedUpload((), (Refusal(shown, "is nested too deeply to be read: simplify it"),))
    documents: list[Document] = []
    refusals = list(result.refusals)
    for parsed in result.parsed:
        try:
            documents.append(assemble(shown, reader.MEDIA_TYPE, parsed))
        except UnreadableDocument as error:
            refusals.append(Refusal(shown_name(parsed.name or shown), str(error)))
    return ParsedUpload(tuple(documents), tuple(refusals))
