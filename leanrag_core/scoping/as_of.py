"""What the texts of an index say that was not valid on a day, and the index without it.

A sentence goes where none of its dates (text.dates) is valid then; one without a date stays, and so does one of which a
part is valid. A relation goes with the last sentence of its description; where that says no date, with the sentences of
its chunks that name both of its ends. What happened on a date is not over afterwards.

Descriptions of what is named inside and outside of a scope are made of the documents inside alone: the sentences that a
description shares with the texts inside stay; sentences of these texts that name the entity, or both ends of the
relation, take the place of the others. Of a description that a language model wrote none may stay.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pyarrow as pa

from leanrag_core.indexing.aggregation.embedding import Embed
from leanrag_core.text.dates import ENDED, LATER, is_relative, time_spans
from leanrag_core.text.sentences import in_one_line, sentence_places, split_sentences
from leanrag_core.text.tokens import count_many
from leanrag_core.text.words import lexical_tokens
from leanrag_core.types.graph import ENTITY_SCHEMA, RELATION_SCHEMA, Graph
from leanrag_core.types.index import CHUNK_BYTES, CHUNK_TOKENS, Index
from leanrag_core.types.rows import Lists, numbers, with_column
from leanrag_core.types.scope import LeftOut, NotValid

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


_LETTER = re.compile(r"\S")


def why_left_out(sentence: str, day: str, said_on: str = "") -> str:
    """Return why a sentence is not valid on that day (text.dates), the reason of its first date; empty where it has no
    date, or one that is valid then. said_on: the date of the document."""
    reasons = [span.outside(day) for span in time_spans(sentence, said_on)]
    return reasons[0] if reasons and all(reasons) else ""


@dataclass(frozen=True, eq=False)
class TextsThen:
    """The documents as of a day. index: of the same rows, with blanks in the place of sentences that go. changed,
    emptied: rows of the chunks that lack some of their text, and of those that have none left. sentences: how many
    go."""

    index: Index
    changed: frozenset[int]
    emptied: frozenset[int]
    sentences: NotValid


def texts_then(index: Index, documents: np.ndarray, day: str, dates: Sequence[str], embed: Embed) -> TextsThen:
    """Return the documents' texts without what they say that was not valid on that day; places in them stay.

    documents: (k,) int rows. dates: of all documents, by row, empty where they are not known. embed: of chunks.
    """
    texts = index.documents["text"].to_pylist()
    reasons: Counter[str] = Counter()
    blanked: dict[int, list[tuple[int, int]]] = {}
    for row in documents.tolist():
        text = texts[row]
        for start, end in sentence_places(text):
            reason = why_left_out(text[start:end], day, dates[row])
            if reason:
                reasons[reason] += 1
                blanked.setdefault(row, []).append((start, end))
                text = text[:start] + _LETTER.sub(" ", text[start:end]) + text[end:]
        texts[row] = text
    if not blanked:
        return TextsThen(index, frozenset(), frozenset(), NotValid())
    owner, starts, ends = (numbers(index.chunks[name]).tolist() for name in ("document", "start", "end"))
    changed = {
        chunk: texts[row][start:end]
        for chunk, (row, start, end) in enumerate(zip(owner, starts, ends, strict=True))
        if any(first < end and start < last for first, last in blanked.get(row, ()))
    }
    emptied = frozenset(chunk for chunk, text in changed.items() if not text.strip())
    rest = {chunk: text for chunk, text in changed.items() if chunk not in emptied}
    chunks, vectors = _chunk_columns(index, rest, embed)
    index_then = replace(
        index, documents=with_column(index.documents, "text", texts), chunks=chunks, chunk_vectors=vectors
    )
    return TextsThen(index_then, frozenset(changed), emptied, _counted(reasons))


def _chunk_columns(index: Index, texts: dict[int, str], embed: Embed) -> tuple[pa.Table, np.ndarray]:
    """Return chunks and chunk vectors, (c, d), with what the new texts of these rows change."""
    stale = [name for name in (*CHUNK_BYTES, CHUNK_TOKENS) if name in index.chunks.column_names]
    chunks = index.chunks.drop_columns(stale)
    if not texts:
        return chunks, index.chunk_vectors
    rows, vectors = list(texts), np.array(index.chunk_vectors)
    vectors[rows] = embed(list(texts.values()))
    tokens = np.array(numbers(chunks["tokens"]))
    tokens[rows] = count_many(list(texts.values()))
    return with_column(chunks, "tokens", tokens), vectors


@dataclass(frozen=True, eq=False)
class GraphThen:
    """A base graph as of a day. entities, relations: (k,) int64, rows of those that stay. rewritten: ids of those whose
    description lacks a sentence. relations_out, sentences_out: how many go."""

    graph: Graph
    entities: np.ndarray
    relations: np.ndarray
    rewritten: frozenset[str]
    relations_out: NotValid
    sentences_out: NotValid


@dataclass(frozen=True)
class Quotes:
    """Where the descriptions of a base graph come from. date_of: the date of a chunk's document. text_of: a chunk's
    whole text; left_of: what is left of it; all by the row that the graph names. changed: rows of chunks that lack some
    of their text."""

    date_of: Callable[[int], str]
    text_of: Callable[[int], str]
    left_of: Callable[[int], str]
    changed: frozenset[int]

    def said_on(self, sentence: str, chunks: Sequence[int]) -> str:
        """Return the date of the document that has the sentence, where it says a relative date; empty where that is
        not known, or differs."""
        if not is_relative(sentence):
            return ""
        dates = {self.date_of(chunk) for chunk in chunks}
        if len(dates) > 1:
            forms = (sentence, sentence.partition(": ")[2])  # a heuristic relation names its ends first
            dates = {
                self.date_of(chunk)
                for chunk in chunks
                if any(form and is_said(form, in_one_line(self.text_of(chunk))) for form in forms)
            }
        return dates.pop() if len(dates) == 1 else ""

    def why(self, sentence: str, day: str, chunks: Sequence[int]) -> str:
        """Return why a sentence of a description is not valid on that day; empty where it is."""
        return why_left_out(sentence, day, self.said_on(sentence, chunks))

    def is_named(self, name: str, chunks: Sequence[int]) -> bool:
        """Return whether what is left of a chunk has all words of the name."""
        words = name.casefold().split()
        return any(all(word in self.left_of(chunk).casefold() for word in words) for chunk in chunks)

    def naming(self, ends: tuple[str, str], chunks: Sequence[int]) -> Iterator[tuple[str, str]]:
        """Yield each sentence of the chunks that names both, with the date of its document."""
        wanted = [in_one_line(name).casefold() for name in ends]
        for chunk in chunks:
            for sentence in split_sentences(self.text_of(chunk)):
                if all(name in sentence.casefold() for name in wanted):
                    yield sentence, self.date_of(chunk)


def graph_then(graph: Graph, day: str, quotes: Quotes) -> GraphThen:
    """Return the base graph without what its texts say that was not valid on that day.

    An entity goes where nothing is left of its description and its chunks do not name it any more, and its relations
    with it.
    """
    relations = _relations_then(graph, day, quotes)
    entities = _entities_then(graph, day, quotes)
    place, ends = np.cumsum(entities.stays) - 1, graph.ends
    stays = relations.stays & entities.stays[ends].all(axis=1)
    rows, of_entities = np.flatnonzero(stays), np.flatnonzero(entities.stays)
    lost = Counter(  # relations that go with one of their ends, for the reason of that end
        next(entities.reasons[end] for end in ends[row].tolist() if end in entities.reasons)
        for row in np.flatnonzero(relations.stays & ~stays).tolist()
    )
    graph_of_day = Graph(
        replaced_columns(
            graph.entities, ENTITY_SCHEMA, description=entities.descriptions, findings=entities.findings
        ).take(pa.array(of_entities)),
        replaced_columns(
            graph.relations.take(pa.array(rows)),
            RELATION_SCHEMA,
            source=place[ends[rows, 0]],
            target=place[ends[rows, 1]],
            description=[relations.descriptions[row] for row in rows.tolist()],
        ),
    )
    return GraphThen(
        graph_of_day,
        of_entities,
        rows,
        entities.rewritten | relations.rewritten,
        _counted(Counter(relations.reasons.values()) + lost),
        _counted(entities.sentences + relations.sentences),
    )


@dataclass(frozen=True, eq=False)
class _Then:
    """A table as of a day. reasons: why each row that goes does so. sentences: how many sentences of all rows go, by
    reason."""

    reasons: dict[int, str]
    descriptions: list[str]
    findings: list[list[dict[str, str]]]
    rewritten: frozenset[str]
    sentences: Counter[str]

    @property
    def stays(self) -> np.ndarray:
        """(rows,) bool."""
        stays = np.ones(len(self.descriptions), dtype=bool)
        stays[list(self.reasons)] = False
        return stays


def _entities_then(graph: Graph, day: str, quotes: Quotes) -> _Then:
    table = graph.entities
    names, ids, descriptions, findings = (table[name].to_pylist() for name in ("name", "id", "description", "findings"))
    mentions = Lists(table["chunks"])
    reasons: dict[int, str] = {}
    sentences: Counter[str] = Counter()
    rewritten: set[str] = set()
    for row, description in enumerate(descriptions):
        chunks = mentions[row].tolist()
        kept, reasons_out = _split(description, day, quotes, chunks)
        listed = findings[row] or []
        valid_findings = [each for each in listed if not any(quotes.why(text, day, chunks) for text in each.values())]
        if reasons_out or len(valid_findings) < len(listed):
            sentences.update(reasons_out)
            descriptions[row], findings[row] = kept or names[row], valid_findings
            if reasons_out and not (kept or valid_findings or quotes.is_named(names[row], chunks)):
                reasons[row] = reasons_out[0]
            else:
                rewritten.add(ids[row])
    return _Then(reasons, descriptions, findings, frozenset(rewritten), sentences)


def _relations_then(graph: Graph, day: str, quotes: Quotes) -> _Then:
    table, names = graph.relations, graph.entities["name"].to_pylist()
    ids, descriptions = table["id"].to_pylist(), table["description"].to_pylist()
    stated = Lists(table["chunks"])
    reasons: dict[int, str] = {}
    sentences: Counter[str] = Counter()
    rewritten: set[str] = set()
    for row, description in enumerate(descriptions):
        chunks = stated[row].tolist()
        kept, out = _split(description, day, quotes, chunks)
        reason = out[0] if out and not kept else ""
        if not out and quotes.changed.intersection(chunks) and not time_spans(description):
            source, target = graph.ends[row].tolist()
            reason = _of_quotes(quotes.naming((names[source], names[target]), chunks), day)
        if reason:
            reasons[row] = reason
        elif out:
            sentences.update(out)
            descriptions[row] = kept
            rewritten.add(ids[row])
    return _Then(reasons, descriptions, [], frozenset(rewritten), sentences)


def left_out(texts: TextsThen, graph: GraphThen) -> LeftOut:
    """Return how many relations, sentences of descriptions and sentences of passages are left out as of the day."""
    return LeftOut(graph.relations_out, graph.sentences_out, texts.sentences)


def _split(text: str, day: str, quotes: Quotes, chunks: Sequence[int]) -> tuple[str, list[str]]:
    """Return the text without the sentences that go, and the reason of each of these; the text itself where none
    goes."""
    sentences = split_sentences(text)
    reasons = [quotes.why(sentence, day, chunks) for sentence in sentences]
    if not any(reasons):
        return text, []
    kept = [sentence for sentence, reason in zip(sentences, reasons, strict=True) if not reason]
    return " ".join(kept), [reason for reason in reasons if reason]


def _of_quotes(quotes: Iterator[tuple[str, str]], day: str) -> str:
    reasons = [why_left_out(sentence, day, said_on) for sentence, said_on in quotes]
    return reasons[0] if reasons and all(reasons) else ""


def _counted(reasons: Counter[str]) -> NotValid:
    return NotValid(later=reasons[LATER], ended=reasons[ENDED])


def replaced_columns(table: pa.Table, schema: pa.Schema, **columns: Sequence[object] | np.ndarray) -> pa.Table:
    """Return the table, of that schema, with those columns in the place of its own."""
    arrays = {name: table[name] for name in schema.names}
    arrays |= {name: pa.chunked_array([pa.array(values, schema.field(name).type)]) for name, values in columns.items()}
    return pa.table(arrays, schema=schema).combine_chunks()
