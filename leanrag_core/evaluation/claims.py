"""Claims of an answer, and how many different subjects they have (GraphRAG, section 4.2)."""

from collections.abc import Sequence
from itertools import combinations

from leanrag_core.evaluation.answers import declined, sentences_of
from leanrag_core.evaluation.base import Outcome
from leanrag_core.evaluation.gold import normalised
from leanrag_core.retrieval.repeats import WORD


def claims_of(outcome: Outcome) -> tuple[str, ...]:
    """Return the distinct claims of the outcome's answer: those that a language model listed, else its sentences.

    None of an answer that declines; equal ones, without case and punctuation, count once.
    """
    answer = outcome.answer
    if answer is None or declined(answer):
        return ()
    said = sentences_of(answer) if outcome.claims is None else outcome.claims
    distinct = {normalised(claim): claim for claim in reversed(said)}
    return tuple(claim for claim in said if normalised(claim) and distinct[normalised(claim)] is claim)


def claim_clusters(claims: Sequence[str], distance: float) -> int:
    """Count the clusters of the claims under complete linkage, distance 1 - ROUGE-L, cut at the distance."""
    if len(claims) < 2:
        return len(claims)
    from scipy.cluster.hierarchy import fcluster, linkage

    distances = [1 - rouge_l(first, second) for first, second in combinations(claims, 2)]
    return int(fcluster(linkage(distances, method="complete"), distance, criterion="distance").max())


def rouge_l(first: str, second: str) -> float:
    """Return the F-measure of the longest common subsequence of words, in lower case without punctuation, unstemmed."""
    from rapidfuzz.distance import LCSseq

    words, others = (WORD.findall(text.lower()) for text in (first, second))
    both = len(words) + len(others)
    return 2 * LCSseq.similarity(words, others) / both if both else 0.0
