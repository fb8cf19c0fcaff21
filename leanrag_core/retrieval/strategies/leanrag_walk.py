"""LeanRAG-walk: LeanRAG's seeds, tree and relations; the chunks are ranked by a random walk over entity-passage edges.

Outside the paper: see docs/paper_map.md.
"""

from dataclasses import dataclass, replace

import numpy as np

from leanrag_core.messages.message import message
from leanrag_core.retrieval.anchoring import Seed, seeds_without
from leanrag_core.retrieval.base import COSINE, Preset, Query, StrategyBase
from leanrag_core.retrieval.base_graph import entity_items
from leanrag_core.retrieval.graph_walks import Walk, operator_of, walk
from leanrag_core.retrieval.leanrag_paths import (
    CONTEXTS,
    TITLES,
    ChosenChunks,
    PathOptions,
    anchors_of,
    find_paths,
    paths_trace,
)
from leanrag_core.retrieval.passages import PassageReason, chunks_without, passage_items, reciprocal_rank_fusion
from leanrag_core.retrieval.strategies.hybrid import ranked_by_both
from leanrag_core.retrieval.tools import Tools
from leanrag_core.retrieval.tracing import Retrieval
from leanrag_core.retrieval.vector_search import similarity
from leanrag_core.types.config import SEEDS, option
from leanrag_core.types.index import Index
from leanrag_core.types.rows import entries_of
from leanrag_core.types.trace import Trace, TraceItem, TraceRelation, TraceStep
from leanrag_core.types.walks import WalkOperator

_CANDIDATE_SEEDS = 30  # of candidates "seeds30", and of those that Hybrid's passages are fused with
_HELPING_CHUNKS = 10  # first passages of Hybrid, whose entities help to choose the seeds
NO_HELP, HYBRID = "none", "hybrid"


@dataclass(frozen=True)
class Config(PathOptions):
    """Options of LeanRAG-walk. Its context is compact: under a budget for the whole it then holds more passages."""

    context: str = option("compact", choices=CONTEXTS, paper="full", help=message("leanrag.option.context"))
    candidates: str = option("all", choices=("all", "seeds30"), help=message("leanrag_walk.option.candidates"))
    walk_seeds: int = option(5, low=1, high=50, help=message("leanrag_walk.option.walk_seeds"))
    passage_percent: int = option(5, low=0, high=100, help=message("leanrag_walk.option.passage_percent"))
    damping_percent: int = option(50, low=1, high=95, help=message("leanrag_walk.option.damping_percent"))
    seed_help: str = option(
        NO_HELP, choices=(NO_HELP, HYBRID), absent=True, step=SEEDS, help=message("leanrag_walk.option.seed_help")
    )


class Strategy(StrategyBase[Config]):
    """LeanRAG with another ranking of chunks."""

    name = "leanrag_walk"
    badge = "beyond-paper"
    score = COSINE
    leaves_out = ("seed", "relation", "chunk")
    presets = (
        Preset("official", message("preset.official")),
        Preset("full", message("preset.leanrag_walk.full"), {"context": "full"}),
        Preset("seeds30", message("preset.leanrag_walk.seeds30"), {"candidates": "seeds30"}),
        Preset("hybrid-seeds", message("preset.leanrag_walk.hybrid_seeds"), {"seed_help": HYBRID}),
    )

    @property
    def needed_parts(self) -> tuple[str, ...]:
        """Return the lexical part where Hybrid helps to choose the seeds, else none."""
        return ("lexical",) if self.config.seed_help == HYBRID else ()

    def retrieve(self, query: Query, index: Index, tools: Tools) -> Trace:
        """Return the trace of one retrieval; no language model is called."""
        config, run = self.config, Retrieval(self, query, index, tools)
        is_helped = config.seed_help == HYBRID
        n_walk = max(config.walk_seeds, _CANDIDATE_SEEDS if config.candidates == "seeds30" or is_helped else 0)
        anchors = anchors_of(query, index, config, tools, max(config.top_n, n_walk))
        base_seeds = anchors.seeds
        if config.seed_layers != "base":
            base_seeds = anchors_of(query, index, replace(config, seed_layers="base"), tools, n_walk).seeds
        operator = operator_of(index, tools)
        if is_helped:
            base_seeds = helped_seeds(run, operator, base_seeds)
            if config.seed_layers == "base":
                anchors = replace(anchors, seeds=base_seeds)
        anchors = replace(anchors, seeds=anchors.seeds[: config.top_n])
        run.lap("seeds")
        paths = find_paths(run, anchors.seeds)
        resting = walk(
            index,
            operator,
            base_seeds[: config.walk_seeds],
            query.vector,
            passage_weight=config.passage_percent / 100,
            damping=config.damping_percent / 100,
        )
        ranking = resting.ranked(_chunks_of(index, base_seeds) if config.candidates == "seeds30" else None)
        ranking = chunks_without(index, ranking, tools.without)
        carried = _carried(index, resting, ranking[: config.wanted_chunks].tolist(), paths.nodes)
        run.lap("walk")
        passages = passage_items(
            index, carried.rows, dict(zip(carried.rows, carried.mass, strict=True)), carried.reasons
        )
        run.lap("chunks")
        caption = message("leanrag_walk.chunks", n=len(passages), candidates=len(ranking))
        step = _walk_step(run, carried, passages, min(len(base_seeds), config.walk_seeds))
        chosen = ChosenChunks(
            passages, ranking, len(ranking), caption, step, carriers=carried.entities, links=carried.relations
        )
        return paths_trace(run, anchors, paths, chosen)


def helped_seeds(run: Retrieval, operator: WalkOperator, seeds: tuple[Seed, ...]) -> tuple[Seed, ...]:
    """Return the best of the base seeds and of the entities that Hybrid's first passages mention, by reciprocal rank
    fusion of two rankings: that of the seeds, and that of these entities by the first such passage, then by cosine. A
    seed's score stays its cosine.
    """
    index, tools, base = run.index, run.tools, run.index.layers[0]
    chunks = ranked_by_both(index, run.query, tools).fused.rows[:_HELPING_CHUNKS]
    steps, in_chunks = operator.to_chunks, list[int]()
    for chunk in chunks.tolist():
        mentioned = np.sort(entries_of(steps, chunk))
        near = similarity(index, 0, run.query.vector, mentioned)
        in_chunks += mentioned[np.argsort(-near, kind="stable")].tolist()
    second = np.array(list(dict.fromkeys(in_chunks)), dtype=np.int64)
    fused = reciprocal_rank_fusion([np.array([seed.row for seed in seeds], dtype=np.int64), second]).rows
    ids, names = base.entity_cells["id"], base.entity_cells["name"]
    scores = similarity(index, 0, run.query.vector, fused).tolist()
    ranked = [
        Seed(ids[row].as_py(), names[row].as_py(), 0, row, score, rank)
        for rank, (row, score) in enumerate(zip(fused.tolist(), scores, strict=True), start=1)
    ]
    known = {seed.row for seed in seeds}
    entered = sum(seed.row not in known for seed in ranked[: len(seeds)])
    run.note(message("leanrag_walk.note.hybrid_seeds", n=entered, passages=len(chunks)))
    return seeds_without(ranked, tools.without, len(seeds))


@dataclass(frozen=True)
class _Carried:
    """The chunks that were taken, with their mass, and the entities that carried it. rows, mass: of the chunks, ranked.
    entities: carriers that are not on the paths. relations: from a carrier to its chunk."""

    rows: tuple[int, ...]
    mass: tuple[float, ...]
    reasons: dict[int, PassageReason]
    entities: tuple[TraceItem, ...]
    relations: tuple[TraceRelation, ...]


def _chunks_of(index: Index, seeds: tuple[Seed, ...]) -> np.ndarray:
    """Return the (k,) rows, ascending, of the chunks that mention one of the seeds."""
    chunks = [index.layers[0].chunks_of(seed.row) for seed in seeds]
    return np.unique(np.concatenate([*chunks, np.zeros(0, dtype=np.int32)]))


def _carried(index: Index, resting: Walk, rows: list[int], nodes: tuple[TraceItem, ...]) -> _Carried:
    carriers = {row: resting.carriers(row) for row in rows}
    on_paths = {node.row for node in nodes if node.layer == 0}
    off_path = dict.fromkeys(entity for pairs in carriers.values() for entity, _ in pairs if entity not in on_paths)
    mass = resting.entity_mass
    entities = tuple(
        replace(item, rank=None, reason=message("leanrag_walk.reason.carrier", percent=100 * (item.score or 0.0)))
        for item in entity_items(index, list(off_path), {row: float(mass[row]) for row in off_path}, role="carrier")
    )
    cells, chunk_ids = index.layers[0].entity_cells, index.chunk_cells["id"]
    ids, names = cells["id"], cells["name"]
    relations, reasons = [], {}
    for row, pairs in carriers.items():
        chunk, chunk_mass = chunk_ids[row].as_py(), float(resting.chunk_mass[row])
        for entity, flow in pairs:
            id_, name = ids[entity].as_py(), names[entity].as_py()
            share = 100 * flow / chunk_mass if chunk_mass else 0.0
            said = f"{name} carries {share:.0f} % of this passage's mass."
            relations.append(
                TraceRelation(f"mass-{id_}-{chunk}", id_, chunk, "mass", None, "walk", flow, said, score=flow)
            )
        led_by = tuple(ids[entity].as_py() for entity, _ in pairs)
        reasons[row] = PassageReason(message("leanrag_walk.reason.passage", percent=100 * chunk_mass), led_by)
    return _Carried(
        tuple(rows), tuple(float(resting.chunk_mass[row]) for row in rows), reasons, entities, tuple(relations)
    )


def _walk_step(run: Retrieval, carried: _Carried, passages: tuple[TraceItem, ...], n_seeds: int) -> TraceStep:
    caption = message("leanrag_walk.walk", n=n_seeds)
    if passages:
        caption = message(
            "leanrag_walk.walk.most", n=n_seeds, title=passages[0].name, percent=100 * (passages[0].score or 0.0)
        )
    ends = dict.fromkeys(end for relation in carried.relations for end in (relation.source, relation.target))
    return run.step("walk", caption, tuple(ends), carried.relations, TITLES["walk"])
