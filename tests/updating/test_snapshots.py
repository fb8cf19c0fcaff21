"""Snapshots: each change keeps the state before it, which is named, opened, compared, put back and deleted."""

import errno
import os
import shutil
from pathlib import Path

import pytest

from leanrag_core import Workbench, open_index
from leanrag_core.checking.check import check_index
from leanrag_core.errors import FolderRefused, IndexNotFound, InvalidConfig, SnapshotNotFound, StorageFailed
from leanrag_core.evaluation.gold import Evidence, GoldQuestion
from leanrag_core.indexing.updating.preview import changes_to, removal
from leanrag_core.storage import earlier_states
from leanrag_core.storage.layout import REPORT
from leanrag_core.types.index import Index
from leanrag_core.types.snapshots import KEPT_STATES, StateChange
from leanrag_core.types.updating import Edit
from leanrag_core.workbench.indexes import earlier_id
from leanrag_core.workbench.snapshots import AskedOfStates
from tests.updating.conftest import content, read
from tests.updating.texts import MITES, OWLS

pytestmark = pytest.mark.slow


def add(bench: Workbench, folder: Path, name: str, text: str) -> Index:
    return bench.updates.update(folder, changes_to(open_index(folder), [read(bench, name, text)]))


def test_each_change_keeps_the_state_before_it_with_what_was_done(bench: Workbench, folder: Path) -> None:
    add(bench, folder, "owls.txt", OWLS)
    bench.updates.update(folder, removal(open_index(folder), ["bees.txt"]))
    bench.updates.edit(folder, Edit(1, "rename", "radium", "Radium-226"))
    edited, removed, added = bench.snapshots.list(folder)
    assert added.change == StateChange("update", added=1)
    assert removed.change == StateChange("update", removed=1)
    assert edited.change == StateChange("edit", edits=1)
    assert [state.documents for state in (edited, removed, added)] == [6, 7, 6]
    assert added.kept <= removed.kept <= edited.kept
    assert edited.kept.endswith("+00:00")


def test_a_state_opens_and_is_asked_like_any_index(bench: Workbench, folder: Path) -> None:
    before = open_index(folder)
    add(bench, folder, "owls.txt", OWLS)
    earlier = bench.snapshots.open(folder, "1")
    assert earlier.id == before.id
    assert [result.detail for result in check_index(earlier) if not result.ok] == []
    assert bench.answer(earlier, bench.retrieve(earlier, "Who discovered radium?")).text


def test_nothing_changes_a_state_itself(bench: Workbench, folder: Path) -> None:
    add(bench, folder, "owls.txt", OWLS)
    state = bench.snapshots.folder(folder, "1")
    before = content(state)
    with pytest.raises(FolderRefused, match="earlier state"):
        bench.updates.edit(state, Edit(1, "rename", "radium", "Radium-226"))
    assert content(state) == before


def test_the_present_state_is_kept_under_a_name_and_costs_no_space(bench: Workbench, folder: Path) -> None:
    before = content(folder)
    kept = bench.snapshots.keep(folder, " before  the owls ")
    assert (kept.name, kept.change, kept.undoable) == ("before the owls", StateChange("copy"), False)
    assert kept.own_bytes == len(before["manifest.json"])
    assert kept.size_bytes == sum(map(len, before.values()))
    assert content(folder) == before
    assert content(bench.snapshots.folder(folder, kept.name)) == before


def test_undo_leads_past_a_kept_copy_and_leaves_a_named_state(bench: Workbench, folder: Path) -> None:
    first = content(folder)
    add(bench, folder, "owls.txt", OWLS)
    with_owls = content(folder)
    bench.snapshots.keep(folder, "with owls")
    bench.snapshots.keep(folder, "without", "1")
    bench.updates.undo(folder)
    assert content(folder) == first
    assert {state.name for state in bench.snapshots.list(folder)} == {"with owls", "without"}
    with pytest.raises(InvalidConfig, match="no earlier state"):
        bench.updates.undo(folder)
    bench.snapshots.restore(folder, "with owls")
    assert content(folder) == with_owls


def test_a_restored_state_is_the_same_bytes_and_the_present_one_becomes_a_state(bench: Workbench, folder: Path) -> None:
    first = content(folder)
    add(bench, folder, "owls.txt", OWLS)
    second = content(folder)
    bench.snapshots.restore(folder, "1")
    assert content(folder) == first
    newest = bench.snapshots.list(folder)[0]
    assert newest.change == StateChange("restore")
    assert content(bench.snapshots.folder(folder, str(newest.number))) == second
    bench.updates.undo(folder)
    assert content(folder) == second


def test_named_states_stay_beyond_the_limit_and_when_the_others_are_forgotten(bench: Workbench, folder: Path) -> None:
    bench.snapshots.keep(folder, "first")
    for number in range(KEPT_STATES + 1):
        add(bench, folder, f"note{number}.txt", f"Otto Lilienthal flew glider {number} at Derwitz near Berlin.")
    states = bench.snapshots.list(folder)
    assert len(states) == KEPT_STATES + 1
    assert [state.name for state in states if state.name] == ["first"]
    bench.updates.forget_earlier(folder)
    assert [state.name for state in bench.snapshots.list(folder)] == ["first"]
    bench.snapshots.delete(folder, "first")
    assert not earlier_states.earlier_folder(folder).exists()


def test_unnamed_states_keep_within_their_bytes_and_the_newest_stays(
    bench: Workbench, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(earlier_states, "KEPT_BYTES", 1)
    add(bench, folder, "owls.txt", OWLS)
    add(bench, folder, "mites.txt", MITES)
    assert [(state.number, state.documents) for state in bench.snapshots.list(folder)] == [(2, 7)]


def test_equal_files_of_states_are_one_file(bench: Workbench, folder: Path) -> None:
    add(bench, folder, "owls.txt", OWLS)
    bench.updates.update(folder, removal(open_index(folder), ["owls.txt"]))  # the first state comes again
    second, first = bench.snapshots.list(folder)
    shared = earlier_states.state_folder(folder, first.number) / "entities-0.arrow"
    assert shared.samefile(folder / "entities-0.arrow")
    assert first.own_bytes < first.size_bytes / 4 < second.own_bytes


def test_a_state_keeps_the_time_of_its_build_beside_an_equal_one(bench: Workbench, folder: Path) -> None:
    before, built = folder.with_name("before"), 1_700_000_000
    shutil.copytree(folder, before)
    os.utime(before / REPORT, (built, built))
    earlier_states.keep_earlier(before, folder)
    state = earlier_states.state_folder(folder, 1)
    assert (state / "entities-0.arrow").samefile(folder / "entities-0.arrow")
    assert (state / REPORT).stat().st_mtime == built
    bench.snapshots.restore(folder, "1")
    assert (folder / REPORT).stat().st_mtime == built, "which the table of indexes shows"


def test_a_disk_without_hard_links_keeps_and_restores_the_same_bytes(
    bench: Workbench, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*paths: object) -> None:
        raise OSError(errno.EPERM, "no hard links here")

    monkeypatch.setattr(os, "link", refused)
    first = content(folder)
    bench.snapshots.keep(folder, "first")
    add(bench, folder, "owls.txt", OWLS)
    for state in bench.snapshots.list(folder):
        assert state.own_bytes == state.size_bytes
    bench.snapshots.restore(folder, "first")
    assert content(folder) == first


def test_a_state_is_not_linked_to_a_damaged_file_of_another_one(bench: Workbench, folder: Path) -> None:
    first = content(folder)
    bench.snapshots.keep(folder, "first")
    damaged = bench.snapshots.folder(folder, "first") / "documents.arrow"
    whole = damaged.read_bytes()
    damaged.unlink()
    damaged.write_bytes(whole[:-1] + b"?")
    add(bench, folder, "owls.txt", OWLS)
    newest = bench.snapshots.list(folder)[0]
    assert content(bench.snapshots.folder(folder, str(newest.number))) == first


@pytest.mark.parametrize("name", ["", "  ", "12", "n" * 101])
def test_a_name_that_could_not_be_asked_for_is_refused(bench: Workbench, folder: Path, name: str) -> None:
    with pytest.raises(InvalidConfig, match="name of 1 to"):
        bench.snapshots.keep(folder, name)


def test_two_states_have_two_names(bench: Workbench, folder: Path) -> None:
    bench.snapshots.keep(folder, "first")
    with pytest.raises(InvalidConfig, match="another state is called"):
        bench.snapshots.keep(folder, "first")
    bench.snapshots.keep(folder, "renamed", "first")
    with pytest.raises(SnapshotNotFound, match="'first'"):
        bench.snapshots.open(folder, "first")
    assert bench.snapshots.find(folder, "renamed").undoable is False


def test_states_are_compared_in_graph_clusters_and_questions(bench: Workbench, folder: Path) -> None:
    add(bench, folder, "owls.txt", OWLS)
    questions = [
        GoldQuestion(
            "1", "What does the Ural Owl hunt?", ("voles",), (Evidence("owls.txt", "The Ural Owl hunts voles"),)
        ),
        GoldQuestion("2", "Unanswerable?", ("-",)),
    ]
    compared = bench.snapshots.compare(folder, "1", asked=AskedOfStates(questions))
    shown = compared.differences
    assert (shown.documents.added, shown.documents.removed, shown.documents.changed) == (("owls.txt",), (), ())
    assert "Carpathian Forest" in shown.entities.added
    assert shown.entities.removed == ()
    assert any("Carpathian Forest" in name for name in shown.relations.added)
    report = open_index(folder).report.update
    assert report is not None
    assert len(shown.entities.added) == report.entities_added
    assert len(shown.relations.added) == report.relations_added
    lowest = shown.layers[0]
    assert lowest.adjusted_rand is not None
    assert 0.4 < lowest.adjusted_rand <= 1
    asked = compared.questions
    assert asked is not None
    assert (asked.before.value, asked.after.value, asked.difference.n) == (0.0, 1.0, 1)
    assert (asked.won, asked.lost) == (("What does the Ural Owl hunt?",), ())


def test_a_state_beside_itself_differs_in_nothing(bench: Workbench, folder: Path) -> None:
    bench.snapshots.keep(folder, "now")
    shown = bench.snapshots.compare(folder, "now").differences
    assert [each for each in (shown.documents, shown.entities, shown.relations) if each] == []
    assert shown.texts == ()
    for moves in shown.layers:
        assert (moves.clusters.changed, moves.clusters.new, moves.clusters.gone, moves.moved) == (0, 0, 0, 0)
        assert moves.adjusted_rand == 1


def test_a_state_of_the_store_opens_by_an_id_of_its_own(bench: Workbench, corpus_id: str) -> None:
    index = bench.build(corpus_id)
    assert index.path is not None
    kept = bench.snapshots.keep(index.path, "now")
    id_ = earlier_id(index.path.name, kept)
    assert bench.open(id_).path == bench.snapshots.folder(index.path, "now")
    assert bench.indexes.summary(id_).documents == index.documents.num_rows
    assert id_ not in [each.id for each in bench.indexes.all()]
    bench.snapshots.delete(index.path, "now")
    with pytest.raises(IndexNotFound, match="not kept any more"):
        bench.open(id_)


def test_a_full_disk_leaves_index_and_states_as_they_were(
    bench: Workbench, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(bench, folder, "owls.txt", OWLS)
    before = content(folder.parent)

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(earlier_states, "write_bytes", full)
        for change in (
            lambda: bench.snapshots.keep(folder, "now"),
            lambda: bench.snapshots.keep(folder, "first", "1"),
            lambda: bench.snapshots.restore(folder, "1"),
            lambda: bench.updates.edit(folder, Edit(1, "rename", "radium", "Radium-226")),
        ):
            with pytest.raises(StorageFailed, match="full"):
                change()
            assert content(folder.parent) == before
