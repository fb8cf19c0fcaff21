"""A disk that becomes full in the middle of an update, an experiment or a part."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.storage.test_full_disk import needs_a_namespace

pytestmark = pytest.mark.slow


@needs_a_namespace
def test_a_disk_that_becomes_full_midway_is_one_clear_error_and_the_work_can_be_done_again(tmp_path: Path) -> None:
    ran = subprocess.run(
        ["unshare", "-rm", sys.executable, "-m", "tests.storage.filled_midway", str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    outcomes = [json.loads(line) for line in ran.stdout.splitlines()]
    assert {outcome["work"] for outcome in outcomes} >= {"update", "experiment", "part chroma"}
    for outcome in outcomes:
        assert outcome["kind"] == "StorageFailed", outcome
        assert "could not be written: the disk is full. Free some space, then try again." in outcome["said"], outcome
        assert (outcome["kept"], outcome["sound"], outcome["repeated"]) == (True, True, True), outcome
