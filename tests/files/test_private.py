"""Permissions of the files on the disk."""

import os
import stat
import sys
from pathlib import Path

import pytest

from leanrag_core import Workbench
from leanrag_core.jobs import events, runner
from leanrag_core.storage.stages import stage_key
from leanrag_core.types.calls import CallRecord
from leanrag_core.types.settings import Settings
from tests.workbench.test_workbench import BEES

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="rights are those of the user's folder there")


@pytest.fixture(autouse=True)
def usual_umask() -> object:
    before = os.umask(0o022)
    yield
    os.umask(before)


def fill(home: Path) -> Workbench:
    bench = Workbench.default(home)
    bench.settings.save(Settings(base_url="http://127.0.0.1:9/v1"))
    bench.add_documents("Mine", [("bees.md", BEES)])
    bench.calls.put("k", CallRecord(text="an answer"))
    bench.calls.export(home / "calls" / "export.jsonl")
    events.create_job(home / "jobs" / "one", events.JobSpec("one", "t", "c", {}, {}, "2026-11-22T00:00:00+00:00"))
    events.JobLog(home / "jobs" / "one").write("started")
    runner.ask_to_cancel(home / "jobs" / "one")
    bench.stages.put("sentences", stage_key("sentences", "a"), b"read")
    bench.stages.close()
    return bench


def open_to_others(home: Path) -> list[str]:
    """Return what is below the folder that others may read, write or enter."""
    paths = [path for path in home.rglob("*") if path.lstat().st_mode & (stat.S_IRWXG | stat.S_IRWXO)]
    return sorted(str(path.relative_to(home)) for path in paths)


def test_corpora_settings_calls_jobs_and_stages_are_for_their_owner_alone(tmp_path: Path) -> None:
    bench = fill(tmp_path)
    assert open_to_others(tmp_path) == []
    assert len(list(tmp_path.rglob("*"))) > 12
    assert stat.S_IMODE((tmp_path / "settings.json").stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "corpora").stat().st_mode) == 0o700
    bench.calls.close()


def test_what_older_versions_left_open_is_closed_when_it_is_used(tmp_path: Path) -> None:
    fill(tmp_path).calls.close()
    outside = tmp_path.parent / f"{tmp_path.name}-outside.txt"
    outside.touch(mode=0o644)
    (tmp_path / "corpora" / "link").symlink_to(outside)
    (tmp_path / "indexes").mkdir()
    for path in tmp_path.rglob("*"):
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() else 0o644)
    bench = Workbench.default(tmp_path)
    bench.settings.read()
    bench.calls.get("k")
    assert open_to_others(tmp_path) == ["corpora/link", "stages", "stages/.opening.lock", "stages/stages.db"]
    assert bench.stages.get(stage_key("sentences", "a")) == b"read"
    assert open_to_others(tmp_path) == ["corpora/link"]
    assert stat.S_IMODE(outside.stat().st_mode) == 0o644, "what a link points to is not touched"
    bench.calls.close()
