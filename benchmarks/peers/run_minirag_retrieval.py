"""What MiniRAG as released retrieves: `python -m benchmarks.peers.run_minirag_retrieval FOLDER OUT`.

The package has the query (`operate.py`, `minirag_query`) and the base classes of its storages, but none of the
storages, so that its class MiniRAG cannot be made. Its query runs whole over the storages below, which hold our graph
and vectors and answer as the storages of its repository do (`kg/networkx_impl.py`, `kg/nano_vector_db_impl.py`). Its
`base.py` uses `abstractmethod` without an import, so the name is put among the built-ins. Its requirements (graspologic
and others) serve modules that are not in the package; it is installed without them, with what it imports.

An entity has one description and several passages, as in the release after it has summed descriptions up.
"""

import abc
import asyncio
import builtins
import csv
import io
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.peers.given import Embedding, Given, Retrieved, write_retrieved
from benchmarks.peers.prepared import versions

TITLE = "MiniRAG"
SECTION = "agreement"
REQUIREMENTS = ("json_repair", "nltk", "rouge", "tiktoken", "numpy")
WITHOUT_REQUIREMENTS = ("minirag-hku==0.0.2",)

_SEPARATOR = "<SEP>"  # between the passages of an entity or relation
_LEAST_COSINE = 0.2  # of what a vector storage finds, its default (cosine_better_than_threshold)


class Graph:
    """Its graph storage: nodes by name, edges without a direction, in the order in which they came in."""

    def __init__(self, given: Given) -> None:
        """Hold the entities and relations; relations of one pair are one edge."""
        self.nodes = {
            entity.name: {
                "entity_type": entity.type,
                "description": entity.description,
                "source_id": _SEPARATOR.join(map(str, entity.chunks)),
            }
            for entity in given.entities
        }
        self.neighbours: dict[str, dict[str, None]] = {name: {} for name in self.nodes}
        chunks: dict[frozenset[str], dict[int, None]] = {}
        for relation in given.relations:
            source, target = given.entities[relation.source].name, given.entities[relation.target].name
            self.neighbours[source][target] = self.neighbours[target][source] = None
            chunks.setdefault(frozenset((source, target)), {}).update(dict.fromkeys(relation.chunks))
        self.edges = {ends: {"source_id": _SEPARATOR.join(map(str, rows))} for ends, rows in chunks.items()}

    async def get_types(self) -> tuple[list[str], dict[str, list[str]]]:
        """Return the types, and two names of each."""
        named: dict[str, list[str]] = {}
        for name, cells in self.nodes.items():
            named.setdefault(cells["entity_type"], []).append(name)
        return list(named), {kind: names[:2] for kind, names in named.items()}

    async def get_node(self, name: str) -> dict[str, str] | None:
        """Return what is stored of a node."""
        return self.nodes.get(name)

    async def get_edge(self, source: str, target: str) -> dict[str, str] | None:
        """Return what is stored of the edge between two nodes."""
        return self.edges.get(frozenset((source, target)))

    async def get_node_from_types(self, types: Sequence[str]) -> list[dict[str, str]]:
        """Return the nodes of these types."""
        return [
            {**cells, "entity_name": name} for name, cells in self.nodes.items() if cells["entity_type"] in set(types)
        ]

    async def get_neighbors_within_k_hops(self, name: str, hops: int) -> list[tuple[str, ...]]:
        """Return the paths of two hops from a node, without a step back; one that cannot go on ends before."""
        if hops != 2:
            raise ValueError(f"{hops} hops: the query asks for two")
        paths: list[tuple[str, ...]] = []
        for first in self.neighbours[name]:
            onward = [second for second in self.neighbours[first] if second != name]
            paths += [(name, first, second) for second in onward] or [(name, first)]
        return paths


class Vectors:
    """Its vector storage: exact, by cosine, nothing below the least."""

    def __init__(self, vectors: np.ndarray, fields: Sequence[Mapping[str, str]], embedding: Embedding) -> None:
        """Hold the vectors, (n, d) float32 unit rows, and the fields that are returned with each."""
        self.vectors, self.fields, self.embedding = vectors, fields, embedding

    async def query(self, text: str, top_k: int) -> list[dict[str, Any]]:
        """Return the fields of the nearest rows with their cosines, best first."""
        cosines = self.vectors @ self.embedding.embed([text])[0]
        rows = [row for row in np.argsort(-cosines, kind="stable")[:top_k].tolist() if cosines[row] >= _LEAST_COSINE]
        return [{**self.fields[row], "distance": float(cosines[row])} for row in rows]


class Passages:
    """Its storage of passages, each with its row in front, by which it is known again."""

    def __init__(self, passages: Sequence[str]) -> None:
        """Hold the texts."""
        self.passages = passages

    async def get_by_id(self, key: str) -> dict[str, str]:
        """Return the passage of that row."""
        return {"content": f"{key} {self.passages[int(key)]}"}


def table_rows(context: str, name: str) -> list[list[str]]:
    """Return the cells of a table of the context, without its head."""
    _, _, after = context.partition(f"-----{name}-----\n```csv\n")
    end = "\n```\n-----Sources-----\n" if name == "Entities" else "\n```\n"
    body = after.partition(end)[0] if name == "Entities" else after.rpartition(end)[0]
    return list(csv.reader(io.StringIO(body, newline="")))[1:]


async def retrieve(given: Given, out: Path) -> None:
    """Ask and write."""
    # The release asks tiktoken for the tokens of gpt-4o; here all systems count with one vocabulary, and fetch none.
    import tiktoken.model

    tiktoken.model.MODEL_TO_ENCODING["gpt-4o"] = "cl100k_base"
    vars(builtins)["abstractmethod"] = abc.abstractmethod
    from minirag import QueryParam
    from minirag.operate import minirag_query

    embedding, names = Embedding(given), [entity.name for entity in given.entities]
    graph = Graph(given)
    by_name = Vectors(given.vectors["names"], [{"entity_name": name} for name in names], embedding)
    related = Vectors(
        given.vectors["relations"],
        [{"src_id": names[each.source], "tgt_id": names[each.target]} for each in given.relations],
        embedding,
    )
    chunks = Vectors(given.vectors["chunks"], [{"id": str(row)} for row in range(len(given.passages))], embedding)
    row_of = {name: row for row, name in enumerate(names)}
    types, _ = await graph.get_types()
    reply = ""

    async def complete(prompt: str, **_: Any) -> str:
        return reply

    listed = []
    for question in given.questions:
        asked_types = [kind for kind in types if kind.lower() in question.types]
        reply = json.dumps({"answer_type_keywords": asked_types, "entities_from_query": question.mapped})
        context = await minirag_query(
            question.text,
            graph,
            None,  # vectors of entities with their descriptions, which it takes and does not use
            by_name,
            related,
            chunks,
            Passages(given.passages),
            None,
            QueryParam(only_need_context=True),
            {"llm_model_func": complete},
        )
        # It has no context where it finds nothing near to the last name, or no relation near to the question.
        entities, sources = (table_rows(context, name) for name in ("Entities", "Sources")) if context else ([], [])
        listed.append(
            Retrieved(
                tuple(row_of[cells[0]] for cells in entities),
                None,
                tuple(int(cells[1].split(" ", 1)[0]) for cells in sources),
            )
        )
    write_retrieved(out, {"mini": listed}, versions(("minirag-hku", "numpy")))


if __name__ == "__main__":
    asyncio.run(retrieve(Given.load(Path(sys.argv[1])), Path(sys.argv[2])))
