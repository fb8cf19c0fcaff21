"""Which entity of a reference graph a given name stands for: exactly, as normalised, or nearly by its embedding."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from leanrag_core.evaluation.gold import normalised
from leanrag_core.indexing.reference.records import ReferenceEntity
from leanrag_core.models.base import EmbeddingModel

EXACT, NORMALISED, EMBEDDING = "exact", "normalised", "embedding"
# Cosine from which two names count as the same under EMBEDDING. With the built-in model, on two sample corpora, about
# four in five pairs above it mean the same thing or a part of it, and fewer than half of those between .75 and .85.
NEAR = 0.85


@dataclass(frozen=True)
class Resolved:
    """The given names under one way to compare them.

    key_of: how a name is written for it; names of an equal key count once, and those of an empty one do not count.
    entity_of: of each key the number of the reference entity that it stands for; keys that stand for none are absent.
    """

    match: str
    key_of: Mapping[str, str]
    entity_of: Mapping[str, int]

    def number(self, name: str) -> int | None:
        """Return the entity that the name stands for."""
        return self.entity_of.get(self.key_of[name])


def resolutions(
    names: Sequence[str], entities: Sequence[ReferenceEntity], embedding: EmbeddingModel | None
) -> tuple[Resolved, ...]:
    """Match the given names exactly as the reference writes them; in lower case without articles and punctuation; and,
    where a model is given, these with the nearest name of the reference from a cosine of NEAR. Aliases count as
    names."""
    distinct = list(dict.fromkeys(names))
    exact = {name: number for number, entity in enumerate(entities) for name in (entity.name, *entity.aliases)}
    plain = {normalised(name): number for name, number in exact.items()}
    plain.pop("", None)
    keys = {name: normalised(name) for name in distinct}
    ways = [
        Resolved(EXACT, {name: name for name in distinct}, {name: exact[name] for name in distinct if name in exact}),
        Resolved(NORMALISED, keys, {key: plain[key] for key in keys.values() if key in plain}),
    ]
    if embedding is not None:
        near = _nearest(distinct, ways[1], exact, embedding)
        ways.append(Resolved(EMBEDDING, keys, {**near, **ways[1].entity_of}))
    return tuple(ways)


def _nearest(
    names: Sequence[str], plain: Resolved, gold: Mapping[str, int], embedding: EmbeddingModel
) -> dict[str, int]:
    """Find the nearest entity for keys that equal no name of the reference."""
    name_of = {plain.key_of[name]: name for name in reversed(names) if plain.number(name) is None}
    name_of.pop("", None)
    if not name_of or not gold:
        return {}
    wanted = list(gold)
    cosines = embedding.embed(list(name_of.values())) @ embedding.embed(wanted).T
    best = np.argmax(cosines, axis=1)
    return {
        key: gold[wanted[column]]
        for row, (key, column) in enumerate(zip(name_of, best.tolist(), strict=True))
        if cosines[row, column] >= NEAR
    }
