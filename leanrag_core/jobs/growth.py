"""The picture of a graph while it is built: a small part of it, written line by line into the job's folder.

It holds the first entities that are found, up to a limit, so a large corpus writes no more than a small one. Nothing of
a build depends on it.
"""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from leanrag_core.files import private
from leanrag_core.files.records import absent_at_default, from_json, to_json
from leanrag_core.types.graph import Graph, Layer
from leanrag_core.types.growth import Found, Growth

FILE = "growth.jsonl"
MOST_NAMES, MOST_LINKS = 300, 600
_LONGEST = 80  # characters of a name


@dataclass(frozen=True)
class _Line:
    """What was added. settled: these are all links from now on. parents: of what is drawn in that layer; titles: its
    names, above layer 0; n_clusters: of the whole layer."""

    names: tuple[str, ...] = absent_at_default(())
    links: tuple[tuple[int, int], ...] = absent_at_default(())
    settled: bool = absent_at_default(False)
    gone: tuple[int, ...] = absent_at_default(())
    layer: int = absent_at_default(-1)
    parents: tuple[int, ...] = absent_at_default(())
    titles: tuple[str, ...] = absent_at_default(())
    n_clusters: int = absent_at_default(0)


class GrowthLog:
    """Appends what a build has made to the picture of its graph. For one thread."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE
        self._place_of: dict[str, int] = {}  # of a name's key in the picture
        self._names: list[str] = []
        self._links: set[tuple[int, int]] = set()
        self._rows = np.zeros(0, dtype=np.int64)  # of what is drawn, in the layer that is clustered next; -1: gone

    def add(self, news: Found | Graph) -> None:
        """Write what is new: names and links that were found, the merged graph, or a layer and its clusters."""
        if isinstance(news, Layer):
            line = self._clustered(news)
        elif isinstance(news, Graph):
            line = self._merged(news)
        else:
            line = self._found(news)
        if line == _Line():
            return
        # A full disk, or a folder that is deleted: the build's own log says so, and a picture is worth no build.
        with suppress(OSError), open(self._path, "ab", opener=private.opener) as file:
            file.write(to_json(line) + b"\n")

    def _found(self, extracted: Found) -> _Line:
        n_names = len(self._names)
        for key, name in extracted.names.items():
            if len(self._names) < MOST_NAMES and key not in self._place_of:
                self._place_of[key] = len(self._names)
                self._names.append(name[:_LONGEST])
        links: list[tuple[int, int]] = []
        for ends in extracted.links:
            if len(self._links) >= MOST_LINKS or not all(end in self._place_of for end in ends):
                continue
            source, target = sorted(self._place_of[end] for end in ends)
            if source != target and (source, target) not in self._links:
                self._links.add((source, target))
                links.append((source, target))
        return _Line(names=tuple(self._names[n_names:]), links=tuple(links))

    def _merged(self, graph: Graph) -> _Line:
        """Find the names of the picture in the merged graph, and fill it up with the most related of the others."""
        import pyarrow.compute as pc

        n_names, n = len(self._names), graph.entities.num_rows
        wanted = pa.array([name.lower() for name in self._names], pa.string())
        place_of_entity = pc.index_in(pc.utf8_lower(graph.entities["name"]), value_set=wanted).fill_null(-1).to_numpy()
        rows = np.full(n_names, -1, dtype=np.int64)
        entity_rows = np.flatnonzero(place_of_entity >= 0)[::-1]  # of two entities of one name the first one stays
        rows[place_of_entity[entity_rows]] = entity_rows
        degrees = np.bincount(graph.ends.ravel(), minlength=n)
        degrees[rows[rows >= 0]] = -1
        room = max(0, MOST_NAMES - int((rows >= 0).sum()))
        more = np.sort(np.argsort(-degrees, kind="stable")[: min(room, int((degrees >= 0).sum()))])
        self._rows = np.concatenate([rows, more])
        names = graph.entities["name"].take(pa.array(more)).to_pylist()
        place_of_row = np.full(n, -1, dtype=np.int64)
        kept = np.flatnonzero(self._rows >= 0)
        place_of_row[self._rows[kept]] = kept
        ends = np.sort(place_of_row[graph.ends], axis=1)
        inside = np.unique(ends[(ends[:, 0] >= 0) & (ends[:, 0] != ends[:, 1])], axis=0)[:MOST_LINKS]
        return _Line(
            names=tuple(name[:_LONGEST] for name in names),
            links=tuple((source, target) for source, target in inside.tolist()),
            settled=True,
            gone=tuple(np.flatnonzero(rows < 0).tolist()),
        )

    def _clustered(self, layer: Layer) -> _Line:
        """Return the cluster of each node that is drawn in that layer, and the nodes' names."""
        drawn = self._rows >= 0
        above, parents = np.unique(layer.parent[self._rows[drawn]], return_inverse=True)
        placed = np.full(len(self._rows), -1, dtype=np.int64)
        placed[drawn] = parents
        names = layer.entities["name"].take(pa.array(self._rows)).to_pylist() if layer.number else []
        self._rows = above.astype(np.int64)
        return _Line(
            layer=layer.number,
            parents=tuple(placed.tolist()),
            titles=tuple(name[:_LONGEST] for name in names),
            n_clusters=int(layer.parent.max(initial=-1)) + 1,
        )


def read_growth(folder: Path) -> Growth:
    """Read the picture of a job's graph as it is by now; an empty one where nothing is there to be drawn.

    Raises RecordDamaged for a file that is not of this version.
    """
    try:
        content = (folder / FILE).read_bytes()
    except OSError:  # nothing was found yet, or the job builds no graph
        return Growth()
    complete_lines = content[: content.rfind(b"\n") + 1].splitlines()  # the last line may be half written
    return _growth(from_json(_Line, line, name=FILE) for line in complete_lines)


def _growth(lines: Iterable[_Line]) -> Growth:
    names: list[str] = []
    links: list[tuple[int, int]] = []
    gone: tuple[int, ...] = ()
    clusters: list[tuple[int, ...]] = []
    titles: list[tuple[str, ...]] = []
    n_clusters: list[int] = []
    for line in lines:
        names += line.names
        if line.settled:
            links, gone = list(line.links), line.gone
        else:
            links += line.links
        if line.layer >= 0:
            clusters.append(line.parents)
            n_clusters.append(line.n_clusters)
        if line.titles:
            titles.append(line.titles)
    return Growth(tuple(names), tuple(links), gone, tuple(clusters), tuple(titles), tuple(n_clusters))
