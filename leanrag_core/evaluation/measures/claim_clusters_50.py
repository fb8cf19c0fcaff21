"""Claim clusters: how many different subjects the answer's claims have, at a distance of 0.5."""

from leanrag_core.evaluation.base import CLAIMS, COUNT, Outcome
from leanrag_core.evaluation.claims import claim_clusters, claims_of
from leanrag_core.messages.message import message


class Measure:
    """Clusters of the answer's claims under complete linkage, distance 1 - ROUGE-L, cut at 0.5 (GraphRAG, 4.2)."""

    name = "claim-clusters-50"
    title = message("measure.claim-clusters.title", distance=0.5)
    help = message("measure.claim-clusters.help", distance=0.5)
    group = CLAIMS
    unit = COUNT
    is_main = False

    def score(self, outcome: Outcome) -> float | None:
        """Return a count; None without an answer."""
        return float(claim_clusters(claims_of(outcome), 0.5)) if outcome.answer else None
