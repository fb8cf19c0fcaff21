"""Descriptions and findings made of the members' own sentences."""

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from leanrag_core.indexing.aggregation.phrases import folded, is_content, sentences, words
from leanrag_core.indexing.aggregation.writer import ClusterView, InsideRelation
from leanrag_core.tokens import count_tokens, trim_to_tokens
from leanrag_core.types.graph import Finding

_RELEVANCE = 0.7  # share of relevance against redundancy in the choice of sentences
_SHORT, _LONG = 5, 45  # words; sentences outside say little alone or crowd out others
_ODD_LENGTH = 0.6
_DANGLING = 0.75
_OPENING = 5  # words
_LEANING_WORDS = """
he she it they we i you his her its their him them this that these those there here then thus therefore however but and
or so such also both another instead meanwhile moreover yet
"""
_LEANING = frozenset(_LEANING_WORDS.split())
_FEWEST_FINDINGS, _MOST_FINDINGS = 5, 7
_RELATION_FINDINGS = 3
_EXPLANATION_TOKENS = 80
_LONGEST_HEAD = 120  # characters of "A weakens B" before a colon


def choose_sentences(
    descriptions: Sequence[str],
    vectors: np.ndarray,
    word_weight: Mapping[str, float],
    *,
    n_sentences: int,
    max_tokens: int,
) -> str:
    """The sentences that are most relevant to the whole and least like one another (maximal marginal relevance).

    vectors: (members, d) unit rows. Relevance is half the cosine of a sentence's weighted words to those of all
    sentences, half that of its best member's vector to the centroid. At most n_sentences and max_tokens; a first
    sentence that is too long is cut.
    """
    owners: dict[str, list[int]] = {}
    for member, description in enumerate(descriptions):
        for sentence in sentences(description):
            owners.setdefault(sentence, []).append(member)
    if not owners:
        return ""
    texts = list(owners)
    matrix = _word_matrix(texts, word_weight)
    centroid = vectors.mean(axis=0, dtype=np.float64)
    nearness = vectors @ (centroid / max(float(np.linalg.norm(centroid)), 1e-12))
    of_member = np.array([max(float(nearness[member]) for member in owners[text]) for text in texts])
    theme = matrix.sum(axis=0)
    relevance = 0.5 * matrix @ (theme / max(float(np.linalg.norm(theme)), 1e-12)) + 0.5 * of_member
    lengths = np.array([len(words(text)) for text in texts])
    relevance *= np.where((lengths < _SHORT) | (lengths > _LONG), _ODD_LENGTH, 1.0)
    relevance *= np.array([_DANGLING if leans_on_context(text) else 1.0 for text in texts])
    likeness = np.zeros(len(texts))
    available = np.ones(len(texts), dtype=bool)
    chosen: list[str] = []
    room = max_tokens
    while len(chosen) < n_sentences and available.any():
        marginal = np.round(_RELEVANCE * relevance - (1 - _RELEVANCE) * likeness, 9)
        best = int(np.where(available, marginal, -np.inf).argmax())
        available[best] = False
        sentence = _ended(texts[best])
        cost = count_tokens(f" {sentence}")
        if cost <= room:
            chosen.append(sentence)
            room -= cost
            likeness = np.maximum(likeness, matrix @ matrix[best])
        elif not chosen and not available.any():
            chosen.append(trim_to_tokens(sentence, max_tokens))
    return " ".join(chosen)


def _word_matrix(texts: Sequence[str], word_weight: Mapping[str, float]) -> np.ndarray:
    """(texts, distinct words) rows of weighted counts, of length 1 or 0."""
    counts = [Counter(folded(word) for word in words(text) if is_content(word)) for text in texts]
    column: dict[str, int] = {}
    for counted in counts:
        for word in counted:
            column.setdefault(word, len(column))
    matrix = np.zeros((len(texts), max(len(column), 1)))
    for row, counted in enumerate(counts):
        for word, count in counted.items():
            matrix[row, column[word]] = count * word_weight.get(word, 1.0)
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    return matrix / np.maximum(lengths, 1e-12)


def leans_on_context(sentence: str) -> bool:
    """Whether a sentence starts like one that only its neighbours explain: with a pronoun or a connective, early on."""
    opening = [word.casefold() for word in words(sentence)[:_OPENING]]
    return bool(opening) and (opening[0] in _LEANING or bool({"he", "she", "they", "however"} & set(opening)))


def _ended(sentence: str) -> str:
    return sentence if sentence[-1:] in ".!?…。！？\"”’')" else f"{sentence}."


def findings_of(members: ClusterView, order: Sequence[int]) -> tuple[Finding, ...]:
    """At least five findings where members and inside relations allow, each about one of them.

    order: positions of members, the most central first. Relations with sentences of their own come first, then
    members; explanations are not repeated as long as there are others.
    """
    relations = [_relation_finding(members, relation) for relation in _strongest(members.relations)]
    about_members = [_member_finding(members, place) for place in order]
    chosen: list[Finding] = []
    used: set[str] = set()
    for offered, limit in (
        (relations, _RELATION_FINDINGS),
        (about_members, _MOST_FINDINGS),
        (relations, _MOST_FINDINGS),
    ):
        for finding in offered:
            if len(chosen) < limit and finding.explanation and finding.explanation not in used:
                chosen.append(finding)
                used.add(finding.explanation)
    for finding in [*about_members, *relations]:
        if len(chosen) >= _FEWEST_FINDINGS:
            break
        if finding not in chosen:
            chosen.append(finding)
    return tuple(chosen)


def _strongest(relations: Sequence[InsideRelation]) -> list[InsideRelation]:
    """Stated relations before bare co-occurrence, then by strength and weight."""
    return sorted(
        relations, key=lambda one: (one.kind == "co-occurrence", -one.strength, -one.weight, one.source, one.target)
    )


def _relation_finding(members: ClusterView, relation: InsideRelation) -> Finding:
    left, right = members.names[relation.source], members.names[relation.target]
    head, colon, rest = relation.description.partition(": ")
    if relation.kind in ("summarised", "concatenated"):
        count = "one relation joins" if relation.strength == 1 else f"{relation.strength} relations join"
        return Finding(_capital(f"{count} “{left}” and “{right}”"), _first_sentences(relation.description))
    if colon and len(head) <= _LONGEST_HEAD and all(name.casefold() in head.casefold() for name in (left, right)):
        return Finding(_capital(head), _first_sentences(rest))  # "A weakens B: the sentence that says so"
    if relation.kind == "co-occurrence":
        summary = f"{left} and {right} are mentioned together"
    elif relation.keywords:
        summary = f"{left} and {right}: {', '.join(relation.keywords[:3])}"
    else:
        summary = f"{left} is related to {right}"
    return Finding(_capital(summary), _first_sentences(relation.description))


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _member_finding(members: ClusterView, place: int) -> Finding:
    shown = [f"“{name}”" for name in members.names] if members.layer > 1 else members.names
    name, type_ = shown[place], members.types[place]
    partners = [
        shown[relation.target if relation.source == place else relation.source]
        for relation in _strongest(members.relations)
        if place in (relation.source, relation.target)
    ]
    label = name if type_ in ("", "unknown", "aggregated") else f"{name} ({type_})"
    if not partners:
        summary = f"{label} is part of this group"
    elif len(partners) <= 2:
        summary = f"{label} is linked to {' and '.join(partners)}"
    else:
        others = len(partners) - 2
        summary = f"{label} is linked to {partners[0]}, {partners[1]} and {others} other{'s' if others > 1 else ''}"
    explanation = _first_sentences(members.descriptions[place])
    return Finding(summary, explanation or f"The documents name {name} without describing it.")


def _first_sentences(text: str) -> str:
    """The first sentence, or its beginning when it is long."""
    first = next(iter(sentences(text)), "")
    return trim_to_tokens(_ended(first), _EXPLANATION_TOKENS) if first else ""
