"""The same bytes on every processor: BLAS is told to be another one, in a process of its own each time.

OPENBLAS_CORETYPE chooses the kernels that another processor would take; one that this machine cannot run ends with an
illegal instruction and is left out. What does not go through BLAS, the embedding model above all, is compared with
digests made elsewhere (tests/models/test_minilm.py).
"""

import hashlib
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from sample_corpora import story

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]  # three whole processes that do everything

ROOT = Path(__file__).resolve().parents[2]
CORES = ("SkylakeX", "Haswell", "Sandybridge", "Nehalem")
_ARCHITECTURE = (
    "import numpy as np; from threadpoolctl import threadpool_info as info; a = np.ones((64, 64), np.float32);"
    "a @ a; print(next(each['architecture'] for each in info() if each['user_api'] == 'blas'))"
)


def _run(core: str, *command: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"OPENBLAS_CORETYPE": core}
    return subprocess.run([sys.executable, *command], cwd=ROOT, env=environment, capture_output=True, text=True)


def imitated() -> list[str]:
    """Return those core types that this machine runs, each with kernels of its own."""
    core_of: dict[str, str] = {}
    for core in CORES:
        asked = _run(core, "-c", _ARCHITECTURE)
        if asked.returncode == 0:
            core_of.setdefault(asked.stdout.strip(), core)
    return list(core_of.values())


def test_index_parts_traces_clusters_and_the_shipped_presentation_have_the_same_bytes(tmp_path: Path) -> None:
    cores = imitated()
    assert len(cores) >= 3, f"only {cores} could be imitated here"

    def digests(core: str) -> dict[str, str]:
        made = _run(core, "-m", "tests.processors.digests", str(tmp_path / core))
        assert made.returncode == 0, made.stderr
        result: dict[str, str] = json.loads(made.stdout.splitlines()[-1])
        return result

    with ThreadPoolExecutor(2) as pool:
        first, *others = pool.map(digests, cores[:3])
    assert len(first) > 60
    for core, other in zip(cores[1:], others, strict=False):
        assert [name for name in first if other.get(name) != first[name]] == [], f"{core} beside {cores[0]}"
        assert other.keys() == first.keys()
    assert first["presentation"] == hashlib.sha256(story.FILE.read_bytes()).hexdigest()[:16], (
        "run `python -m sample_corpora.story`"
    )
