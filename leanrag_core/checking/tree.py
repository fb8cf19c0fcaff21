"""The tree: one parent each, one root, clusters of the expected sizes (section 5 of the method, 1 to 3)."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from leanrag_core.checking.problem import Note, Problem, Subject, at_rows
from leanrag_core.clustering.reference import most_by_bic


def parents(subject: Subject) -> Iterator[Problem | Note]:
    """Every node but the root has one parent in the layer above, every parent a child."""
    start = 0
    for below, above in pairwise(subject.index.layers):
        parent = np.asarray(below.parent)
        if len(parent) != len(below):
            yield Problem(subject.table("hierarchy"), None, f"layer {below.number} has {len(parent)} parents")
            continue
        outside = np.flatnonzero((parent < 0) | (parent >= len(above)))
        yield from at_rows(subject.table("hierarchy"), start + outside, "the parent is not there")
        childless = np.setdiff1d(np.arange(len(above)), parent)
        yield from at_rows(subject.table(f"entities-{above.number}"), childless, "no entity below has it as its parent")
        start += len(below)


def root(subject: Subject) -> Iterator[Problem | Note]:
    """The last layer holds one node and no other layer does after it."""
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
    """Every node lies in exactly one cluster."""
    for place, (below, _) in enumerate(pairwise(subject.index.layers)):
        offsets, order = subject.index.children[place]
        if offsets[0] != 0 or offsets[-1] != len(below) or not np.array_equal(np.sort(order), np.arange(len(below))):
            text = f"the clusters of layer {place + 1} do not hold every entity of layer {place} once"
            yield Problem(subject.table("hierarchy"), None, text)


def sizes(subject: Subject) -> Iterator[Problem | Note]:
    """Clusters keep to the cap and to m = ceil(n / clustersize)."""
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
