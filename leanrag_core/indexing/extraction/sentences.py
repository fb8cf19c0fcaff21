"""A sentence as extraction reads it before names are settled, and the chunks that it belongs to."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from leanrag_core.types.corpus import Chunk


@dataclass(frozen=True)
class Sighting:
    """An entity seen in a sentence.

    surface: as it is written (articles and possessives off). key: what equal entities share. type: person, concept, ...
    start, end, head: token positions in the parsed block. weight: how much the sentence says about it.
    mentioned: False for the far end of a link that occurs elsewhere (the title above a heading).
    before: the word right before a name, in small letters. human: the sentence treats the name as a person. ordinary:
    the name is one word, which the dictionary has. bare, bare_key: surface and key without the words that only evaluate
    ("queens" of "new queens"); "" where there are none.
    """

    surface: str
    key: str
    type: str
    start: int = 0
    end: int = 0
    head: int = 0
    weight: float = 0.0
    mentioned: bool = True
    before: str = ""
    human: bool = False
    ordinary: bool = False
    bare: str = ""
    bare_key: str = ""


@dataclass(frozen=True)
class Link:
    """Two sightings of one sentence, by their positions in it, that are related. label: words between, for a triple."""

    source: int
    target: int
    kind: str
    strength: float
    label: str = ""
    keyword: str = ""


@dataclass(frozen=True)
class ReadSentence:
    """A sentence with all that was seen in it. start, end: characters in the document.

    acronyms: (short, long) pairs that the sentence itself defines. left_out: phrases that are too general to be an
    entity. unlinked: pairs of sightings beyond the cap. words: base forms of the content words with their token
    positions, which are counted as in Sighting.
    """

    document: int
    start: int
    end: int
    text: str
    sightings: tuple[Sighting, ...] = ()
    links: tuple[Link, ...] = ()
    acronyms: tuple[tuple[str, str], ...] = ()
    left_out: tuple[str, ...] = ()
    unlinked: int = 0
    words: tuple[tuple[str, int], ...] = ()


class ChunkLocator:
    """Finds the chunks of one document that hold a span."""

    def __init__(self, chunks: Sequence[Chunk], rows: Sequence[int]) -> None:
        order = sorted(range(len(chunks)), key=lambda i: (chunks[i].start, chunks[i].end))
        self._rows = [rows[i] for i in order]
        self._starts = [chunks[i].start for i in order]
        self._ends = [chunks[i].end for i in order]
        self._longest = max((chunk.end - chunk.start for chunk in chunks), default=0)

    @property
    def first(self) -> int | None:
        """Row of the document's first chunk."""
        return self._rows[0] if self._rows else None

    def holding(self, start: int, end: int) -> list[int]:
        """Return the rows of every chunk that wholly contains [start, end); when none does, of the one that holds its
        start.
        """
        after = bisect_right(self._starts, start)
        if after == 0:
            return self._rows[:1]
        whole, fallback = [], after - 1
        for place in range(after - 1, -1, -1):
            if self._starts[place] + self._longest <= start:
                break
            if self._ends[place] >= end:
                whole.append(self._rows[place])
        return whole[::-1] or [self._rows[fallback]]


MAX_PAIRS = 20  # links of a sentence, from which on only neighbours are linked


def link_neighbours(
    n_sightings: int, related: Sequence[Link], near: Sequence[tuple[int, int]] = ()
) -> tuple[list[Link], int]:
    """Return co-occurrence links for pairs that nothing stronger joins, the nearest first; and how many pairs were left
    out.

    Neighbours are always linked, pairs further apart only until the sentence has MAX_PAIRS links. near: pairs that
    must not be linked, because one is part of the other.
    """
    linked_pairs = {(min(link.source, link.target), max(link.source, link.target)) for link in related}
    apart = linked_pairs | {(min(pair), max(pair)) for pair in near}
    links: list[Link] = []
    possible = n_sightings * (n_sightings - 1) // 2 - len(apart)
    for distance in range(1, n_sightings):
        if distance > 1 and len(links) + len(related) >= MAX_PAIRS:
            break
        for left in range(n_sightings - distance):
            pair = (left, left + distance)
            if pair in apart:
                continue
            if distance > 1 and len(links) + len(related) >= MAX_PAIRS:
                break
            links.append(Link(*pair, kind="co-occurrence", strength=1.0))
    return links, possible - len(links)
