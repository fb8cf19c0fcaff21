"""A build whose chunks are still being embedded when they are read says how many there are."""

import threading
from pathlib import Path

import numpy as np
import pytest

from leanrag_core import IndexConfig
from leanrag_core.errors import BudgetSpent
from leanrag_core.indexing import build
from leanrag_core.indexing.build import BuildRequest, build_index
from leanrag_core.indexing.build_models import BuildModels
from leanrag_core.models.minilm import MiniLM
from leanrag_core.types.job import Progress
from tests.reading import read_uploads

TEXT = b"Ada Lovelace wrote to Charles Babbage in London. " * 3


def test_the_wait_for_the_chunks_is_told_and_the_other_texts_follow_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    documents = read_uploads([("letters.txt", TEXT), ("answers.txt", TEXT.replace(b"London", b"Turin"))]).documents
    told, embed, waited = list[Progress](), MiniLM.embed, threading.Event()

    def held(model: MiniLM, texts: list[str]) -> object:
        waited.wait(60)
        return embed(model, texts)

    def hear(progress: Progress) -> None:
        told.append(progress)
        if progress.stage == "embed":
            waited.set()

    monkeypatch.setattr(MiniLM, "embed", held)
    build_index(BuildRequest(documents, IndexConfig(), tmp_path / "index"), BuildModels(MiniLM()), hear)
    embedding = [(each.done, each.total) for each in told if each.stage == "embed"]
    merged = next(each.found for each in told if each.stage == "merge" and each.found)
    assert embedding[0] == (0, 2 + merged)
    assert embedding == sorted(embedding), "the bar never goes back"
    assert embedding[-1][0] == embedding[-1][1] >= 2 + merged


def test_a_build_that_fails_embeds_no_more_chunks_than_those_under_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [(f"{place}.txt", TEXT.replace(b"London", b"Town %d" % place)) for place in range(300)]
    failed, n_embedded = threading.Event(), list[int]()

    def held(model: MiniLM, texts: list[str]) -> np.ndarray:
        failed.wait(60)
        n_embedded.append(len(texts))
        return np.tile(np.eye(1, MiniLM.dimension, dtype=np.float32), (len(texts), 1))

    def fail(*given: object) -> None:
        failed.set()
        raise BudgetSpent("budget.calls_spent")

    monkeypatch.setattr(MiniLM, "embed", held)
    monkeypatch.setattr(build, "extract_base_graph", fail)
    request = BuildRequest(read_uploads(texts).documents, IndexConfig(), tmp_path / "index")
    with pytest.raises(BudgetSpent):
        build_index(request, BuildModels(MiniLM()))
    assert n_embedded == [128], "of 300"
