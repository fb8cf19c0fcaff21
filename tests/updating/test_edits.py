"""Edits by hand: replayed on every build and update, each undone on its own."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from leanrag_core import Workbench, open_index
from leanrag_core.checking.check import check_index
from leanrag_core.errors import InvalidConfig
from leanrag_core.indexing.build import BuildRequest
from leanrag_core.indexing.editing import Replay
from leanrag_core.indexing.resolution import resolve
from leanrag_core.indexing.updating.preview import changes_to, removal
from leanrag_core.storage.layout import read_edits, write_edits
from leanrag_core.types.corpus import Chunk, Document
from leanrag_core.types.extraction import Extraction, Mention, RelationMention
from leanrag_core.types.graph import Graph
from leanrag_core.types.index import Index
from leanrag_core.types.updating import Action, Edit, EditLog
from tests.updating.conftest import CONFIG, content, read
from tests.updating.texts import MITES

pytestmark = pytest.mark.slow

DOCUMENTS = [Document("doc-a", "a.txt", "A", "text", "a"), Document("doc-b", "b.txt", "B", "text", "b")]
CHUNKS = [Chunk(f"chunk-{name}", f"doc-{name}", place, 0, 1, 1, name) for place, name in enumerate("ab")]


def mention(name: str, kind: str = "person", chunk: str = "chunk-a") -> Mention:
    return Mention(name, kind, f"{name} in {chunk}.", chunk)


def relation(source: str, target: str, chunk: str = "chunk-a") -> RelationMention:
    return RelationMention(source, target, f"{source} knows {target}.", chunk, strength=2.0)


EXTRACTIONS = [
    Extraction(
        "chunk-a",
        (mention("Curie"), mention("Marie Curie"), mention("radium", "element"), mention("Mercury", "planet")),
        (relation("Curie", "radium"), relation("Marie Curie", "radium"), relation("Mercury", "radium")),
    ),
    Extraction("chunk-b", (mention("Mercury", "element", "chunk-b"),), (relation("Mercury", "Curie", "chunk-b"),)),
]


def replayed(*edits: tuple[Action, str, str]) -> tuple[Graph, list[int]]:
    """Return the base graph after these edits, and how much each has changed."""
    log = EditLog(tuple(Edit(n, *edit, documents=("b.txt",)) for n, edit in enumerate(edits, start=1)))
    replay = Replay(log, DOCUMENTS, CHUNKS)
    graph = replay.rows(resolve(map(replay.extraction, EXTRACTIONS), CHUNKS, heuristic=False).graph)
    return graph, [outcome.affected for outcome in replay.outcomes]


def types(graph: Graph) -> dict[str, str]:
    return dict(zip(graph.entities["name"].to_pylist(), graph.entities["type"].to_pylist(), strict=True))


def pairs(graph: Graph) -> dict[frozenset[str], float]:
    names, weights = graph.entities["name"].to_pylist(), graph.relations["weight"].to_pylist()
    return {
        frozenset(names[end] for end in ends): weight for ends, weight in zip(graph.ends.tolist(), weights, strict=True)
    }


def test_merged_entities_share_their_sources_and_the_weights_of_their_relations() -> None:
    graph, affected = replayed(("merge", "Curie", "Marie Curie"))
    assert set(types(graph)) == {"Marie Curie", "radium", "Mercury"}
    assert pairs(graph)[frozenset(["Marie Curie", "radium"])] == 4.0
    assert affected == [3]


def test_a_later_edit_goes_by_the_name_that_an_earlier_one_gave() -> None:
    graph, affected = replayed(("rename", "Curie", "M. Curie"), ("merge", "M. Curie", "Marie Curie"))
    assert set(types(graph)) == {"Marie Curie", "radium", "Mercury"}
    assert affected == [3, 3]


def test_a_type_stays_with_an_entity_that_is_renamed_later() -> None:
    graph, _ = replayed(("retype", "radium", "Metal"), ("rename", "radium", "Radium-226"))
    assert types(graph)["Radium-226"] == "metal"


def test_a_split_takes_what_the_documents_say_and_leaves_the_rest() -> None:
    graph, _ = replayed(("split", "Mercury", "mercury (element)"))
    assert types(graph)["Mercury"] == "planet"
    assert types(graph)["mercury (element)"] == "element"
    assert set(pairs(graph)) >= {frozenset(["Mercury", "radium"]), frozenset(["mercury (element)", "Curie"])}


def test_a_deleted_entity_takes_its_relations_along_and_a_deleted_relation_leaves_its_ends() -> None:
    graph, affected = replayed(("delete", "Mercury", ""), ("delete-relation", "radium", "Curie"))
    assert set(types(graph)) == {"Curie", "Marie Curie", "radium"}
    assert set(pairs(graph)) == {frozenset(["Marie Curie", "radium"])}
    assert affected == [4, 1]


def test_an_edit_of_what_is_no_longer_there_changes_nothing_and_says_so() -> None:
    graph, affected = replayed(("merge", "Becquerel", "Marie Curie"))
    assert graph.entities.equals(replayed()[0].entities)
    assert affected == [0]


def merge(bench: Workbench, folder: Path, name: str, into: str) -> Index:
    return bench.updates.edit(folder, Edit(read_edits(folder).next_number, "merge", name, into))


def names(index: Index) -> list[str]:
    return list(index.layers[0].entities["name"].to_pylist())


def test_a_merge_holds_through_an_update_and_a_rebuild_and_undo_gives_the_bytes_of_before(
    bench: Workbench, folder: Path
) -> None:
    states = [content(folder)]
    merged = merge(bench, folder, "Langstroth hives", "movable frames")
    assert "Langstroth hives" not in names(merged)
    assert merged.report.aliases["Langstroth hives"] == "movable frames"
    states.append(content(folder))

    updated = bench.updates.update(folder, changes_to(merged, [read(bench, "mites.txt", MITES)]))
    assert "Langstroth hives" not in names(updated)
    states.append(content(folder))

    documents = [updated.document(row) for row in range(updated.documents.num_rows)]
    rebuilt = bench.builds.run(BuildRequest(documents, CONFIG, folder, "Six texts"), bench.models.context())
    assert "Langstroth hives" not in names(rebuilt)
    assert rebuilt.manifest.lineage == ()
    assert [check.detail for check in check_index(rebuilt) if not check.ok] == []

    for earlier in reversed(states):
        bench.updates.undo(folder)
        assert content(folder) == earlier


def test_undoing_the_last_edit_gives_the_bytes_of_before(bench: Workbench, folder: Path) -> None:
    before = content(folder)
    merge(bench, folder, "radium", "Marie Curie")
    bench.updates.undo_edit(folder, 1)
    assert content(folder) == before


def test_an_edit_is_undone_on_its_own_after_later_changes(bench: Workbench, folder: Path) -> None:
    merge(bench, folder, "Langstroth hives", "movable frames")
    bench.updates.edit(folder, Edit(2, "rename", "radium", "Radium-226"))
    index = bench.updates.undo_edit(folder, 1)
    assert {"Langstroth hives", "Radium-226"} <= set(names(index))
    assert [edit.number for edit in read_edits(folder).edits] == [2]
    assert [check.detail for check in check_index(index) if not check.ok] == []


def test_an_edit_that_an_update_leaves_without_an_entity_is_reported(bench: Workbench, folder: Path) -> None:
    bench.updates.edit(folder, Edit(1, "retype", "fog bell", "signal"))
    index = bench.updates.update(folder, removal(open_index(folder), ["harbour.txt"]))
    assert [(outcome.number, outcome.applies) for outcome in index.report.edits] == [(1, False)]


def test_an_edit_rewrites_only_the_clusters_that_it_touches(bench: Workbench, folder: Path) -> None:
    index = bench.updates.edit(folder, Edit(1, "retype", "fog bell", "signal"))
    report = index.report.update
    assert report is not None
    assert (report.entities_changed, report.entities_added, report.entities_removed) == (1, 0, 0)
    assert report.layers[0].kept >= len(index.layers[1]) - 1


@pytest.mark.parametrize(
    ("edit", "reason"),
    [
        (Edit(1, "rename", "nobody", "somebody"), "no entity nobody"),
        (Edit(1, "rename", "radium", "…"), "nothing but punctuation"),
        (Edit(1, "rename", "radium", "Paris"), "merge the two"),
        (Edit(1, "merge", "radium", "owls"), "no entity owls"),
        (Edit(1, "retype", "radium", " "), "second name"),
        (Edit(1, "split", "radium", "radon", ("owls.txt",)), "needs documents"),
        (Edit(1, "delete-relation", "radium", "fog bell"), "no relation"),
        (Edit(1, "rename", "radium", "x" * 201), "201 characters: write at most 200"),
        (Edit(1, "retype", "radium", "x" * 201), "201 characters: write at most 200"),
        (Edit(1, "describe-relation", "Marie Curie", "radium", text="x" * 20_001), "20,001 characters"),
    ],
)
def test_an_edit_that_would_change_nothing_or_is_too_long_for_the_log_is_refused(
    bench: Workbench, folder: Path, edit: Edit, reason: str
) -> None:
    before = content(folder)
    with pytest.raises(InvalidConfig, match=reason):
        bench.updates.edit(folder, edit)
    assert content(folder) == before


def test_a_log_of_edits_that_the_index_was_not_made_with_fails_the_check(bench: Workbench, folder: Path) -> None:
    index = bench.updates.edit(folder, Edit(1, "retype", "fog bell", "signal"))
    write_edits(folder, EditLog((Edit(1, "retype", "fog bell", "instrument"),)))
    failed = {check.name: check.detail for check in check_index(index) if not check.ok}
    assert "other edits" in failed["id of the index"]
    assert "edits.json" in failed["file hashes"]


def test_two_edits_at_once_are_both_made(bench: Workbench, folder: Path) -> None:
    edits = [Edit(1, "rename", "radium", "Radium-226"), Edit(1, "rename", "fog bell", "great bell")]
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda edit: bench.updates.edit(folder, edit), edits))
    index = open_index(folder)
    assert {"Radium-226", "great bell"} <= set(names(index))
    assert sorted(edit.number for edit in read_edits(folder).edits) == [1, 2]
    assert len(index.manifest.lineage) == 2
