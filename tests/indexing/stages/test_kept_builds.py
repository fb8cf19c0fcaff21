"""What a second build takes from the first: counted by what is read and embedded anew."""

import os
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from leanrag_core import IndexConfig
from leanrag_core.indexing.build import BuildRequest, build_index
from leanrag_core.indexing.build_models import BuildModels
from leanrag_core.indexing.extraction.english_reading import EnglishBatch, ReadTask
from leanrag_core.models.minilm import MiniLM
from leanrag_core.storage.stages import StageStore
from leanrag_core.types.corpus import Document
from leanrag_core.types.job import Progress
from tests.execution.test_builds import guild_book
from tests.killing import call_where_forks_are_killed, load
from tests.reading import read_uploads

pytestmark = pytest.mark.slow

CONFIG = IndexConfig(cluster_size=8, chunk_tokens=128, overlap_tokens=16)
STAGES = ("extract", "embed", "aggregate entities")


@dataclass
class Work:
    """Documents that were read and texts that were embedded since it was last emptied."""

    batches: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)

    def taken(self) -> tuple[int, int]:
        counted = len(self.batches), len(self.texts)
        self.batches.clear()
        self.texts.clear()
        return counted


@contextmanager
def counted() -> Iterator[Work]:
    """Count what is done in the block."""
    done, read, embed = Work(), ReadTask.__call__, MiniLM.embed

    def reading(self: ReadTask, batch: EnglishBatch) -> object:
        done.batches.append(batch.blocks[0].text)
        return read(self, batch)

    def embedding(self: MiniLM, texts: list[str]) -> object:
        done.texts.extend(texts)
        return embed(self, texts)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ReadTask, "__call__", reading)
        patch.setattr(MiniLM, "embed", embedding)
        yield done


@pytest.fixture
def work() -> Iterator[Work]:
    with counted() as done:
        yield done


def guilds(*numbers: int) -> tuple[Document, ...]:
    return read_uploads([(f"book-{number}.md", guild_book(number)) for number in numbers]).documents


def files_of(index: Path) -> dict[str, bytes]:
    files = sorted(path for path in index.rglob("*") if path.is_file() and "chroma" not in path.parts)
    return {str(path.relative_to(index)): path.read_bytes() for path in files}


def build(
    out: Path, store: StageStore | None, documents: tuple[Document, ...], config: IndexConfig = CONFIG
) -> dict[str, bytes]:
    request = BuildRequest(documents, config, out, "guilds")
    build_index(request, BuildModels(MiniLM(), stages=store))
    return files_of(request.out)


def test_a_second_build_computes_only_what_rests_on_something_else(tmp_path: Path, work: Work) -> None:
    store = StageStore(tmp_path / "stages")
    expected = build(tmp_path / "a", None, guilds(1, 2))
    work.taken()
    assert build(tmp_path / "b", store, guilds(1, 2)) == expected
    n_read, n_embedded = work.taken()
    assert n_read == 2
    assert n_embedded > 40

    assert build(tmp_path / "c", store, guilds(2, 1)) == expected, "whatever the order of the documents"
    assert work.taken() == (0, 0)

    other = IndexConfig(cluster_size=5, tau=1, chunk_tokens=128, overlap_tokens=16)
    kept = build(tmp_path / "d", store, guilds(1, 2), other)
    assert [len(work.batches), len(work.texts) < n_embedded / 2] == [0, True], "the texts of other clusters are new"
    assert kept == build(tmp_path / "e", None, guilds(1, 2), other)
    work.taken()

    build(tmp_path / "f", store, guilds(0, 1, 2))
    assert len(work.batches) == 1, "the other documents were not read again"


def test_a_damaged_store_gives_the_same_index(tmp_path: Path, work: Work) -> None:
    store = StageStore(tmp_path / "stages")
    expected = build(tmp_path / "a", store, guilds(3))
    store.close()
    path = store.folder / "stages.db"
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2] + bytes(len(content) - len(content) // 2))
    work.taken()
    assert build(tmp_path / "b", store, guilds(3)) == expected
    assert build(tmp_path / "c", StageStore(store.folder), guilds(3)) == expected


@dataclass(frozen=True)
class Unkept:
    """A build that took nothing from a store: its files, the documents that it read and the texts that it embedded."""

    files: dict[str, bytes]
    n_read: int
    n_embedded: int


@pytest.fixture(scope="module")
def unkept(tmp_path_factory: pytest.TempPathFactory) -> Unkept:
    with counted() as work:
        files = build(tmp_path_factory.mktemp("unkept") / "index", None, guilds(4, 5, 6))
        return Unkept(files, *work.taken())


@pytest.fixture(scope="module")
def killed_homes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return homes by stage in which a build was killed."""
    folder = tmp_path_factory.mktemp("killed")
    assert call_where_forks_are_killed(f"{__name__}:kill_in_each", str(folder)) == [-signal.SIGKILL] * len(STAGES)
    return folder


@pytest.mark.parametrize("stage", STAGES)
def test_a_build_that_was_killed_goes_on_where_it_was(
    killed_homes: Path, unkept: Unkept, work: Work, stage: str
) -> None:
    home = killed_homes / stage
    store = StageStore(home / "stages")
    assert not (home / "index").exists()
    kept = {size.stage: size.entries for size in store.sizes()}

    assert build(home / "index", store, guilds(4, 5, 6)) == unkept.files
    n_read, n_embedded = work.taken()
    assert n_read == (unkept.n_read - kept["sentences"] if stage == "extract" else 0)
    assert kept["sentences"] >= 1
    assert n_embedded <= unkept.n_embedded - kept.get("embeddings", 0)
    if stage == "aggregate entities":
        assert n_embedded < unkept.n_embedded / 2, "chunks and base entities had been embedded"


def kill_in_each(folder: str) -> list[int]:
    """Build in a fork of this process for each stage that ends in the middle of it; return how they ended. Each goes on
    where the one before was killed."""
    load(("onnxruntime", "scipy.sparse.csgraph", "sklearn.mixture", "spacy", "tokenizers"))
    killed_before: Path | None = None
    exits = []
    for stage in STAGES:
        home = Path(folder) / stage
        if killed_before:
            shutil.copytree(killed_before, home)
        else:
            home.mkdir()
        killed_before = home
        child = os.fork()
        if not child:
            try:
                killed(stage, home)
            finally:
                os._exit(1)
        exits.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    return exits


def killed(stage: str, home: Path) -> None:
    """Build, and end the process in the middle of that stage."""

    def kill(progress: Progress) -> None:
        if progress.stage == stage and 0 < progress.done < progress.total:
            os.kill(os.getpid(), signal.SIGKILL)

    models = BuildModels(MiniLM(), stages=StageStore(home / "stages"))
    build_index(BuildRequest(guilds(4, 5, 6), CONFIG, home / "index"), models, kill)
