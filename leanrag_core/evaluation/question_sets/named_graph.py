"""The base graph of an index as question templates need it: entities with a name and a type, and sentences that hold
relations."""

import re
from collections import Counter
from functools import cached_property

from leanrag_core.evaluation.gold import Evidence, is_named, normalised
from leanrag_core.messages.catalog import ENGLISH, languages
from leanrag_core.text.sentences import split_sentences
from leanrag_core.types.index import Index

# Types that say nothing of what a thing is, as extractors without a language model give them.
_VAGUE = frozenset(("", "concept", "entity", "heading", "other", "term", "thing", "title", "unknown"))
_LEAST_NAMED = 12  # entities of a type that says something; below, those of vague types are asked about too
_MOST_NEIGHBOURS = 60  # of an entity that questions lead through; hubs have no neighbour that is alone of its type
_NAME_CHARACTERS = (2, 60)
_QUOTE_CHARACTERS = (20, 500)
_EASTERN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


class NamedGraph:
    """The base graph by names, types and sentences. Rows are those of layer 0."""

    def __init__(self, index: Index) -> None:
        self._index, self._base = index, index.layers[0]
        self.names: list[str] = self._base.entities["name"].to_pylist()
        self.types = [" ".join(type_.lower().split()) for type_ in self._base.entities["type"].to_pylist()]
        self._quotes: dict[tuple[int, str, str], Evidence | None] = {}

    @cached_property
    def language(self) -> str:
        """The language of most documents, where the program has sentences in it; else English."""
        counts = Counter(self._index.documents["language"].to_pylist())
        most = min(counts, key=lambda language: (-counts[language], language), default=ENGLISH)
        return most if most in languages() else ENGLISH

    @cached_property
    def rows(self) -> list[int]:
        """The entities that questions are about, ascending."""
        low, high = _NAME_CHARACTERS
        fit = [
            row for row, name in enumerate(self.names) if low <= len(name) <= high and not normalised(name).isdigit()
        ]
        named = [row for row in fit if self.types[row] not in _VAGUE]
        return named if len(named) >= _LEAST_NAMED else [row for row in fit if self.types[row] != "heading"]

    def mentioned(self, n: int) -> list[int]:
        """Return the rows of entities that at least n chunks mention, ascending."""
        offsets, _ = self._base.mention_lists
        counts = (offsets[1:] - offsets[:-1]).tolist()
        return [row for row in self.rows if counts[row] >= n]

    @cached_property
    def is_asked(self) -> frozenset[int]:
        """The rows as a set."""
        return frozenset(self.rows)

    def neighbours(self, row: int) -> dict[int, int]:
        """Return the entities that a relation joins with that one, each with the relation's row; only entities that
        questions are about, and none for a hub."""
        relations = self._base.relations_of(row).tolist()
        if len(relations) > _MOST_NEIGHBOURS:
            return {}
        return self.all_neighbours(row)

    def all_neighbours(self, row: int) -> dict[int, int]:
        """Return the same as neighbours(), for a hub too."""
        joined: dict[int, int] = {}
        for relation in self._base.relations_of(row).tolist():
            source, target = self._base.ends[relation].tolist()
            other = target if source == row else source
            if other != row and other in self.is_asked:
                joined.setdefault(other, relation)
        return joined

    def alone_of_type(self, row: int) -> dict[str, int]:
        """Return those neighbours of the entity that are the only one of their type, by type."""
        neighbours = self.neighbours(row)
        counts = Counter(self.types[other] for other in neighbours)
        return {self.types[other]: other for other in neighbours if counts[self.types[other]] == 1}

    def weight(self, relation: int) -> float:
        """Return how often the relation is stated."""
        return float(self._base.weights[relation])

    def n_documents(self, row: int) -> int:
        """Count the documents that mention the entity."""
        return len({self._index.chunk_cells["document"][chunk].as_py() for chunk in self._base.chunks_of(row).tolist()})

    def is_in(self, text: str, row: int) -> bool:
        """Return whether the text names the entity."""
        return _names(normalised(text), self.names[row])

    def quote(self, relation: int, first: int, second: int) -> Evidence | None:
        """Find a sentence of the relation's source chunks that names both entities; None where there is none."""
        key = (relation, self.names[first], self.names[second])
        if key not in self._quotes:
            self._quotes[key] = self._quote(*key)
        return self._quotes[key]

    def _quote(self, relation: int, first: str, second: str) -> Evidence | None:
        low, high = _QUOTE_CHARACTERS
        for chunk in self._base.relation_cells["chunks"][relation].as_py() or ():
            text = self._index.chunk(chunk).text
            whole = normalised(text)
            for sentence in split_sentences(text):
                plain = normalised(sentence)
                if (
                    low <= len(sentence) <= high
                    and _names(plain, first)
                    and _names(plain, second)
                    # A sentence that is put together over a heading is not in the text as it is.
                    and plain in whole
                ):
                    document = self._index.chunk_cells["document"][chunk].as_py()
                    return Evidence(self._index.document_cells["name"][document].as_py(), sentence)
        return None


def _names(text: str, name: str) -> bool:
    """Return whether a normalised text names it as whole words, or anywhere in a script without blanks."""
    wanted = normalised(name)
    return bool(wanted) and (is_named((wanted,), text) or (_EASTERN.search(wanted) is not None and wanted in text))
