"""Six short documents of a coast, and a workbench that builds an index of them with models at an endpoint."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from leanrag_core import IndexConfig, Workbench
from leanrag_core.types.settings import Settings
from tests.endpoint.server import EndpointServer

CONFIG = IndexConfig(model="openai:m", embedding="openai:e", cluster_size=5, chunk_tokens=64, overlap_tokens=8)
PEOPLE = ["Ada Thornbury", "Bela Kraus", "Carl Ohm", "Dora Lind", "Edgar Moss", "Flora Penn", "Gustav Rau"]
PLACES = ["Marram Point", "Holm Rock", "Grey Harbour", "Teeth Reef", "Corisande Bay"]
WORKS = ["Lantern House", "Signal Tower", "Fog Bell", "Tide Mill"]


def story(number: int) -> bytes:
    lines = []
    for n in range(12):
        who, where = PEOPLE[(number + n) % 7], PLACES[(number * 3 + n) % 5]
        work, other = WORKS[(number + 2 * n) % 4], PEOPLE[(number + 3 * n + 1) % 7]
        lines.append(f"In year {n} {who} built the {work} at {where} together with {other} of {PLACES[n % 5]}.")
    return "\n\n".join(lines).encode()


def bench_in(root: Path, server: EndpointServer, **more: Any) -> tuple[Workbench, str]:
    """Return a workbench with models at the server, and the id of the corpus. more: of the settings."""
    bench = Workbench.default(root)
    bench.settings.save(replace(Settings(base_url=server.url, retries=4), **more))
    return bench, bench.add_documents("Coast", [(f"s{n}.txt", story(n)) for n in range(6)]).corpus_id


def files_of(bench: Workbench) -> dict[str, bytes]:
    (index,) = bench.indexes.all()
    return {path.name: path.read_bytes() for path in index.path.iterdir() if path.is_file()}
