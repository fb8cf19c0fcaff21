"""The server's single workbench, opened indexes and retrievals, kept between reruns and shared by all sessions."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any

import streamlit as st

from leanrag_core.comparing.gold_passages import GoldFinder
from leanrag_core.errors import InvalidConfig, LeanRAGError
from leanrag_core.execution.background import ReadAhead, StreamedCall, StreamedCalls
from leanrag_core.indexing.extraction.builtin import ChunksRead, chunks_read
from leanrag_core.queries.index_table import with_titles
from leanrag_core.storage.indexes import OpenIndexes
from leanrag_core.types.config import is_file, is_remote
from leanrag_core.types.index import Index
from leanrag_core.types.job import JobState, Progress
from leanrag_core.types.manifest import HEURISTIC
from leanrag_core.types.scope import ALL, written
from leanrag_core.types.scope import Scope as Within
from leanrag_core.types.summary import IndexList, IndexSummary
from leanrag_core.types.trace import Answer, Trace, TraceStep
from leanrag_core.workbench import Workbench
from leanrag_core.workbench.indexes import EARLIER
from pages.common.messages import language

Options = tuple[tuple[str, Any], ...]
_MAX_BYTES = 600_000_000  # for all opened indexes; an index of 100,000 entities takes some 100 MB
# For hash_funcs of a cached function that takes a summary: results are kept by index, and anew after a rebuild.
BY_INDEX: dict[str | type, Callable[[Any], Any]] = {IndexSummary: lambda summary: (summary.id, summary.created)}


@st.cache_resource(show_spinner=False)
def workbench() -> Workbench:
    """Return the workbench; the very first start begins to build the sample index."""
    opened = Workbench.default()
    with suppress(InvalidConfig):  # the Settings page reports unreadable settings and can repair them
        opened.builds.start_first_sample()
    with suppress(LeanRAGError):  # the Build page, which lists them, reports it
        opened.indexes.delete_overdue()
    return opened


def index_list() -> IndexList:
    """Return the existing indexes, with titles in the reader's language; an unreadable one hides none of the others."""
    listed = workbench().indexes.index_list()
    return replace(listed, indexes=with_titles(listed.indexes, language()))


def is_current(summary: IndexSummary) -> bool:
    """Return whether the index is still the one of the summary: an update or a deletion elsewhere ends that."""
    if summary.id.startswith(EARLIER):
        return True
    try:
        return workbench().indexes.summary(summary.id).created == summary.created
    except LeanRAGError:
        return False


def open_index(summary: IndexSummary) -> Index:
    """Return the index, opened once and again after a rebuild."""
    return open_indexes().get((summary.id, summary.created), lambda: workbench().indexes.open(summary.id))


@contextmanager
def reading(summary: IndexSummary) -> Iterator[Index]:
    """Yield the opened index; if reading shows that a file of it is damaged, the error names the file."""
    index = open_index(summary)
    with workbench().questions.naming_damage(index):
        yield index


@st.cache_resource(show_spinner=False, max_entries=8, hash_funcs=BY_INDEX)
def finder(summary: IndexSummary) -> GoldFinder:
    """Return the finder that locates entities and passages of the index by text; it caches normalised texts between
    questions."""
    return GoldFinder(open_index(summary))


def read_by_rules(summary: IndexSummary) -> ChunksRead | None:
    """Count the chunks that were read with and without grammar; None if a language model read them."""
    if summary.kind == HEURISTIC:
        with suppress(LeanRAGError):  # the page opens the index next and reports the damage
            return _chunks_read(summary)
    return None


@st.cache_data(max_entries=64, show_spinner=False, hash_funcs=BY_INDEX)
def _chunks_read(summary: IndexSummary) -> ChunksRead:
    with reading(summary) as index:
        return chunks_read(index)


def read_ahead(summary: IndexSummary) -> None:
    """Read the search index of a large base layer while the reader writes the first question."""
    bench, index = workbench(), open_index(summary)

    def read() -> None:
        with suppress(LeanRAGError):  # asking the question will report it
            bench.questions.read_ahead(index)

    _read_ahead().begin(f"{summary.id} {summary.created}", read)


@st.cache_resource(show_spinner=False)
def _read_ahead() -> ReadAhead:
    return ReadAhead()


@st.cache_resource(show_spinner=False)
def open_indexes() -> OpenIndexes:
    """Return the open indexes of all sessions and of the API beside the app."""
    return OpenIndexes(_MAX_BYTES)


def scoped(summary: IndexSummary, within: Within) -> Index:
    """Return the index of the documents in that scope, cut once; the whole index if the scope is ALL."""
    return workbench().scopes.index(open_index(summary), within)


def documents_key(summary: IndexSummary, within: Within) -> str:
    """Return a key that identifies the scope's documents, also after tags or dates were changed; empty for all."""
    if within == ALL:
        return ""
    return f"{written(within)} {scoped(summary, within).id}"


def retrieve(summary: IndexSummary, question: str, strategy: str, options: Options, within: Within = ALL) -> Trace:
    """Return the trace of that question with those options, in that scope."""
    key = _key(summary, question, strategy, options, within)
    return _retrieved(key, summary, question, strategy, options, within)


def _key(summary: IndexSummary, question: str, strategy: str, options: Options, within: Within) -> str:
    """Return the key of a retrieval as one text, which st.cache_resource hashes in a fiftieth of the time of its
    parts."""
    return repr((summary.id, summary.created, question, strategy, options, documents_key(summary, within)))


@st.cache_resource(show_spinner=False, max_entries=128)
def _retrieved(
    key: str, _summary: IndexSummary, _question: str, _strategy: str, _options: Options, _within: Within
) -> Trace:
    index = open_index(_summary)
    return workbench().retrieve(index, _question, _strategy, scope=_within, **dict(_options))


def begin_retrieval(
    key: tuple[object, ...], index: Index, question: str, strategy: str, options: Options
) -> StreamedCall[TraceStep, Trace]:
    """Return the running or cached retrieval with model calls for that key, else start one, so that calls are not paid
    for twice."""
    bench = workbench()
    return retrievals().begin(
        key, lambda write: bench.retrieve(index, question, strategy, on_step=write, **dict(options))
    )


@st.cache_resource(show_spinner=False)
def retrievals() -> StreamedCalls[TraceStep, Trace]:
    """Return the running and the last retrievals with model calls of all sessions."""
    return StreamedCalls(keep=128)


def kept_answer(
    summary: IndexSummary, question: str, strategy: str, options: Options, trace: Trace, within: Within = ALL
) -> Answer | None:
    """Return the answer to that question with those options if no model has to be called for it, else None."""
    if not workbench().questions.asks_model(summary.config.writer):
        return _answered(_key(summary, question, strategy, options, within), summary, trace)
    return workbench().questions.kept_answer(open_index(summary), trace)


@st.cache_resource(show_spinner=False, max_entries=128)
def _answered(key: str, _summary: IndexSummary, _trace: Trace) -> Answer:
    return workbench().answer(open_index(_summary), _trace)


def writing(key: tuple[object, ...]) -> bool:
    """Return whether the answer for that key is being written, in any session."""
    return key in _answers_under_way()


def write_answer(key: tuple[object, ...], index: Index, trace: Trace) -> StreamedCall[str, Answer]:
    """Return the running call that writes the answer for that key, else start one."""
    bench = workbench()
    return _answers_under_way().begin(key, lambda write: bench.questions.stream_answer(index, trace, write))


@st.cache_resource(show_spinner=False)
def _answers_under_way() -> StreamedCalls[str, Answer]:
    return StreamedCalls()


def trial(base: IndexSummary, settings: Mapping[str, Any]) -> IndexSummary | None:
    """Return the index like `base` with those settings changed, a trial or a stored one; None if there is none. Raises
    LeanRAGError for impossible settings."""
    if not settings:
        return base
    trials, index = workbench().trials, open_index(base)
    id_ = trials.existing(index, trials.config(index, settings))
    return None if id_ is None else workbench().indexes.summary(id_)


def prepare_trials() -> None:
    """Load what this server's first build needs, while the person chooses settings."""
    _read_ahead().begin("trials", workbench().trials.prepare)


def make_trial(base: IndexSummary, settings: Mapping[str, Any]) -> StreamedCall[Progress, Index]:
    """Return the running call of any session that makes that trial, else start one."""
    bench, index = workbench(), open_index(base)
    key = base.id, base.created, tuple(sorted(settings.items()))
    return _trials_under_way().begin(key, lambda write: bench.trials.make(index, settings, write))


def make_stages(base: IndexSummary) -> StreamedCall[Progress, None]:
    """Return the running call of any session that makes the stages for the index's trials, else start one."""
    bench, index = workbench(), open_index(base)
    return _stages_under_way().begin((base.id, base.created), lambda write: bench.trials.make_stages(index, write))


@st.cache_resource(show_spinner=False)
def _stages_under_way() -> StreamedCalls[Progress, None]:
    return StreamedCalls()


@st.cache_resource(show_spinner=False)
def _trials_under_way() -> StreamedCalls[Progress, Index]:
    return StreamedCalls()


def running_jobs() -> list[JobState]:
    """Return the running jobs, the newest first."""
    return [job for job in workbench().jobs.all() if job.live]


def at_work(index: IndexSummary) -> bool:
    """Return whether a job builds an index of the same corpus."""
    return any(job.builds_index and job.corpus_id == index.corpus_id for job in running_jobs())


@st.cache_data(ttl=3, show_spinner=False)
def endpoint_builds() -> int:
    """Return how many running builds use a model of an endpoint, counted at most every three seconds."""
    return sum(
        any(is_remote(model) and not is_file(model) for model in models_of(job.config)) for job in running_jobs()
    )


def models_of(config: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of the models in an index's settings, "" for a missing one."""
    return tuple(str(config.get(name) or "") for name in ("model", "embedding", "aggregation_model"))


_KEPT = "lr_last_question"


def keep_last_question(index_id: str, trace: Trace) -> None:
    """Store that retrieval as the last one on the index; not one in a scope, which does not match what Explore
    shows."""
    if trace.scope is not None:
        return
    st.session_state.setdefault(_KEPT, {})[index_id] = trace


def last_trace_of(index_id: str) -> Trace | None:
    """Return this session's last retrieval on that index, None before the first."""
    trace: Trace | None = st.session_state.get(_KEPT, {}).get(index_id)
    return trace
