"""Extraction calls a second at 32 in flight, against a server that takes 200 ms: what our own work costs."""

import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

from leanrag_core.execution.executors import ThreadMap
from leanrag_core.indexing.extraction.llm import LLMExtractor
from leanrag_core.models.registry import Models
from leanrag_core.storage.calls import CallStore
from leanrag_core.types.corpus import Chunk
from leanrag_core.types.settings import Settings

TITLE = "Extraction calls a second, 32 in flight, against a server of 200 ms"
SIZES = (960,)

LATENCY_SECONDS = 0.2
IN_FLIGHT = 32
_NAMES = [f"{first} {last}" for first in ("Velmar", "Ostrin", "Harrow", "Brenk") for last in ("Mill", "Guild", "Ferry")]
_WORDS = ("water", "grain", "timber", "lamp oil", "road", "river", "bridge", "stone", "market", "harbour", "winter")


def measure(size: int) -> dict[str, float | int | str]:
    """Return the figures of so many chunks, each asked once: calls a second, and their share of the ideal."""
    chunks = passages(size)
    with tempfile.TemporaryDirectory() as folder, canned_server(reply(), LATENCY_SECONDS) as url:
        settings = Settings(base_url=url, concurrency=IN_FLIGHT)
        models = Models(settings, CallStore(Path(folder) / "calls"))
        language = models.language("openai:canned")
        assert language is not None
        language.complete([{"role": "user", "content": "Hello"}])  # loads the client
        extractor = LLMExtractor(language, gleaning_rounds=0, apply=ThreadMap(IN_FLIGHT))
        started, worked = time.perf_counter(), time.process_time()
        extractions = extractor.extract([], chunks, lambda done: None)
        seconds, own = time.perf_counter() - started, time.process_time() - worked
        calls = models.meter.read().usage.calls - 1
    ideal = IN_FLIGHT / LATENCY_SECONDS
    return {
        "calls": calls,
        "calls_a_second": round(calls / seconds, 1),
        "share_of_ideal": round(calls / seconds / ideal, 3),
        "own_ms_a_call": round(1000 * own / calls, 2),
        "entities": sum(len(extraction.mentions) for extraction in extractions),
        "lost": sum(len(extraction.drops) for extraction in extractions),
    }


def passages(count: int) -> list[Chunk]:
    """Return chunks of about 512 tokens, each another text, all of them with the names of the reply."""
    chance, chunks = random.Random(7), []
    for number in range(count):
        sentences = [
            f"{name} dealt in {' and '.join(chance.sample(_WORDS, 6))} in the year {1500 + chance.randrange(400)}."
            for name in _NAMES * 2
        ]
        text = " ".join(sentences)
        chunks.append(Chunk(f"chunk-{number}", "document", number, 0, len(text), 512, text))
    return chunks


def reply() -> str:
    """Return twelve entities and eleven relations, as a good model lists them."""
    entities = [
        {"name": name, "type": "organization", "description": f"{name} dealt in grain and timber and kept the road."}
        for name in _NAMES
    ]
    relations = [
        {
            "source": first,
            "target": second,
            "description": f"{first} sold grain and timber to {second} every winter.",
            "keywords": ["trade", "grain"],
            "strength": 6,
        }
        for first, second in pairwise(_NAMES)
    ]
    return json.dumps({"entities": entities, "relations": relations}, indent=1)


@contextmanager
def canned_server(text: str, latency_seconds: float) -> Iterator[str]:
    """Yield the address of a server in a process of its own that answers with the text."""
    command = [sys.executable, "-m", "benchmarks.canned_server", str(latency_seconds)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(text)
        process.stdin.close()
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()
