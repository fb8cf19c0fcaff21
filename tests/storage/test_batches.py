"""Records of batches that were sent."""

import time
from dataclasses import replace
from pathlib import Path

from leanrag_core.storage.batches import BatchStore
from leanrag_core.types.batches import SentBatch, SentCall

CALLS = (SentCall("a" * 64, "extract_graph.v1:1", True), SentCall("b" * 64, "aggregate_relation.v1:2", False))
BATCH = SentBatch("one", "http://localhost:1/v1", "m", "index", CALLS, "file-1", time.time())


def test_a_batch_is_read_as_it_was_put_and_collected_with_its_output(tmp_path: Path) -> None:
    store = BatchStore(tmp_path / "batches")
    assert store.all() == []
    store.put(BATCH)
    store.put(replace(BATCH, batch_id="batch-1"))
    assert store.all() == [replace(BATCH, batch_id="batch-1")]
    assert store.output(BATCH) == b""
    store.collect(BATCH, b"a line\n")
    assert BatchStore(tmp_path / "batches").output(BATCH) == b"a line\n"
    assert [batch.collected for batch in store.all()] == [True]
    assert (tmp_path / "batches" / "one" / "output.jsonl").stat().st_mode & 0o077 == 0, "others may not read it"


def test_batches_are_listed_as_they_were_sent_and_a_broken_record_hides_no_other(tmp_path: Path) -> None:
    store = BatchStore(tmp_path)
    for name, at in (("late", 3.0), ("early", 1.0), ("broken", 2.0)):
        store.put(replace(BATCH, id=name, at=at))
    (tmp_path / "broken" / "record.json").write_text("{")
    assert [batch.id for batch in store.all()] == ["early", "late"]


def test_batches_go_when_no_provider_has_their_files_any_more(tmp_path: Path) -> None:
    store = BatchStore(tmp_path)
    store.put(BATCH)
    store.put(replace(BATCH, id="old", at=BATCH.at - 31 * 86_400))
    store.delete_old()
    assert [batch.id for batch in store.all()] == ["one"]


def test_ids_of_calls_fit_a_providers_limit_and_differ() -> None:
    ids = {call.custom_id for call in CALLS}
    assert len(ids) == 2
    assert max(map(len, ids)) <= 64
