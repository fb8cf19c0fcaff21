"""Candidates for types: how often a label occurs, and how consistent its context is over the whole corpus."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np


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
        Candidate(kind, name, seen.total(), max(seen.values()) / seen.total(), examples[name])
        for name, seen in contexts.items()
    ]
    return sorted(listed, key=lambda candidate: (-candidate.frequency, candidate.name))


def proposed(candidates: Iterable[Candidate], *, frequency: int, confidence: float) -> list[Candidate]:
    """Return those with that frequency and confidence at least."""
    return [each for each in candidates if each.frequency >= frequency and each.confidence >= confidence]


def is_accepted(candidate: Candidate, accept: str) -> bool:
    """Return whether the person accepts it. accept: names apart by commas, each alone or as kind:name; "all" for
    all.
    """
    wanted = {part.strip().casefold() for part in accept.split(",")}
    name = candidate.name.casefold()
    return bool(wanted & {"all", name, f"{candidate.kind}:{name}"})


def assigned(labels: Sequence[str], names: Sequence[str], near: dict[str, int], other: int) -> np.ndarray:
    """Return the type of each label: that of the same name, else the nearest one where it is near, else `other`; (k,)
    int32.

    near: see nearest_types().
    """
    place = {name.casefold(): row for row, name in reversed(list(enumerate(names)))}
    own = {label: place.get(label.casefold(), near.get(label, other)) for label in set(labels)}
    return np.array([own[label] for label in labels], dtype=np.int32)


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
