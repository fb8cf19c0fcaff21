"""Recorded runs: nothing is lost on the way to a file and back, and files of others are refused in a sentence."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leanrag_core.answering.extractive import extractive_answer
from leanrag_core.answering.record import ask_record
from leanrag_core.errors import RecordDamaged, RunNotFound, RunTooNew
from leanrag_core.figures.layered import layered_graph
from leanrag_core.files.records import from_json, to_json
from leanrag_core.messages.message import Message
from leanrag_core.retrieval.base import Query, strategy
from leanrag_core.storage.history import read_run, run_of, write_run
from leanrag_core.types.calls import Usage
from leanrag_core.types.index import Index
from leanrag_core.types.trace import (
    Context,
    ContextItem,
    ContextSection,
    Lost,
    RecordedRun,
    Source,
    Style,
    Trace,
    TraceIndex,
    TraceItem,
    TraceRelation,
    TraceStep,
)
from tests.retrieval.tools import TOOLS
from tests.small_index import unit

TEXT = st.text(st.characters(codec="utf-8"), max_size=12)
NUMBER = st.floats(allow_nan=False, allow_infinity=False)
VALUE = st.one_of(TEXT, st.integers(-(2**53), 2**53), NUMBER, st.booleans(), st.none())
MESSAGE = st.recursive(
    st.builds(Message, TEXT, st.dictionaries(TEXT, VALUE, max_size=3)),
    lambda inner: st.builds(
        Message,
        TEXT,
        st.dictionaries(TEXT, st.one_of(VALUE, inner, st.lists(inner, max_size=2).map(tuple)), max_size=3),
    ),
    max_leaves=4,
)
COUNT = st.integers(0, 10**9)


def several(values: st.SearchStrategy[object]) -> st.SearchStrategy[tuple[object, ...]]:
    return st.lists(values, max_size=3).map(tuple)


SOURCE = st.builds(Source, TEXT, COUNT, TEXT, COUNT, COUNT, st.none() | COUNT, COUNT, several(TEXT))
ITEM = st.builds(
    TraceItem,
    TEXT,
    TEXT,
    TEXT,
    several(TEXT),
    layer=st.none() | COUNT,
    row=st.none() | COUNT,
    score=st.none() | NUMBER,
    rank=st.none() | COUNT,
    reason=st.none() | MESSAGE,
    parent=st.none() | TEXT,
    text=TEXT,
    source=st.none() | SOURCE,
)
RELATION = st.builds(TraceRelation, TEXT, TEXT, TEXT, TEXT, st.none() | COUNT, TEXT, NUMBER, TEXT, reason=MESSAGE)
SECTION = st.builds(
    ContextSection,
    TEXT,
    MESSAGE,
    TEXT,
    TEXT,
    several(st.builds(ContextItem, TEXT, TEXT, TEXT, COUNT, TEXT, COUNT, st.booleans())),
    TEXT,
    COUNT,
    COUNT,
    lost=several(st.builds(Lost, TEXT, COUNT, COUNT, COUNT, TEXT)),
    phrase=st.none() | MESSAGE,
)
STEP = st.builds(
    TraceStep,
    TEXT,
    MESSAGE,
    MESSAGE,
    several(TEXT),
    several(TEXT),
    st.builds(Usage, COUNT, COUNT, COUNT, NUMBER, NUMBER),
    NUMBER,
)
TRACE = st.builds(
    Trace,
    TEXT,
    TEXT,
    MESSAGE,
    st.dictionaries(TEXT, VALUE, max_size=3),
    several(ITEM),
    several(RELATION),
    st.builds(Context, TEXT, COUNT, several(SECTION)),
    several(STEP),
    several(st.builds(Style, TEXT, MESSAGE, TEXT, TEXT, TEXT)),
    st.builds(TraceIndex, TEXT, TEXT, several(COUNT)),
    several(MESSAGE),
    ranked_chunks=several(COUNT),
)


@settings(max_examples=30)
@given(TRACE)
def test_any_trace_comes_back_equal_from_json(trace: Trace) -> None:
    assert from_json(Trace, to_json(trace)) == trace
    assert len(trace.passages) + len(trace.nodes) == len(trace.items)  # what is worked out later is not stored
    assert from_json(Trace, to_json(trace)) == trace


# tests/contract/test_strategies.py says the same of every strategy, on indexes with the parts that they need.
@pytest.mark.parametrize("name", ["leanrag", "vector"])
def test_a_recorded_run_gives_the_same_record_and_the_same_picture(name: str, index: Index, tmp_path: Path) -> None:
    trace = strategy(name, {}).retrieve(Query("What do bees make?", unit([[1, 0, 1, 0]])[0]), index, TOOLS)
    answer = extractive_answer(trace, lambda texts: np.ones((len(texts), 4)) / 2, np.ones(4) / 2)
    run = RecordedRun(trace, answer)
    write_run(tmp_path / "run.json", run)
    read = read_run(tmp_path / "run.json")
    assert read == run
    assert read.answer is not None
    assert read.answer.trace is read.trace
    assert ask_record(read.trace, read.answer) == ask_record(trace, answer)
    assert layered_graph(read.trace, 1) == layered_graph(trace, 1)


def test_a_run_without_an_answer_has_none_when_it_is_read(index: Index, tmp_path: Path) -> None:
    trace = strategy("vector", {}).retrieve(Query("bees?", unit([[1, 0, 1, 0]])[0]), index, TOOLS)
    write_run(tmp_path / "run.json", RecordedRun(trace))
    assert read_run(tmp_path / "run.json").answer is None


def test_other_files_are_refused_with_their_name(index: Index, tmp_path: Path) -> None:
    with pytest.raises(RunNotFound, match=r"no recorded run .*absent\.json"):
        read_run(tmp_path / "absent.json")
    for content in (b"[]", b"{}", b'{"format": "other"}'):
        with pytest.raises(RunNotFound, match=r"mine\.json is no recorded run"):
            run_of(content, name="mine.json")
    for content in (b"", b"{", b"\xff\xfe", b"[" * 100_000, b'{"format": NaN}'):
        with pytest.raises(RecordDamaged, match=r"mine\.json"):
            run_of(content, name="mine.json")
    trace = strategy("vector", {}).retrieve(Query("bees?", unit([[1, 0, 1, 0]])[0]), index, TOOLS)
    write_run(tmp_path / "run.json", replace(RecordedRun(trace), version=99))
    with pytest.raises(RunTooNew, match="newer version"):
        read_run(tmp_path / "run.json")


def test_a_field_of_another_type_is_named(index: Index, tmp_path: Path) -> None:
    trace = strategy("vector", {}).retrieve(Query("bees?", unit([[1, 0, 1, 0]])[0]), index, TOOLS)
    write_run(tmp_path / "run.json", RecordedRun(trace))
    values = json.loads((tmp_path / "run.json").read_bytes())
    values["trace"]["items"][0]["row"] = "first"
    with pytest.raises(RecordDamaged, match=r"trace\.items\.0\.row") as raised:
        run_of(json.dumps(values).encode(), name="run.json")
    assert raised.value.field == "trace.items.0.row"
