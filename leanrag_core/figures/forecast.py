"""What a build will take, said before it begins: chunks by arithmetic, time from earlier builds on this machine."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from leanrag_core.types.config import IndexConfig
from leanrag_core.types.job import JobState
from leanrag_core.types.summary import CorpusSummary

_PER_SECOND = (400.0, 2500.0)  # tokens a second of the built-in engine on a slow and on a fast machine
_FIXED_SECONDS = 8.0  # loading models and starting a process


@dataclass(frozen=True)
class Forecast:
    """seconds: (low, high). basis: one sentence on where the times come from."""

    chunks: int
    seconds: tuple[float, float]
    basis: str


def forecast(
    corpus: CorpusSummary, config: IndexConfig, jobs: Sequence[JobState], tokens_of: Mapping[str, int]
) -> Forecast:
    """Chunks and seconds for a build of that corpus. jobs: earlier ones; tokens_of: corpus id -> its tokens."""
    step = config.chunk_tokens - config.overlap_tokens
    per_document = corpus.tokens / max(1, corpus.documents)
    chunks = corpus.documents * max(1, math.ceil((per_document - config.overlap_tokens) / step)) if corpus.tokens else 0
    speeds = [
        tokens_of[job.corpus_id] / max(1.0, job.seconds - _FIXED_SECONDS)
        for job in jobs
        if job.status == "done" and tokens_of.get(job.corpus_id, 0) > 1000
    ][:10]
    if speeds:
        slow, fast = min(speeds) * 0.8, max(speeds) * 1.2
        builds = "1 earlier build" if len(speeds) == 1 else f"{len(speeds)} earlier builds"
        basis = f"Time from {builds} on this machine."
    else:
        slow, fast = _PER_SECOND
        basis = "A rough range: nothing has been built on this machine yet."
    return Forecast(chunks, (_FIXED_SECONDS + corpus.tokens / fast, _FIXED_SECONDS + corpus.tokens / slow), basis)
