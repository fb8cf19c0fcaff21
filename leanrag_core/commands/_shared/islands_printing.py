"""What `show` prints of islands and of clusters."""

import math

from leanrag_core.commands._shared.printing import print_json
from leanrag_core.errors import InvalidConfig
from leanrag_core.types.index import Index
from leanrag_core.types.visible import visible


def show_islands(index: Index, *, as_json: bool) -> int:
    """Show each layer's components, and for a few taus what is summarised and connected. Returns the exit code."""
    from leanrag_core.queries.islands import components, suggest_tau, tau_curve

    tau_of = {step.layer: step.tau for step in index.report.clustering}
    rows = []
    for layer in index.layers:
        parts = components(len(layer), layer.ends)
        row = {
            "layer": layer.number,
            "entities": len(layer),
            "relations": layer.relations.num_rows,
            "islands": len(parts),
            "largest": int(parts.sizes[0]),
            "tau": tau_of.get(layer.number),
        }
        if layer.number:
            curve = tau_curve(layer)
            suggested = suggest_tau(curve)
            row["lambda"] = [
                {"lambda": int(value), "relations": int(pairs), "connected": int(connected), "islands": int(islands)}
                for value, pairs, connected, islands in zip(
                    curve.strengths, curve.pairs, curve.connected, curve.parts, strict=True
                )
            ]
            row["suggested_tau"] = suggested.tau if suggested else None
        rows.append(row)
    if as_json:
        print_json({"layers": rows})
        return 0
    print(f"{'layer':>5} {'entities':>9} {'relations':>9} {'islands':>8} {'largest':>8} {'tau':>7} {'suggested':>9}")
    for row in rows:
        tau, suggested_tau = (f"{row.get(name):g}" if row.get(name) is not None else "–" for name in _TAUS)
        print(
            f"{row['layer']:>5} {row['entities']:>9,} {row['relations']:>9,} {row['islands']:>8,} {row['largest']:>8,} "
            f"{tau:>7} {suggested_tau:>9}"
        )
    return 0


_TAUS = ("tau", "suggested_tau")


def show_clusters(index: Index, number: int, *, as_json: bool) -> int:
    """Show the clusters that make that layer, the least coherent first. Returns the exit code; raises InvalidConfig
    for a layer that has none."""
    from leanrag_core.queries.clusters import cluster_quality

    if not 1 <= number < len(index.layers):
        raise InvalidConfig("show.no_clusters", layer=number, top=len(index.layers) - 1)
    quality = cluster_quality(index, number)
    names, below = index.layers[number].entities["name"], index.layers[number - 1].entities["name"]
    rows = [
        {
            "name": names[row].as_py(),
            "size": int(quality.sizes[row]),
            "cohesion": round(float(quality.cohesion[row]), 4),
            "conductance": _number(quality.conductance[row]),
            "oddest": below[int(quality.oddest[row])].as_py(),
            "oddest_cosine": round(float(quality.oddest_cosine[row]), 4),
        }
        for row in quality.cohesion.argsort(kind="stable").tolist()
    ]
    if as_json:
        print_json({"layer": number, "clusters": rows})
        return 0
    print(f"{'size':>5} {'cohesion':>8} {'conductance':>11}  name; oddest member")
    for row in rows:
        conductance = "–" if row["conductance"] is None else f"{row['conductance']:.2f}"
        print(
            f"{row['size']:>5} {row['cohesion']:>8.2f} {conductance:>11}  {visible(str(row['name']))}; "
            f"{visible(str(row['oddest']))} ({row['oddest_cosine']:.2f})"
        )
    return 0


def _number(value: float) -> float | None:
    return None if math.isnan(value) else round(float(value), 4)
