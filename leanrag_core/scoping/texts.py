"""Descriptions of what is named inside and outside of a scope, made of the documents inside alone.

The sentences that a description shares with the texts inside stay; sentences of these texts that name the entity, or
both ends of the relation, take the place of the others. Of a description that a language model wrote none may stay.
"""

import re
from collections.abc import Callable, Sequence
from functools import cache

from leanrag_core.text.sentences import in_one_line, split_sentences
from leanrag_core.text.words import lexical_tokens

_ENTITY_SENTENCES, _RELATION_SENTENCES = 3, 5  # as many as merging keeps of a heuristic one
_CUT = "…"
_AFTER_CUT = re.compile(rf"(?<={_CUT})\s+")


class InsideTexts:
    """The texts of the chunks inside, read when they are needed. text_of: of a chunk's row."""

    def __init__(self, text_of: Callable[[int], str]) -> None:
        self._folded: Callable[[int], str] = cache(lambda row: in_one_line(text_of(row)))
        self._sentences: Callable[[int], tuple[str, ...]] = cache(lambda row: tuple(split_sentences(text_of(row))))

    def entity(self, name: str, description: str, chunks: Sequence[int]) -> str:
        """Return the entity's description from the chunks inside that mention it; at least its name."""
        return self._described(description, [name], chunks, _ENTITY_SENTENCES) or name

    def relation(self, ends: Sequence[str], description: str, chunks: Sequence[int]) -> str:
        """Return the relation's description from the chunks inside that state it; at least the names of its ends."""
        described = self._described(description, ends, chunks, _RELATION_SENTENCES)
        return described or " – ".join(ends)

    def keywords(self, keywords: Sequence[str], chunks: Sequence[int]) -> list[str]:
        """Return those of the keywords that the chunks inside have."""
        texts = [self._folded(row).casefold() for row in chunks]
        return [word for word in keywords if any(in_one_line(word).casefold() in text for text in texts)]

    def _described(self, description: str, names: Sequence[str], chunks: Sequence[int], most: int) -> str:
        texts = [self._folded(row) for row in chunks]
        stored = [piece for sentence in split_sentences(description) for piece in _AFTER_CUT.split(sentence)]
        kept = [sentence for sentence in stored if any(is_said(sentence, text) for text in texts)]
        if len(kept) >= most:
            return " ".join(kept)
        others = [
            sentence
            for row in chunks
            for sentence in self._sentences(row)
            if not any(is_said(each, sentence) for each in kept)
        ]
        naming = list(dict.fromkeys(_naming(names, others)))[: most - len(kept)]
        return " ".join([*kept, *naming])


def _naming(names: Sequence[str], sentences: Sequence[str]) -> list[str]:
    """Return the sentences that have all the names as they are; else those that have all their words, in other forms
    or another order; else those that have the most of them."""
    wanted = [in_one_line(name).casefold() for name in names]
    named = [sentence for sentence in sentences if all(name in sentence.casefold() for name in wanted)]
    if named:
        return named
    words = {word for name in names for word in lexical_tokens(name)}
    shared = [len(words & set(lexical_tokens(sentence))) for sentence in sentences]
    most = max(shared, default=0)
    return [sentence for sentence, n in zip(sentences, shared, strict=True) if n == most and n]


def is_said(sentence: str, text: str) -> bool:
    """Return whether the text has the sentence, which may lack its beginning or its end. text: with white space
    folded."""
    bare = sentence.rstrip(_CUT + " .").lstrip(_CUT + " ")
    return bool(bare) and bare in text
