"""Lists what a reference graph has no text for: python -m sample_corpora.clusters NAME [--layer N]

Builds the first index of the sample corpus (its corpus.json may name a clustersize) and prints, for each aggregated
entity and summarised relation without a text of its own, what it stands for (lines with #) and a line to be filled in.
Layers above the first are clustered by the texts of the layer below: write a layer's texts, then list the next.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from leanrag_core.errors import LeanRAGError
from leanrag_core.indexing.build import BuildRequest, build_index
from leanrag_core.indexing.build_models import BuildModels
from leanrag_core.indexing.names import name_key
from leanrag_core.indexing.reference.models import end_members, members_of
from leanrag_core.indexing.reference.records import ReferenceGraph, read_reference
from leanrag_core.models.minilm import MiniLM
from leanrag_core.storage.layout import read_index
from leanrag_core.types.config import REFERENCE, IndexConfig
from leanrag_core.types.index import Index
from sample_corpora.check import ROOT, documents_of


def built(corpus: str, graph: ReferenceGraph, out: Path) -> Index:
    """The first index of the corpus over its reference graph."""
    card = json.loads((ROOT / corpus / "corpus.json").read_text(encoding="utf-8"))
    config = IndexConfig(model=REFERENCE, cluster_size=card.get("cluster_size", IndexConfig().cluster_size))
    models = BuildModels(MiniLM(), reference=graph)
    return read_index(build_index(BuildRequest(documents_of(corpus), config, out), models))


def base_names(index: Index, number: int) -> list[list[str]]:
    """Names of the base entities below each node of a layer."""
    rows = np.arange(len(index.layers[0]))
    for layer in index.layers[:number]:
        rows = layer.parent[rows]
    names: list[list[str]] = [[] for _ in range(len(index.layers[number]))]
    for name, row in zip(index.layers[0].entities["name"].to_pylist(), rows.tolist(), strict=True):
        names[row].append(name)
    return names


def entity_lines(index: Index, graph: ReferenceGraph, number: int) -> Iterator[str]:
    """What is missing among the aggregated entities of a layer."""
    below, layer = index.layers[number - 1], index.layers[number]
    written = {members_of(row.members) for row in graph.aggregated_entities if row.layer == number}
    names, descriptions = (below.entities[column].to_pylist() for column in ("name", "description"))
    relations = list(zip(below.ends.tolist(), below.relations["description"].to_pylist(), strict=True))
    for row, members in enumerate(base_names(index, number)):
        children = np.flatnonzero(below.parent == row).tolist()
        if len(children) < 2 or frozenset(map(name_key, members)) in written:
            continue
        yield f"# layer {number}, built-in name: {layer.entities['name'][row].as_py()}"
        yield from (f"#   {names[child]}: {descriptions[child]}" for child in children)
        inside = set(children)
        for (left, right), description in relations:
            if left in inside and right in inside:
                yield f"#   {names[left]} – {names[right]}: {description[:300]}"
        blank = {"layer": number, "members": sorted(members), "name": "", "description": "", "findings": []}
        yield json.dumps(blank, ensure_ascii=False)


def relation_lines(index: Index, graph: ReferenceGraph, number: int) -> Iterator[str]:
    """What is missing among the summarised relations of a layer whose ends have their texts."""
    below, layer = index.layers[number - 1], index.layers[number]
    written = {
        frozenset(end_members(graph, row.layer, end) for end in (row.source, row.target))
        for row in graph.aggregated_relations
        if row.layer == number
    }
    names = layer.entities["name"].to_pylist()
    members = [frozenset(map(name_key, listed)) for listed in base_names(index, number)]
    descriptions = below.relations["description"].to_pylist()
    kinds = layer.relations["kind"].to_pylist()
    joined = layer.relations["members"].to_pylist()
    for row, (left, right) in enumerate(layer.ends.tolist()):
        ends = frozenset((members[left], members[right]))
        if kinds[row] != "summarised" or ends in written:
            continue
        if any(end_members(graph, number, names[end]) != members[end] for end in (left, right)):
            continue  # its ends have no text yet
        yield f"# layer {number}, {names[left]} – {names[right]}"
        yield from (f"#   {descriptions[member][:300]}" for member in joined[row])
        blank = {"layer": number, "source": names[left], "target": names[right], "description": ""}
        yield json.dumps(blank, ensure_ascii=False)


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="sample_corpora.clusters", description=__doc__)
    parser.add_argument("corpus")
    parser.add_argument("--layer", type=int, help="of this layer alone")
    options = parser.parse_args()
    try:
        graph = read_reference(ROOT / options.corpus / "reference")
        with tempfile.TemporaryDirectory() as folder:
            index = built(options.corpus, graph, Path(folder) / "index")
            for number in range(1, len(index.layers)):
                if options.layer in (None, number):
                    for line in (*entity_lines(index, graph, number), *relation_lines(index, graph, number)):
                        print(line)
            sizes = ", ".join(str(len(layer)) for layer in index.layers)
            summary = f"layers of {sizes} entities; by the built-in writer: {index.manifest.builtin_texts} texts"
            print(summary, file=sys.stderr)
    except LeanRAGError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
