"""Walks on a real graph: Chebyshev polynomials beside rounds of PageRank.

    python -m benchmarks.walk_agreement GRAPH.graphml [--walks 200] [--out RESULTS.json]

GRAPH: nodes and edges in GraphML, as LightRAG stores them; weights count where there are any. A walk starts at one to
eight nodes, drawn by chance in proportion to their degrees, with weights by chance. Both ways take every graph here,
also small ones, for which the program keeps the rounds. overlap@k and RBO: see benchmarks.agreement.
"""

import argparse
import json
import statistics
from pathlib import Path

import networkx as nx
import numpy as np
from scipy.sparse import csr_array

from benchmarks.agreement import overlap, rank_biased_overlap
from benchmarks.frame import circumstances, command_line
from leanrag_core.retrieval import graph_walks
from leanrag_core.retrieval.vector_search import best_rows
from leanrag_core.types.walks import Transition, normalised

_RANKED = 50  # nodes that rankings are compared over
_DAMPINGS = (0.1, 0.5, 0.85)


def agreement(transition: Transition, damping: float, n_walks: int) -> dict[str, float]:
    """Return means over walks of overlap and RBO of the first nodes, the share of walks with the same ten, and the
    largest sum of differences, also of the rounds to a walk of many more."""
    random = np.random.default_rng(7)
    degrees = np.diff(transition.matrix.indptr).astype(float)
    rows: dict[str, list[float]] = {}
    for _ in range(n_walks):
        starts = random.choice(len(degrees), random.integers(1, 9), replace=False, p=degrees / degrees.sum())
        restart = np.zeros(len(degrees))
        restart[starts] = random.random(len(starts)) + 0.05
        rounds = graph_walks.pagerank(transition.matrix, restart, damping=damping)
        long = graph_walks.pagerank(transition.matrix, restart, damping=damping, tolerance=1e-12, max_rounds=2000)
        mass = graph_walks.by_polynomials(transition, restart, damping=damping)
        first, second = (best_rows(each, _RANKED).tolist() for each in (rounds, mass))
        figures = {
            "overlap@5": overlap(first, second, 5),
            "overlap@10": overlap(first, second, 10),
            "RBO": rank_biased_overlap(first, second),
            "same ten in order": float(first[:10] == second[:10]),
            "off": float(np.abs(mass - long).sum()),
            "off, rounds": float(np.abs(rounds - long).sum()),
        }
        for name, value in figures.items():
            rows.setdefault(name, []).append(value)
    return {
        name: max(values) if name.startswith("off") else round(statistics.fmean(values), 4)
        for name, values in rows.items()
    }


def main() -> None:
    """Print the table, and keep it with its circumstances where --out says so."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graph", type=Path)
    parser.add_argument("--walks", type=int, default=200)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    graph = nx.Graph(nx.read_graphml(given.graph))
    transition = Transition(normalised(csr_array(nx.to_scipy_sparse_array(graph, dtype=float))))
    results = []
    for damping in _DAMPINGS:
        figures = agreement(transition, damping, given.walks)
        results.append({"nodes": len(graph), "edges": graph.number_of_edges(), "damping": damping, **figures})
        print(json.dumps(results[-1]))
    if given.out:
        head = circumstances(["python", "-m", "benchmarks.walk_agreement", *command_line()[3:]])
        given.out.write_text(json.dumps({**head, "results": results}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
