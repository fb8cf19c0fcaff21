"""Two states of an index: which clusters count as the same, and what moved between them."""

from dataclasses import replace

import pytest

from leanrag_core.comparing.states import LayerMoves, state_differences
from leanrag_core.types.index import Index
from leanrag_core.types.updating import LayerChange
from tests.small_index import entity, layer, small_index, unit


def clustered(*parents: int, texts: str) -> Index:
    """Return the small index with its base entities in those clusters. texts: a letter for each cluster, its id; in
    small letters its description."""
    index = small_index()
    clusters = [entity(f"cluster {row}", [], letter.lower(), id=letter) for row, letter in enumerate(texts)]
    middle = layer(1, clusters, [], unit([[1, row, 0, 0] for row in range(len(texts))]), [0] * len(texts))
    base = index.layers[0]
    base = layer(0, base.entities.to_pylist(), base.relations.to_pylist(), base.vectors, list(parents))
    return replace(index, layers=(base, middle, index.layers[2]))


@pytest.mark.parametrize(
    ("before", "after", "clusters", "moved"),
    [
        # Both later clusters share most with the first one, which shares most with the second of them.
        (clustered(0, 0, 0, 0, 1, 1, texts="ab"), clustered(0, 1, 1, 1, 1, 0, texts="xy"), (0, 1, 1, 1), 3),
        # Of equal overlaps the first counts: a stays a, and y, with as much of a as of b, is neither.
        (clustered(0, 0, 1, 1, 2, 2, texts="abc"), clustered(0, 1, 0, 1, 2, 2, texts="ayc"), (2, 0, 1, 1), 3),
        (clustered(1, 1, 1, 0, 0, 0, texts="ab"), clustered(0, 0, 0, 1, 1, 1, texts="ba"), (0, 2, 0, 0), 0),
    ],
)
def test_clusters_are_the_same_where_each_shares_most_entities_with_the_other(
    before: Index, after: Index, clusters: tuple[int, int, int, int], moved: int
) -> None:
    moves = state_differences(before, after).layers[0]
    assert (moves.clusters, moves.moved) == (LayerChange(1, *clusters), moved)


def test_clusters_with_other_members_or_another_text_are_changed_and_the_text_alone_is_named() -> None:
    before = clustered(0, 0, 0, 1, 1, 1, texts="ab")
    for texts, kept, named in (("ab", 2, ()), ("aB", 1, ()), ("ac", 1, ("cluster 1",))):
        differences = state_differences(before, clustered(0, 0, 0, 1, 1, 1, texts=texts))
        assert differences.layers[0] == LayerMoves(LayerChange(1, kept, 2 - kept, 0, 0), 0, 1.0)
        assert differences.texts == named


def test_nothing_is_shared_with_other_entities_and_with_a_layer_that_one_state_lacks() -> None:
    index = small_index()
    base = index.layers[0]
    others = [row | {"id": f"other-{row['id']}"} for row in base.entities.to_pylist()]
    base = layer(0, others, base.relations.to_pylist(), base.vectors, base.parent.tolist())
    other = replace(index, layers=(base, *index.layers[1:]))
    differences = state_differences(index, other)
    assert differences.shared == 0
    assert differences.layers[0] == LayerMoves(LayerChange(1, 0, 0, 2, 2), 0, None)
    assert len(differences.entities.added) == len(differences.entities.removed) == 6
    flat = replace(index, layers=index.layers[:1])
    assert state_differences(flat, index).layers[0] == LayerMoves(LayerChange(1, 0, 0, 2, 0), 0, None)
    assert state_differences(index, flat).layers[0] == LayerMoves(LayerChange(1, 0, 0, 0, 2), 0, None)
