"""Documents added, changed and removed: only what they touch changes, and every change can be undone."""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from leanrag_core import Workbench, open_index
from leanrag_core.checking.check import check_index
from leanrag_core.errors import InvalidConfig
from leanrag_core.indexing import build
from leanrag_core.indexing.build import BuildRequest
from leanrag_core.indexing.updating.preview import changes_to, removal
from leanrag_core.storage.earlier_states import earlier_states
from leanrag_core.storage.layout import rename_corpus, rename_index
from leanrag_core.types.index import Index
from leanrag_core.types.snapshots import KEPT_STATES
from tests.updating.conftest import CONFIG, content, read
from tests.updating.texts import MITES, OWLS, TEXTS

pytestmark = pytest.mark.slow


def add(bench: Workbench, folder: Path, name: str, text: str) -> Index:
    return bench.updates.update(folder, changes_to(open_index(folder), [read(bench, name, text)]))


def remove(bench: Workbench, folder: Path, name: str) -> Index:
    return bench.updates.update(folder, removal(open_index(folder), [name]))


def clusters(index: Index) -> set[frozenset[str]]:
    """Return the members of each cluster of base entities, by name."""
    names = index.layers[0].entities["name"].to_pylist()
    return {frozenset(names[row] for row in index.children_of(1, parent)) for parent in range(len(index.layers[1]))}


def make_part(bench: Workbench, folder: Path) -> None:
    bench.parts.build(open_index(folder), "chunk_tree")


def failed(index: Index) -> list[str]:
    return [f"{check.name}: {check.detail}" for check in check_index(index) if not check.ok]


def test_a_new_document_leaves_clusters_that_it_does_not_touch_as_they_were(bench: Workbench, folder: Path) -> None:
    before = open_index(folder)
    after = add(bench, folder, "owls.txt", OWLS)
    assert "Milena Dvorak" in after.layers[0].entities["name"].to_pylist()
    assert clusters(before) < clusters(after), "what is about owls makes clusters of its own"
    assert failed(after) == []
    report = after.report.update
    assert report is not None
    assert (report.chunks_added, report.chunks_removed, report.entities_removed) == (1, 0, 0)
    assert (report.layers[0].kept, report.layers[0].changed) == (len(before.layers[1]), 0)
    assert 0 < report.texts_written < report.texts_kept


def test_names_that_are_given_during_an_update_stay(
    bench: Workbench, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = build.write_index

    def renamed_meanwhile(*arguments: Any, **more: Any) -> None:
        rename_index(folder, "Renamed")
        rename_corpus(folder, "Forest")
        written(*arguments, **more)

    monkeypatch.setattr(build, "write_index", renamed_meanwhile)
    after = add(bench, folder, "owls.txt", OWLS)
    assert (after.manifest.name, after.manifest.corpus.name) == ("Renamed", "Forest")
    assert failed(after) == []


def test_undo_and_restore_keep_the_names_that_were_given_since(bench: Workbench, folder: Path) -> None:
    before = open_index(folder)
    after = add(bench, folder, "owls.txt", OWLS)
    rename_index(folder, "Renamed")
    rename_corpus(folder, "Forest")
    undone = bench.updates.undo(folder)
    assert undone.id == before.id != after.id
    assert (undone.manifest.name, undone.manifest.corpus.name) == ("Renamed", "Forest")
    bench.snapshots.keep(folder, "kept")
    rename_corpus(folder, "Wood")
    assert bench.snapshots.restore(folder, "kept").manifest.corpus.name == "Wood"
    assert failed(open_index(folder)) == []


def test_a_corpus_that_is_renamed_during_the_first_build_is_called_so_by_the_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench, written = Workbench.default(tmp_path), build.write_index
    corpus = bench.add_documents("Owls", [("owls.txt", OWLS.encode())]).corpus_id

    def renamed_meanwhile(*arguments: Any, **more: Any) -> None:
        bench.rename_corpus(corpus, "Forest")
        written(*arguments, **more)

    monkeypatch.setattr(build, "write_index", renamed_meanwhile)
    index = bench.build(corpus, CONFIG)
    assert index.manifest.corpus.name == bench.indexes.summary(index.folder_name).corpus_name == "Forest"
    assert failed(index) == []


def test_texts_of_untouched_clusters_are_those_of_before(bench: Workbench, folder: Path) -> None:
    before, after = open_index(folder), add(bench, folder, "owls.txt", OWLS)
    was = dict(zip(*(before.layers[1].entities[name].to_pylist() for name in ("id", "description")), strict=True))
    now = dict(zip(*(after.layers[1].entities[name].to_pylist() for name in ("id", "description")), strict=True))
    same_members = was.keys() & now.keys()
    assert same_members
    assert {id_: was[id_] for id_ in same_members} == {id_: now[id_] for id_ in same_members}


def test_the_base_graph_of_an_updated_index_is_that_of_a_fresh_build(
    bench: Workbench, folder: Path, tmp_path: Path
) -> None:
    document = read(bench, "mites.txt", MITES)
    updated = bench.updates.update(folder, changes_to(open_index(folder), [document]))
    documents = [updated.document(row) for row in range(updated.documents.num_rows)]
    config = updated.manifest.config.checked()
    fresh = bench.builds.run(BuildRequest(documents, config, tmp_path / "fresh", "Fresh"), bench.models.context())
    for name in ("entities", "relations"):
        assert (folder / f"{name}-0.arrow").read_bytes() == (tmp_path / "fresh" / f"{name}-0.arrow").read_bytes()
    assert np.array_equal(updated.layers[0].vectors, fresh.layers[0].vectors)
    assert np.array_equal(updated.chunk_vectors, fresh.chunk_vectors)


def test_the_same_change_of_the_same_index_gives_the_same_bytes(bench: Workbench, folder: Path, tmp_path: Path) -> None:
    twin = Path(shutil.copytree(folder, tmp_path / "twin"))
    add(bench, folder, "mites.txt", MITES)
    add(bench, twin, "mites.txt", MITES)
    assert content(folder) == content(twin)


def test_a_removed_document_leaves_no_trace(bench: Workbench, folder: Path) -> None:
    index = remove(bench, folder, "harbour.txt")
    bench.updates.forget_earlier(folder)
    for word in (b"Thornbury", b"Grey Harbour", b"fog bell", b"harbour.txt", b"Corisande"):
        holding = [name for name, stored in content(folder.parent).items() if word in stored]
        assert holding == [], word
    assert failed(index) == []
    assert index.documents.num_rows == len(TEXTS) - 1
    report = index.report.update
    assert report is not None
    assert report.entities_removed > 0


def test_removing_the_document_just_added_gives_the_earlier_bytes(bench: Workbench, folder: Path) -> None:
    before = content(folder)
    add(bench, folder, "mites.txt", MITES)
    assert content(folder) != before
    remove(bench, folder, "mites.txt")
    assert content(folder) == before


def test_undo_goes_through_every_state_also_where_a_change_brought_an_earlier_one_again(
    bench: Workbench, folder: Path
) -> None:
    states = [content(folder)]
    for change in (add, remove, add):
        change(bench, folder, "mites.txt", *([MITES] if change is add else []))
        states.append(content(folder))
    assert states[0] == states[2] != states[1] == states[3]
    for earlier in reversed(states[:-1]):
        bench.updates.undo(folder)
        assert content(folder) == earlier
    with pytest.raises(InvalidConfig, match="no earlier state"):
        bench.updates.undo(folder)


def test_an_earlier_state_comes_again_with_its_parts(bench: Workbench, folder: Path) -> None:
    make_part(bench, folder)
    before = content(folder)
    add(bench, folder, "mites.txt", MITES)
    make_part(bench, folder)
    remove(bench, folder, "mites.txt")
    assert content(folder) == before


def test_removing_it_without_an_earlier_state_gives_the_clusters_of_before(bench: Workbench, folder: Path) -> None:
    before = clusters(open_index(folder))
    add(bench, folder, "owls.txt", OWLS)
    bench.updates.forget_earlier(folder)
    assert clusters(remove(bench, folder, "owls.txt")) == before


def test_a_changed_document_takes_the_place_of_the_one_of_its_name(bench: Workbench, folder: Path) -> None:
    text = TEXTS["chess.txt"].replace("Berlin", "Vienna")
    index = add(bench, folder, "chess.txt", text)
    names = index.layers[0].entities["name"].to_pylist()
    assert index.documents.num_rows == len(TEXTS)
    assert "Vienna" in names
    assert "Berlin" not in names
    assert index.manifest.lineage[-1].changed == 1
    assert failed(index) == []


def test_undo_puts_back_each_state_in_turn_and_only_the_last_ones_are_kept(bench: Workbench, folder: Path) -> None:
    states = [content(folder)]
    for number in range(KEPT_STATES + 1):
        add(
            bench,
            folder,
            f"note{number}.txt",
            f"Otto Lilienthal flew glider {number} at Derwitz. Derwitz is near Berlin.",
        )
        states.append(content(folder))
    kept = earlier_states(folder)
    assert len(kept) == KEPT_STATES
    assert all(state.size_bytes > 0 for state in kept)
    for earlier in reversed(states[1:-1]):
        bench.updates.undo(folder)
        assert content(folder) == earlier
    with pytest.raises(InvalidConfig, match="no earlier state"):
        bench.updates.undo(folder)


def test_the_manifest_tells_from_which_index_an_update_was_made(bench: Workbench, folder: Path) -> None:
    first = open_index(folder).id
    second = add(bench, folder, "owls.txt", OWLS)
    third = remove(bench, folder, "glacier.txt")
    assert [(step.from_id, step.added, step.removed) for step in third.manifest.lineage] == [
        (first, 1, 0),
        (second.id, 0, 1),
    ]
    assert len({first, second.id, third.id}) == 3


@pytest.mark.parametrize("in_store", [True, False])
def test_what_could_not_be_read_stays_in_the_report_of_an_update_until_it_is_read(
    tmp_path: Path, in_store: bool
) -> None:
    bench = Workbench.default(tmp_path)
    files = [(name, text.encode()) for name, text in TEXTS.items()]
    corpus = bench.add_documents("Farm", [*files, ("owls.txt", b""), ("empty.txt", b"")]).corpus_id
    built = bench.build(corpus, CONFIG)
    assert built.path is not None
    if not in_store:
        bench.corpora.delete(corpus)
    states = [built, add(bench, built.path, "mites.txt", MITES), add(bench, built.path, "owls.txt", OWLS)]
    assert [state.report.drops.get("parse", 0) for state in states] == [2, 2, 1]
    assert [drop.item for drop in states[-1].report.dropped["parse"]] == ["empty.txt"]


def test_a_preview_counts_what_the_update_then_does(bench: Workbench, folder: Path) -> None:
    index = open_index(folder)
    changes = changes_to(index, [read(bench, "mites.txt", MITES)])
    preview = bench.updates.preview(index, changes)
    report = bench.updates.update(folder, changes).report.update
    assert report is not None
    assert preview.added == ("mites.txt",)
    assert preview.chunks_added == report.chunks_added
    assert preview.chunks_kept == index.chunks.num_rows
    assert 0 < preview.clusters_touched <= preview.clusters + 3
    assert preview.usage.calls == preview.fresh_calls == 0, "the built-in models make no calls"


def test_what_cannot_be_done_is_said(bench: Workbench, folder: Path) -> None:
    index = open_index(folder)
    with pytest.raises(InvalidConfig, match="holds no document owls"):
        removal(index, ["owls.txt"])
    with pytest.raises(InvalidConfig, match="delete the index"):
        bench.updates.update(folder, removal(index, list(TEXTS)))
    same = changes_to(index, [index.document(0)])
    assert not same
    assert same.unchanged == (index.document(0).name,)


def test_a_chroma_server_is_told_to_forget_the_states_that_are_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = Workbench.default(tmp_path / "home")
    corpus_id = bench.add_documents("Notes", [("bees.txt", TEXTS["bees.txt"].encode())]).corpus_id
    first = bench.build(corpus_id, CONFIG)
    bench.add_documents(corpus_id, [("owls.txt", OWLS.encode())])
    assert first.path is not None
    bench.updates.update(first.path, bench.updates.corpus_changes(first))
    deleted: list[str] = []
    monkeypatch.setattr(type(bench.searches.servers), "remove_collections", lambda self, url, id_: deleted.append(id_))
    bench.settings.save(replace(bench.settings.read(), chroma_url="http://127.0.0.1:9"))
    bench.updates.forget_earlier(first.path)
    assert deleted == [first.id]

    # A copy that has the same state and whose deletion can be taken back keeps what the server holds of it.
    copy = first.path.with_name("a-copy")
    shutil.copytree(first.path, copy)
    second = bench.indexes.manifest_id(copy.name)
    bench.indexes.hold(copy.name)
    bench.indexes.delete(first.path.name)
    assert second not in deleted
    bench.indexes.end_deletion(copy.name)
    assert second in deleted
