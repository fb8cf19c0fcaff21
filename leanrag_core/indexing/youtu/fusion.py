"""Communities by dual perception: k-means on what surrounds each entity, then pairs of communities whose centres agree
are joined (Youtu-GraphRAG, section 3.2, eq. 4 to 7)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from leanrag_core.clustering.kmeans import kmeans
from leanrag_core.clustering.options import numbered_by_first_row
from leanrag_core.errors import ReplyError
from leanrag_core.execution.executors import ThreadMap
from leanrag_core.indexing.aggregation.summary_reply import whole
from leanrag_core.indexing.communities.making import CALLS_AT_ONCE
from leanrag_core.indexing.communities.reports import HIGHEST_RATING, Report
from leanrag_core.indexing.part_base import PartTools
from leanrag_core.models.asking import read_json
from leanrag_core.models.base import Completion, LanguageModel
from leanrag_core.text.sentences import split_sentences
from leanrag_core.types.calls import JSON_TEXT, json_object
from leanrag_core.types.graph import Layer, symmetric
from leanrag_core.types.job import Progress
from leanrag_core.types.youtu import RELATION, Schema, incident_types

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_IN_TITLE, _IN_DESCRIPTION, _IN_PROMPT = 3, 4, 40
_REPLY = json_object(name=JSON_TEXT, description=JSON_TEXT)


def named_communities(base: Layer, members: Sequence[np.ndarray], tools: PartTools) -> list[Report]:
    """Return a name and a description for each community. members: entities of each, (k,) int, the best first.

    Without a language model, or where its reply cannot be used, the name is the first three keywords and the
    description their first sentences. Raises BudgetSpent, Cancelled.
    """
    sizes = np.array([len(rows) for rows in members], dtype=np.float64)
    ratings = np.round(HIGHEST_RATING * np.log1p(sizes) / np.log1p(sizes.max(initial=1.0)), 1).tolist()

    def name(community: int) -> Report:
        rows, rating = members[community].tolist(), ratings[community]
        reason = f"{len(rows)} entities."
        if tools.language is not None:
            try:
                title, description = _by_model(base, rows, tools.language, tools)
                return Report(title, description, rating, reason, (), by_model=True)
            except ReplyError as error:
                tools.meter.add_fault(str(error))
        names, descriptions = base.entity_cells["name"], base.entity_cells["description"]
        firsts = (next(iter(split_sentences(descriptions[row].as_py()[:2000])), "") for row in rows[:_IN_DESCRIPTION])
        title = ", ".join(names[row].as_py() for row in rows[:_IN_TITLE])
        return Report(title, " ".join(dict.fromkeys(filter(None, firsts))), rating, reason, ())

    reports: list[Report] = []
    apply = ThreadMap(CALLS_AT_ONCE if tools.language is not None else 1)
    for report in apply(name, range(len(members))):
        reports.append(report)
        tools.report(Progress("make", len(reports), len(members), "reports", current=report.title))
    return reports


def _by_model(base: Layer, rows: Sequence[int], language: LanguageModel, tools: PartTools) -> tuple[str, str]:
    names = base.entity_cells["name"]
    listed = "\n".join(f"- {names[row].as_py()}" for row in rows[:_IN_PROMPT])
    return tools.ask(language, "name_community", _read, form=_REPLY, names=listed)


def _read(completion: Completion) -> tuple[str, str]:
    cells: dict[str, Any] = read_json(whole(completion), (("name",), ("description",))).cells
    name, description = (" ".join(str(cells.get(key) or "").split()) for key in ("name", "description"))
    if not name or not description:
        raise ReplyError("reply.no_report")
    return name, description


_ENTITIES_A_CLUSTER, _MOST_CLUSTERS = 10, 200
_SEED = 42  # of the paper


@dataclass(frozen=True, eq=False)
class Perception:
    """What the fusion knows of each entity. points: (n, 3 d) float32 unit rows, its triples' vectors. types: (n, t)
    float32, 1 where a triple of the entity has the type. weight: of the cosine beside the Jaccard overlap of types.
    """

    points: np.ndarray
    types: "csr_array"
    weight: float

    def overlaps(self, rows: np.ndarray, types: np.ndarray) -> np.ndarray:
        """Return the Jaccard overlap of each row's types with those given for it, (k,). rows: (k,) int. types: (k, t)
        of 0 and 1."""
        shared = np.asarray(self.types[rows].multiply(types).sum(axis=1)).ravel()
        union = np.asarray(self.types[rows].sum(axis=1)).ravel() + types.sum(axis=1) - shared
        return np.asarray(np.divide(shared, union, out=np.zeros(len(shared)), where=union > 0))


def first_count(n_entities: int) -> int:
    """Return the number of clusters that the fusion begins with."""
    return min(max(2, n_entities // _ENTITIES_A_CLUSTER), _MOST_CLUSTERS)


def perception(vectors: np.ndarray, ends: np.ndarray, schema: Schema, weight: float) -> Perception:
    """Compute what the fusion knows of each entity. vectors: (n, d) of the entities. ends: (r, 2) rows of the entities
    that relations join. weight: see Perception.

    The vector of a triple is that of its head, of the name of its relation type, and of its tail, one after the other;
    an entity has the mean over its triples, its attributes among them. Relations of this index have no direction, so
    that the entity itself is the head of each. One without a triple has its own vector alone.
    """
    from scipy.sparse import coo_array

    n, dimension = vectors.shape
    types = incident_types(n, ends, schema)
    n_triples = np.maximum(np.asarray(types.sum(axis=1)).ravel(), 1)[:, None]
    tails = symmetric(ends, np.ones(len(ends), dtype=np.float32), n) @ vectors
    owner = schema.attribute_entity
    if len(owner):
        attribute_links = coo_array(
            (np.ones(len(owner), dtype=np.float32), (owner, np.arange(len(owner)))), shape=(n, len(owner))
        )
        tails = tails + attribute_links.tocsr() @ schema.attribute_vectors
    points = np.empty((n, 3 * dimension), dtype=np.float32)
    points[:, :dimension] = vectors
    points[:, dimension : 2 * dimension] = (types @ schema.vectors(RELATION)) / n_triples
    points[:, 2 * dimension :] = tails / n_triples
    points /= np.maximum(np.linalg.norm(points, axis=1, keepdims=True), 1e-12)
    present = types.copy()
    present.data[:] = 1.0
    return Perception(points, present, weight)


def affinity(perceived: Perception, labels: np.ndarray) -> np.ndarray:
    """Score how well each entity fits its community, (n,): Jaccard overlap of types and weighted cosine to the
    centroid.

    Source: eq. 5. labels: (n,) 0 ... m-1, every one used.
    """
    from scipy.sparse import csr_array

    n, m = len(labels), int(labels.max()) + 1
    members = csr_array((np.ones(n, dtype=np.float32), (labels, np.arange(n))), shape=(m, n))
    centroids = members @ perceived.points
    centroids /= np.maximum(np.linalg.norm(centroids, axis=1, keepdims=True), 1e-12)
    present = (np.asarray((members @ perceived.types).todense()) > 0).astype(np.float32)
    cosine = np.einsum("ij,ij->i", perceived.points, centroids[labels])  # in a fixed order, as all sums of this file
    return np.asarray(perceived.overlaps(np.arange(n), present[labels]) + perceived.weight * cosine)


def centres_of(scores: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return the entity that fits each community best, (m,) int; of equals the first. scores: (n,), how well each
    entity fits. labels: (n,) int, its community."""
    order = np.lexsort((np.arange(len(labels)), -np.round(scores, 6), labels))
    return np.asarray(order[np.searchsorted(labels[order], np.arange(int(labels.max()) + 1))])


def divergence(perceived: Perception, centres: np.ndarray) -> np.ndarray:
    """Compute how far apart two centres are, 0 to 1, (m, m): 1 less their score (overlap and weighted cosine) as a
    share of the highest that there is.
    """
    m, points = len(centres), perceived.points[centres]
    types = np.asarray(perceived.types[centres].todense())
    overlap = np.stack([perceived.overlaps(centres, np.tile(types[place], (m, 1))) for place in range(m)])
    return np.asarray(
        1.0 - (overlap + perceived.weight * np.einsum("id,jd->ij", points, points)) / (1.0 + perceived.weight)
    )


def fused_communities(perceived: Perception, *, epsilon: float, rounds: int) -> np.ndarray:
    """Return the community of each entity, numbered by their first entities; (n,) int32.

    In each round the pairs of communities whose centres diverge by less than epsilon are joined, the nearest pair
    first, a community with one other at most; then centres are chosen anew. It ends when no pair is that near.
    """
    labels = kmeans(perceived.points, first_count(len(perceived.points)), seed=_SEED)
    for _ in range(rounds):
        apart = divergence(perceived, centres_of(affinity(perceived, labels), labels))
        left, right = np.triu_indices(len(apart), k=1)
        near = np.flatnonzero(apart[left, right] < epsilon)
        order = near[np.lexsort((near, np.round(apart[left[near], right[near]], 6)))]
        joined = np.arange(len(apart))
        free = np.ones(len(apart), dtype=bool)
        for pair in order.tolist():
            first, second = int(left[pair]), int(right[pair])
            if free[first] and free[second]:
                free[[first, second]] = False
                joined[second] = first
        if free.all():
            break
        labels = np.unique(joined[labels], return_inverse=True)[1].astype(np.int32)
    return np.asarray(numbered_by_first_row(labels), dtype=np.int32)


@dataclass(frozen=True, eq=False)
class Keywords:
    """entities: (q,) int32, rows of the keywords, by community, the best first. keyword_of: (n,) int32, for each entity
    the place of the keyword of its community that is nearest to it."""

    entities: np.ndarray
    keyword_of: np.ndarray


def keywords_of(perceived: Perception, labels: np.ndarray, most: int) -> Keywords:
    """Return the entities of each community that fit it best (section 3.2.1), and what is below each.

    labels: (entities,) int, the community of each.
    """
    scores = np.round(affinity(perceived, labels), 6)
    order = np.lexsort((np.arange(len(labels)), -scores, labels))
    starts = np.searchsorted(labels[order], np.arange(int(labels.max()) + 2))
    keyword_of = np.zeros(len(labels), dtype=np.int32)
    chosen: list[np.ndarray] = []
    n_before = 0
    for first, last in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
        members = order[first:last]
        best = members[:most]
        keyword_of[members] = n_before + np.einsum(
            "id,jd->ij", perceived.points[members], perceived.points[best]
        ).argmax(axis=1)
        keyword_of[best] = n_before + np.arange(len(best))
        chosen.append(best)
        n_before += len(best)
    return Keywords(np.concatenate(chosen).astype(np.int32), keyword_of)
