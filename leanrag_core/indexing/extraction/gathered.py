"""All that the replies about one chunk hold, each statement once, and all that was lost."""

import re
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cached_property

from leanrag_core.errors import ReplyCut, ReplyError
from leanrag_core.indexing.extraction.reply import Reply, parse_reply
from leanrag_core.models.base import Completion, call_made
from leanrag_core.types.calls import NO_USAGE, CallMade, Usage
from leanrag_core.types.corpus import Chunk, Document
from leanrag_core.types.extraction import Drop, Extraction, Mention, RelationMention
from leanrag_core.types.growth import News


class Extractor(ABC):
    """Finds entities and relations (section 2, step 2 of the method: documents to the base graph G0).

    kind: "heuristic graph" or "LLM graph", named on every page that shows the graph. fingerprint: changes whenever the
    same chunks could give another graph. latest: names that were found last. names: keys of all names so far;
    n_relations: relations so far, before merging; news: names and relations since it was last taken. All four grow
    while extract() runs.
    """

    name: str
    kind: str

    def __init__(self) -> None:
        self.latest, self.n_relations, self.news = "", 0, News()
        self.names: set[str] = set()

    @property
    @abstractmethod
    def fingerprint(self) -> str:
        """Version of everything that decides what is found."""

    @abstractmethod
    def extract(
        self, documents: Sequence[Document], chunks: Sequence[Chunk], report: Callable[[int], None]
    ) -> Sequence[Extraction]:
        """Return one Extraction per chunk, in the chunks' order; report(n) is called after n chunks are done. Each pass
        over the result may take long, so collect everything you need in one.
        """


_WORD = re.compile(r"[^\W_]+")
_NAME_IN_PROMPT = re.compile(r'"name":\s*"([^"]*\w[^"]*)"')
_EASTERN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f]")
_ACCENT = re.compile(r"[\u0300-\u036f]")
_SHORTEST_STEM = 4  # characters
_STEM = 0.6  # share of the shorter word that must be alike from its beginning
_LETTERS_LOOKED_AT = 600
_ACRONYM = re.compile(r"^[^\W\d_]{2,8}$")


def plain(text: str) -> str:
    """Return the text without accents, case and kinds of letters that look alike."""
    if text.isascii():
        return text.lower()
    return _ACCENT.sub("", unicodedata.normalize("NFKD", text)).casefold()


def words_of(text: str) -> list[str]:
    """Return the words of a text in plain form; of a script without spaces, pairs of neighbouring signs."""
    words: list[str] = []
    runs = _WORD.findall(plain(text))
    if text.isascii():
        return runs
    for word in runs:
        if _EASTERN.search(word):
            words += [word[at : at + 2] for at in range(max(1, len(word) - 1))]
        else:
            words.append(word)
    return words


class Passage:
    """The words of a passage, in which names are looked up."""

    def __init__(self, text: str) -> None:
        self._ordered = words_of(text)
        self._words = frozenset(self._ordered)
        self._text = text
        self._by_stem: dict[str, list[str]] = {}
        for word in self._words:
            if len(word) >= _SHORTEST_STEM:
                self._by_stem.setdefault(word[:_SHORTEST_STEM], []).append(word)

    @cached_property
    def _joined(self) -> str:
        return "".join(_WORD.findall(plain(self._text)))

    @cached_property
    def _initials(self) -> str:
        return "".join(word[0] for word in self._ordered)

    @cached_property
    def _script(self) -> str:
        return script_of(self._text)

    def has_word(self, word: str) -> bool:
        """Return whether the word occurs, in this form or another with the same stem."""
        if word in self._words:
            return True
        return any(_alike(word, other) for other in self._by_stem.get(word[:_SHORTEST_STEM], ()))

    def has_all(self, name: str) -> bool:
        """Return whether every word of the name occurs."""
        return all(self.has_word(word) for word in words_of(name))

    def speaks_of(self, name: str) -> bool:
        """Return whether the passage can mean the name: a word of it occurs, it is an acronym, or another script is
        used.
        """
        words = words_of(name)
        if not words or any(self.has_word(word) for word in words if len(word) > 2 or not word.isascii()):
            return True
        if "".join(_WORD.findall(plain(name))) in self._joined:
            return True
        if script_of(name) not in ("", self._script):
            return True  # a transcription or translation cannot be distinguished from an invention
        if len(words) == 1 and _ACRONYM.match(words[0]) and words[0] in self._initials:
            return True
        initials = "".join(word[0] for word in words)
        return len(initials) > 1 and initials in self._words


def script_of(text: str) -> str:
    """Return the script of most letters: "LATIN", "CYRILLIC", "CJK", ...; "" without letters."""
    if text.isascii():
        return "LATIN" if any(map(str.isalpha, text)) else ""
    counted: dict[str, int] = {}
    for sign in text[:_LETTERS_LOOKED_AT]:
        if sign.isalpha():
            name = unicodedata.name(sign, "").split(" ")[0].removesuffix("-FULLWIDTH")
            counted[name] = counted.get(name, 0) + 1
    return max(counted, key=lambda name: (counted[name], name), default="")


class ExampleNames:
    """The names in a prompt's example; a small model copies them into its reply."""

    def __init__(self, prompt: str) -> None:
        names = [name for name in _NAME_IN_PROMPT.findall(prompt) if name != "..."]
        self._names = frozenset(plain(name) for name in names)
        self._words = frozenset(word for name in names for word in words_of(name))
        self._own = frozenset(word for name in names for word in words_of(" ".join(_capitalised(name))))

    def copied(self, names: Iterable[str], passage: Passage) -> frozenset[str]:
        """Return those of the names that are the example's and not the passage's."""
        return frozenset(name for name in names if self._has(name) and not passage.has_all(name))

    def _has(self, name: str) -> bool:
        words = words_of(name)
        of_example = bool(words) and self._words.issuperset(words) and not self._own.isdisjoint(words)
        return of_example or plain(name) in self._names


def _alike(word: str, other: str) -> bool:
    shorter = min(len(word), len(other))
    needed = max(_SHORTEST_STEM, round(_STEM * shorter))
    return word[:needed] == other[:needed]


def _capitalised(name: str) -> list[str]:
    return [word for word in name.split() if word[:1].isupper()]


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
