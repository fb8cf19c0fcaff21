"""Components of a hierarchy that fits on a screen."""

from pathlib import Path

from leanrag_core.presenting.pictures import Connection, connectivity
from tests.small_index import small_index


def test_layers_hang_together_by_their_aggregated_relations(tmp_path: Path) -> None:
    base, middle, root = connectivity(small_index())
    # queen-honey honey-mite honey-rape rape-clover mite-seed: six nodes, five relations, one part
    assert base.with_aggregated == base.without_aggregated == Connection(1, 1.0, 10 / 6)
    assert (middle.n_nodes, middle.with_aggregated) == (2, Connection(1, 1.0, 1.0))
    assert middle.without_aggregated == Connection(2, 0.5, 0.0)
    assert root.with_aggregated == Connection(1, 1.0, 0.0)
    assert connectivity(small_index())[1] == middle
