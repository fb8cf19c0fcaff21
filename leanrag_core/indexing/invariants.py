"""What must hold of every index (the invariants of the method), checked on a stored one."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np
import pyarrow as pa

from leanrag_core.tokens import count_tokens
from leanrag_core.types.graph import Layer
from leanrag_core.types.index import Index

_SEED_SETS = 50
_MOST_SEEDS = 8
_CHUNKS_SAMPLED = 50
_UNIT_TOLERANCE = 1e-3
_PROBLEMS_SHOWN = 3
_BLOCK = 65_536  # vectors measured at a time

Node = tuple[int, int]  # layer, row


@dataclass(frozen=True)
class CheckResult:
    """One invariant. detail: what was checked when it holds, else the first places where it does not."""

    name: str
    ok: bool
    detail: str


def check_index(index: Index) -> list[CheckResult]:
    """Every invariant that can be seen on an index alone; a check that cannot even be made counts as failed.

    Takes O(n log n) for n entities and relations. Determinism and context budgets are not visible here.
    """
    checks: tuple[tuple[str, str, Callable[[Index], Iterator[str]]], ...] = (
        ("one parent", "every node but the root has one parent in the layer above, every parent a child", _parents),
        ("one root", "the last layer holds one node and no other layer does after it", _root),
        ("partition", "every node lies in exactly one cluster", _partition),
        ("cluster sizes", "clusters keep to the cap and to m = ceil(n / clustersize)", _sizes),
        (
            "minimal subtree",
            f"LCA subtrees of {_SEED_SETS} seed sets are minimal and equal the pairs' union",
            _lca,
        ),
        ("connectivity", "lambdas and inside relations add up to the relations of the layer below", _lambdas),
        ("unfolding", "aggregated relations and entities unfold to base ones and to chunks that exist", _unfolding),
        ("chunks of parents", "an entity's chunks are the union of its children's", _chunk_unions),
        ("unit vectors", "one vector for each entity and chunk, of length 1, none NaN", _vectors),
        ("relation ends", "relation ends exist, source before target, no pair twice", _ends),
        ("ids", "ids are there once", _ids),
        ("chunk spans", "chunks lie inside their documents and count their tokens right", _spans),
        ("build report", "what was dropped is counted and listed", _report),
    )
    return [_result(name, claim, check, index) for name, claim, check in checks]


def _result(name: str, claim: str, check: Callable[[Index], Iterator[str]], index: Index) -> CheckResult:
    try:
        problems = list(check(index))
    except (IndexError, KeyError, ValueError, TypeError, AttributeError, pa.ArrowException) as error:
        problems = [f"the index is too damaged to check ({type(error).__name__}: {error})"]
    if not problems:
        return CheckResult(name, True, claim)
    more = f"; and {len(problems) - _PROBLEMS_SHOWN} more" if len(problems) > _PROBLEMS_SHOWN else ""
    return CheckResult(name, False, "; ".join(problems[:_PROBLEMS_SHOWN]) + more)


def _steps(index: Index) -> Iterator[tuple[Layer, Layer]]:
    return zip(index.layers, index.layers[1:], strict=False)


def _parents(index: Index) -> Iterator[str]:
    for below, above in _steps(index):
        parent = np.asarray(below.parent)
        if len(parent) != len(below):
            yield f"layer {below.number} has {len(below)} nodes but {len(parent)} parents"
            continue
        outside = np.flatnonzero((parent < 0) | (parent >= len(above)))
        if len(outside):
            yield f"{len(outside)} nodes of layer {below.number} have a parent that is not there, first {outside[0]}"
        childless = len(above) - len(np.unique(parent))
        if childless > 0:
            yield f"{childless} nodes of layer {above.number} have no child"


def _root(index: Index) -> Iterator[str]:
    top = index.layers[-1]
    if len(top) != 1:
        yield f"the last layer holds {len(top)} nodes"
    if len(top.parent):
        yield "the root has a parent"
    for place, layer in enumerate(index.layers):
        if layer.number != place:
            yield f"layer {layer.number} stands at place {place}"
        if len(layer) <= 1 and layer is not top:
            yield f"layer {place} holds {len(layer)} nodes but is not the last"


def _partition(index: Index) -> Iterator[str]:
    for place in range(1, len(index.layers)):
        below = index.layers[place - 1]
        offsets, order = index.children[place - 1]
        if offsets[0] != 0 or offsets[-1] != len(below) or not np.array_equal(np.sort(order), np.arange(len(below))):
            yield f"the clusters of layer {place} do not hold every node of layer {place - 1} once"


def _sizes(index: Index) -> Iterator[str]:
    config = index.manifest.get("config", {})
    cluster_size, cap_on = config.get("cluster_size"), config.get("size_cap", False)
    if not cluster_size:
        return
    for below, above in _steps(index):
        m = -(-len(below) // int(cluster_size))
        if len(above) > m:
            yield f"layer {above.number} has {len(above)} clusters, more than m = {m}"
        largest = int(np.bincount(below.parent).max())
        if cap_on and largest > 2 * int(cluster_size):
            yield f"a cluster of layer {above.number} holds {largest} nodes, above the cap of {2 * int(cluster_size)}"


def _lca(index: Index) -> Iterator[str]:
    n = len(index.layers[0])
    random = np.random.default_rng(0)
    for _ in range(_SEED_SETS):
        size = int(random.integers(1, min(_MOST_SEEDS, n) + 1))
        seeds = sorted(int(row) for row in random.choice(n, size=size, replace=False))
        yield from subtree_problems(index, seeds)


def subtree_problems(index: Index, seeds: list[int]) -> Iterator[str]:
    """Where the LCA subtree of some seeds (rows of layer 0) is not minimal or not the union over pairs.

    Written apart from retrieval, by brute force, so that one checks the other.
    """
    chains: list[list[Node]] = [[(0, seed), *index.ancestors(0, seed)] for seed in seeds]
    together = _joined(chains)
    by_pairs = (
        set().union(*(_joined([one, other]) for one, other in combinations(chains, 2))) if chains[1:] else together
    )
    named = f"seeds {seeds}"
    if by_pairs != together:
        yield f"{named}: the union over pairs differs from the paths to the common ancestor"
    up = {node: parent for chain in chains for node, parent in pairwise(chain)}
    tops = [node for node in together if up.get(node) not in together]
    if len(tops) != 1:
        yield f"{named}: the subtree has {len(tops)} tops"
        return
    starts = {chain[0] for chain in chains}
    for removed in sorted(together - starts - set(tops)):
        if all(_reaches(chain[0], tops[0], up, together - {removed}) for chain in chains):
            yield f"{named}: node {removed} is not needed"
    below_top = {node for node in together if up.get(node) == tops[0]}
    if len(starts) > 1 and len(below_top) < 2:
        yield f"{named}: the top {tops[0]} is not the lowest common ancestor"


def _joined(chains: list[list[Node]]) -> set[Node]:
    """Nodes on the paths from the first node of each chain to the lowest node that all chains share."""
    shared = set(chains[0]).intersection(*chains[1:])
    lowest = min(shared)  # the tuple starts with the layer
    return {node for chain in chains for node in chain[: chain.index(lowest) + 1]}


def _reaches(start: Node, top: Node, up: dict[Node, Node], allowed: set[Node]) -> bool:
    node: Node | None = start
    while node in allowed and node is not None:
        if node == top:
            return True
        node = up.get(node)
    return False


def _flat(column: pa.ChunkedArray) -> tuple[np.ndarray, np.ndarray]:
    """Owner row and value of every cell of a list column."""
    lists = pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)
    lengths = lists.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
    values = lists.flatten().to_numpy(zero_copy_only=False).astype(np.int64)
    return np.repeat(np.arange(len(lengths)), lengths), values


def _lambdas(index: Index) -> Iterator[str]:
    for below, above in _steps(index):
        lifted = np.asarray(below.parent)[below.ends.reshape(-1, 2)]
        inside = int((lifted[:, 0] == lifted[:, 1]).sum())
        strength = above.relations["strength"].to_numpy()
        if int(strength.sum()) + inside != below.relations.num_rows:
            yield (
                f"layer {above.number}: lambdas add up to {int(strength.sum())}, inside are {inside}, but layer "
                f"{below.number} has {below.relations.num_rows} relations"
            )
        owner, _ = _flat(above.relations["members"])
        if not np.array_equal(np.bincount(owner, minlength=len(strength)), strength):
            yield f"layer {above.number}: a lambda is not the number of its members"


def _unfolding(index: Index) -> Iterator[str]:
    n_chunks = index.chunks.num_rows
    for below, above in _steps(index):
        owner, members = _flat(above.relations["members"])
        if len(members) and (members.min() < 0 or members.max() >= below.relations.num_rows):
            yield f"layer {above.number}: a relation stands for one that is not there"
            continue
        if len(np.unique(members)) != len(members):
            yield f"layer {above.number}: two relations stand for the same one"
        lifted = np.sort(np.asarray(below.parent)[below.ends.reshape(-1, 2)[members]], axis=1)
        astray = np.flatnonzero((lifted != np.sort(above.ends, axis=1)[owner]).any(axis=1))
        if len(astray):
            yield f"layer {above.number}: relation {owner[astray[0]]} stands for one between other clusters"
        if (np.bincount(owner, minlength=above.relations.num_rows) == 0).any():
            yield f"layer {above.number}: a relation stands for nothing"
    base = index.layers[0]
    for what, table in (("entity", base.entities), ("relation", base.relations)):
        owner, chunks = _flat(table["chunks"])
        if len(chunks) and (chunks.min() < 0 or chunks.max() >= n_chunks):
            yield f"a base {what} names a chunk that is not there"
        bare = np.flatnonzero(np.bincount(owner, minlength=table.num_rows) == 0)
        # Graphs made elsewhere may know no sources of relations at all; that is no damage.
        if len(bare) and (what == "entity" or len(chunks)):
            yield f"{len(bare)} base {what} rows have no chunk, first row {bare[0]}"


def _chunk_unions(index: Index) -> Iterator[str]:
    span = index.chunks.num_rows + 1
    for below, above in _steps(index):
        owner, chunks = _flat(below.entities["chunks"])
        expected = np.unique(np.asarray(below.parent, dtype=np.int64)[owner] * span + chunks)
        owner, chunks = _flat(above.entities["chunks"])
        if not np.array_equal(owner * span + chunks, expected):
            yield f"layer {above.number}: the chunks of an entity are not the sorted union of its children's"


def _vectors(index: Index) -> Iterator[str]:
    held = [(f"layer {layer.number}", layer.vectors, len(layer)) for layer in index.layers]
    dimensions = set()
    for what, vectors, n in [*held, ("chunks", index.chunk_vectors, index.chunks.num_rows)]:
        if len(vectors) != n:
            yield f"{what}: {len(vectors)} vectors for {n} rows"
        starts = range(0, len(vectors), _BLOCK)
        off = [np.abs(np.linalg.norm(vectors[start : start + _BLOCK], axis=1) - 1) for start in starts]
        bad = np.flatnonzero(~(np.concatenate([np.zeros(0), *off]) < _UNIT_TOLERANCE))
        if len(bad):
            yield f"{what}: {len(bad)} vectors are not of length 1, first row {bad[0]}"
        if n:
            dimensions.add(vectors.shape[1])
    if len(dimensions) > 1:
        yield f"vectors have several dimensions: {sorted(dimensions)}"


def _ends(index: Index) -> Iterator[str]:
    for layer in index.layers:
        ends = layer.ends.reshape(-1, 2).astype(np.int64)
        if not len(ends):
            continue
        if ends.min() < 0 or ends.max() >= len(layer):
            yield f"layer {layer.number}: a relation ends at a node that is not there"
        if (ends[:, 0] >= ends[:, 1]).any():
            yield f"layer {layer.number}: a relation's source does not come before its target"
        if len(np.unique(ends[:, 0] * len(layer) + ends[:, 1])) != len(ends):
            yield f"layer {layer.number}: two relations join the same nodes"


def _ids(index: Index) -> Iterator[str]:
    import pyarrow.compute as pc

    tables: list[tuple[str, pa.Table]] = [("documents", index.documents), ("chunks", index.chunks)]
    for layer in index.layers:
        tables += [(f"entities of layer {layer.number}", layer.entities)]
        tables += [(f"relations of layer {layer.number}", layer.relations)]
    for what, table in tables:
        ids = table["id"]
        if ids.null_count or len(ids.unique()) != len(ids) or pc.any(pc.equal(ids, "")).as_py():
            yield f"{what}: an id is missing or there twice"


def _spans(index: Index) -> Iterator[str]:
    import pyarrow.compute as pc

    texts = index.documents["text"]
    lengths = pc.utf8_length(texts).to_numpy().astype(np.int64)
    document = index.chunks["document"].to_numpy()
    start, end = index.chunks["start"].to_numpy(), index.chunks["end"].to_numpy()
    if len(document) and (document.min() < 0 or document.max() >= len(texts)):
        yield "a chunk belongs to a document that is not there"
        return
    wrong = np.flatnonzero((start < 0) | (start >= end) | (end > lengths[document]))
    if len(wrong):
        yield f"{len(wrong)} chunks do not lie inside their document, first row {wrong[0]}"
    stored = index.chunks["tokens"].to_numpy()
    for row in _spread(len(document), _CHUNKS_SAMPLED):
        counted = count_tokens(texts[int(document[row])].as_py()[start[row] : end[row]])
        if counted != stored[row]:
            yield f"chunk {row} counts {counted} tokens, stored are {stored[row]}"


def _spread(n: int, samples: int) -> Iterable[int]:
    return sorted({int(place) for place in np.linspace(0, n - 1, min(n, samples))}) if n else []


def _report(index: Index) -> Iterator[str]:
    counted, listed = index.report.get("drops"), index.report.get("dropped")
    if not isinstance(counted, dict):
        yield "the report does not count what was dropped"
        return
    for stage, examples in (listed or {}).items():
        if len(examples) > int(counted.get(stage, 0)):
            yield f"stage {stage!r} lists {len(examples)} drops but counts {counted.get(stage, 0)}"
