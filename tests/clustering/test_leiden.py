import numpy as np

from leanrag_core.clustering.leiden import hierarchical_communities

# Two triangles joined by a weak edge, and a pair apart.
ENDS = np.array([[0, 1], [1, 2], [0, 2], [3, 4], [4, 5], [3, 5], [2, 3], [6, 7]])
WEIGHTS = np.array([1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.1, 1.0])


def communities(**options: object) -> list[tuple[int, int, list[int]]]:
    settings = {"max_size": 10, "seed": 1, "largest_component": False, **options}
    tree = hierarchical_communities(ENDS, WEIGHTS, **settings)
    return [(int(tree.level[c]), int(tree.parent[c]), tree.nodes_of(c).tolist()) for c in range(len(tree))]


def test_triangles_are_communities_and_so_is_the_pair() -> None:
    assert communities() == [(0, -1, [0, 1, 2]), (0, -1, [3, 4, 5]), (0, -1, [6, 7])]


def test_only_the_largest_component_is_divided_on_request() -> None:
    assert communities(largest_component=True) == [(0, -1, [0, 1, 2]), (0, -1, [3, 4, 5])]


def test_large_communities_are_split_and_know_their_parent() -> None:
    # Modularity joins neighbouring triangles of a long ring, and divides them again when it sees few of them.
    triangles = np.array([[3 * c + a, 3 * c + b] for c in range(40) for a in range(3) for b in range(a)])
    bridges = np.array([[3 * c, (3 * c + 3) % 120] for c in range(40)])
    ends = np.concatenate([triangles, bridges])
    tree = hierarchical_communities(ends, np.ones(len(ends)), max_size=5, seed=1, largest_component=True)
    below = [c for c in range(len(tree)) if tree.level[c]]
    assert below
    for community in below:
        above = int(tree.parent[community])
        assert tree.level[above] == tree.level[community] - 1
        assert set(tree.nodes_of(community).tolist()) < set(tree.nodes_of(above).tolist())
    split = set(tree.parent.tolist())
    assert all(len(tree.nodes_of(c)) <= 5 for c in range(len(tree)) if c not in split)
    assert np.bincount(tree.nodes[: tree.offsets[np.searchsorted(tree.level, 1)]]).tolist() == [1] * 120


def test_the_order_of_the_edges_does_not_matter() -> None:
    mixed = np.random.default_rng(0).permutation(len(ENDS))
    tree = hierarchical_communities(ENDS[mixed], WEIGHTS[mixed], max_size=10, seed=1, largest_component=False)
    assert [tree.nodes_of(c).tolist() for c in range(len(tree))] == [nodes for _, _, nodes in communities()]


def test_a_graph_without_edges_has_no_community() -> None:
    none = np.zeros((0, 2), dtype=np.int32)
    for largest in (True, False):
        assert len(hierarchical_communities(none, np.zeros(0), max_size=10, seed=1, largest_component=largest)) == 0
