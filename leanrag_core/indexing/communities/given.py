"""Communities and reports that another system made, for an index of its graph."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from leanrag_core.clustering.leiden import CommunityTree
from leanrag_core.indexing.communities.builtin_report import HIGHEST_RATING, Report
from leanrag_core.indexing.communities.making import community_table, embedded, no_claims
from leanrag_core.indexing.part_base import PartTools
from leanrag_core.types.communities import Communities
from leanrag_core.types.graph import Finding
from leanrag_core.types.index import Index


class GivenReport(Protocol):
    """A report of another system. rating: 0 to 10, None where it gave none."""

    @property
    def title(self) -> str: ...
    @property
    def summary(self) -> str: ...
    @property
    def rating(self) -> float | None: ...
    @property
    def findings(self) -> tuple[Finding, ...]: ...


class GivenCommunity(Protocol):
    """A community of another system. level: 0 for the coarsest. parent: id of the community above, or empty. entities:
    ids of entities of layer 0."""

    @property
    def id(self) -> str: ...
    @property
    def level(self) -> int: ...
    @property
    def parent(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def entities(self) -> tuple[str, ...]: ...
    @property
    def report(self) -> GivenReport | None: ...


def given_communities(index: Index, given: Sequence[GivenCommunity], tools: PartTools) -> Communities:
    """The communities as an index part holds them, by level; entities that the index does not have are left out, and
    communities without any. Levels are counted from the coarsest that there is."""
    row_of = index.layers[0].row_of
    held = [(sorted({row_of[id_] for id_ in each.entities if id_ in row_of}), each) for each in given]
    kept = sorted(
        ((nodes, each) for nodes, each in held if nodes), key=lambda pair: (pair[1].level, pair[0][0], pair[1].id)
    )
    place_of = {each.id: place for place, (_, each) in enumerate(kept)}
    first = min((each.level for _, each in kept), default=0)
    tree = CommunityTree(
        np.array([each.level - first for _, each in kept], dtype=np.int32),
        np.array([place_of.get(each.parent, -1) for _, each in kept], dtype=np.int32),
        np.cumsum([0, *(len(nodes) for nodes, _ in kept)]).astype(np.int32),
        np.array([node for nodes, _ in kept for node in nodes], dtype=np.int32),
    )
    table = community_table(tree, [_report(each) for _, each in kept], [each.title or each.id for _, each in kept])
    vectors = embedded(table, int(index.layers[0].vectors.shape[1]), tools)
    return Communities(table, vectors, no_claims(), len(index.layers[0]))


def _report(community: GivenCommunity) -> Report | None:
    report = community.report
    if report is None:
        return None
    rating = min(max(report.rating or 0.0, 0.0), HIGHEST_RATING)
    return Report(report.title or community.title, report.summary, rating, "", tuple(report.findings), by_model=True)
