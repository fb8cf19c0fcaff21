"""Keywords of a relation that no verb states: the content words that its sentence has beside the two ends."""

from collections.abc import Sequence

from leanrag_core.indexing.extraction.sentences import Sighting

MAX_KEYWORDS = 4


def keywords_of(words: Sequence[tuple[str, int]], source: Sighting, target: Sighting) -> tuple[str, ...]:
    """Return at most four words in the order of the sentence: those between the ends first, then the nearest around
    them.

    words: base forms of the sentence's content words and their places, which are counted as the sightings count theirs.
    """
    first, last = sorted((source, target), key=lambda end: (end.start, end.end))
    own = {part for end in (source, target) for part in end.key.split()}
    apart = [
        (max(first.start - place, place - max(first.end, last.end) + 1, 0), place, word)
        for word, place in words
        if word not in own and not any(end.start <= place < end.end for end in (source, target))
    ]
    nearest: dict[str, int] = {}
    for _, place, word in sorted(apart):
        nearest.setdefault(word, place)
    chosen = list(nearest)[:MAX_KEYWORDS]
    return tuple(sorted(chosen, key=lambda word: nearest[word]))
