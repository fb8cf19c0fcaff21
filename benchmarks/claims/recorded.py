"""Claims on recorded files that are no judgements: a run of LeanRAG's released code, and corpora."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from benchmarks.claims.measures import Arguments, Files, Found
from leanrag_core.evaluation.audit.files import JudgeFile, lines_of
from leanrag_core.evaluation.statistics import mean_interval
from leanrag_core.text.tokens import count_tokens

_CONCATENATED = "relationship<|>"  # how the released code begins what it joins without a model


def documents(files: Files, _arguments: Arguments) -> Found:
    """Return the number of texts of a JSON list."""
    return Found(len(_texts(files[0])))


def tokens(files: Files, _arguments: Arguments) -> Found:
    """Return the tokens of all texts of a JSON list."""
    texts = _texts(files[0])
    return Found(sum(count_tokens(text) for text in texts), n=len(texts))


def _texts(file: JudgeFile) -> Sequence[str]:
    texts = json.loads(file.content)
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise ValueError(f"{file.name} is no list of texts")
    return texts


def cluster_size(files: Files, arguments: Arguments) -> Found:
    """Return the mean number of nodes in a cluster of the layer, with an interval over clusters."""
    sizes = _sizes(files[0], int(arguments["layer"]))
    interval = mean_interval([float(size) for size in sizes])
    if interval is None:
        raise ValueError("the layer has no clusters")
    return Found(interval.value, interval.low, interval.high, len(sizes))


def larger_clusters(files: Files, arguments: Arguments) -> Found:
    """Return how many clusters of the layer have more nodes than the size."""
    sizes = _sizes(files[0], int(arguments["layer"]))
    return Found(sum(size > int(arguments["size"]) for size in sizes), n=len(sizes))


def several_parents(files: Files, _arguments: Arguments) -> Found:
    """Return how many nodes are given more than one parent."""
    parents: dict[tuple[int, str], set[str]] = defaultdict(set)
    for place, layer in enumerate(_layers(files[0])[:-1]):
        for node in layer:
            parents[place, node["entity_name"]].add(str(node["parent"]))
    return Found(sum(len(names) > 1 for names in parents.values()), n=len(parents))


def repeated_names(files: Files, _arguments: Arguments) -> Found:
    """Return how many aggregated entities have the name of one of their members."""
    layers = _layers(files[0])
    n = sum(len({node["parent"] for node in layer if node["parent"] == node["entity_name"]}) for layer in layers[:-1])
    return Found(n, n=sum(len(layer) for layer in layers[1:]))


def components(files: Files, arguments: Arguments) -> Found:
    """Return the components of the layer by all aggregated relations of which both ends are in it."""
    import networkx as nx

    names = {node["entity_name"] for node in _layers(files[0])[int(arguments["layer"])]}
    graph = nx.Graph()
    graph.add_nodes_from(sorted(names))
    graph.add_edges_from(ends for ends in map(_ends, _records(files[1])) if names.issuperset(ends))
    return Found(nx.number_connected_components(graph), n=len(names))


def unknown_ends(files: Files, _arguments: Arguments) -> Found:
    """Return how many aggregated relations have an end that is a node of no layer."""
    names = {node["entity_name"] for layer in _layers(files[0]) for node in layer}
    ends = list(map(_ends, _records(files[1])))
    return Found(sum(not names.issuperset(each) for each in ends), n=len(ends))


def concatenated(files: Files, arguments: Arguments) -> Found:
    """Return how many pairs of clusters of the base layer with more relations between them than the threshold have an
    aggregated relation that was joined, not written. A relation that is listed again counts once."""
    parent_of = {node["entity_name"]: str(node["parent"]) for node in _layers(files[0])[0]}
    between: Counter[frozenset[str]] = Counter()
    for ends in sorted({_ends(relation) for relation in _records(files[2])}):
        clusters = frozenset(parent_of[end] for end in ends if end in parent_of)
        if len(clusters) > 1:
            between[clusters] += 1
    texts = {
        frozenset(_ends(relation)): str(relation["description"])
        for relation in _records(files[1])
        if relation["level"] == 1
    }
    strong = [pair for pair, n in between.items() if n > int(arguments["threshold"]) and pair in texts]
    return Found(sum(texts[pair].startswith(_CONCATENATED) for pair in strong), n=len(strong))


def _sizes(file: JudgeFile, layer: int) -> Sequence[int]:
    """Return the numbers of members of the layer's clusters, the smallest first."""
    return sorted(Counter(str(node["parent"]) for node in _layers(file)[layer]).values())


def _layers(file: JudgeFile) -> Sequence[Sequence[Mapping[str, Any]]]:
    """Return the nodes of each layer, a layer a line; the last line is the root itself."""
    lines = [json.loads(line) for line in lines_of(file).values()]
    layers = [line if isinstance(line, list) else [line] for line in lines]
    if any(not layer for layer in layers) or any(len(lower) < len(upper) for lower, upper in pairwise(layers)):
        raise ValueError(f"{file.name} is no hierarchy")
    return layers


def _records(file: JudgeFile) -> Iterator[Mapping[str, Any]]:
    return (json.loads(line) for line in lines_of(file).values())


def _ends(relation: Mapping[str, Any]) -> tuple[str, str]:
    return str(relation["src_tgt"]), str(relation["tgt_src"])


MEASURES = {
    "documents": documents,
    "tokens": tokens,
    "cluster-size": cluster_size,
    "larger-clusters": larger_clusters,
    "several-parents": several_parents,
    "repeated-names": repeated_names,
    "components": components,
    "unknown-ends": unknown_ends,
    "concatenated": concatenated,
}
