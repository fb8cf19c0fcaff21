"""Merging names of the same thing: from extractions of chunks to the base graph G0."""

import hashlib
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa

from leanrag_core.errors import ReplyError
from leanrag_core.models.asking import ask
from leanrag_core.models.base import Completion, LanguageModel, call_made
from leanrag_core.models.window import count_cut, room
from leanrag_core.prompts.book import PromptBook
from leanrag_core.text.sentences import up_to_last_sentence
from leanrag_core.text.tokens import count_tokens, trim_to_tokens
from leanrag_core.types.calls import NO_USAGE, CallMade, Usage, WrittenCall
from leanrag_core.types.corpus import Chunk
from leanrag_core.types.extraction import Drop, Extraction, Mention, RelationMention
from leanrag_core.types.graph import ENTITY_SCHEMA, RELATION_SCHEMA, Graph
from leanrag_core.types.settings import Apply

_OPENING = {"(": ")", "[": "]", "{": "}"}
_OUTER = " \t\"'“”‘’«»„‚`*_.,;:!?…·•|–—-/\\"
_KEPT_AT_END = ".)!?+"  # "Inc.", "Lilu (mythology)", "Yahoo!", "C++"
_CUT_AT_END = "".join(mark for mark in _OUTER if mark not in _KEPT_AT_END)
_MASKS = "*_"  # "A****", "F*"


@lru_cache(maxsize=200_000)
def tidy_name(name: str) -> str:
    """Return the name in NFKC, white space folded, without outer quotes and punctuation (section 2, step 3).

    A final ! or ?, a full stop after a capital or an abbreviation, and a closed bracket, belong to the name. So do
    stars and underscores right behind it, which mask letters; as many of them as stand before it are emphasis.
    """
    text = " ".join(unicodedata.normalize("NFKC", name).split())
    while True:
        before = text
        text = text.lstrip(_OUTER)
        emphasis = sum(mark in _MASKS for mark in before[: len(before) - len(text)])
        cut = text.rstrip(_CUT_AT_END)
        behind = text[len(cut) :]
        mask = behind[: len(behind) - len(behind.lstrip(_MASKS))]
        text = cut + mask[emphasis:] if cut else ""
        if text.endswith(".") and not _abbreviated(text):
            text = text[:-1]
        if len(text) > 1 and _OPENING.get(text[0]) == text[-1] and text[0] not in text[1:]:
            text = text[1:-1]
        if text == before:
            return text


def _abbreviated(text: str) -> bool:
    last = text.split()[-1]
    return last.count(".") > 1 or (2 <= len(last) <= 5 and last[0].isupper())


@lru_cache(maxsize=200_000)
def name_key(name: str) -> str:
    """Return what equal names share: the tidy name without regard to case, final mark or kind of quotes."""
    key = tidy_name(name).casefold().rstrip(".!?")
    return key.replace("’", "'").replace("‘", "'").replace("–", "-")


def entity_id(key: str) -> str:
    """Return the id of the entity with that key."""
    return f"ent-{hashlib.sha256(key.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"


def relation_id(source_id: str, target_id: str) -> str:
    """Return the id of the relation between two entities, whichever way round."""
    low, high = sorted((source_id, target_id))
    return f"rel-{hashlib.sha256(f'{low}|{high}'.encode()).hexdigest()[:16]}"


MAX_WORDS = 60
_CLAUSE = re.compile(r"[;:,–—.!?)](?=\s)")


@lru_cache(maxsize=50_000)
def trim_sentence(text: str, max_words: int = MAX_WORDS) -> str:
    """Return the sentence, cut at the last clause that ends within max_words (or there, when none does), with an
    ellipsis.
    """
    words = list(re.finditer(r"\S+", text))
    if len(words) <= max_words:
        return text
    limit = words[max_words - 1].end()
    clauses = [match.start() for match in _CLAUSE.finditer(text, words[max_words // 2].start(), limit)]
    return f"{text[: clauses[-1] if clauses else limit].rstrip(' ,;:–—')} …"


def most_telling(candidates: Sequence[tuple[float, int, str]], count: int) -> list[str]:
    """Return the texts of most weight, each text once and from different chunks as far as there are any, trimmed.

    candidates: (weight, chunk row, text) in reading order. Result: the most telling first, ties in reading order.
    """
    best: dict[str, tuple[float, int, int]] = {}
    for order, (weight, chunk, text) in enumerate(candidates):
        if text and (text not in best or best[text][0] < weight):
            best[text] = (weight, chunk, best[text][2] if text in best else order)
    ranked = sorted(best, key=lambda text: (-best[text][0], best[text][2]))
    chosen: list[str] = []
    seen: set[int] = set()
    for text in ranked:
        if len(chosen) < count and best[text][1] not in seen:
            seen.add(best[text][1])
            chosen.append(text)
    chosen += [text for text in ranked if text not in chosen][: count - len(chosen)]
    return [trim_sentence(text) for text in sorted(chosen, key=ranked.index)]


def each_once(texts: Sequence[str]) -> list[str]:
    """Return the texts without exact repeats and empty ones, in order."""
    return [text for text in dict.fromkeys(text.strip() for text in texts) if text]


MERGE_RULES = "3"  # version of the rules of merging and condensing; raise it when they make another graph
SENTENCES_KEPT = 3  # of a heuristic entity: name and three sentences embed best, more add nothing
RELATION_SENTENCES_KEPT = 5
KEYWORDS_KEPT = 8  # of a heuristic relation, whose every sentence has some
_VAGUE = ("concept", "title", "heading", "unknown", "")  # types that say less than any other, in this order
_KINDS = ("stated", "verb", "apposition", "preposition", "heading", "co-occurrence")  # strongest first


@dataclass(frozen=True, eq=False)
class Resolution:
    """The base graph. drops: what was left out. aliases: every other form of a name, to the name that is shown."""

    graph: Graph
    drops: tuple[Drop, ...]
    aliases: dict[str, str]


@dataclass(slots=True)
class _Entity:
    first: int  # row of the first chunk that mentions it
    names: dict[str, int] = field(default_factory=dict)  # how often each form of the name comes
    surfaces: dict[str, None] = field(default_factory=dict)
    types: dict[str, int] = field(default_factory=dict)
    descriptions: list[tuple[float, int, str]] = field(default_factory=list)
    chunks: set[int] = field(default_factory=set)


@dataclass(slots=True)
class _Relation:
    weight: float = 0.0
    kinds: set[str] = field(default_factory=set)
    descriptions: dict[str, float] = field(default_factory=dict)
    keywords: dict[str, int] = field(default_factory=dict)
    chunks: set[int] = field(default_factory=set)


def resolve(extractions: Sequence[Extraction], chunks: Sequence[Chunk], *, heuristic: bool) -> Resolution:
    """Merge mentions into G0 = (V0, R0): each name once, each unordered pair of ends once, with the chunks they come
    from (section 2.3).

    Entities are ordered by the first chunk that mentions them, then by key; relations by their ends. An end that no
    mention names becomes an entity of type "unknown". heuristic: descriptions are source sentences, of which the most
    telling are kept, and a sentence that two overlapping chunks share counts once. Time is linear in the mentions.
    """
    row_of = {chunk.id: row for row, chunk in enumerate(chunks)}
    entities: dict[str, _Entity] = {}
    pairs: dict[tuple[str, str], _Relation] = {}
    drops: list[Drop] = []
    for extraction in extractions:
        row = row_of[extraction.chunk_id]
        for mention in extraction.mentions:
            _add_mention(entities, mention, row, drops)
        for relation in extraction.relations:
            _add_relation(entities, pairs, relation, row, drops, heuristic)
    order = sorted(entities, key=lambda key: (entities[key].first, key))
    ids = {key: entity_id(key) for key in order}
    shown = {key: _most_frequent(entities[key].names) for key in order}
    graph = Graph(_entity_table(order, entities, ids, shown, heuristic), _relation_table(order, pairs, ids, heuristic))
    return Resolution(graph, tuple(drops), _aliases(order, entities, shown))


def _add_mention(entities: dict[str, _Entity], mention: Mention, row: int, drops: list[Drop]) -> None:
    key = name_key(mention.name)
    if not key:
        drops.append(Drop("merge", f"entity {mention.name!r}", "the name holds nothing but punctuation"))
        return
    entity = entities.get(key)
    if entity is None:
        entity = entities[key] = _Entity(first=row)
    elif row < entity.first:
        entity.first = row
    name, type_ = tidy_name(mention.name), mention.type.strip().lower()
    entity.names[name] = entity.names.get(name, 0) + 1
    if mention.surface:
        entity.surfaces.setdefault(tidy_name(mention.surface))
    entity.types[type_] = entity.types.get(type_, 0) + 1
    entity.descriptions.append((mention.weight, row, mention.description.strip()))
    entity.chunks.add(row)


def _add_relation(
    entities: dict[str, _Entity],
    pairs: dict[tuple[str, str], _Relation],
    mention: RelationMention,
    row: int,
    drops: list[Drop],
    heuristic: bool,
) -> None:
    ends = name_key(mention.source), name_key(mention.target)
    if not all(ends) or ends[0] == ends[1]:
        reason = "both ends are the same entity" if all(ends) else "an end holds nothing but punctuation"
        drops.append(Drop("merge", f"relation {mention.source} – {mention.target}", reason))
        return
    for key, name in zip(ends, (mention.source, mention.target), strict=True):
        if key not in entities:
            _add_mention(entities, Mention(name, "unknown", mention.description, mention.chunk_id), row, drops)
    pair = ends if ends[0] < ends[1] else (ends[1], ends[0])
    relation = pairs.get(pair)
    if relation is None:
        relation = pairs[pair] = _Relation()
    relation.chunks.add(row)
    description = mention.description.strip()
    if not (heuristic and description in relation.descriptions):
        relation.weight += mention.strength
    relation.descriptions[description] = max(relation.descriptions.get(description, 0.0), mention.strength)
    relation.kinds.add(mention.kind)
    for keyword in mention.keywords:
        word = keyword.strip()
        if word:
            relation.keywords[word] = relation.keywords.get(word, 0) + 1


def _entity_table(
    order: list[str], entities: dict[str, _Entity], ids: dict[str, str], shown: dict[str, str], heuristic: bool
) -> pa.Table:
    columns: dict[str, Any] = {
        "id": [ids[key] for key in order],
        "name": [shown[key] for key in order],
        "type": [_type(entities[key].types) for key in order],
        "description": [_description(entities[key], heuristic) or shown[key] for key in order],
        "findings": [[] for _ in order],
        "chunks": [sorted(entities[key].chunks) for key in order],
        "promoted": [False for _ in order],
    }
    return pa.table(columns, schema=ENTITY_SCHEMA)


def _relation_table(
    order: list[str], pairs: dict[tuple[str, str], _Relation], ids: dict[str, str], heuristic: bool
) -> pa.Table:
    place = {key: row for row, key in enumerate(order)}
    rows = sorted((min(place[low], place[high]), max(place[low], place[high]), low, high) for low, high in pairs)
    kept = [pairs[low, high] for _, _, low, high in rows]
    columns: dict[str, Any] = {
        "id": [relation_id(ids[low], ids[high]) for _, _, low, high in rows],
        "source": np.array([row[0] for row in rows], dtype=np.int32),
        "target": np.array([row[1] for row in rows], dtype=np.int32),
        "weight": np.array([relation.weight for relation in kept], dtype=np.float32),
        "strength": np.ones(len(rows), dtype=np.int32),
        "kind": [min(relation.kinds, key=_kind_rank) for relation in kept],
        "description": [_relation_description(relation, heuristic) for relation in kept],
        "keywords": [_keywords(relation.keywords, heuristic) for relation in kept],
        "chunks": [sorted(relation.chunks) for relation in kept],
        "members": [[] for _ in rows],
    }
    return pa.table(columns, schema=RELATION_SCHEMA)


def _most_frequent(counted: Mapping[str, int]) -> str:
    return min(counted, key=lambda name: (-counted[name], name))


def _type(counted: Mapping[str, int]) -> str:
    """Return the majority among the types; a heading or "unknown" counts only when nothing else is known."""
    for vague in (_VAGUE[1:], ()):
        known = {name: n for name, n in counted.items() if name not in vague}
        if known:
            return min(known, key=lambda name: (-known[name], _vagueness(name), name)) or "unknown"
    return "unknown"


def _keywords(counted: Mapping[str, int], heuristic: bool) -> list[str]:
    """Return all keywords as they came; of a heuristic relation the most frequent."""
    words = list(counted)
    if not heuristic or len(words) <= KEYWORDS_KEPT:
        return words
    return sorted(words, key=lambda word: -counted[word])[:KEYWORDS_KEPT]  # stable: ties as they came


def _vagueness(name: str) -> int:
    return _VAGUE.index(name) + 1 if name in _VAGUE else 0


def _kind_rank(kind: str) -> tuple[int, str]:
    return (_KINDS.index(kind) if kind in _KINDS else 0, kind)


def _description(entity: _Entity, heuristic: bool) -> str:
    if heuristic:
        return " ".join(most_telling(entity.descriptions, SENTENCES_KEPT))
    return " ".join(each_once([text for _, _, text in entity.descriptions]))


def _relation_description(relation: _Relation, heuristic: bool) -> str:
    if not heuristic:
        return " ".join(each_once(list(relation.descriptions)))
    strongest = sorted(
        relation.descriptions, key=lambda text: -relation.descriptions[text]
    )  # stable: ties in reading order
    return " ".join(trim_sentence(text) for text in strongest[:RELATION_SENTENCES_KEPT])


def _aliases(order: list[str], entities: dict[str, _Entity], shown: dict[str, str]) -> dict[str, str]:
    """Return every other form of a name; a form of several entities goes to the one with most mentions."""
    claims: dict[str, tuple[int, str]] = {}
    for key in order:
        entity, name = entities[key], shown[key]
        rank = (-sum(entity.names.values()), name)
        for form in (*entity.names, *entity.surfaces):
            if form != name and (form not in claims or rank < claims[form]):
                claims[form] = rank
    return {form: claims[form][1] for form in sorted(claims)}


LONGEST = 500  # tokens of a description that is left as it is
_ASKED_FOR = 250  # tokens
_MOST_READ = 6000  # tokens of a description that the model is shown


@dataclass(frozen=True, eq=False)
class Condensed:
    """The graph with no description above LONGEST tokens. calls: those that shortened one."""

    graph: Graph
    drops: tuple[Drop, ...]
    usage: Usage
    calls: tuple[WrittenCall, ...] = ()


def too_long(descriptions: Sequence[str]) -> list[int]:
    """Return the rows whose description has to be condensed."""
    return [row for row, text in enumerate(descriptions) if len(text) > LONGEST and count_tokens(text) > LONGEST]


def condense(graph: Graph, model: LanguageModel | None, prompts: PromptBook, *, apply: Apply = map) -> Condensed:
    """Rewrite long descriptions of entities and relations; without a model, or where it fails, their first sentences
    are kept, with a Drop that says so.
    """
    texts = {
        "entity": graph.entities["description"].to_pylist(),
        "relation": graph.relations["description"].to_pylist(),
    }
    names = graph.entities["name"]

    def joined(row: int) -> str:
        return " and ".join(names[graph.relations[end][row].as_py()].as_py() for end in ("source", "target"))

    rows = [_Described("entity", row, names[row].as_py()) for row in too_long(texts["entity"])]
    rows += [_Described("relation", row, joined(row)) for row in too_long(texts["relation"])]
    if not rows:
        return Condensed(graph, (), NO_USAGE)
    prompt = prompts.of("merge_descriptions")

    def rewrite(about: _Described) -> _Rewritten:
        description = texts[about.what][about.row]
        if model is None:
            reason = f"more than {LONGEST} tokens of descriptions: the sentences that tell most are kept"
            return _Rewritten(beginning(description, LONGEST), (Drop("merge", about.item, reason),))
        return _rewritten(model, prompt.fingerprint, about, description, prompt.fill)

    usage, drops, calls = NO_USAGE, list[Drop](), list[WrittenCall]()
    results: Iterator[_Rewritten] = iter(apply(rewrite, rows))
    tables = {"entity": graph.entities, "relation": graph.relations}
    for about, rewritten in zip(rows, results, strict=True):
        texts[about.what][about.row] = rewritten.text
        drops += rewritten.drops
        if rewritten.call is not None:
            usage = usage + rewritten.call.usage
            target = tables[about.what]["id"][about.row].as_py()
            calls.append(WrittenCall("condense", 0, target, rewritten.call))
    entities, relations = _with(graph.entities, texts["entity"]), _with(graph.relations, texts["relation"])
    return Condensed(Graph(entities, relations), tuple(drops), usage, tuple(calls))


@dataclass(frozen=True)
class _Described:
    """The entity or relation that a description is about. what: which of the two; row: in its table."""

    what: str
    row: int
    name: str

    @property
    def name_in_prompt(self) -> str:
        """The name that a prompt uses."""
        return self.name if self.what == "entity" else f"the relation between {self.name}"

    @property
    def item(self) -> str:
        return f"{self.what} {self.name!r}"


@dataclass(frozen=True)
class _Rewritten:
    """A description as it is from now on. call: the one that wrote it, if any did."""

    text: str
    drops: tuple[Drop, ...]
    call: CallMade | None = None


def _with(table: pa.Table, descriptions: list[str]) -> pa.Table:
    column = table.schema.get_field_index("description")
    field = table.schema.field(column)
    return table.set_column(column, field, pa.array(descriptions, field.type))


def beginning(text: str, max_tokens: int) -> str:
    """Return the whole sentences at the beginning of the text that fit; where they are less than half of what fits, all
    that fits.
    """
    kept = trim_to_tokens(text, max_tokens)
    return kept.rstrip() if kept == text else up_to_last_sentence(kept)


def _rewritten(
    model: LanguageModel, task: str, about: _Described, description: str, fill: Callable[..., str]
) -> _Rewritten:
    empty = fill(name=about.name_in_prompt, descriptions="", max_tokens=str(_ASKED_FOR))
    most = room(model, beside=count_tokens(empty), wanted=_MOST_READ)
    shown = trim_to_tokens(description, most)
    drops = []
    if shown != description:
        drops.append(Drop("merge", about.item, f"more than {most:,} tokens of descriptions: cut"))
        if most < _MOST_READ:
            count_cut(model)
    text = fill(name=about.name_in_prompt, descriptions=shown, max_tokens=str(_ASKED_FOR))
    try:
        asked = ask(model, [{"role": "user", "content": text}], _text_of, task=task)
    except ReplyError as error:
        drops.append(Drop("merge", about.item, f"{error}; its descriptions were cut at {LONGEST} tokens"))
        return _Rewritten(beginning(description, LONGEST), tuple(drops))
    kept = beginning(asked.value, LONGEST)
    if kept != asked.value:
        drops.append(Drop("merge", about.item, f"the condensed description was cut at {LONGEST} tokens"))
    return _Rewritten(kept, tuple(drops), call_made(asked.completion))


def _text_of(completion: Completion) -> str:
    if completion.cut:
        raise ReplyError("reply.cut_be_shorter")
    text = " ".join(completion.text.split())
    if not text:
        raise ReplyError("reply.empty")
    return text
