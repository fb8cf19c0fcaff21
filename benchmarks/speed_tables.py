"""Tables of speed and memory, written from the results of `python -m benchmarks`."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any


def markdown(heads: Sequence[str], lines: Iterable[Sequence[str]], texts: int = 1) -> str:
    """Return the lines as a Markdown table, figures to the right. texts: columns in front that hold none."""
    rule = "|".join(["---"] * texts + ["---:"] * (len(heads) - texts))
    return "\n".join([f"| {' | '.join(heads)} |", f"|{rule}|", *(f"| {' | '.join(line)} |" for line in lines)])


Results = Callable[[str], Any]
Figures = Mapping[str, Any]

_BOUND_MS = 150
_SMALL, _LARGE = 5_000, 100_000  # entities of the two columns of latency
_MODELESS = "zero_shot"  # gives no context


def latency(read: Results) -> str:
    """Return a table with a line for each system, by its processor time at 100,000 entities."""
    small, large = (_by_size(read("latency"))[size] for size in (_SMALL, _LARGE))
    systems = [name.removesuffix(", processor ms") for name in large if name.endswith(", processor ms")]
    systems = sorted((name for name in systems if name != _MODELESS), key=lambda name: large[f"{name}, processor ms"])
    heads = (
        "system",
        "5,000: processor, ms",
        "p50, ms",
        "100,000: processor, ms",
        "p50, ms",
        f"within {_BOUND_MS} ms at 100,000",
    )
    lines = []
    for name in systems:
        figures = [part[f"{name}, {what}"] for part in (small, large) for what in ("processor ms", "ms")]
        lines.append([name, *map(_number, figures), _verdict(figures[2], figures[3])])
    return markdown(heads, lines)


def _verdict(processor: float, clock: float) -> str:
    if clock <= _BOUND_MS:
        return "yes"
    return "in processor time" if processor <= _BOUND_MS else "no"


def pages(read: Results) -> str:
    """Return a table with a line for each size of the index."""
    heads = (
        "entities",
        "first visit of all",
        "Explore's first picture",
        "a click",
        "search while writing",
        "a slider on Ask",
        "largest view sent",
        "server, 10 sessions",
    )
    seconds = ("first_visit_s", "first_picture_s", "click_s", "search_s", "slider_s")
    return markdown(
        heads,
        [
            (
                f"{size:,}",
                *(_number(figures[name]) for name in seconds),
                f"{figures['largest_view_kb']} kB",
                f"{figures['server_memory_mb']} MB",
            )
            for size, figures in _by_size(read("pages")).items()
        ],
    )


def imports(read: Results) -> str:
    """Return a table with a line for each format, and for the whole import of the first."""
    size, figures = max(_by_size(read("imports")).items())
    steps = {
        "LightRAG, reading": "lightrag",
        "GraphRAG, reading": "graphrag",
        "LeanRAG, reading": "leanrag",
        "plain Parquet tables without chunks, reading": "plain",
        "LightRAG, the whole import but embedding": "import_without_embedding",
    }
    return markdown(
        (f"{size:,} entities", "s", "processor, s"),
        [
            (name, _number(figures[f"{key}_seconds"]), _number(figures[f"{key}_processor_seconds"]))
            for name, key in steps.items()
        ],
    )


def opening(read: Results) -> str:
    """Return a table with a line for each size of the index."""
    heads = (
        "entities",
        "open, ms",
        "opened, MB",
        "p50, ms",
        "p95, ms",
        "LCA, ms",
        "LeanRAG-walk, p50, ms",
        "search",
        "recall@10",
        "peak, GB",
    )
    searches = {"exact": "exact", "approximate": "cells, scored exactly"}
    return markdown(
        heads,
        [
            (
                f"{size:,}",
                _number(1000 * figures["open_seconds"]),
                _number(figures["open_mb"]),
                _number(figures["p50_ms"]),
                _number(figures["p95_ms"]),
                f"{figures['lca_ms']:.3f}",
                _number(figures["walk_p50_ms"]) if "walk_p50_ms" in figures else "",
                searches[figures["search"]],
                _number(figures["recall_at_10"]),
                _number(figures["peak_gb"]),
            )
            for size, figures in _by_size(read("retrieval")).items()
        ],
    )


def clustering(read: Results) -> str:
    """Return a table with a line for each number of vectors."""
    heads = (
        "vectors x 384",
        "s",
        "peak memory, GB",
        "ARI",
        "ceiling",
        "ARI without cap",
        "singletons",
        "a node's 10 nearest in its cluster",
    )
    names = ("cluster_seconds", "peak_gb", "ari", "ari_ceiling", "ari_no_cap", "singletons", "neighbours_inside")
    return markdown(
        heads,
        [
            (f"{size:,}", *(_number(figures[name]) if name in figures else "" for name in names))
            for size, figures in _by_size(read("clustering")).items()
        ],
    )


def growth(read: Results) -> str:
    """Return a table with a line for each size that any of the sections measured."""
    parts = {name: _by_size(read(name)) for name in ("clustering", "relations", "build", "retrieval")}
    columns: tuple[tuple[str, str, str, float], ...] = (
        ("clustering, s", "clustering", "cluster_seconds", 1),
        ("GB", "clustering", "peak_gb", 1),
        ("relations, s", "relations", "best_ms", 0.001),
        ("build without models, s", "build", "build_seconds", 1),
        ("its search index, s", "build", "search_index_seconds", 1),
        ("GB", "build", "peak_gb", 1),
        ("open, s", "retrieval", "open_seconds", 1),
        ("query p50, ms", "retrieval", "p50_ms", 1),
        ("p95, ms", "retrieval", "p95_ms", 1),
    )
    lines = []
    for size in _sizes(parts.values()):
        cells = [f"{size:,}"]
        for _, section, name, scale in columns:
            value = parts[section].get(size, {}).get(name)
            cells.append("" if value is None else _number(value * scale))
        lines.append(cells)
    return markdown(("entities", *(head for head, _, _, _ in columns)), lines)


def _by_size(results: Any) -> dict[int, Figures]:
    return {entry["size"]: entry["figures"] for entry in sorted(results["results"], key=lambda entry: entry["size"])}


def _sizes(parts: Iterable[Mapping[int, Figures]]) -> list[int]:
    return sorted({size for part in parts for size in part})


def _number(value: float) -> str:
    """Return three figures at least, whole numbers with their thousands apart."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def gates(read: Results) -> str:
    """Return a table with a line for each number of questions and share of them that changes by chance."""
    heads = ("questions", "changed by chance", "false alarms", "questions needed", "losses found with so many")
    return markdown(
        heads,
        [
            (f"{size:,}", changed, *(f"{figures[f'{name}_{changed}']:{form}}" for name, form in _GATE_FIGURES))
            for size, figures in sorted(_by_size(read("gate")).items())
            for changed in ("0.02", "0.1", "0.3")
        ],
    )


_GATE_FIGURES = (("false_alarms", ".3f"), ("needed", ",d"), ("found", ".3f"))


def scopes(read: Results) -> str:
    """Return a table of the systems with source chunks in their contexts, those that lose most in a scope first."""
    ((_, figures),) = _by_size(read("scopes")).items()
    systems = [name.removeprefix("share_") for name in figures if name.startswith("share_")]
    with_chunks = [name for name in systems if figures[f"gold_alone_{name}"] > 0]
    lines = [
        [
            name,
            *(f"{figures[f'{what}_{name}']:.3f}" for what in ("gold", "gold_alone")),
            f"{figures[f'time_{name}']:.2f}",
        ]
        for name in sorted(with_chunks, key=lambda name: (figures[f"share_{name}"], name))
    ]
    return markdown(
        ("system", "gold in context, in scope", "index of these documents", "time, in scope / whole"), lines
    )
