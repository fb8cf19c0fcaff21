"""show: what an index holds."""

import argparse
from pathlib import Path
from typing import Any

from leanrag_core.answering.record import ask_record
from leanrag_core.commands._options import Verbs, index_verb, set_run
from leanrag_core.commands._printing import index_sentence, print_json, print_run, printed_json
from leanrag_core.errors import InvalidConfig
from leanrag_core.figures.lines import call_sentence, made_sentence
from leanrag_core.figures.numbers import duration, size
from leanrag_core.files.records import plain
from leanrag_core.indexing.manifest import describe
from leanrag_core.messages.catalog import sentence
from leanrag_core.messages.message import message
from leanrag_core.queries.clusters import cluster_quality, known_number
from leanrag_core.queries.conflicts import READ_IN_PASSING, find_conflicts
from leanrag_core.queries.entity_search import thing_of
from leanrag_core.queries.islands import components, suggest_tau, tau_curve
from leanrag_core.queries.made_by import made_by
from leanrag_core.queries.schema import filters_of
from leanrag_core.storage.history import read_run
from leanrag_core.types.calls import CallRecord
from leanrag_core.types.index import Index
from leanrag_core.types.visible import visible
from leanrag_core.workbench import Workbench, open_index

_TAUS = ("tau", "suggested_tau")
_FILTERED = 20  # names of a layer


def add_verbs(verbs: Verbs) -> None:
    """Add the verb show."""
    parser = index_verb(verbs, "show", "what an index holds")
    parser.add_argument(
        "--of", metavar="ID", help="an entity (its id or name), relation or chunk: what it is, what made it"
    )
    parser.add_argument(
        "--prompts", action="store_true", help="with --of: also the prompts and replies that are stored"
    )
    parser.add_argument("--islands", action="store_true", help="components of each layer, and what another tau changes")
    parser.add_argument("--clusters", type=int, metavar="LAYER", help="the clusters that make this layer, in figures")
    parser.add_argument(
        "--filter",
        action="append",
        metavar="NAME=VALUE",
        help="only what passes, by layer: types=, kinds=, layers=, least_strength=, made_by=model or rule, "
        "connected=main or island; may be repeated",
    )
    set_run(parser, _show)
    _add_show_run(verbs)


def _show(options: argparse.Namespace) -> None:
    if options.of:
        _show_thing(options)
        return
    index = open_index(options.index)
    if options.islands:
        _show_islands(index, options)
    elif options.clusters is not None:
        _show_clusters(index, options)
    elif options.filter:
        _show_filtered(index, options)
    else:
        _show_index(index, options)


def _show_index(index: Index, options: argparse.Namespace) -> None:
    shown = describe(index)
    if printed_json(options, plain(shown)):
        return
    print(f"{visible(shown.name)}: {index_sentence(shown)}")
    print(
        f"{'layer':>5} {'entities':>9} {'relations':>9} {'summarised':>10} {'clusters':>8} {'largest':>7} {'parts':>6}"
    )
    for row in shown.layers:
        print(
            f"{row.layer:>5} {row.entities:>9,} {row.relations:>9,} {row.summarised:>10,} "
            f"{row.clusters:>8,} {row.largest_cluster:>7,} {row.components:>6,}"
        )
    print("dropped: " + (", ".join(f"{n:,} in {stage}" for stage, n in shown.drops.items()) or "nothing"))
    print(_conflicts_line(index))
    for part in shown.parts:
        cost = f"{size(part.bytes)}, made in {duration(part.seconds)}" if part.seconds else size(part.bytes)
        print(f"part {part.name}: {part.status}, {cost}")


def _show_islands(index: Index, options: argparse.Namespace) -> None:
    """Show each layer's components, its tau and the tau that is suggested; as JSON also what each lambda connects."""
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
    if printed_json(options, {"layers": rows}):
        return
    print(f"{'layer':>5} {'entities':>9} {'relations':>9} {'islands':>8} {'largest':>8} {'tau':>7} {'suggested':>9}")
    for row in rows:
        tau, suggested_tau = (f"{row.get(name):g}" if row.get(name) is not None else "–" for name in _TAUS)
        print(
            f"{row['layer']:>5} {row['entities']:>9,} {row['relations']:>9,} {row['islands']:>8,} {row['largest']:>8,} "
            f"{tau:>7} {suggested_tau:>9}"
        )


def _show_filtered(index: Index, options: argparse.Namespace) -> None:
    """Show what passes the filters in each layer, the entities with most relations first, and how many relations pass
    between those."""
    filters = filters_of(options.filter)
    rows: list[dict[str, Any]] = []
    for layer in index.layers:
        mask = filters.allows(index, layer.number)
        passing = mask.nonzero()[0]
        passing = passing[(-layer.degrees[passing]).argsort(kind="stable")]
        entities = [{"id": layer.entity(int(row)).id, "name": layer.entity(int(row)).name} for row in passing]
        between = mask[layer.ends].all(axis=1)
        relations = int((filters.allows_relations(index, layer.number) & between).sum())
        rows.append({"layer": layer.number, "of": len(layer), "relations": relations, "entities": entities})
    if printed_json(options, {"layers": rows}):
        return
    for row in rows:
        names = [visible(entity["name"]) for entity in row["entities"]]
        more = f", and {len(names) - _FILTERED:,} more" if len(names) > _FILTERED else ""
        print(f"L{row['layer']}: {len(names):,} of {row['of']:,} entities, {row['relations']:,} relations")
        print("  " + "; ".join(names[:_FILTERED]) + more)


def _show_clusters(index: Index, options: argparse.Namespace) -> None:
    """Show the clusters that make that layer, the least coherent first. Raises InvalidConfig for a layer that has
    none."""
    number = options.clusters
    if not 1 <= number < len(index.layers):
        raise InvalidConfig("show.no_clusters", layer=number, top=len(index.layers) - 1)
    quality = cluster_quality(index, number)
    names, below = index.layers[number].entities["name"], index.layers[number - 1].entities["name"]
    rows = [
        {
            "name": names[row].as_py(),
            "size": int(quality.sizes[row]),
            "cohesion": round(float(quality.cohesion[row]), 4),
            "conductance": known_number(quality.conductance[row]),
            "oddest": below[int(quality.oddest[row])].as_py(),
            "oddest_cosine": round(float(quality.oddest_cosine[row]), 4),
        }
        for row in quality.cohesion.argsort(kind="stable").tolist()
    ]
    if printed_json(options, {"layer": number, "clusters": rows}):
        return
    print(f"{'size':>5} {'cohesion':>8} {'conductance':>11}  name; oddest member")
    for row in rows:
        conductance = "–" if row["conductance"] is None else f"{row['conductance']:.2f}"
        print(
            f"{row['size']:>5} {row['cohesion']:>8.2f} {conductance:>11}  {visible(str(row['name']))}; "
            f"{visible(str(row['oddest']))} ({row['oddest_cosine']:.2f})"
        )


def _conflicts_line(index: Index) -> str:
    """Return how many quotes contradict each other, where the index is small enough to look in passing."""
    if index.chunks.num_rows > READ_IN_PASSING:
        return sentence(message("conflicts.not_counted"))
    return sentence(message("conflicts.counted", n=len(find_conflicts(index).conflicts)))


def _show_thing(options: argparse.Namespace) -> None:
    """Show what one thing of the index says, and what made it."""
    index = open_index(options.index)
    shown = thing_of(index, options.of)
    if shown is None:
        raise InvalidConfig("show.nothing_of_that_id", id=options.of)
    bench = Workbench.default()
    maker = made_by(index, shown.id)
    assert maker is not None
    stored = [bench.calls.get(call.key) for call in maker.calls]
    if options.json:
        calls = [
            {**plain(call), "seconds": record.seconds if record else None, **_texts(record, options.prompts)}
            for call, record in zip(maker.calls, stored, strict=True)
        ]
        print_json({**plain(shown), "made_by": {**plain(maker), "calls": calls}})
        return
    print(f"L{shown.layer} {shown.what} {visible(shown.name)} ({shown.id})")
    print(visible(shown.text))
    print(sentence(made_sentence(maker)))
    for call, record in zip(maker.calls, stored, strict=True):
        print(sentence(call_sentence(call, record)))
        for role, text in _texts(record, options.prompts).items():
            print(f"--- {role}\n{visible(str(text))}")


def _texts(record: CallRecord | None, prompts: bool) -> dict[str, str | None]:
    """Return prompt and reply of a stored call, where they are asked for; None for what the store does not have."""
    if not prompts:
        return {}
    prompt = "\n\n".join(message.content for message in record.messages) if record else ""
    return {"prompt": prompt or None, "reply": record.text if record else None}


def _add_show_run(verbs: Verbs) -> None:
    """Add the verb show-run."""
    parser = verbs.add_parser("show-run", help="a recorded run; neither its index nor a model is needed")
    parser.add_argument("file", type=Path, metavar="FILE")
    set_run(parser, _show_run)


def _show_run(options: argparse.Namespace) -> None:
    run = read_run(options.file)
    if printed_json(options, ask_record(run.trace, run.answer)):
        return
    print(f"{'question':>9}: {visible(run.trace.question)}")
    print_run(run.trace, run.answer)
