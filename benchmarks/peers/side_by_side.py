"""Our own figures of this run beside those of other systems on the same input."""

import statistics
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.frame import Figures, answer_of
from benchmarks.peers.environments import Peer, PeerUnavailable, default_folder, interpreter, peers

_SHOWN = ("best_ms", "processor_ms", "processor_seconds", "ari", "clusters", "largest", "context_tokens", "peak_gb")


@dataclass(frozen=True)
class Comparison:
    """How a section is compared. maker: module that writes the input of a size; figure: what is compared, by name;
    processor: the same by the processor's clock, where it is known.

    own: names under which our section may give that figure, the first found is taken.
    """

    title: str
    maker: str
    figure: str
    processor: str
    own: tuple[str, ...]
    sizes: tuple[int, ...]
    largest: int


COMPARISONS = {
    "retrieval": Comparison(
        "From question to context, model calls free, 9,500 tokens of context for each",
        "benchmarks.peers.graph",
        "p50_ms",
        "processor_ms",
        ("p50_ms",),
        (5_000,),
        20_000,
    ),
    "clustering": Comparison(
        "Clusters of 20, the same planted vectors",
        "benchmarks.peers.vectors",
        "seconds",
        "processor_seconds",
        ("seconds", "cluster_seconds"),
        (1_000, 5_000),
        20_000,
    ),
}


@dataclass(frozen=True)
class Compared:
    """rows: one a system and size, ours first; versions: installed packages by system; failures: what went wrong."""

    title: str
    rows: tuple[dict[str, Any], ...]
    versions: Mapping[str, Mapping[str, str]]
    failures: tuple[str, ...]


def sizes_of(section: str, asked: Sequence[int] | None) -> tuple[int, ...]:
    """Return the sizes at which the section's peers are measured: those asked for, else the usual, if small enough."""
    comparison = COMPARISONS.get(section)
    if comparison is None:
        return ()
    return tuple(size for size in asked or comparison.sizes if size <= comparison.largest)


def compare(
    section: str,
    sizes: Sequence[int],
    ours: Mapping[int, Figures],
    *,
    only: Sequence[str] | None = None,
    environments: Path | None = None,
    timeout_seconds: float | None = None,
) -> Compared:
    """Measure each peer of the section at each size, one after the other; one that fails does not stop the others."""
    comparison = COMPARISONS[section]
    rows: list[dict[str, Any]] = []
    versions: dict[str, Mapping[str, str]] = {}
    failures: list[str] = []
    pythons = _pythons(section, only, environments or default_folder(), failures)
    for size in sizes:
        own = _own(comparison, ours.get(size, {}))
        if own:
            rows.append({"size": size, "system": "ours", **own})
        with tempfile.TemporaryDirectory(prefix="leanrag-peers-") as folder:
            made = _make_input(comparison, size, Path(folder))
            if made:
                failures.append(f"input of {size:,} for the peers of {section}: {made}")
                continue
            for peer, python in pythons:
                print(f"{peer.title}: {size:,} ...", file=sys.stderr, flush=True)
                answer = _measured(peer, python, Path(folder), timeout_seconds)
                if "error" in answer:
                    failures.append(f"{peer.title} at {size:,} failed: {answer['error']}")
                    continue
                figures = dict(answer["figures"])
                if "contexts" in answer:
                    figures["context_tokens"] = _median_tokens(answer["contexts"])
                figures |= _ratios(comparison, figures, own)
                rows.append({"size": size, "system": peer.title, **figures})
                versions[peer.title] = answer["versions"]
    return Compared(comparison.title, tuple(rows), versions, tuple(failures))


def _pythons(section: str, only: Sequence[str] | None, folder: Path, failures: list[str]) -> list[tuple[Peer, Path]]:
    known = peers(section)
    pythons = []
    for name in only or ():
        if name not in {peer.name for peer in known}:
            failures.append(f"{section} has no peer {name!r}; it has {', '.join(peer.name for peer in known)}")
    for peer in known:
        if only and peer.name not in only:
            continue
        try:
            pythons.append((peer, interpreter(peer, folder)))
        except PeerUnavailable as error:
            failures.append(str(error))
    return pythons


def _own(comparison: Comparison, figures: Figures) -> dict[str, Any]:
    """Return our figures under the name that is compared; empty when they were not taken."""
    name = next((name for name in comparison.own if name in figures), None)
    if name is None:
        return {}
    row: dict[str, Any] = {comparison.figure: figures[name]}
    row.update({key: figures[key] for key in _SHOWN if key in figures})
    return row


def _ratios(comparison: Comparison, figures: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, float]:
    """Return how many times ours a figure of a peer is: by the clock, and by the processor, which is less disturbed."""
    names = {"times_ours": comparison.figure, "processor_times_ours": comparison.processor}
    return {
        ratio: round(float(figures[name]) / float(own[name]), 1)
        for ratio, name in names.items()
        if name in figures and own.get(name)
    }


def _make_input(comparison: Comparison, size: int, folder: Path) -> str:
    """Make the input in the folder, and return why it could not be made; empty when it is there."""
    done = folder / "made.json"
    command = [sys.executable, "-c", _MAKE, comparison.maker, str(size), str(folder), str(done)]
    return str(answer_of(command, done).get("error", ""))


_MAKE = """
import pathlib, runpy, sys
maker, size, folder, done = sys.argv[1:]
sys.argv = [maker, size, folder]
runpy.run_module(maker, run_name="__main__")
pathlib.Path(done).write_text("{}", encoding="utf-8")
"""


def _measured(peer: Peer, python: Path, folder: Path, timeout_seconds: float | None) -> dict[str, Any]:
    out = folder / f"{peer.name}.json"
    around = {
        "TIKTOKEN_CACHE_DIR": str(folder / "tiktoken"),
        "HF_HUB_OFFLINE": "1",
        "PYTHONWARNINGS": "ignore",
        "OPENBLAS_NUM_THREADS": "1",  # their many small products take up to four times as long with two
    }
    command = [str(python), "-m", peer.module, str(folder), str(out)]
    return dict(answer_of(command, out, timeout_seconds=timeout_seconds, environment=around))


def _median_tokens(contexts: Sequence[str]) -> int:
    from leanrag_core.text.tokens import count_tokens

    return int(statistics.median(count_tokens(text) for text in contexts))
