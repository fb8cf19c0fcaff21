"""Embedding with the built-in model: what the product does, beside ways of running it that it does not take."""

import statistics
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache

import numpy as np

from benchmarks.memory import peak_gb, reset_peak
from leanrag_core.models.minilm import FloatSession, Int8Session, MiniLM, model_file
from leanrag_core.models.windowed_embedding import TOKENS_A_BATCH, Session, batches

TITLE = "Embedding invented entity descriptions of 8 to 70 words with the built-in model"
SIZES = (1_000,)

_ROUNDS = 3  # each takes every way once, so that other work on the machine meets all of them alike
_SHORTEST, _LONGEST, _USUAL = 8, 70, 26
_NAMES = [
    "Velmar",
    "Ostrin",
    "Quillfen",
    "Harrow",
    "Tessaly",
    "Brenk",
    "Odrun",
    "Maristow",
    "Calder",
    "Yevnik",
    "Pellworth",
    "Sondra",
    "Ilvane",
    "Dorsk",
]
_KINDS = [
    "mill",
    "river",
    "guild",
    "harbour",
    "treaty",
    "orchard",
    "instrument",
    "chapel",
    "ferry",
    "quarry",
    "school",
    "regiment",
    "canal",
    "archive",
]
_CLAUSES = tuple(
    clause.split()
    for clause in (
        "was founded after the great flood by families who had lost their fields",
        "supplies grain, timber and lamp oil to the villages of the upper valley",
        "is known for a method of measuring salinity that others adopted within a decade",
        "lent its name to the agreement which ended the dispute over grazing rights",
        "stands where two older roads meet, close to the customs house",
        "kept records of every shipment, including weights, owners and duties paid",
        "lost most of its members when the northern branch was closed in 1874",
        "describes how sediment settles once the current falls below a threshold",
        "employed some forty apprentices under the supervision of a master surveyor",
        "competes with the neighbouring cooperative for seasonal workers",
        "was restored with public money and opened again to visitors",
        "appears in three letters to the governor, each asking for lower tolls",
    )
)


@dataclass(frozen=True)
class Way:
    """How windows are run: in whole numbers or floats, threads within a batch, batches at once, word pieces a batch,
    with or without onnxruntime's arena."""

    floats: bool
    threads: int
    at_once: int
    tokens: int
    arena: bool = False


WAYS = {
    "floats_shared_512": Way(True, 2, 1, 512),  # a batch shared by two threads
    "floats_512": Way(True, 1, 2, 512),  # two batches at once, as all that follow
    "shared_512": Way(False, 2, 1, 512),
    "batch_128": Way(False, 1, 2, 128),
    "batch_256": Way(False, 1, 2, 256),
    "batch_512": Way(False, 1, 2, 512),
    "batch_1024": Way(False, 1, 2, 1024),
    "arena_512": Way(False, 1, 2, 512, arena=True),
    "one_core_512": Way(False, 1, 1, 512),
}


def measure(size: int) -> dict[str, float | int | str]:
    """Return texts a second at the median of the rounds: of MiniLM.embed as it is, and of each way (Way) by its name.

    processor_ms, shared_floats_ms, floats_ms: processor time of a text, in embed and in the two ways with floats;
    tokens: word pieces of a text on average; filled: share of a batch's room that is taken on average; tokenizing: its
    share of embed's time; same_bytes: whether the ways in whole numbers gave the same bytes; cosine, cosine_least:
    between embed's vectors and those of floats.
    """
    texts = descriptions(size)
    model = MiniLM()
    model.embed(texts[:8])
    windows = model.windows(texts).pieces
    lengths = np.array([len(window) for window in windows])
    planned = batches(lengths.tolist())
    reset_peak()
    whole = model.embed(texts)
    peak = peak_gb()
    seconds: dict[str, list[float]] = {name: [] for name in ("embed", "windows", *WAYS)}
    processor: dict[str, list[float]] = {name: [] for name in seconds}
    vectors_of = {}
    for _ in range(_ROUNDS):
        before = time.process_time()
        seconds["embed"].append(_seconds(lambda: model.embed(texts)))
        processor["embed"].append(time.process_time() - before)
        seconds["windows"].append(_seconds(lambda: model.windows(texts)))
        for name, way in WAYS.items():
            _session(way).vectors(windows[:1])  # loading is no part of it
            before, started = time.process_time(), time.perf_counter()
            vectors_of[name] = pooled(windows, way)
            seconds[name].append(time.perf_counter() - started)
            processor[name].append(time.process_time() - before)
    middle = {name: statistics.median(taken) for name, taken in seconds.items()}
    milliseconds = {
        name: round(statistics.median(taken) / size * 1000, 2) for name, taken in processor.items() if taken
    }
    cosines = (whole * vectors_of["floats_512"]).sum(axis=1)
    return {
        "texts_a_second": round(size / middle["embed"], 1),
        "tokens_a_second": round(int(lengths.sum()) / middle["embed"]),
        "processor_ms": milliseconds["embed"],
        "shared_floats_ms": milliseconds["floats_shared_512"],
        "floats_ms": milliseconds["floats_512"],
        "peak_gb": round(peak, 3),
        "tokens": round(float(lengths.mean()), 1),
        "tokens_a_batch": TOKENS_A_BATCH,
        "filled": round(int(lengths.sum()) / len(planned) / TOKENS_A_BATCH, 3),
        "tokenizing": round(middle["windows"] / middle["embed"], 4),
        **{name: round(size / middle[name], 1) for name in WAYS},
        "same_bytes": all(
            np.array_equal(vectors_of[name], vectors_of["batch_512"]) for name, way in WAYS.items() if not way.floats
        ),
        "cosine": round(float(cosines.mean()), 5),
        "cosine_least": round(float(cosines.min()), 5),
    }


def descriptions(n: int) -> list[str]:
    """Return n different texts, a name and what is said of it, 8 to 70 words, half below 27; always the same."""
    random = np.random.default_rng(11)
    texts = []
    for row in range(n):
        length = int(np.clip(round(random.lognormal(np.log(_USUAL), 0.5)), _SHORTEST, _LONGEST))
        words = [str(random.choice(_NAMES)), str(random.choice(_KINDS)), f"{row}:"]
        while len(words) < length:
            words += _CLAUSES[int(random.integers(len(_CLAUSES)))]
        texts.append(" ".join(words[:length]) + ".")
    return texts


def pooled(windows: Sequence[list[int]], way: Way) -> np.ndarray:
    """Return the (n, 384) float32 unit rows of the windows, run in that way."""
    session = _session(way)
    vectors = np.zeros((len(windows), MiniLM.dimension), dtype=np.float32)

    def run(rows: list[int]) -> None:
        vectors[rows] = session.vectors([windows[row] for row in rows])

    with ThreadPoolExecutor(way.at_once) as pool:
        list(pool.map(run, reversed(batches([len(window) for window in windows], way.tokens))))
    return vectors


def _session(way: Way) -> Session:
    return _loaded(way.floats, way.threads, way.arena)


@cache
def _loaded(floats: bool, threads: int, arena: bool) -> Session:
    return (FloatSession if floats else Int8Session)(model_file(), threads=threads, arena=arena)


def _seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started
