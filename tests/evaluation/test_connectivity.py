"""Components of a hierarchy that fits on a screen."""

from pathlib import Path

from leanrag_core.presenting.pictures import Connection, connectivity
from tests.small_index import small_index


def test_layers_hang_together_by_their_aggregated_relations(tmp_path: Path) -> None:
    base, middle, root = map(connectivity, small_index().layers)
    # queen-honey honey-mite honey-rape rape-clover mite-seed: six nodes, five relations, one part
    assert base.with_aggregated == base.without_aggregated == Connection(1, 1.0)
    assert middle.with_aggregated == Connection(1, 1.0)
    assert middle.without_aggregated == Connection(2, 0.5)
    assert root.with_aggregated == Connection(1, 1.0)
