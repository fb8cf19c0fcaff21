"""Questions in scope: what comes from outside, how much gold is found, and how long it takes.

Nothing may come from outside: an invented corpus whose documents each have names of their own is asked in random scopes
by every system in turn, and none of the names of the others may be in a trace. Gold: each sample is asked in scopes
drawn once, and beside it an index that is built of the documents of that scope alone, by the built-in engine both.
"""

import multiprocessing
import random
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:  # the measured process imports the core when it begins
    from leanrag_core import Workbench
    from leanrag_core.evaluation.gold import GoldQuestion
    from leanrag_core.models.base import EmbeddingModel
    from leanrag_core.types.corpus import Document
    from leanrag_core.types.index import Index
    from leanrag_core.types.trace import Trace

TITLE = "Questions in scope (size: random scopes of an invented corpus; gold and times on the four samples)"
SIZES = (10_000,)

_DOCUMENTS = 12
_SHARED = ("varroa destructor", "oxalic acid", "movable frames", "honey bee colonies", "oilseed rape", "white clover")
_VERBS = ("treats", "sells", "describes", "measures", "stores", "compares")
_SCOPES_A_SAMPLE = 3
_SAMPLES = ("agriculture", "cs", "legal", "mix")


def measure(size: int) -> dict[str, float | int | str]:
    """Return leaks of so many random scopes, then shares of the gold and times by system."""
    from leanrag_core import Workbench
    from leanrag_core.retrieval.base import strategies

    systems = [info.name for info in strategies().strategies]
    with (
        ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as beside,
        tempfile.TemporaryDirectory() as root,
    ):
        gold = beside.submit(_gold, systems)
        figures = _leaks(_remembering(Workbench(Path(root))), systems, size)
        return figures | gold.result()


def _remembering(bench: "Workbench") -> "Workbench":
    """Return the workbench, whose models embed each text once: thousands of scopes share most of theirs."""
    from leanrag_core.models.embed_task import KeptVectors

    embedding = bench.models.embedding

    @cache
    def kept(name: str, fingerprint: str) -> "EmbeddingModel":
        return KeptVectors(embedding(name, fingerprint))

    bench.models.embedding = kept  # type: ignore[method-assign]
    return bench


def _leaks(bench: "Workbench", systems: Sequence[str], size: int) -> dict[str, float | int | str]:
    from leanrag_core.strategy_contract import make_parts
    from leanrag_core.types.config import IndexConfig
    from leanrag_core.types.scope import Scope

    draw = random.Random(0)
    files, own = _invented(draw)
    contents = [(name, text.encode()) for name, text in files.items()]
    config = IndexConfig(cluster_size=4, chunk_tokens=60, overlap_tokens=8)
    index = bench.build(bench.add_documents("invented", contents).corpus_id, config)
    for name in systems:
        make_parts(bench, index, name)
    names = sorted(files)
    passages = entities = named = asked = 0
    started = time.perf_counter()
    for turn in range(size):
        inside = draw.sample(names, draw.randint(1, len(names) - 1))
        question = f"Who {draw.choice(_VERBS)} {draw.choice(_SHARED)}, and what of {draw.choice(_SHARED)}?"
        scope = Scope(documents=tuple(sorted(inside)))
        view = bench.scopes.index(index, scope)
        trace = bench.retrieve(index, question, systems[turn % len(systems)], scope=scope)
        asked += 1
        passages += sum(item.source is not None and item.source.document not in inside for item in trace.items)
        entities += sum(item.kind == "entity" and item.id not in view.layers[0].row_of for item in trace.items)
        text = _said(trace)
        named += sum(word in text for name in names if name not in inside for word in own[name])
    return {
        "scopes": asked,
        "systems": len(systems),
        "passages_outside": passages,
        "entities_outside": entities,
        "names_outside": named,
        "scope_ms": round(1000 * (time.perf_counter() - started) / size, 1),
    }


def _invented(draw: random.Random) -> tuple[dict[str, str], dict[str, tuple[str, ...]]]:
    """Return documents by name, and the names that each has for itself alone."""
    files, own = {}, {}
    for number in range(_DOCUMENTS):
        tail = "".join("bcdfghklmnprst"[int(digit)] + "aeiou"[number % 5] for digit in f"{number:02d}")
        people = tuple(f"{head}{tail}x".title() for head in ("bel", "tor", "mar"))
        lines = [
            f"{people[line % 3]} {draw.choice(_VERBS)} {draw.choice(_SHARED)} with {draw.choice(_SHARED)} in winter."
            for line in range(5)
        ]
        name = f"document-{number:02d}.md"
        files[name], own[name] = f"# Notes\n\n{' '.join(lines)}\n", tuple(person.casefold() for person in people)
    return files, own


def _said(trace: "Trace") -> str:
    """Return everything that the trace says, in one text."""
    texts = [trace.context.text, *(f"{item.name} {item.text}" for item in trace.items)]
    texts += [relation.description for relation in trace.relations]
    return "\n".join(texts).casefold()


def _gold(systems: Sequence[str]) -> dict[str, float | int | str]:
    """Return, by system, the share of the gold that is in contexts within scopes, and in those of indexes of the same
    documents alone; and how many times longer a question takes than one to the whole index."""
    from leanrag_core import Workbench

    with tempfile.TemporaryDirectory() as root:
        return _gold_found(Workbench(Path(root)), systems)


def _gold_found(bench: "Workbench", systems: Sequence[str]) -> dict[str, float | int | str]:
    from leanrag_core.types.scope import Scope

    draw = random.Random(1)
    within: dict[str, list[float]] = defaultdict(list)
    alone: dict[str, list[float]] = defaultdict(list)
    ratios: dict[str, list[float]] = defaultdict(list)
    first = []
    for sample in _SAMPLES:
        documents = _sample_documents(bench, sample)
        index = _built(bench, documents, sample, systems)
        questions = [each for each in bench.corpora.samples.questions(f"sample-{sample}") if each.evidence]
        for number in range(_SCOPES_A_SAMPLE):
            inside = draw.sample(sorted(documents, key=lambda document: document.name), len(documents) // 2)
            started = time.perf_counter()
            view = bench.scopes.index(index, Scope(documents=tuple(document.id for document in inside)))
            first.append(time.perf_counter() - started)
            other = _built(bench, inside, f"{sample} {number}", systems)
            known = {name for document in inside for name in (document.name, document.title)}
            answerable = [each for each in questions if {piece.document for piece in each.evidence} <= known]
            for system in systems:
                for question in answerable:
                    within[system].append(_held(bench, view, question, system))
                    alone[system].append(_held(bench, other, question, system))
                ratios[system].append(_times(bench, view, index, answerable, system))
    shares, times = {}, {}
    figures: dict[str, float | int | str] = {
        "questions": len(within[systems[0]]),
        "cut_seconds": round(float(np.median(first)), 2),
    }
    for system in systems:
        found, wanted = float(np.mean(within[system])), float(np.mean(alone[system]))
        shares[system] = round(found / wanted, 4) if wanted else 1.0
        times[system] = round(float(np.median(ratios[system])), 2)
        figures[f"gold_{system}"], figures[f"gold_alone_{system}"] = round(found, 4), round(wanted, 4)
        figures[f"share_{system}"], figures[f"time_{system}"] = shares[system], times[system]
    return figures | {"least_share": min(shares.values()), "most_time": max(times.values())}


def _sample_documents(bench: "Workbench", sample: str) -> "list[Document]":
    bench.corpora.samples.read(sample)
    return bench.corpora.all_documents(f"sample-{sample}")


def _built(bench: "Workbench", documents: "Sequence[Document]", title: str, systems: Sequence[str]) -> "Index":
    """Return an index of those documents by the built-in engine, with every part that a system needs: of a corpus of
    its own, since a sample has a graph that was written by hand."""
    from leanrag_core.strategy_contract import make_parts

    corpus_id = bench.corpora.create(title)
    bench.corpora.add(corpus_id, documents)
    index = bench.build(corpus_id)
    for system in systems:
        make_parts(bench, index, system)
    return index


def _held(bench: "Workbench", index: "Index", question: "GoldQuestion", system: str) -> float:
    """Return the share of the question's gold that the context holds."""
    from leanrag_core.evaluation.gold import gold_ranking

    trace = bench.retrieve(index, question.question, system)
    return gold_ranking(question, trace, None).recall


def _times(
    bench: "Workbench", view: "Index", whole: "Index", questions: "Sequence[GoldQuestion]", system: str
) -> float:
    """Return how many times longer a question takes in the scope than to the whole index, by medians: each question is
    put to one straight after the other, so that what else the machine does meets both."""
    took: dict[bool, list[float]] = {True: [], False: []}
    for question in questions:
        for index in (view, whole):
            started = time.perf_counter()
            bench.retrieve(index, question.question, system)
            took[index is view].append(time.perf_counter() - started)
    return float(np.median(took[True]) / np.median(took[False]))
