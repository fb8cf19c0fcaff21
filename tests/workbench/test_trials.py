"""Trial indexes: the same as a build, listed apart, kept, cleared away, and gone without a trace when killed."""

import os
import signal
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from leanrag_core import Workbench
from leanrag_core.errors import IndexNotFound, InvalidConfig
from leanrag_core.types.config import IndexConfig
from leanrag_core.types.index import Index
from leanrag_core.types.job import Progress
from leanrag_core.workbench import trials as trials_module
from tests.importing import folders as folders_of_systems
from tests.killing import call_where_forks_are_killed
from tests.workbench.test_workbench import BEES, HIVES

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Workbench:
    return Workbench.default(tmp_path_factory.mktemp("home"))


@pytest.fixture(scope="module")
def built(bench: Workbench) -> Index:
    report = bench.add_documents("My bees", [("bees.md", BEES), ("hives.txt", HIVES)])
    return bench.build(report.corpus_id)


@pytest.fixture
def index(bench: Workbench, built: Index) -> Iterator[Index]:
    """Yield the index to try other settings of; trials are cleared away afterwards."""
    yield built
    bench.trials.clear()


def folders(bench: Workbench) -> list[str]:
    return sorted(path.name for path in bench.trials.root.iterdir())


def test_a_trial_is_the_index_that_a_build_makes_and_stands_in_no_list(bench: Workbench, index: Index) -> None:
    heard: list[Progress] = []
    trial = bench.trials.make(index, {"cluster_size": 3}, heard.append)
    assert {"cluster", "index"} <= {progress.stage for progress in heard}
    assert trial.manifest.config.cluster_size == 3
    assert len(trial.layers) >= len(index.layers)
    assert [each.id for each in bench.indexes.all()] == [index.folder_name]
    (listed,) = bench.trials.all()
    assert (listed.id, listed.base) == (trial.folder_name, index.folder_name)
    assert listed.seconds > 0
    answer = bench.ask(trial.folder_name, "What do beekeepers use against Varroa destructor?", top_n=5)
    assert "oxalic acid" in answer.text

    other = bench.build(index.manifest.corpus.id, replace(index.manifest.config.checked(), cluster_size=3))
    assert trial.id == other.id  # the same settings, the same bytes
    bench.indexes.delete(other.folder_name)


@pytest.mark.parametrize("make_folder", [folders_of_systems.graphrag, folders_of_systems.lightrag])
def test_a_trial_of_an_imported_graph_is_what_an_import_with_its_settings_makes(
    tmp_path: Path, make_folder: Callable[[Path], Path]
) -> None:
    bench, folder = Workbench.default(tmp_path / "home"), make_folder(tmp_path / "graph")
    index = bench.import_graph(folder)
    trial = bench.trials.make(index, {"cluster_size": 2, "tau": 1})
    again = bench.import_graph(folder, config=replace(IndexConfig(), cluster_size=2, tau=1), out=tmp_path / "again")
    assert trial.path is not None
    assert bench.trials.all()[0].base == index.folder_name
    files = {path.name: path.read_bytes() for path in (tmp_path / "again").iterdir() if path.is_file()}
    assert trial.id == again.id
    assert {path.name: path.read_bytes() for path in trial.path.iterdir() if path.is_file()} == files

    kept = bench.trials.keep(trial.folder_name, "Fine clusters")
    assert kept.startswith(index.folder_name.rpartition("-")[0])
    assert bench.indexes.open(kept).manifest.id == again.id
    with pytest.raises(InvalidConfig, match="imported"):
        bench.trials.make(index, {"chunk_tokens": 500})
    assert bench.trials.forecast(index, trial.manifest.config.checked()).seconds.high > 0


def test_stages_that_are_gone_are_made_again_and_leave_no_trial(bench: Workbench, index: Index) -> None:
    assert bench.trials.has_stages(index)
    made = bench.trials.make(index, {"cluster_size": 4}).id
    bench.stages.clear()
    assert not bench.trials.has_stages(index)
    heard: list[Progress] = []
    bench.trials.make_stages(index, heard.append)
    assert bench.trials.has_stages(index)
    assert heard
    assert [trial.summary.config.cluster_size for trial in bench.trials.all()] == [4]
    bench.trials.clear()
    assert folders(bench) == []
    assert bench.trials.make(index, {"cluster_size": 4}).id == made


def test_what_is_there_is_not_made_again(bench: Workbench, index: Index) -> None:
    assert bench.trials.make(index, {"cluster_size": index.manifest.config.cluster_size}).path == index.path
    first = bench.trials.make(index, {"tau": 1})
    heard: list[Progress] = []
    assert bench.trials.make(index, {"tau": 1}, heard.append).path == first.path
    assert heard == []
    assert bench.trials.seconds(index, {"tau": 1}).high == 0
    assert bench.trials.seconds(index, {"tau": 2}).expected == bench.trials.all()[0].seconds  # as measured


def test_a_trial_is_kept_under_a_name(bench: Workbench, index: Index) -> None:
    trial = bench.trials.make(index, {"cluster_size": 4})
    kept = bench.trials.keep(trial.folder_name, "Bees, clustersize 4")
    assert folders(bench) == []
    assert {each.id: each.name for each in bench.indexes.all()}[kept] == "Bees, clustersize 4"
    again = bench.trials.make(index, {"cluster_size": 4})
    assert again.folder_name == kept  # it is the index of these settings now
    with pytest.raises(IndexNotFound):
        bench.trials.keep(kept)
    with pytest.raises(IndexNotFound):
        bench.trials.clear(index.folder_name)
    bench.indexes.delete(kept)


def test_trials_are_cleared_away_one_by_one_and_those_not_used_for_longest_by_themselves(
    bench: Workbench, index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = (bench.trials.make(index, {"tau": tau}).folder_name for tau in (1, 2))
    bench.trials.clear(first)
    assert [trial.id for trial in bench.trials.all()] == [second]
    monkeypatch.setattr(trials_module, "MOST", 2)
    third = bench.trials.make(index, {"tau": 4}).folder_name
    for n, id_ in enumerate((third, second)):
        os.utime(bench.trials.root / f"{id_}.json", (n + 1, n + 1))
    fourth = bench.trials.make(index, {"tau": 5}).folder_name
    assert [trial.id for trial in bench.trials.all()] == [fourth, second]
    assert not any(third in name for name in folders(bench))


def test_what_cannot_be_made_is_said_and_leaves_nothing(bench: Workbench, index: Index) -> None:
    before = folders(bench) if bench.trials.root.is_dir() else []
    with pytest.raises(InvalidConfig, match="cluster_size"):
        bench.trials.make(index, {"cluster_size": 1})

    class Stopped(Exception):
        """What a report raises that ends the work."""

    def stop(progress: Progress) -> None:
        if progress.stage == "cluster":
            raise Stopped

    with pytest.raises(Stopped):
        bench.trials.make(index, {"cluster_size": 5}, stop)
    assert folders(bench) == before
    assert bench.trials.all() == []


def killed_while_it_tries(home: str, index_id: str) -> int:
    """Make a trial in a fork of this process that is killed before its end; return how it ended."""

    def kill(progress: Progress) -> None:
        if progress.stage == "index":
            os.kill(os.getpid(), signal.SIGKILL)

    child = os.fork()
    if not child:
        try:
            bench = Workbench.default(Path(home))
            bench.trials.make(bench.indexes.open(index_id), {"cluster_size": 6}, kill)
        finally:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_a_killed_process_leaves_no_debris(bench: Workbench, index: Index) -> None:
    killed = call_where_forks_are_killed(f"{__name__}:killed_while_it_tries", str(bench.root), index.folder_name)
    assert killed == -signal.SIGKILL
    assert folders(bench) != []
    opened = Workbench.default(bench.root)
    assert folders(opened) == []
    assert opened.trials.make(index, {"cluster_size": 6}).manifest.config.cluster_size == 6
