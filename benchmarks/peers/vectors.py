"""Planted vectors for the clustering peers: `python -m benchmarks.peers.vectors SIZE FOLDER`, in our environment."""

import sys
from pathlib import Path

import numpy as np

from benchmarks.planted import planted


def write_vectors(n: int, folder: Path) -> None:
    """Write planted.npz with vectors (n, d) float32 and labels (n,): those that our own clustering is measured on."""
    folder.mkdir(parents=True, exist_ok=True)
    made = planted(n, 0)
    np.savez(folder / "planted.npz", vectors=made.vectors, labels=made.leaf)


if __name__ == "__main__":
    write_vectors(int(sys.argv[1]), Path(sys.argv[2]))
