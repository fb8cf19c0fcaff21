"""Replies of language models that LightRAG and nano-graphrag have recorded.

They are kept under hashes of prompts that are not ours, so the store of calls cannot take them over. Replies of
extraction hold entities and relations, which are read as those of a build are.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from leanrag_core.errors import ReplyError
from leanrag_core.importing.stores import store_rows, text_of
from leanrag_core.indexing.extraction.delimited import parse_delimited
from leanrag_core.types.extraction import Drop, Mention, RelationMention

_MAX_COMPARISONS = 2_000_000  # of a reply's name with a chunk
_MIN_SHARE = 0.5  # of the names of a reply that must be in its chunk


@dataclass(frozen=True)
class RecordedReply:
    """A reply. chunk: id of the chunk that it is about; empty where that is not recorded."""

    key: str
    text: str
    chunk: str = ""

    @property
    def is_extraction(self) -> bool:
        """Whether it holds entities and relations in the delimited form."""
        return "<|>" in self.text


@dataclass(frozen=True)
class ParsedReply:
    """What a reply of extraction holds. chunk: empty where no chunk has half of its names."""

    key: str
    mentions: tuple[Mention, ...]
    relations: tuple[RelationMention, ...]
    drops: tuple[Drop, ...]
    chunk: str = ""


def recorded_replies(path: Path) -> tuple[RecordedReply, ...]:
    """Read all replies of the store, none for a file that is absent. LightRAG once kept them by mode, one level
    deeper."""
    replies: list[RecordedReply] = []
    for key, row in store_rows(path).items():
        rows: Mapping[str, Any] = {key: row} if "return" in row else row
        replies += [
            RecordedReply(name, text_of(each, "return"), text_of(each, "chunk_id"))
            for name, each in rows.items()
            if isinstance(each, dict) and "return" in each
        ]
    return tuple(replies)


def parsed_replies(replies: Sequence[RecordedReply], texts: Mapping[str, str]) -> tuple[ParsedReply, ...]:
    """Parse the replies of extraction, each with its chunk. texts: of the chunks, by id.

    A reply whose chunk is not recorded belongs to the chunk that has most of its names.
    """
    folded = {id_: text.casefold() for id_, text in texts.items()}
    room = _MAX_COMPARISONS
    parsed: list[ParsedReply] = []
    for reply in replies:
        if not reply.is_extraction:
            continue
        try:
            read = parse_delimited(reply.text, reply.chunk or reply.key)
        except ReplyError:
            continue
        chunk = reply.chunk if reply.chunk in texts else ""
        names = {mention.name.casefold() for mention in read.mentions}
        if not chunk and names and room > 0:
            room -= len(names) * len(folded)
            chunk = _chunk_with(names, folded)
        parsed.append(ParsedReply(reply.key, tuple(read.mentions), tuple(read.relations), tuple(read.drops), chunk))
    return tuple(parsed)


def _chunk_with(names: set[str], texts: Mapping[str, str]) -> str:
    shares = {id_: sum(name in text for name in names) / len(names) for id_, text in texts.items()}
    best = max(shares, key=lambda id_: shares[id_], default="")
    return best if best and shares[best] >= _MIN_SHARE else ""
