"""The one workbench of this server, opened indexes and retrievals, kept between reruns and shared by all sessions."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import streamlit as st

from leanrag_core.errors import LeanRAGError
from leanrag_core.figures.browse import leaf_counts
from leanrag_core.models.registry import BUILTIN
from leanrag_core.storage.layout import MANIFEST
from leanrag_core.types.index import Index
from leanrag_core.types.summary import IndexSummary, JobState
from leanrag_core.types.trace import Answer, Trace
from leanrag_core.workbench import Workbench

Options = tuple[tuple[str, Any], ...]


@st.cache_resource(show_spinner=False)
def workbench() -> Workbench:
    """The workbench; on the first start of all it begins to build the sample index."""
    opened = Workbench.default()
    if not _shelf(opened).damaged:
        opened.ensure_sample_index()
    return opened


@dataclass(frozen=True)
class Shelf:
    """The indexes that read, the newest first, and what is wrong with each of the others."""

    indexes: tuple[IndexSummary, ...]
    damaged: tuple[str, ...]


def shelf() -> Shelf:
    """The indexes there are; one that does not read hides none of the others."""
    return _shelf(workbench())


def _shelf(bench: Workbench) -> Shelf:
    found, damaged = [], []
    for path in sorted((bench.root / "indexes").glob(f"*/{MANIFEST}")):
        name = path.parent.name
        if name.startswith("."):
            continue
        try:
            found.append(bench.index_summary(name))
        except LeanRAGError as error:
            damaged.append(str(error))
        except (OSError, LookupError, TypeError, ValueError) as error:
            if path.is_file():  # else it was deleted just now
                damaged.append(f"the index {name} does not read ({error}): build it again")
    return Shelf(tuple(sorted(found, key=lambda one: (one.created, one.id), reverse=True)), tuple(damaged))


def open_index(summary: IndexSummary) -> Index:
    """The index, opened once; a rebuilt one is opened anew."""
    return _opened(summary.id, summary.created)


@st.cache_resource(show_spinner=False, max_entries=6)
def _opened(index_id: str, created: str) -> Index:
    return workbench().open(index_id)


def counts_below(summary: IndexSummary) -> tuple[np.ndarray, ...]:
    """How many base entities lie below each node of each layer."""
    return _counts(summary.id, summary.created)


@st.cache_resource(show_spinner=False, max_entries=6)
def _counts(index_id: str, created: str) -> tuple[np.ndarray, ...]:
    return leaf_counts(_opened(index_id, created))


def retrieve(summary: IndexSummary, question: str, strategy: str, options: Options) -> Trace:
    """The trace of that question with those options."""
    return _retrieved(summary.id, summary.created, question, strategy, options)


@st.cache_resource(show_spinner=False, max_entries=128)
def _retrieved(index_id: str, created: str, question: str, strategy: str, options: Options) -> Trace:
    return workbench().retrieve(_opened(index_id, created), question, strategy, **dict(options))


def kept_answer(summary: IndexSummary, question: str, strategy: str, options: Options) -> Answer | None:
    """The answer to that question with those options where no model needs to be called for it, else None."""
    if summary.config.get("model") == BUILTIN:
        return _answered(summary.id, summary.created, question, strategy, options)
    trace = _retrieved(summary.id, summary.created, question, strategy, options)
    return workbench().kept_answer(_opened(summary.id, summary.created), trace)


@st.cache_resource(show_spinner=False, max_entries=128)
def _answered(index_id: str, created: str, question: str, strategy: str, options: Options) -> Answer:
    trace = _retrieved(index_id, created, question, strategy, options)
    return workbench().answer(_opened(index_id, created), trace)


def running_jobs() -> list[JobState]:
    """Jobs that are under way, the newest first."""
    return [job for job in workbench().jobs() if job.status in ("queued", "running")]


@st.cache_data(ttl=3, show_spinner=False)
def endpoint_builds() -> int:
    """How many builds with a model of the endpoint are under way, counted at most every three seconds."""
    configs = [job.config for job in running_jobs()]
    return sum(any(str(value).startswith("openai:") for value in config.values()) for config in configs)
