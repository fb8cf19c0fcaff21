"""The places of a map are computed once for the same vectors, and kept beside the stages of builds."""

from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from leanrag_core import IndexConfig, Workbench
from leanrag_core.jobs.events import JobSpec, create_job
from leanrag_core.messages.catalog import sentence
from leanrag_core.types.index import Index
from leanrag_core.types.job import JobState
from leanrag_core.workbench import builds
from leanrag_core.workbench import indexes as service


def test_places_are_kept_and_read_again(index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = Workbench.default(tmp_path).indexes.map_places(index)

    def never(*arguments: object) -> None:
        raise AssertionError("the places are kept")

    monkeypatch.setattr(service, "embedding_places", never)
    again = Workbench.default(tmp_path).indexes.map_places(index)
    assert again.rows.tolist() == first.rows.tolist() == [0, 1, 2, 3, 4, 5]
    assert again.places.tolist() == first.places.tolist()


def test_another_index_has_places_of_its_own(index: Index, tmp_path: Path) -> None:
    bench = Workbench.default(tmp_path)
    bench.indexes.map_places(index)
    turned = replace(index.layers[0], vectors=np.ascontiguousarray(index.layers[0].vectors[::-1]))
    other = replace(index, manifest=replace(index.manifest, id="other"), layers=(turned, *index.layers[1:]))
    assert bench.indexes.map_places(other).places.tolist() != bench.indexes.map_places(index).places.tolist()


@pytest.mark.slow
def test_a_build_says_that_it_places_entities_where_it_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bench, seen = Workbench.default(tmp_path), list[JobState]()
    text = b"The Ural Owl hunts voles in the Carpathian Forest. Milena Dvorak counted the Ural Owl near Poloniny."
    corpus = bench.add_documents("Owls", [("owls.txt", text)]).corpus_id
    map_places = bench.indexes.map_places

    def looked_at(index: Index) -> object:
        seen.append(bench.jobs.job("mapped"))
        return map_places(index)

    monkeypatch.setattr(bench.indexes, "map_places", looked_at)
    for name, mapped_from in (("mapped", 1), ("small", 300)):
        monkeypatch.setattr(builds, "_MAPPED_FROM", mapped_from)
        folder = tmp_path / "jobs" / name
        now = datetime.now(UTC).isoformat()
        create_job(folder, JobSpec(name, "Owls", corpus, asdict(IndexConfig()), {}, now, "build"))
        assert bench.run_job(folder) == 0
    [job] = seen
    *others, last = job.stages
    assert (last.name, last.status, job.share) == ("map", "running", 0.99)
    assert sentence(job.kind.stage("map").doing) == "Placing entities on the map"
    assert {stage.status for stage in others} == {"done"}
    assert bench.jobs.job("mapped").stages[-1].name == "map"
    assert bench.jobs.job("small").stages[-1].name == "index", "a stage that it does not have is not listed"
