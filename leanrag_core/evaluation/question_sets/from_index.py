"""Questions out of the entities and relations of an index, by templates and without a language model.

Each asks for an entity that the graph joins with others, in the words of a template. They test whether a retrieval
finds what the index itself has extracted, and say nothing about what it has missed; questions by a person or a language
model are better where there are any. Strategies that use the graph have an advantage.
"""

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache, cached_property
from itertools import combinations, islice

import numpy as np

from leanrag_core.evaluation.gold import Evidence, GoldQuestion, is_named, normalised
from leanrag_core.messages.catalog import ENGLISH, languages, sentence
from leanrag_core.messages.message import Message, message
from leanrag_core.text.sentences import split_sentences
from leanrag_core.types.index import Index
from leanrag_core.types.question_set import COMPARISON, FACT, MULTI_HOP, TEMPLATE_KINDS, WHOLE_CORPUS

# Types that do not say what a thing is, as extractors without a language model give them.
_VAGUE = frozenset(("", "concept", "entity", "heading", "other", "term", "thing", "title", "unknown"))
_LEAST_NAMED = 12  # entities of a type that says something; below, those of vague types are asked about too
_MOST_NEIGHBOURS = 60  # of an entity that questions lead through; hubs have no neighbour that is alone of its type
_NAME_CHARACTERS = (2, 60)
_QUOTE_CHARACTERS = (20, 500)


class NamedGraph:
    """The base graph by names, types and sentences. Rows are those of layer 0."""

    def __init__(self, index: Index) -> None:
        self._index, self._base = index, index.layers[0]
        self.names: list[str] = self._base.entities["name"].to_pylist()
        self.types = [" ".join(type_.lower().split()) for type_ in self._base.entities["type"].to_pylist()]
        self._quote = cache(self._find_quote)

    @cached_property
    def language(self) -> str:
        """Return the language of most documents, where the program has sentences in it; else English."""
        counts = Counter(self._index.documents["language"].to_pylist())
        most = min(counts, key=lambda language: (-counts[language], language), default=ENGLISH)
        return most if most in languages() else ENGLISH

    @cached_property
    def rows(self) -> list[int]:
        """Return the entities that questions are about, ascending."""
        low, high = _NAME_CHARACTERS
        fit = [
            row for row, name in enumerate(self.names) if low <= len(name) <= high and not normalised(name).isdigit()
        ]
        named = [row for row in fit if self.types[row] not in _VAGUE]
        return named if len(named) >= _LEAST_NAMED else [row for row in fit if self.types[row] != "heading"]

    def mentioned(self, n: int) -> list[int]:
        """Return the rows of entities that at least n chunks mention, ascending."""
        counts = np.diff(self._base.mention_lists[0])
        return [row for row in self.rows if counts[row] >= n]

    @cached_property
    def is_asked(self) -> frozenset[int]:
        """Return the rows as a set."""
        return frozenset(self.rows)

    def neighbours(self, row: int) -> dict[int, int]:
        """Return the entities that a relation joins with that one, each with the relation's row; only entities that
        questions are about, and none for a hub."""
        is_hub = len(self._base.relations_of(row)) > _MOST_NEIGHBOURS
        return {} if is_hub else self.all_neighbours(row)

    def all_neighbours(self, row: int) -> dict[int, int]:
        """Return the same as neighbours(), for a hub too."""
        joined: dict[int, int] = {}
        relations = self._base.relations_of(row)
        for relation, other in zip(relations.tolist(), self._base.other_ends(relations, row).tolist(), strict=True):
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
        return len({self._index.chunk_cells.value("document", chunk) for chunk in self._base.chunks_of(row).tolist()})

    def is_in(self, text: str, row: int) -> bool:
        """Return whether the text names the entity."""
        return _names(normalised(text), self.names[row])

    def quote(self, relation: int, first: int, second: int) -> Evidence | None:
        """Find a sentence of the relation's source chunks that names both entities; None where there is none."""
        return self._quote(relation, self.names[first], self.names[second])

    def _find_quote(self, relation: int, first: str, second: str) -> Evidence | None:
        low, high = _QUOTE_CHARACTERS
        for chunk in self._base.relation_cells.value("chunks", relation) or ():
            text = self._index.chunk(chunk).text
            whole = normalised(text)
            for part in split_sentences(text):
                plain = normalised(part)
                if (
                    low <= len(part) <= high
                    and _names(plain, first)
                    and _names(plain, second)
                    # A sentence that is put together over a heading is not in the text as it is.
                    and plain in whole
                ):
                    document = self._index.chunk_cells.value("document", chunk)
                    return Evidence(self._index.document_cells.value("name", document), part)
        return None


def _names(text: str, name: str) -> bool:
    """Return whether a normalised text names it."""
    wanted = normalised(name)
    return bool(wanted) and is_named((wanted,), text)


_TRIED = 20_000  # entities of a kind; a large graph has enough questions in fewer
_LEAST_DOCUMENTS = 3  # that a question about the whole corpus reaches over
_MOST_ENTITIES = 12  # of the answer of such a question
_LEAST_ENTITIES = 3


def questions_from_index(
    index: Index, *, n: int, kinds: Sequence[str] = TEMPLATE_KINDS, seed: int = 0
) -> tuple[GoldQuestion, ...]:
    """Make at most n questions of each kind, with gold answers and gold evidence; fewer where the graph gives no more.

    The same index and seed give the same questions. Each has one right answer in the graph: an entity that is the only
    one of its type among the neighbours. Evidence are sentences of the source chunks that name both ends of a relation.
    """
    graph = NamedGraph(index)
    questions: list[GoldQuestion] = []
    for kind in (kind for kind in TEMPLATE_KINDS if kind in kinds):
        rows = graph.mentioned(_LEAST_DOCUMENTS) if kind == WHOLE_CORPUS else list(graph.rows)
        random.Random(f"{seed}:{kind}").shuffle(rows)
        questions += islice(_MAKERS[kind](graph, rows[:_TRIED]), n)
    return tuple(questions)


def _facts(graph: NamedGraph, rows: Sequence[int]) -> Iterator[GoldQuestion]:
    """Yield questions that ask which entity of a type is related to an entity."""
    answered: set[int] = set()
    for row in rows:
        for type_, answer in sorted(graph.alone_of_type(row).items()):
            quote = graph.quote(graph.neighbours(row)[answer], row, answer)
            if quote and answer not in answered and _tells_apart(graph, answer, row):
                answered.add(answer)
                asked = message("template.fact", type=type_, name=graph.names[row])
                yield _question(graph, FACT, len(answered), asked, answer, (quote,))
                break


def _multi_hop(graph: NamedGraph, rows: Sequence[int]) -> Iterator[GoldQuestion]:
    """Yield questions that ask which entity is related to an entity that the question does not name."""
    answered: set[int] = set()
    for row in rows:
        second_hop = _second_hop(graph, row, answered)
        if second_hop:
            middle, answer, evidence = second_hop
            answered.add(answer)
            asked = message(
                "template.multi-hop", type=graph.types[answer], middle=graph.types[middle], name=graph.names[row]
            )
            yield _question(graph, MULTI_HOP, len(answered), asked, answer, evidence)


def _second_hop(graph: NamedGraph, row: int, answered: set[int]) -> tuple[int, int, tuple[Evidence | None, ...]] | None:
    """Find an entity two relations away, with the one between; not related to the first, nor of its type."""
    near = graph.neighbours(row)
    for _, middle in sorted(graph.alone_of_type(row).items()):
        for type_, answer in sorted(graph.alone_of_type(middle).items()):
            if answer in answered or answer in near or type_ in (graph.types[row], graph.types[middle]):
                continue
            if not _tells_apart(graph, answer, row, middle):
                continue
            hop = graph.neighbours(middle)[answer]
            evidence = graph.quote(near[middle], row, middle), graph.quote(hop, middle, answer)
            if _parts(graph, evidence, answer, row):
                return middle, answer, evidence
    return None


def _comparisons(graph: NamedGraph, rows: Sequence[int]) -> Iterator[GoldQuestion]:
    """Yield questions that ask what two entities of a type have in common."""
    answered: set[int] = set()
    for answer in rows:
        near = graph.neighbours(answer)
        pairs = ((a, b) for a, b in combinations(sorted(near), 2) if graph.types[a] == graph.types[b])
        for left, right in pairs:
            shared = graph.neighbours(left).keys() & graph.neighbours(right).keys()
            of_type = [row for row in shared if graph.types[row] == graph.types[answer]]
            if of_type != [answer] or right in graph.neighbours(left) or graph.types[answer] == graph.types[left]:
                continue
            evidence = graph.quote(near[left], left, answer), graph.quote(near[right], right, answer)
            if _parts(graph, evidence, right, left) and _tells_apart(graph, answer, left, right):
                answered.add(answer)
                asked = message(
                    "template.comparison", type=graph.types[answer], first=graph.names[left], second=graph.names[right]
                )
                yield _question(graph, COMPARISON, len(answered), asked, answer, evidence)
                break


def _whole_corpus(graph: NamedGraph, rows: Sequence[int]) -> Iterator[GoldQuestion]:
    """Yield questions that ask what several documents together relate to an entity."""
    n_made = 0
    for row in rows:
        if graph.n_documents(row) < _LEAST_DOCUMENTS:
            continue
        joined = sorted(graph.all_neighbours(row).items(), key=lambda pair: (-graph.weight(pair[1]), pair[0]))
        quotes = {
            other: quote
            for other, relation in joined
            if _tells_apart(graph, other, row) and (quote := graph.quote(relation, row, other))
        }
        kept = dict(islice(quotes.items(), _MOST_ENTITIES))
        documents = {quote.document for quote in kept.values()}
        if len(kept) >= _LEAST_ENTITIES and len(documents) >= _LEAST_DOCUMENTS:
            n_made += 1
            names = tuple(graph.names[other] for other in kept)
            yield GoldQuestion(
                f"{WHOLE_CORPUS}-{n_made}",
                sentence(message("template.whole-corpus", name=graph.names[row]), graph.language),
                names,
                tuple(dict.fromkeys(kept.values())),
                WHOLE_CORPUS,
                tuple((normalised(name),) for name in names if normalised(name)),
            )


def _parts(graph: NamedGraph, evidence: tuple[Evidence | None, ...], *absent: int) -> bool:
    """Return whether all sentences are there and answer only together: none names the entity that must be absent from
    it."""
    return all(
        quote is not None and not graph.is_in(quote.quote, row) for quote, row in zip(evidence, absent, strict=True)
    )


def _question(
    graph: NamedGraph, kind: str, number: int, asked: Message, answer: int, evidence: tuple[Evidence | None, ...]
) -> GoldQuestion:
    return GoldQuestion(
        f"{kind}-{number}", sentence(asked, graph.language), (graph.names[answer],), tuple(filter(None, evidence)), kind
    )


def _tells_apart(graph: NamedGraph, *rows: int) -> bool:
    """Return whether no name is part of another."""
    names = [normalised(graph.names[row]) for row in rows]
    return all(names) and not any(a in b or b in a for a, b in combinations(names, 2))


_MAKERS: dict[str, Callable[[NamedGraph, Sequence[int]], Iterator[GoldQuestion]]] = {
    FACT: _facts,
    MULTI_HOP: _multi_hop,
    COMPARISON: _comparisons,
    WHOLE_CORPUS: _whole_corpus,
}
