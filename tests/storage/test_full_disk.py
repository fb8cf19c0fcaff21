"""Every write path on a disk that is full, and on one that is read-only: one clear error, and nothing left behind."""

import contextlib
import errno
import io
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from leanrag_core.errors import StorageFailed
from leanrag_core.files import atomic
from leanrag_core.messages.message import message
from leanrag_core.storage import tables

FREEING = ("delete a corpus", "delete an index", "wish to stop a job")  # a full disk does not hinder them
REBUILT = ("search index", "search index by a process apart")  # what was there before goes first


def in_a_namespace() -> bool:
    """Return whether this system lets a test mount a file system that only the test sees."""
    if shutil.which("unshare") is None:
        return False
    probe = ["unshare", "-rm", "sh", "-c", "mount -t tmpfs tmpfs /mnt"]
    return subprocess.run(probe, capture_output=True, check=False).returncode == 0


needs_a_namespace = pytest.mark.skipif(
    not in_a_namespace(), reason="a disk of a test's own needs user namespaces (unshare -rm), which are off here"
)


Outcomes = dict[str, dict[str, Any]]


@pytest.fixture(scope="module")
def outcomes_in(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Outcomes]:
    """Return what each write came to, by the state of the disk."""
    ran = subprocess.run(
        ["unshare", "-rm", sys.executable, "-m", "tests.storage.small_disk", str(tmp_path_factory.mktemp("disks"))],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    outcomes: dict[str, Outcomes] = json.loads(ran.stdout)
    return outcomes


@pytest.mark.slow
@needs_a_namespace
def test_every_write_works_where_the_disk_has_space(outcomes_in: dict[str, Outcomes]) -> None:
    outcome_of = outcomes_in["room"]
    assert {name: outcome["said"] for name, outcome in outcome_of.items() if outcome["kind"]} == {}
    assert len(outcome_of) > 15


@pytest.mark.slow
@needs_a_namespace
def test_a_full_disk_is_one_error_each_and_leaves_nothing(outcomes_in: dict[str, Outcomes]) -> None:
    outcome_of = dict(outcomes_in["full"])
    afterwards = outcome_of.pop("afterwards")
    for name, outcome in outcome_of.items():
        if name in FREEING:
            assert outcome["kind"] == "", (name, outcome)
            continue
        assert (outcome["kind"], outcome["new"]) == ("StorageFailed", []), (name, outcome)
        assert outcome["gone"] == [] or name in REBUILT, (name, outcome)
        assert "could not be written: the disk is full. Free some space, then try again." in outcome["said"], (
            name,
            outcome,
        )
        assert "damaged" not in outcome["said"]
        assert "move it away" not in outcome["said"]
    assert afterwards["paid"]["text"] == afterwards["fresh"]["text"] == "an answer"
    assert afterwards["got"]["text"] == "y", "the store goes on once there is room"


@pytest.mark.slow
@needs_a_namespace
def test_a_read_only_disk_is_one_error_each_and_changes_nothing(outcomes_in: dict[str, Outcomes]) -> None:
    for name, outcome in outcomes_in["read-only"].items():
        assert (outcome["kind"], outcome["new"], outcome["gone"]) == ("StorageFailed", [], []), (name, outcome)
        assert "could not be written: the disk is read-only. Make it writable" in outcome["said"], (name, outcome)
        assert "damaged" not in outcome["said"]


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_file_is_as_it_was_and_nothing_beside_it_when_a_step_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    atomic.write_json(tmp_path / "a.json", {"n": 1})

    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(atomic.os, call, fail)
    with (
        pytest.raises(StorageFailed, match=r"^the file could not be written: the disk is full\. Free"),
        atomic.writing(message("plain", text="the file")),
    ):
        atomic.write_json(tmp_path / "a.json", {"n": 2})
    assert json.loads((tmp_path / "a.json").read_text()) == {"n": 1}
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]


def test_the_name_of_a_new_file_is_on_the_disk_after_its_content(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[str] = []
    sync, rename = atomic.os.fsync, atomic.os.replace

    def recorded_sync(handle: int) -> None:
        steps.append(Path(f"/proc/self/fd/{handle}").resolve().name)
        sync(handle)

    def recorded_rename(source: Path, target: Path) -> None:
        steps.append(f"-> {Path(target).name}")
        rename(source, target)

    monkeypatch.setattr(atomic.os, "fsync", recorded_sync)
    monkeypatch.setattr(atomic.os, "replace", recorded_rename)
    atomic.write_json(tmp_path / "a.json", {"n": 1})
    [content, renamed, folder] = steps
    assert content.startswith(".a.json.")
    assert (renamed, folder) == ("-> a.json", tmp_path.name)


def write_vectors(path: Path) -> None:
    with path.open("wb") as file:
        tables.vectors_into(file, np.ones((5000, 8)))


def write_table(path: Path) -> None:
    tables.write_table(path, pa.table({"n": np.arange(100_000)}))


@pytest.mark.parametrize("write", [write_vectors, write_table])
def test_large_files_of_an_index_say_that_the_disk_is_full(
    write: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    device = Path("/dev/full")  # takes nothing, as a full disk
    assert device.exists()
    monkeypatch.setattr(tables, "replacing", lambda path: contextlib.nullcontext(device))
    with (
        pytest.raises(StorageFailed, match="the disk is full"),
        atomic.disk_errors_of(message("plain", text="the index")),
    ):
        write(device)


def test_vectors_are_written_as_numpy_writes_them() -> None:
    for vectors in (np.ones((3, 4)), np.zeros((0, 4)), np.asfortranarray(np.eye(5, dtype=np.float32))):
        ours, theirs = io.BytesIO(), io.BytesIO()
        tables.vectors_into(ours, vectors)
        np.save(theirs, np.ascontiguousarray(vectors, dtype=np.float32))
        assert ours.getvalue() == theirs.getvalue()
