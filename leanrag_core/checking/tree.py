"""The tree: one parent each, one root, clusters of the expected sizes (section 5 of the method, 1 to 3)."""

from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise

import numpy as np

from leanrag_core.checking.problem import Note, Problem, Subject, at_rows
from leanrag_core.clustering.reference import most_by_bic
from leanrag_core.retrieval.lca import Subtree, lca_subtree


def parents(subject: Subject) -> Iterator[Problem | Note]:
    """Check that every node but the root has one parent in the layer above, every parent a child."""
    stop = 0
    for below, above in pairwise(subject.index.layers):
        start, stop = stop, stop + len(below)
        parent = np.asarray(below.parent)
        if len(parent) != len(below):
            yield Problem(subject.table("hierarchy"), None, f"layer {below.number} has {len(parent)} parents")
            continue
        outside = np.flatnonzero((parent < 0) | (parent >= len(above)))
        yield from at_rows(subject.table("hierarchy"), start + outside, "the parent is not there")
        childless = np.setdiff1d(np.arange(len(above)), parent)
        yield from at_rows(subject.table(f"entities-{above.number}"), childless, "no entity below has it as its parent")


def root(subject: Subject) -> Iterator[Problem | Note]:
    """Check that the last layer holds one node and no other layer does after it."""
    layers = subject.index.layers
    top = layers[-1]
    if len(top) != 1:
        yield Problem(subject.table(f"entities-{top.number}"), None, f"the last layer holds {len(top)} entities")
    if len(top.parent):
        yield Problem(subject.table("hierarchy"), None, "the root has a parent")
    for place, layer in enumerate(layers):
        if layer.number != place:
            yield Problem(subject.table(f"entities-{layer.number}"), None, f"the layer is at place {place}")
        if len(layer) <= 1 and layer is not top:
            yield Problem(subject.table(f"entities-{place}"), None, f"{len(layer)} entities below the last layer")


def partition(subject: Subject) -> Iterator[Problem | Note]:
    """Check that every node lies in exactly one cluster."""
    for place, (below, _) in enumerate(pairwise(subject.index.layers)):
        offsets, order = subject.index.children[place]
        if offsets[0] != 0 or offsets[-1] != len(below) or not np.array_equal(np.sort(order), np.arange(len(below))):
            text = f"the clusters of layer {place + 1} do not hold every entity of layer {place} once"
            yield Problem(subject.table("hierarchy"), None, text)


def sizes(subject: Subject) -> Iterator[Problem | Note]:
    """Check that clusters keep to the cap and to m = ceil(n / clustersize)."""
    config = subject.index.manifest.config
    if "cluster_size" in config.lacking:
        yield Note("the manifest names no clustersize")
        return
    cluster_size, cap_on = config.cluster_size, config.size_cap and "size_cap" not in config.lacking
    cap = 2 * cluster_size
    for below, above in pairwise(subject.index.layers):
        file, m = subject.table(f"entities-{above.number}"), -(-len(below) // cluster_size)
        if config.cluster_engine == "reference" and config.cluster_count == "bic":
            m = max(m, most_by_bic(len(below)))
        if len(above) > m:
            yield Problem(file, None, f"{len(above)} clusters, more than m = {m}")
        counted = np.bincount(below.parent, minlength=len(above))
        for row in np.flatnonzero(counted > cap) if cap_on else ():
            yield Problem(file, int(row), f"the cluster holds {counted[row]} nodes, above the cap of {cap}")


_SEED_SETS = 50
_MOST_SEEDS = 8

Node = tuple[int, int]  # layer, row


def minimal(subject: Subject) -> Iterator[Problem | Note]:
    """Check that the retrieval's own subtrees of some seed sets are minimal, and equal the union over pairs of
    seeds."""
    parents = [np.asarray(layer.parent) for layer in subject.index.layers]
    n = len(parents[0]) or len(subject.index.layers[0])
    random = np.random.default_rng(0)
    for _ in range(_SEED_SETS):
        size = int(random.integers(1, min(_MOST_SEEDS, n) + 1))
        seeds = sorted(int(row) for row in random.choice(n, size=size, replace=False))
        subtree = lca_subtree(parents, [(0, seed) for seed in seeds])
        for text in subtree_problems(parents, seeds, subtree):
            yield Problem(subject.table("hierarchy"), seeds[0], text)


def subtree_problems(parents: Sequence[np.ndarray], seeds: Sequence[int], subtree: Subtree) -> Iterator[str]:
    """Yield why the subtree for the seeds (rows of layer 0) is not the smallest that joins them.

    By brute force and written apart from retrieval, so that one checks the other. parents: for each layer but the top
    an (n,) int array, the row in the layer above.
    """
    chains = [_chain(parents, seed) for seed in seeds]
    seed_list = f"seeds {list(seeds)}"
    by_pairs = set().union(*(_joined(list(pair)) for pair in combinations(chains, 2))) if chains[1:] else {chains[0][0]}
    nodes, starts = set(subtree.nodes), {chain[0] for chain in chains}
    if nodes != by_pairs:
        yield f"{seed_list}: the retrieval takes {len(nodes)} nodes, the union over pairs of seeds has {len(by_pairs)}"
    up = {node: parent for chain in chains for node, parent in pairwise(chain)}
    if subtree.parent != {node: up[node] for node in nodes - {subtree.top} if node in up}:
        yield f"{seed_list}: the retrieval climbs by other parents than the tree's"
    tops = [node for node in nodes if up.get(node) not in nodes]
    if tops != [subtree.top]:
        yield f"{seed_list}: the subtree has {len(tops)} tops"
        return
    for removed in sorted(nodes - starts - {subtree.top}):
        if all(_reaches(start, subtree.top, up, nodes - {removed}) for start in starts):
            yield f"{seed_list}: node {removed} is not needed"
    if len(starts) > 1 and sum(up.get(node) == subtree.top for node in nodes) < 2:
        yield f"{seed_list}: the top {subtree.top} is not the lowest common ancestor"


def _chain(parents: Sequence[np.ndarray], seed: int) -> list[Node]:
    """Return the seed and all nodes above it, the root last. parents: by layer, (n,) int."""
    chain = [(0, seed)]
    for layer, parent in enumerate(parents[:-1]):
        chain.append((layer + 1, int(parent[chain[-1][1]])))
    return chain


def _joined(chains: list[list[Node]]) -> set[Node]:
    """Return the nodes on the paths from the first node of each chain to the lowest node that all chains share."""
    shared = set(chains[0]).intersection(*chains[1:])
    lowest = min(shared)  # the tuple starts with the layer
    return {node for chain in chains for node in chain[: chain.index(lowest) + 1]}


def _reaches(start: Node, top: Node, up: dict[Node, Node], allowed: set[Node]) -> bool:
    node: Node | None = start
    while node in allowed and node is not None:
        if node == top:
            return True
        node = up.get(node)
    return False
