"""The record of a corpus: its name, the rows of its documents, and files that could not be read."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from leanrag_core.errors import InvalidConfig
from leanrag_core.files.atomic import write_bytes
from leanrag_core.files.records import absent_at_default, to_json
from leanrag_core.messages.catalog import sentence
from leanrag_core.messages.message import Message
from leanrag_core.types.corpus import Refusal
from leanrag_core.types.summary import DocumentSummary

MAX_NAME = 500  # characters
ID = re.compile(r"[a-z0-9][a-z0-9-]{0,80}")  # of a corpus, and of a document
RECORD = "corpus.json"


@dataclass(frozen=True)
class RefusedFile:
    """A file that could not be read. reason: the English sentence, which is all that earlier versions wrote and read.
    message: the same with its code."""

    name: str
    reason: str
    message: Message | None = absent_at_default()

    @classmethod
    def of(cls, refusal: Refusal) -> Self:
        """Return the record of that refusal."""
        return cls(refusal.name, sentence(refusal.reason), refusal.reason)

    def refusal(self) -> Refusal:
        """Return the refusal that was recorded."""
        return Refusal(self.name, self.message or Message("plain", {"text": self.reason}))


@dataclass(frozen=True)
class CorpusRecord:
    """A corpus without the texts of its documents. source: fingerprint of what it was read from, such as a sample.
    created: ISO 8601, UTC. refused: files that could not be read and have not been added since. in_database: the
    documents are in one file of their own, and not here."""

    id: str
    name: str
    description: str
    sample: bool
    source: str
    created: str
    documents: tuple[DocumentSummary, ...]
    refused: tuple[RefusedFile, ...] = ()
    in_database: bool = absent_at_default(False)

    def names_by_id(self) -> dict[str, str]:
        """Return the documents' names by the ids that their texts have, and those that their files gave."""
        read = {row.read_as: row.name for row in self.documents if row.read_as}
        return read | {row.id: row.name for row in self.documents}


def write_record(folder: Path, record: CorpusRecord) -> None:
    """Write the record into the corpus's folder. Raises OSError."""
    write_bytes(folder / RECORD, to_json(record, indent=1), private=True)


def tidy_name(name: str) -> str:
    """Return the name of a corpus or an index without spaces around it. Raises InvalidConfig for an empty or very long
    one."""
    if not name.strip():
        raise InvalidConfig("index.name_empty")
    if len(name) > MAX_NAME:
        raise InvalidConfig("index.name_too_long", n=len(name), limit=MAX_NAME)
    return name.strip()


def tidy_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Return the tags, white space folded, each once, sorted; a comma parts two of them."""
    words = (" ".join(word.split()) for tag in tags for word in tag.replace("，", ",").split(","))
    return tuple(sorted({word for word in words if word}))
