"""From an index to its schema and attributes: by counting, or by a language model that refines what was counted."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from leanrag_core.indexing.part_base import PartTools
from leanrag_core.indexing.youtu.model_schema import ChunkReading, ReadAttribute, ReadProposal, read_chunks, refined
from leanrag_core.indexing.youtu.patterns import SEED_TYPES, attribute_facts, relation_labels
from leanrag_core.types.graph import Layer
from leanrag_core.types.index import Index
from leanrag_core.types.job import Progress
from leanrag_core.types.youtu import (
    ATTRIBUTE,
    ATTRIBUTE_SCHEMA,
    ENTITY,
    HAS_ATTRIBUTE,
    KINDS,
    PROPOSAL_SCHEMA,
    RELATED,
    RELATION,
    TYPE_SCHEMA,
    Schema,
)


@dataclass(frozen=True)
class Candidate:
    """A label that may become a type. confidence: 0 to 1. example: where it occurs, as text."""

    kind: str
    name: str
    frequency: int
    confidence: float
    example: str


@dataclass(frozen=True)
class Sighting:
    """An occurrence of a label. context: what it occurs with, such as the types of both ends."""

    name: str
    context: str
    example: str = ""


def counted(kind: str, sightings: Iterable[Sighting]) -> list[Candidate]:
    """Return the labels by frequency, then by name. Confidence is the share of a label's occurrences that have its
    commonest context: a label that always joins the same types of entities is consistent across documents.
    """
    contexts: dict[str, Counter[str]] = {}
    examples: dict[str, str] = {}
    for sighting in sightings:
        contexts.setdefault(sighting.name, Counter())[sighting.context] += 1
        examples.setdefault(sighting.name, sighting.example)
    listed = [
        Candidate(
            kind, name, context_counts.total(), max(context_counts.values()) / context_counts.total(), examples[name]
        )
        for name, context_counts in contexts.items()
    ]
    return sorted(listed, key=lambda candidate: (-candidate.frequency, candidate.name))


def proposed(candidates: Iterable[Candidate], *, frequency: int, confidence: float) -> list[Candidate]:
    """Return the candidates of at least that frequency and confidence."""
    return [
        candidate for candidate in candidates if candidate.frequency >= frequency and candidate.confidence >= confidence
    ]


def is_accepted(candidate: Candidate, accept: str) -> bool:
    """Return whether the person accepts it. accept: names apart by commas, each alone or as kind:name; "all" for
    all.
    """
    accepted_names = {part.strip().casefold() for part in accept.split(",")}
    name = candidate.name.casefold()
    return bool(accepted_names & {"all", name, f"{candidate.kind}:{name}"})


def assigned(labels: Sequence[str], names: Sequence[str], near: dict[str, int], other: int) -> np.ndarray:
    """Return the type of each label: that of the same name, else the nearest one where it is near, else `other`; (k,)
    int32.

    near: see nearest_types().
    """
    place = {name.casefold(): row for row, name in reversed(list(enumerate(names)))}
    type_of = {label: place.get(label.casefold(), near.get(label, other)) for label in set(labels)}
    return np.array([type_of[label] for label in labels], dtype=np.int32)


def nearest_types(
    labels: Sequence[str], label_vectors: np.ndarray, type_vectors: np.ndarray, cosine: float
) -> dict[str, int]:
    """Return the nearest type of each label whose cosine to it is that high.

    label_vectors: (k, d) and type_vectors: (t, d), unit rows.
    """
    if not len(labels) or not len(type_vectors):
        return {}
    scores = label_vectors @ type_vectors.T
    best = scores.argmax(axis=1)
    return {
        label: int(row)
        for label, row, score in zip(labels, best, scores[np.arange(len(labels)), best], strict=True)
        if score >= cosine
    }


_HAS_PLACE = 1  # of HAS_ATTRIBUTE among the relation types
_NEAR = 0.6  # cosine from which a label counts as a type of the schema
_REPORTED = 2000  # entities between two reports of progress


@dataclass(frozen=True)
class Limits:
    """Bounds of a schema. most: types of a kind in the seed. frequency, confidence: from which a further type is
    proposed. accept: the proposals that the person accepts, see is_accepted().
    """

    most: int
    frequency: int
    confidence: float
    accept: str = ""


@dataclass(frozen=True)
class _Counted:
    """What was counted in an index. candidates: by kind."""

    labels: list[str]
    attributes: list[ReadAttribute]
    candidates: Mapping[str, list[Candidate]]


def make_schema(index: Index, limits: Limits, tools: PartTools) -> Schema:
    """Return the schema, the types of entities and relations by it, and the attributes that it bounds.

    Without a language model the most frequent labels are the schema and patterns find the attributes. With one the
    model refines that schema and reads each chunk. Raises BudgetSpent, Cancelled.
    """
    base = index.layers[0]
    tools.report(Progress("make", 0, len(base), "entities"))
    counts = _count(index, tools)
    types = {kind: [each.name for each in _seed(kind, counts.candidates[kind], limits.most)] for kind in KINDS}
    further = [each for kind in KINDS for each in counts.candidates[kind] if each.name not in types[kind]]
    attributes, readings = counts.attributes, list[ChunkReading]()
    if tools.language is not None:
        types = refined(index, types, tools.language, tools, most=limits.most)
        readings = read_chunks(index, types, tools.language, tools)
        attributes = [each for reading in readings for each in reading.attributes]
        further = _from_readings(readings, base)
    further = [each for each in further if each.name.casefold() not in {name.casefold() for name in types[each.kind]}]
    proposals = proposed(further, frequency=limits.frequency, confidence=limits.confidence)
    accepted = [each for each in proposals if is_accepted(each, limits.accept)]
    for each in accepted:
        types[each.kind].append(each.name)
    types[RELATION] = list(dict.fromkeys((RELATED, HAS_ATTRIBUTE, *types[RELATION])))
    shown = [each for reading in readings for each in reading.proposals]
    schema = _schema(index, types, counts.labels, _with_shown(attributes, shown), proposals, accepted, tools)
    return _with_accepted(index, schema, accepted, shown)


def _count(index: Index, tools: PartTools) -> _Counted:
    base = index.layers[0]
    names, own_types = base.entities["name"].to_pylist(), base.entities["type"].to_pylist()
    labels, attributes = relation_labels(base), list[ReadAttribute]()
    for row, description in enumerate(base.entities["description"].to_pylist()):
        if row % _REPORTED == 0:
            tools.report(Progress("make", row, len(base), "entities"))
        attributes += [
            ReadAttribute(row, fact.type, fact.value, _stating_chunk(index, row, fact.value))
            for fact in attribute_facts(names[row], description)
        ]
    ends = base.ends.tolist()
    related = Counter[tuple[int, str]]()  # how often an entity is related to a type
    for source, target in ends:
        related[source, own_types[target]] += 1
        related[target, own_types[source]] += 1
    neighbours: dict[int, str] = {}
    for (row, type_), _ in sorted(related.items(), key=lambda pair: (-pair[1], pair[0])):
        neighbours.setdefault(row, type_)
    of_relations = (
        Sighting(label, " ".join(sorted((own_types[a], own_types[b]))), f"{names[a]}, {names[b]}")
        for label, (a, b) in zip(labels, ends, strict=True)
        if label != RELATED
    )
    candidates = {
        ENTITY: counted(
            ENTITY,
            (Sighting(type_, neighbours.get(row, ""), names[row]) for row, type_ in enumerate(own_types) if type_),
        ),
        RELATION: counted(RELATION, of_relations),
        ATTRIBUTE: counted(
            ATTRIBUTE,
            (Sighting(each.type, own_types[each.entity], f"{names[each.entity]}: {each.value}") for each in attributes),
        ),
    }
    return _Counted(labels, attributes, candidates)


def _seed(kind: str, candidates: Sequence[Candidate], most: int) -> Sequence[Candidate]:
    """Return the most frequent types of entities and relations; of attributes those of the patterns, since other words
    are taken from the text and have to be accepted.
    """
    if kind == ATTRIBUTE:
        return [candidate for candidate in candidates if candidate.name in SEED_TYPES]
    return candidates[:most]


def _stating_chunk(index: Index, entity: int, value: str) -> int:
    """Return the first chunk of the entity that holds the value, -1 when none does."""
    rows = index.layers[0].chunks_of(entity).tolist()
    return next((row for row in rows if value in " ".join(index.chunk(row).text.split())), -1)


def _from_readings(readings: Sequence[ChunkReading], base: Layer) -> list[Candidate]:
    """Return the proposals of all chunks. frequency: chunks that call for the type. confidence: the model's own, the
    mean.
    """
    names, grouped = base.entities["name"].to_pylist(), defaultdict[tuple[str, str], list[ReadProposal]](list)
    for reading in readings:
        for proposal in reading.proposals:
            grouped[proposal.kind, proposal.name].append(proposal)
    return [
        Candidate(
            kind,
            name,
            len({proposal.chunk for proposal in proposals}),
            sum(proposal.confidence for proposal in proposals) / len(proposals),
            f"{names[proposals[0].entity]}: {proposals[0].value}".removesuffix(": "),
        )
        for (kind, name), proposals in sorted(grouped.items(), key=lambda pair: (-len(pair[1]), pair[0]))
    ]


def _with_shown(attributes: Sequence[ReadAttribute], shown: Sequence[ReadProposal]) -> list[ReadAttribute]:
    """Return the attributes, and those that showed a proposal; where their type is not accepted they are left out
    later.
    """
    added = [
        ReadAttribute(proposal.entity, proposal.name, proposal.value, proposal.chunk)
        for proposal in shown
        if proposal.kind == ATTRIBUTE and proposal.value
    ]
    return [*attributes, *added]


def _schema(
    index: Index,
    types: Mapping[str, Sequence[str]],
    labels: Sequence[str],
    attributes: Sequence[ReadAttribute],
    proposals: Sequence[Candidate],
    accepted: Sequence[Candidate],
    tools: PartTools,
) -> Schema:
    base = index.layers[0]
    dimension = int(base.vectors.shape[1])
    vectors = {kind: tools.embed_all(types[kind], dimension) for kind in KINDS}
    own_types = base.entities["type"].to_pylist()
    near = index.passage_scale.own_of(_NEAR)
    entity_type = _typed(own_types, types[ENTITY], vectors[ENTITY], -1, tools, near=near)
    relation_type = _typed(labels, types[RELATION], vectors[RELATION], 0, tools, near=near)
    place = {name: row for row, name in enumerate(types[ATTRIBUTE])}
    typed = (attribute for attribute in attributes if attribute.type in place)
    attribute_rows = sorted(
        {(attribute.entity, place[attribute.type], attribute.value, attribute.chunk) for attribute in typed}
    )
    table = pa.table(
        dict(
            zip(
                ATTRIBUTE_SCHEMA.names,
                zip(*attribute_rows, strict=True) if attribute_rows else ((), (), (), ()),
                strict=True,
            )
        ),
        schema=ATTRIBUTE_SCHEMA,
    )
    names = base.entities["name"].to_pylist()
    texts = [attribute_text(names[entity], types[ATTRIBUTE][row], value) for entity, row, value, _ in attribute_rows]
    frequency = {
        ENTITY: Counter(entity_type.tolist()),
        RELATION: Counter({_HAS_PLACE: len(attribute_rows)}) + Counter(relation_type.tolist()),
        ATTRIBUTE: Counter(row for _, row, _, _ in attribute_rows),
    }
    rows = [(kind, name, frequency[kind][row]) for kind in KINDS for row, name in enumerate(types[kind])]
    return Schema(
        types=pa.table(dict(zip(TYPE_SCHEMA.names, zip(*rows, strict=True), strict=True)), schema=TYPE_SCHEMA),
        type_vectors=np.concatenate([vectors[kind] for kind in KINDS]),
        entity_type=entity_type,
        relation_type=relation_type,
        attributes=table,
        attribute_vectors=tools.embed_all(texts, dimension),
        proposals=_proposal_table(proposals, accepted),
        by_model=tools.language is not None,
    )


def attribute_text(entity: str, type_: str, value: str) -> str:
    """Return an attribute as a sentence."""
    return f"{entity}, {type_}: {value}"


def _typed(
    labels: Sequence[str], names: Sequence[str], type_vectors: np.ndarray, other: int, tools: PartTools, *, near: float
) -> np.ndarray:
    """Return the type of each label, (k,) int32, `other` where none has that cosine. type_vectors: (t, d) unit rows
    of the names.
    """
    known = {name.casefold() for name in names}
    open_labels = sorted({label for label in labels if label and label.casefold() not in known})
    vectors = tools.embed_all(open_labels, int(type_vectors.shape[1]))
    return assigned(labels, names, nearest_types(open_labels, vectors, type_vectors, near), other)


def _with_accepted(
    index: Index,
    schema: Schema,
    accepted: Sequence[Candidate],
    shown: Sequence[ReadProposal],
) -> Schema:
    """Return the schema where the entities and relations that showed an accepted type have it."""
    accepted_types = {(each.kind, each.name) for each in accepted}
    base = index.layers[0]
    names = base.entity_cells["name"]
    types = {kind: schema.names(kind) for kind in (ENTITY, RELATION)}
    entity_type, relation_type = schema.entity_type.copy(), schema.relation_type.copy()
    for each in shown:
        if (each.kind, each.name) not in accepted_types or each.kind == ATTRIBUTE:
            continue
        row = types[each.kind].index(each.name)
        if each.kind == ENTITY:
            entity_type[each.entity] = row
            continue
        for relation in base.relations_of(each.entity).tolist():
            ends = {names[end].as_py().casefold() for end in base.ends[relation].tolist() if end != each.entity}
            if each.value.casefold() in ends:
                relation_type[relation] = row
    return replace(schema, entity_type=entity_type, relation_type=relation_type)


def _proposal_table(proposals: Sequence[Candidate], accepted: Sequence[Candidate]) -> pa.Table:
    rows = [
        dict(
            zip(
                PROPOSAL_SCHEMA.names,
                (
                    candidate.kind,
                    candidate.name,
                    candidate.frequency,
                    candidate.confidence,
                    candidate.example,
                    candidate in accepted,
                ),
                strict=True,
            )
        )
        for candidate in proposals
    ]
    return pa.Table.from_pylist(rows, schema=PROPOSAL_SCHEMA)
