"""The board of Compare on a sample index: a move of a slider, from the settings to all figures of a question set."""

import statistics
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from leanrag_core.evaluation.gold import GoldQuestion

TITLE = "A move of a slider on the board (LeanRAG, sample index, question vectors kept), median of the moves"
SIZES = (31, 100, 1_000)

_SAMPLE = "sample-agriculture"
_MOVES: tuple[dict[str, int | bool], ...] = (
    *({"top_n": n} for n in (9, 8, 7, 6, 5)),
    *({"top_n": 5, "top_c": c} for c in (6, 7, 8)),
    {"top_n": 5, "top_c": 8, "max_tokens": 3000},
    {"top_n": 5, "top_c": 8, "inter_cluster": False},
)


def measure(size: int) -> dict[str, float | int | str]:
    """Return the milliseconds of a move over so many questions: retrieving and scoring, by the clock and of the
    processor, and the statistics; and the seconds of another clustersize from kept stages."""
    from leanrag_core import IndexConfig, Workbench
    from leanrag_core.comparing.board import FOUND, QuestionScorer, by_kind, standing

    with tempfile.TemporaryDirectory() as folder:
        bench = Workbench.default(Path(folder))
        bench.corpora.all()
        index = bench.build(_SAMPLE, IndexConfig(model="reference"))
        opened = bench.indexes.open(index.folder_name)
        questions = _questions(bench.corpora.samples.questions(_SAMPLE), size)
        scorer = QuestionScorer(questions)
        of_defaults = bench.questions.retriever(opened, "leanrag", {}, context_alone=True)
        pinned = scorer.score(of_defaults)  # embeds the questions
        for scores in (pinned.interval(FOUND), pinned.token_interval()):
            assert scores is not None
        standing(pinned, pinned, FOUND)
        clock, processor, figures = [], [], []
        for options in _MOVES:
            started, used = time.perf_counter(), time.process_time()
            now = scorer.score(bench.questions.retriever(opened, "leanrag", options, context_alone=True))
            scored = time.perf_counter()
            now.interval(FOUND), now.token_interval(), standing(now, pinned, FOUND)
            by_kind(questions, now, pinned, FOUND)
            ended = time.perf_counter()
            clock.append(1000 * (ended - started))
            processor.append(1000 * (time.process_time() - used))
            figures.append(1000 * (ended - scored))
        started = time.perf_counter()
        bench.trials.make(opened, {"cluster_size": 8})
        trial = time.perf_counter() - started
    return {
        "move_ms": round(statistics.median(clock), 1),
        "fastest_ms": round(min(clock), 1),
        "slowest_ms": round(max(clock), 1),
        "processor_ms": round(statistics.median(processor), 1),
        "statistics_ms": round(statistics.median(figures), 1),
        "clustersize_seconds": round(trial, 2),
    }


def _questions(sample: "tuple[GoldQuestion, ...]", size: int) -> "list[GoldQuestion]":
    """Return the questions of the sample, repeated with a number behind each until there are enough."""
    asked = []
    for number in range(size):
        question, again = sample[number % len(sample)], number // len(sample)
        words = f"{question.question} ({again})" if again else question.question
        asked.append(replace(question, id=f"{question.id}-{again}", question=words))
    return asked
