"""Indexes of six short documents, built once and copied for each test that changes them."""

import shutil
from pathlib import Path

import pytest

from leanrag_core import IndexConfig, Workbench
from leanrag_core.indexing.build import BuildRequest
from leanrag_core.types.corpus import Document
from tests.updating.texts import files

CONFIG = IndexConfig(cluster_size=4, tau=1, chunk_tokens=64, overlap_tokens=8)


@pytest.fixture(scope="session")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Workbench:
    return Workbench.default(tmp_path_factory.mktemp("updating"))


@pytest.fixture(scope="session")
def corpus_id(bench: Workbench) -> str:
    return bench.add_documents("Six texts", files()).corpus_id


@pytest.fixture(scope="session")
def built(bench: Workbench, corpus_id: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("built") / "index"
    documents = [bench.corpora.document(corpus_id, row.id) for row in bench.corpora.documents(corpus_id)]
    bench.builds.run(BuildRequest(documents, CONFIG, folder, "Six texts"), bench.models.context())
    return folder


@pytest.fixture
def folder(built: Path, tmp_path: Path) -> Path:
    """Return an index that a test may change."""
    return Path(shutil.copytree(built, tmp_path / "index"))


def read(bench: Workbench, name: str, text: str) -> Document:
    """Return the document of that text."""
    corpus = bench.add_documents("Other texts", [(name, text.encode())]).corpus_id
    (row,) = bench.corpora.documents(corpus)
    return bench.corpora.document(corpus, row.id)


def content(folder: Path) -> dict[str, bytes]:
    """Return every file of the index, by path."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
