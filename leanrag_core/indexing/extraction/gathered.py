"""All that the replies about one chunk hold, each statement once, and all that was lost."""

import re
from dataclasses import replace

from leanrag_core.errors import ReplyCut, ReplyError
from leanrag_core.indexing.extraction.presence import ExampleNames, Passage
from leanrag_core.indexing.extraction.reply import Reply, parse_reply
from leanrag_core.models.base import Completion, call_made
from leanrag_core.types.calls import NO_USAGE, CallMade, Usage
from leanrag_core.types.corpus import Chunk
from leanrag_core.types.extraction import Drop, Extraction, Mention, RelationMention

NAMES = "doubtful names"  # under which the report counts entities that are kept, but may be invented
_SPACE = re.compile(r"\s+")


class Gathered:
    """What has been found in a chunk so far. example: names of the prompt's example, which are not the chunk's."""

    def __init__(self, chunk: Chunk, example: ExampleNames) -> None:
        self.chunk_id = chunk.id
        self.usage: Usage = NO_USAGE
        self._passage, self._example = Passage(chunk.text), example
        self._names: dict[str, str] = {}  # key to the name as the replies wrote it first
        self._mentions: dict[tuple[str, str], Mention] = {}  # by key and description
        self._relations: dict[tuple[str, str, str], RelationMention] = {}
        self._only_ends: dict[str, tuple[str, str]] = {}  # entities that only a relation has named
        self._drops: list[Drop] = []
        self._calls: list[CallMade] = []
        self._told_copies: set[str] = set()

    def add(self, reply: Reply, completion: Completion) -> bool:
        """Add the reply, read from that completion; return whether it has an entity or relation that was not known.
        Another description of a known entity is kept beside the first.
        """
        self.usage = self.usage + completion.usage
        return self._add(reply, completion)

    def _add(self, reply: Reply, completion: Completion | None) -> bool:
        if completion is not None:
            self._calls.append(call_made(completion))
        before = len(self._names) + len(self._relations)
        copied = self._copied(reply)
        for mention in reply.mentions:
            if mention.name not in copied:
                self._add_mention(mention)
        for relation in reply.relations:
            if relation.source not in copied and relation.target not in copied:
                self._add_relation(relation)
        self._drops += reply.drops
        return len(self._names) + len(self._relations) > before

    def _copied(self, reply: Reply) -> frozenset[str]:
        """Return the names of the reply that come from the prompt's example; each is recorded as a drop."""
        names = {mention.name for mention in reply.mentions}
        names.update(end for relation in reply.relations for end in (relation.source, relation.target))
        copied = self._example.copied(names, self._passage)
        for name in sorted(copied - self._told_copies):
            self._drop_item(f"entity {name!r}", "it comes from the prompt's example, not from the passage")
        for relation in reply.relations:
            ends = f"{relation.source} – {relation.target}"
            if not copied.isdisjoint((relation.source, relation.target)):
                self._drop_item(f"relation {ends!r}", "an end of it comes from the prompt's example")
        self._told_copies |= copied
        return copied

    def _add_mention(self, mention: Mention) -> None:
        key = _key(mention.name)
        mention = replace(mention, name=self._names.setdefault(key, mention.name))
        self._mentions.setdefault((key, _key(mention.description)), mention)
        known_as_end = self._only_ends.pop(key, None)
        if known_as_end is not None and mention.description:
            self._mentions.pop(known_as_end, None)

    def _add_relation(self, relation: RelationMention) -> None:
        ends = _key(relation.source), _key(relation.target)
        self._relations.setdefault((min(ends), max(ends), relation.description), relation)
        for end, name in zip(ends, (relation.source, relation.target), strict=True):
            bare = self._mentions.get((end, ""))
            if end not in self._names or (bare is not None and bare.type == "unknown" and self._is_first(end)):
                self._mentions.pop((end, ""), None)
                place = (end, _key(relation.description))
                name = self._names.setdefault(end, name)
                self._mentions[place] = Mention(name, "unknown", relation.description, self.chunk_id)
                self._only_ends[end] = place

    def _is_first(self, key: str) -> bool:
        return sum(known == key for known, _ in self._mentions) == 1

    def keep_complete_part(self, error: ReplyCut) -> None:
        """Keep what is complete in a reply that was cut; record the rest as lost."""
        try:
            self._add(parse_reply(getattr(error, "text", ""), self.chunk_id), getattr(error, "completion", None))
        except ReplyError as problem:
            self.drop(f"{error}, and {problem}")
            return
        self.drop(f"{error}; what was complete is kept")

    def drop(self, reason: str) -> None:
        """Record that something of the chunk was lost."""
        self._drops.append(Drop("extract", f"chunk {self.chunk_id}", reason, chunk=self.chunk_id))

    def _drop_item(self, item: str, reason: str) -> None:
        self._drops.append(Drop("extract", f"chunk {self.chunk_id}: {item}", reason))

    def extraction(self) -> Extraction:
        """Return everything gathered, in the order of the replies; names that the passage does not have are marked."""
        for name in self._names.values():
            if not self._passage.speaks_of(name):
                item = f"chunk {self.chunk_id}: entity {name!r}"
                self._drops.append(Drop(NAMES, item, "kept, although no word of the name occurs in the passage"))
        return Extraction(
            self.chunk_id,
            tuple(self._mentions.values()),
            tuple(self._relations.values()),
            tuple(self._drops),
            self.usage,
            tuple(self._calls),
        )


def _key(name: str) -> str:
    return _SPACE.sub(" ", name).strip().casefold()
