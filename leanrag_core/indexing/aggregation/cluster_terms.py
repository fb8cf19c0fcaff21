"""Class-based TF-IDF: which phrases set one cluster of a layer apart from its siblings."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from leanrag_core.indexing.aggregation.phrases import (
    LONGEST_NAME,
    Phrase,
    folded,
    is_content,
    phrases,
    sentences,
    words,
)

_KEPT = 24  # phrases kept for each cluster
_SINGLE_WORD = 0.4  # pairs are preferred to single words
_IS_NAME = 1.6  # a phrase that names an entity is a noun phrase for certain
_PLAIN = 0.7  # words in small letters that are nobody's name may be or hold a verb
_CAPITAL = 1.2
_ONCE = 0.5  # a phrase of one sentence speaks for a mention, not for the cluster
_COVERAGE_FLOOR = 0.2


@dataclass(frozen=True, eq=False)
class BaseTerms:
    """Phrases of the base entities, counted once for all layers.

    in_sentences: sparse (sentences, phrases). in_entities: sparse (base rows, phrases of their sentences). in_names:
    sparse (base rows, phrases). holds: (pairs, 2) base row, sentence. surface: how each phrase is written most often.
    names: folded names of all lengths.
    word_weight: inverse sentence frequency of each folded word.
    """

    phrases: list[Phrase]
    surface: list[str]
    in_sentences: Any
    in_entities: Any
    holds: np.ndarray
    in_names: Any
    names: frozenset[Phrase]
    word_weight: dict[str, float]


def base_terms(entities: pa.Table) -> BaseTerms:
    """The phrases in names and descriptions of the base entities; a sentence that several share counts once."""
    texts = [text or "" for text in entities["description"].to_pylist()]
    folded_names = [tuple(map(folded, words(name or ""))) for name in entities["name"].to_pylist()]
    names = frozenset(name for name in folded_names if 0 < len(name) <= LONGEST_NAME)
    long_names = frozenset(name for name in names if len(name) > 1)
    number: dict[Phrase, int] = {}
    surfaces: dict[Phrase, Counter[str]] = {}
    sentence_of: dict[str, int] = {}
    holds: list[tuple[int, int]] = []
    in_sentences: list[tuple[int, int]] = []
    word_count: Counter[str] = Counter()
    for row, text in enumerate(texts):
        for sentence in sentences(text):
            known = sentence_of.get(sentence)
            if known is None:
                known = sentence_of[sentence] = len(sentence_of)
                word_count.update({folded(word) for word in words(sentence)})
                for phrase, written in phrases(sentence, long_names):
                    in_sentences.append((known, number.setdefault(phrase, len(number))))
                    surfaces.setdefault(phrase, Counter())[written] += 1
            holds.append((row, known))
    in_names = []
    for row, name in enumerate(entities["name"].to_pylist()):
        for phrase, written in _name_phrases(name or ""):
            in_names.append((row, number.setdefault(phrase, len(number))))
            surfaces.setdefault(phrase, Counter())[written] += 1
    n_sentences = max(len(sentence_of), 1)
    spoken = _incidence(in_sentences, n_sentences, len(number))
    in_entities = (_incidence(holds, len(texts), n_sentences) @ spoken).tocsr()
    in_entities.data[:] = 1.0
    return BaseTerms(
        phrases=list(number),
        surface=[_most_frequent(surfaces[phrase]) for phrase in number],
        in_sentences=spoken,
        in_entities=in_entities,
        holds=np.array(sorted(set(holds)), dtype=np.int64).reshape(-1, 2),
        in_names=_incidence(in_names, len(texts), len(number)),
        names=names,
        word_weight={word: float(np.log(1 + n_sentences / count)) for word, count in word_count.items()},
    )


def _name_phrases(name: str) -> list[tuple[Phrase, str]]:
    """A name's single content words and pairs; shared by two names they speak for a cluster."""
    return list(phrases(name, frozenset()))


def _most_frequent(written: Counter[str]) -> str:
    return min(written, key=lambda form: (-written[form], form))


def _incidence(pairs: Sequence[tuple[int, int]] | np.ndarray, n_rows: int, n_columns: int) -> Any:
    """Sparse 0/1 matrix with ones at the pairs."""
    from scipy.sparse import csr_array

    rows, columns = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    matrix = csr_array((np.ones(len(rows), dtype=np.float32), (rows, columns)), shape=(n_rows, max(n_columns, 1)))
    matrix.sum_duplicates()
    matrix.data[:] = 1.0
    return matrix


@dataclass(frozen=True)
class Candidate:
    """A phrase for a cluster: how it is written, its folded words, its c-TF-IDF score."""

    surface: str
    words: Phrase
    score: float


def cluster_candidates(terms: BaseTerms, cluster_of: np.ndarray, n_clusters: int) -> list[list[Candidate]]:
    """For each cluster the phrases that set it apart, best first.

    cluster_of: (base entities,) cluster of each. The score is tf x log(1 + A / f), where tf is the share of a phrase in
    the cluster's phrases, f its count over all clusters and A the mean count of a cluster, times the share of members
    that the phrase covers, times preferences for pairs and for names. A pair or word that only one name holds, and no
    sentence outside a name, is a fragment and left out.
    """
    held = np.unique(np.stack([cluster_of[terms.holds[:, 0]].astype(np.int64), terms.holds[:, 1]], axis=1), axis=0)
    holds = _incidence(held, n_clusters, terms.in_sentences.shape[0])
    members = _incidence(np.stack([cluster_of, np.arange(len(cluster_of))], axis=1), n_clusters, len(cluster_of))
    spoken = (holds @ terms.in_sentences).tocsr()
    named = (members @ terms.in_names).tocsr()
    named.data[named.data < 2] = 0.0
    counts = (spoken + named).tocsr()
    counts.eliminate_zeros()
    counts.sort_indices()
    sizes = np.bincount(cluster_of, minlength=n_clusters)
    covered = (members @ terms.in_entities).tocsr()
    totals = np.asarray(counts.sum(axis=1)).ravel()
    frequency = np.asarray(counts.sum(axis=0)).ravel()
    rarity = np.log1p(totals.mean() / np.maximum(frequency, 1.0))
    tastes = [_taste(phrase, form, terms.names) for phrase, form in zip(terms.phrases, terms.surface, strict=True)]
    taste = np.array(tastes or [0.0])
    found = []
    for cluster in range(n_clusters):
        start, stop = counts.indptr[cluster : cluster + 2]
        columns, count = counts.indices[start:stop], counts.data[start:stop]
        held_by = np.zeros(len(taste))
        row = slice(covered.indptr[cluster], covered.indptr[cluster + 1])
        held_by[covered.indices[row]] = covered.data[row]
        coverage = _COVERAGE_FLOOR + held_by[columns] / max(int(sizes[cluster]), 1)
        score = count / max(totals[cluster], 1.0) * rarity[columns] * taste[columns] * coverage
        score *= np.where(count > 1, 1.0, _ONCE)
        best = np.lexsort((columns, -score))[:_KEPT]
        found.append(
            [
                Candidate(terms.surface[columns[place]], terms.phrases[columns[place]], float(score[place]))
                for place in best
                if score[place] > 0
            ]
        )
    return found


def _taste(phrase: Phrase, surface: str, names: frozenset[Phrase]) -> float:
    if not any(is_content(word) for word in phrase):
        return 0.0
    capital = all(word[:1].isupper() for word in surface.split() if is_content(word))
    taste = (_CAPITAL if capital else 1.0) * (_SINGLE_WORD if len(phrase) == 1 else 1.0)
    if phrase in names:
        return taste * _IS_NAME
    return taste if capital else taste * _PLAIN
