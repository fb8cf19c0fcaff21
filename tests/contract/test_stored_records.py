"""Every type of record that is stored: read as it was written, and refused with the field where it is another."""

import json
from dataclasses import MISSING, fields, is_dataclass, replace
from typing import Any

import pytest

from leanrag_core.errors import LeanRAGError, RecordDamaged
from leanrag_core.files.records import from_json, json_bytes, plain, to_json
from leanrag_core.jobs.events import JobEvent, JobSpec
from leanrag_core.messages.message import message
from leanrag_core.storage.corpora import CorpusRecord, RefusedFile
from leanrag_core.types.batches import BatchProgress, SentBatch, SentCall
from leanrag_core.types.build_report import BuildReport, DroppedItem, LayerClusters, Spent
from leanrag_core.types.calls import CallRecord, ChatMessage
from leanrag_core.types.config import IndexConfig
from leanrag_core.types.corpus import Document, Heading, Refusal, Span
from leanrag_core.types.manifest import FileRecord, LayerSearch, SearchRecord
from leanrag_core.types.settings import Execution, Price, Settings
from leanrag_core.types.summary import DocumentSummary
from tests.small_index import small_index

FILES = {"chunks.arrow": FileRecord(12, "0" * 64)}
DOCUMENT = DocumentSummary("doc-1", "蜂.md", "Bees", "markdown", "zh", 9, 4, 0, ("decoded as GB18030",))
RECORDS: tuple[Any, ...] = (
    small_index().manifest,
    replace(small_index().manifest, files=FILES, extractor="builtin-1", builtin_texts=3),
    BuildReport({}, (), Spent()),
    BuildReport(
        {"parse": 1},
        ("chunk-1",),
        Spent(1, 2, 3, 0.5),
        {"parse": (DroppedItem("a.pdf", "no text"),)},
        {"Bees": "bee"},
        (LayerClusters(layer=1, median=2.5, options={"cap": "capacity", "smoothing": 1, "join_singletons": True}),),
    ),
    SearchRecord((LayerSearch(0, 6, 64, 0.99),), FILES, "0" * 64),
    SearchRecord((LayerSearch(0, 6, 64, 1.0),)),
    CorpusRecord("mine", "Mine", "", False, "", "2026-01-02T03:04:05+00:00", (DOCUMENT,)),
    CorpusRecord(
        "mine", "蜂", "", True, "f", "", (), (RefusedFile.of(Refusal("a", message("file.no_text_layer", pages=3))),)
    ),
    Document(
        "doc-1", "蜂.md", "Bees", "pdf", "蜂 😀", "zh", (Span(0, 2),), (Heading("蜂", 1, 0, 1),), (Span(1, 2),), ("n",)
    ),
    CallRecord("openai:m", "answer", "one", "text", "stop", 1, 2, 0.25, True, at=1.5),
    CallRecord("openai:e", "embed", "one", vector="AAAA"),
    CallRecord("openai:m", "extract_graph", "one", "{}", messages=(ChatMessage("user", "Read this."),)),
    Settings(),
    Settings(execution=Execution("processes", 2), prices={"m": Price(1.5, 2.0)}, base_url="http://localhost:1/v1"),
    Settings(prices={"m": Price(1.5, 2.0, 0.15)}),
    IndexConfig(tau="q0.75", prompts=(("answer", "Of {context}: {question}"),)),
    JobSpec("1", "Bees", "mine", {"tau": None}, {"name": ""}, "2026-01-02T03:04:05+00:00"),
    JobEvent(1.5, "failed", error=message("job.unexpected")),
    JobEvent(1.5, "progress", stage="extract", batch=BatchProgress(1, 20, 3, 1.25)),
    SentBatch("b", "http://localhost:1/v1", "m", "one", (SentCall("k", "extract_graph", True),), "f", 1.5, "batch-1"),
)


def name_of(record: Any) -> str:
    return type(record).__name__


@pytest.mark.parametrize("record", RECORDS, ids=name_of)
def test_a_record_is_read_as_it_was_written_and_written_the_same(record: Any) -> None:
    content = to_json(record)
    read = from_json(type(record), content)
    assert read == record
    assert to_json(read) == content


@pytest.mark.parametrize("record", RECORDS, ids=name_of)
def test_a_field_of_a_newer_version_is_passed_over_or_refused_by_name(record: Any) -> None:
    content = json_bytes({**plain(record), "of_a_newer_version": 1})
    if getattr(type(record), "__pydantic_config__", {}).get("extra") == "forbid":
        with pytest.raises(RecordDamaged, match="of_a_newer_version"):
            from_json(type(record), content)
    else:
        assert from_json(type(record), content) == record


@pytest.mark.parametrize("record", RECORDS, ids=name_of)
def test_a_missing_field_has_its_default_or_is_named(record: Any) -> None:
    values = plain(record)
    for spec in fields(record):
        without = json_bytes({name: value for name, value in values.items() if name != spec.name})
        if spec.default is MISSING and spec.default_factory is MISSING:
            with pytest.raises(RecordDamaged) as caught:
                from_json(type(record), without, name="the.json")
            assert caught.value.field == spec.name
            assert str(caught.value) == f"the.json is not as expected: {spec.name} is missing"
        else:
            read = getattr(from_json(type(record), without), spec.name)
            assert read == (spec.default if spec.default is not MISSING else spec.default_factory())


@pytest.mark.parametrize("record", RECORDS, ids=name_of)
def test_a_value_of_another_type_is_refused_by_name(record: Any) -> None:
    values = plain(record)
    for name, value in values.items():
        wrong: Any = [[]] if not isinstance(value, list) else {"a": 1}
        with pytest.raises(LeanRAGError) as caught:
            from_json(type(record), json.dumps({**values, name: wrong}).encode())
        assert isinstance(caught.value, RecordDamaged)
        assert caught.value.field.split(".")[0] == name


def test_every_sample_is_a_frozen_dataclass() -> None:
    for record in RECORDS:
        assert is_dataclass(record)
        assert type(record).__dataclass_params__.frozen
