"""One flipped bit anywhere in an index: an error that names the file, or the same answer; never the end of the process.

The bits are drawn with a seed, from all files alike, so that small ones are hit as often as large ones.
"""

import json
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import pytest

from leanrag_core.storage.layout import write_index
from tests.index_parts import made_part
from tests.large_index import large_index

_FLIPS = 200
_FLIPS_OF_LARGE_FILES = 100
_CHECKED = 25  # every so many rounds `check` runs as well


@dataclass(frozen=True)
class Worker:
    process: subprocess.Popen[str]

    def round(self, *, check: bool = False) -> dict[str, Any] | None:
        """Return what came of it; None when the process has died."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps({"check": check}) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        return dict(json.loads(line)) if line else None


@contextmanager
def worker(folder: Path, size: str) -> Iterator[Worker]:
    command = [sys.executable, "-m", "tests.checking.flip_worker", str(folder), size]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        yield Worker(process)
    finally:
        process.kill()
        process.wait()


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with an index of 1,200 entities, so that Chroma has written a graph to the end, and one small
    enough to stay in its log."""
    folder = tmp_path_factory.mktemp("flips") / "pristine"
    folder.mkdir()
    index = large_index(1200, dimension=16)
    write_index(folder, index)
    made_part(folder, "chroma")
    return folder


def used_files(folder: Path) -> list[Path]:
    """Return all files but the empty ones, and the graphs of small layers, which Chroma never reads."""
    read = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.stat().st_size]
    graphs = {path.parent for path in read if path.name == "index_metadata.pickle"}
    return [path for path in read if path.parent in (folder, *folder.glob("parts/chroma/*"), *graphs)]


def flips(folder: Path, seed: int, count: int) -> Iterator[tuple[Path, int, int]]:
    random, files = Random(seed), used_files(folder)
    for number in range(count):
        path = files[number % len(files)]
        yield path, random.randrange(path.stat().st_size), random.randrange(8)


def flipped(path: Path, at: int, bit: int) -> bytes:
    """Flip the bit; return what the file held before."""
    before = path.read_bytes()
    content = bytearray(before)
    content[at] ^= 1 << bit
    path.write_bytes(content)
    return before


def outcomes(pristine: Path, folder: Path, size: str, count: int) -> Iterator[tuple[str, Path, dict[str, Any], str]]:
    """Yield for each flip where it was, the file, the outcome, and the answer without a flip."""
    shutil.copytree(pristine, folder)
    with worker(folder, size) as asked:
        first = asked.round()
        assert first is not None
        assert "said" in first, first
        for number, (path, at, bit) in enumerate(flips(folder, count, count)):
            before = flipped(path, at, bit)
            place = f"bit {bit} of byte {at} of {path.relative_to(folder)}"
            came = asked.round(check=number % _CHECKED == 0)
            assert came is not None, f"the process died of {place}"
            assert "traceback" not in came, f"{place}: {came.get('traceback')}"
            yield place, path, came, first["said"]
            path.write_bytes(before)
            if path.parent != folder:  # Chroma may have written into its files
                shutil.copytree(pristine / "parts", folder / "parts", dirs_exist_ok=True)
        assert asked.round() == first


@pytest.mark.slow
def test_a_flipped_bit_is_an_error_that_names_the_file_or_changes_nothing(pristine: Path, tmp_path: Path) -> None:
    ended = Counter[str]()
    for place, path, came, error_text in outcomes(pristine, tmp_path / "index", "small", _FLIPS):
        if "error" in came:
            assert path.name in came["error"], f"{place}: {came['error']}"
        else:
            assert came["said"] == error_text, f"{place} changes the answer without a word"
        ended["error" if "error" in came else "same answer"] += 1
    assert ended.total() == _FLIPS
    assert ended["error"] > _FLIPS / 2


@pytest.mark.slow
def test_a_flipped_bit_of_a_large_file_ends_no_process_and_shows_no_traceback(pristine: Path, tmp_path: Path) -> None:
    """Flip bits of files that are not hashed when they are opened: a changed letter may pass until `check` runs."""
    for place, path, came, _ in outcomes(pristine, tmp_path / "index", "large", _FLIPS_OF_LARGE_FILES):
        if "error" in came:
            assert path.suffix in (".arrow", ".npy", ".json", ".sqlite3", ".bin", ".pickle"), place
            assert "index" in came["error"], f"{place}: {came['error']}"
