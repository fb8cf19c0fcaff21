"""The node-link JSON of networkx, which networkx.node_link_graph and D3 read."""

import json
from pathlib import Path

from leanrag_core.exporting.rows import StreamedGraph
from leanrag_core.messages.message import message
from leanrag_core.types.index import Index


class Exporter:
    """See exporting.base."""

    name = "json"
    title = message("export.json.title")
    help = message("export.json.help")
    suffix = ".json"
    media_type = "application/json"

    def write(self, index: Index, path: Path) -> int:
        """Write what networkx.node_link_data() gives, a line for each node and edge; JSON holds every character."""
        graph = StreamedGraph(index)
        with path.open("w", encoding="utf-8", newline="\n") as file:
            # node_link_data() would hold the whole graph in memory, and so would json.dump() of it.
            head = {"directed": graph.is_directed(), "multigraph": graph.is_multigraph(), "graph": graph.graph}
            file.write(f'{_line(head)[:-1]}, "nodes": [')
            for place, (id_, values) in enumerate(graph.nodes()):
                file.write(f"{',' if place else ''}\n{_line({**values, 'id': id_})}")
            file.write('\n], "edges": [')
            for place, (source, target, key, values) in enumerate(graph.edges()):
                file.write(
                    f"{',' if place else ''}\n{_line({**values, 'source': source, 'target': target, 'key': key})}"
                )
            file.write("\n]}\n")
        return 0


def _line(values: object) -> str:
    return json.dumps(values, ensure_ascii=False)
