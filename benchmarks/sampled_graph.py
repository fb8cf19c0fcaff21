"""Lists what a person has to judge: a fixed sample of an index's entities, or the names of all its clusters.

    python -m benchmarks.sampled_graph INDEX [INDEX ...] [--count 50] [--seed 7]
    python -m benchmarks.sampled_graph INDEX [INDEX ...] --clusters

One line an entity (name, type, beginning of its description) or cluster (layer, name, its first members). The same
index, count and seed give the same sample. What was judged so far, and how: docs/builtin_graph.md.
"""

import argparse
import random
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np

from leanrag_core.types.index import Index
from leanrag_core.workbench import open_index

_SHOWN_LETTERS = 100
_SHOWN_MEMBERS = 14


def main() -> int:
    """Print the lines of every index."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("index", type=Path, nargs="+")
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--clusters", action="store_true")
    options = parser.parse_args()
    for folder in options.index:
        index = open_index(folder)
        print(f"# {folder.name}: {' + '.join(str(len(layer)) for layer in index.layers)} entities")
        for line in clusters(index) if options.clusters else entities(index, options.count, options.seed):
            print(line)
    return 0


def entities(index: Index, n_sampled: int, seed: int) -> Iterator[str]:
    """Yield a line for each sampled base entity, in the order of the index."""
    table = index.layers[0].entities
    rows = random.Random(seed).sample(range(table.num_rows), min(n_sampled, table.num_rows))
    for row in table.take(sorted(rows)).to_pylist():
        yield f"{row['name']} | {row['type']} | {row['description'][:_SHOWN_LETTERS]}"


def clusters(index: Index) -> Iterator[str]:
    """Yield a line for each aggregated entity, with the names of its first children."""
    for below, above in pairwise(index.layers):
        names = below.entities["name"].to_pylist()
        for row, name in enumerate(above.entities["name"].to_pylist()):
            children = [names[child] for child in np.flatnonzero(below.parent == row)]
            yield f"{above.number} | {name} | {len(children)}: {'; '.join(children[:_SHOWN_MEMBERS])}"


if __name__ == "__main__":
    raise SystemExit(main())
