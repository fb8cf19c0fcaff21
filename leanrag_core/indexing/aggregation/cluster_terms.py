"""Class-based TF-IDF: which phrases set one cluster of a layer apart from its siblings."""

from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from leanrag_core.indexing.aggregation.columns import Texts, distinct
from leanrag_core.indexing.aggregation.lexicon import BREAK, Lexicon
from leanrag_core.indexing.aggregation.phrase_counts import Document, PhraseTable, count_phrases
from leanrag_core.indexing.aggregation.phrases import Phrase, sentences

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
    sparse (base rows, phrases). holds: (pairs, 2) base row, sentence. taste: (phrases,) how well each suits a name.
    word_weight: (forms,) inverse sentence frequency of each folded word of the lexicon; 1 for words of no sentence.
    """

    lexicon: Lexicon
    phrases: PhraseTable
    taste: np.ndarray
    in_sentences: Any
    in_entities: Any
    holds: np.ndarray
    in_names: Any
    word_weight: np.ndarray


def base_terms(entities: pa.Table) -> BaseTerms:
    """Count the phrases in names and descriptions of the base entities; a sentence that several share counts once."""
    lexicon = Lexicon()
    sentence_numbers, lengths = array("i"), array("i")
    for text in Texts(entities["description"]):
        numbers = lexicon.read(sentences(text))
        sentence_numbers.extend(numbers)
        lengths.append(len(numbers))
    names = [lexicon.tokens_of(name) for name in Texts(entities["name"])]
    n, n_sentences = len(lengths), max(len(lexicon), 1)
    tokens, ends = (column.tolist() for column in lexicon.all_tokens())
    # A name's own words and pairs count as well; shared by two names they speak for a cluster.
    counted = count_phrases(
        [
            *(Document(tokens[start:end]) for start, end in pairwise(ends)),
            *(Document(name, with_names=False) for name in names),
        ],
        (tuple(lexicon.fold[word] for word in name if word != BREAK) for name in names),
        lexicon,
    )
    pairs = distinct(np.repeat(np.arange(n), lengths) * n_sentences + np.array(sentence_numbers, dtype=np.int64))
    holds = np.stack([pairs // n_sentences, pairs % n_sentences], axis=1)
    in_sentences = counted.incidence[: len(lexicon)]
    if not len(lexicon):  # a row for the sentence that there is not
        in_sentences = _incidence(np.zeros(0, dtype=int), np.zeros(0, dtype=int), 1, counted.incidence.shape[1])
    in_entities = (_incidence(holds[:, 0], holds[:, 1], n, n_sentences) @ in_sentences).tocsr()
    in_entities.data[:] = 1.0
    return BaseTerms(
        lexicon=lexicon,
        phrases=counted.phrases,
        taste=_taste(counted.phrases),
        in_sentences=in_sentences,
        in_entities=in_entities,
        holds=holds,
        in_names=counted.incidence[len(lexicon) :],
        word_weight=_word_weight(lexicon),
    )


def _word_weight(lexicon: Lexicon) -> np.ndarray:
    """Return the inverse sentence frequency of each folded word, (forms,) float64; 1 for words of no sentence."""
    tokens, ends = (np.array(column, dtype=np.int64) for column in lexicon.all_tokens())
    n_forms = max(len(lexicon.forms), 1)
    place = np.flatnonzero(tokens >= 0)
    sentence = np.searchsorted(ends[1:], place, side="right")
    fold = np.array(lexicon.fold, dtype=np.int64)
    once = distinct(sentence * n_forms + (fold[tokens[place]] if len(place) else 0))
    count = np.bincount(once % n_forms, minlength=len(lexicon.forms))
    return np.where(count > 0, np.log(1 + max(len(lexicon), 1) / np.maximum(count, 1)), 1.0)


def _incidence(rows: np.ndarray, columns: np.ndarray, n_rows: int, n_columns: int) -> Any:
    """Return a sparse 0/1 matrix, (n_rows, n_columns) float32, with ones at the pairs. rows, columns: (k,) int."""
    from scipy.sparse import csr_array

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


def cluster_candidates(terms: BaseTerms, cluster_of: np.ndarray, n_clusters: int) -> Iterator[list[Candidate]]:
    """Yield for each cluster in turn the phrases that set it apart, best first.

    cluster_of: (base entities,) cluster of each. The score is tf x log(1 + A / f), where tf is the share of a phrase in
    the cluster's phrases, f its count over all clusters and A the mean count of a cluster, times the share of members
    that the phrase covers, times preferences for pairs and for names. A pair or word that only one name holds, and no
    sentence outside a name, is a fragment and left out.
    """
    n_sentences = terms.in_sentences.shape[0]
    held = distinct(cluster_of[terms.holds[:, 0]].astype(np.int64) * n_sentences + terms.holds[:, 1])
    holds = _incidence(held // n_sentences, held % n_sentences, n_clusters, n_sentences)
    members = _incidence(cluster_of, np.arange(len(cluster_of)), n_clusters, len(cluster_of))
    named = (members @ terms.in_names).tocsr()
    named.data[named.data < 2] = 0.0
    counts = ((holds @ terms.in_sentences).tocsr() + named).tocsr()
    del named, holds, held
    counts.eliminate_zeros()
    counts.sort_indices()
    sizes = np.bincount(cluster_of, minlength=n_clusters)
    covered = (members @ terms.in_entities).tocsr()
    totals = np.asarray(counts.sum(axis=1)).ravel()
    frequency = np.asarray(counts.sum(axis=0)).ravel()
    rarity = np.log1p(totals.mean() / np.maximum(frequency, 1.0))
    held_by = np.zeros(counts.shape[1])  # for one cluster at a time, and zero again after it
    for cluster in range(n_clusters):
        start, stop = counts.indptr[cluster : cluster + 2]
        columns, count = counts.indices[start:stop], counts.data[start:stop]
        row = slice(covered.indptr[cluster], covered.indptr[cluster + 1])
        held_by[covered.indices[row]] = covered.data[row]
        coverage = _COVERAGE_FLOOR + held_by[columns] / max(int(sizes[cluster]), 1)
        held_by[covered.indices[row]] = 0.0
        score = count / max(totals[cluster], 1.0) * rarity[columns] * terms.taste[columns] * coverage
        score *= np.where(count > 1, 1.0, _ONCE)
        yield [
            Candidate(terms.phrases.surface(phrase), terms.phrases.folded(phrase), float(score[place]))
            for place, phrase in _best(columns, score)
        ]


def _best(columns: np.ndarray, score: np.ndarray) -> list[tuple[int, int]]:
    """Return place and phrase of the best scores above zero, ties by phrase; at most _KEPT. columns, score:
    (phrases,).
    """
    places = np.flatnonzero(score > 0)
    if len(places) > _KEPT:
        places = places[score[places] >= np.partition(score[places], -_KEPT)[-_KEPT]]
    places = places[np.lexsort((columns[places], -score[places]))[:_KEPT]]
    return list(zip(places.tolist(), columns[places].tolist(), strict=True))


def _taste(phrases: PhraseTable) -> np.ndarray:
    """Score how well each phrase suits a name; (phrases,) float64, at least one."""
    taste = np.where(phrases.capital, _CAPITAL, 1.0) * np.where(phrases.single, _SINGLE_WORD, 1.0)
    taste = np.where(phrases.is_name, taste * _IS_NAME, np.where(phrases.capital, taste, taste * _PLAIN))
    return np.where(phrases.content, taste, 0.0) if len(phrases) else np.zeros(1)
