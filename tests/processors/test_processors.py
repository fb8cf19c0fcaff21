"""The same bytes on every processor: BLAS is told to be another one, in a process of its own each time.

OPENBLAS_CORETYPE chooses the kernels that another processor would take; one that this machine cannot run ends with an
illegal instruction and is left out. What does not go through BLAS, the embedding model above all, is compared with
digests made elsewhere (tests/models/test_minilm.py). The first process makes the index and the presentation from
nothing, and each number of the presentation is recomputed from that index.
"""

import hashlib
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from leanrag_core import Workbench
from leanrag_core.presenting.storing import presentation_of
from sample_corpora import story
from tests.presenting.test_numbers import assert_recomputed

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


@dataclass(frozen=True)
class Made:
    """The digests by core type, and the home in which those of the first one were made."""

    digests: dict[str, dict[str, str]]
    home: Path


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """Return what three processors make; the vectors of the sample's texts come from the first."""
    cores, folder = imitated(), tmp_path_factory.mktemp("processors")
    assert len(cores) >= 3, f"only {cores} could be imitated here"

    def digests(core: str) -> dict[str, str]:
        ran = _run(core, "-m", "tests.processors.digests", str(folder / core), str(folder / "vectors.npz"))
        assert ran.returncode == 0, ran.stderr
        result: dict[str, str] = json.loads(ran.stdout.splitlines()[-1])
        return result

    first, *others = cores[:3]
    digests_of = {first: digests(first)}
    with ThreadPoolExecutor(2) as pool:
        digests_of |= zip(others, pool.map(digests, others), strict=True)
    return Made(digests_of, folder / first)


def test_index_parts_traces_clusters_and_the_shipped_presentation_have_the_same_bytes(made: Made) -> None:
    first, *others = made.digests.values()
    assert len(first) > 60
    for core, other in zip([*made.digests][1:], others, strict=True):
        assert [name for name in first if other.get(name) != first[name]] == [], core
        assert other.keys() == first.keys()
    assert first["presentation"] == hashlib.sha256(story.FILE.read_bytes()).hexdigest()[:16], (
        "run `python -m sample_corpora.story`"
    )


def test_each_number_of_the_shipped_presentation_is_of_its_index(made: Made) -> None:
    bench = Workbench(made.home)
    shipped = presentation_of(story.FILE.read_bytes(), name="story.json")
    index_id, _ = bench.builds.sample_index(story.CORPUS)
    index = bench.indexes.open(index_id)
    assert_recomputed(index, shipped)
    assert shipped.documents.tokens == bench.corpora.summary(index.manifest.corpus.id).tokens
