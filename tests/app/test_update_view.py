"""Updates and edits on the pages: a preview, a job on a click, undo, and the notice in the Library."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from streamlit.testing.v1 import AppTest

from leanrag_core import IndexConfig, Workbench
from leanrag_core.evaluation.gold import Evidence, GoldQuestion
from leanrag_core.jobs import runner
from leanrag_core.jobs.events import read_spec
from leanrag_core.queries import browse
from leanrag_core.storage.earlier_states import earlier_states
from leanrag_core.storage.layout import read_edits
from leanrag_core.types.graph import Place
from leanrag_core.types.updating import Edit
from tests.app import drawn
from tests.app.conftest import CORPUS

Visit = Callable[..., AppTest]
OWLS = b"The Ural Owl hunts voles in the Carpathian Forest. Milena Dvorak counted the Ural Owl near Poloniny."


def opened(home: Workbench, visit: Visit) -> AppTest:
    """Open the Build page with the fold open."""
    app = visit("build", home)
    app.session_state["index_update"] = True
    app.run()
    assert not app.exception
    return app


def test_an_index_behind_its_corpus_is_previewed_and_updated_by_a_job(
    home: Workbench, visit: Visit, launched: list[Path]
) -> None:
    assert "holds the documents of its corpus" in drawn.text(opened(home, visit))
    home.add_documents(CORPUS, [("owls.txt", OWLS)])
    app = opened(home, visit)
    text = drawn.text(app)
    assert "owls.txt" in text
    assert "Chunks to read" in text
    app.button("primary_update_index").click().run()
    assert not app.exception
    [folder] = launched
    index_id = home.indexes.all()[0].id
    assert read_spec(folder).arguments["index"] == index_id

    assert runner.run(folder, home.works()) == 0
    assert home.indexes.open(index_id).documents.num_rows == 4
    done = visit("build", home, job=folder.name)
    assert not done.exception
    assert "is updated" in drawn.text(done)
    assert "What the last change did" in drawn.text(done)


def test_a_change_is_undone_and_earlier_states_deleted_on_a_click(home: Workbench, visit: Visit) -> None:
    index_id = home.indexes.all()[0].id
    home.add_documents(CORPUS, [("owls.txt", OWLS)])
    home.updates.update(home.indexes.path(index_id), home.updates.corpus_changes(home.indexes.open(index_id)))
    app = opened(home, visit)
    assert "Earlier states that are kept: 1" in drawn.text(app)
    app.button("undo_update").click().run()
    assert not app.exception
    assert home.indexes.open(index_id).documents.num_rows == 3

    home.updates.update(home.indexes.path(index_id), home.updates.corpus_changes(home.indexes.open(index_id)))
    app = opened(home, visit)
    app.button("forget_states").click().run()
    assert earlier_states(home.indexes.path(index_id)) == ()


def test_the_library_says_which_indexes_are_behind(home: Workbench, visit: Visit) -> None:
    assert "hold other documents" not in drawn.text(visit("library", home, corpus=CORPUS))
    home.add_documents(CORPUS, [("owls.txt", OWLS)])
    app = visit("library", home, corpus=CORPUS)
    assert not app.exception
    assert "hold other documents than it does by now: 1" in drawn.text(app)
    assert app.button(f"update_{home.indexes.all()[0].id}")


def test_edits_are_listed_with_an_undo_each(home: Workbench, visit: Visit, launched: list[Path]) -> None:
    index_id = home.indexes.all()[0].id
    folder = home.indexes.path(index_id)
    home.updates.edit(folder, Edit(1, "rename", "Marie Curie", "Marie <b>Skłodowska</b>"))
    app = opened(home, visit)
    assert "Marie Curie is renamed Marie <b>Skłodowska</b>." in drawn.text(app)
    app.button("undo_edit_1").click().run()
    assert not app.exception
    [job] = launched
    assert read_spec(job).arguments["undone"] == 1
    assert runner.run(job, home.works()) == 0
    assert read_edits(folder).edits == ()


def test_an_entity_is_renamed_from_where_it_is_looked_at(home: Workbench, visit: Visit, launched: list[Path]) -> None:
    index_id = home.indexes.all()[0].id
    layer = home.indexes.open(index_id).layers[0]
    node = layer.entities["id"][layer.entities["name"].to_pylist().index("Marie Curie")].as_py()
    app = visit("explore", home, index=index_id, node=node)
    assert app.text_input(f"edit_other_{node}_rename").max_chars == 200
    app.text_input(f"edit_other_{node}_rename").input("Marie Skłodowska Curie").run()
    app.button(f"primary_edit_{node}").click().run()
    [folder] = launched
    edit = read_spec(folder).arguments["edit"]
    assert (edit["action"], edit["name"], edit["other"]) == ("rename", "Marie Curie", "Marie Skłodowska Curie")


def test_an_entity_is_split_and_its_relations_changed_from_where_it_is_looked_at(
    home: Workbench, visit: Visit, launched: list[Path]
) -> None:
    index_id = home.indexes.all()[0].id
    index = home.indexes.open(index_id)
    layer, documents = index.layers[0], index.entity_chunks
    spread = [
        row
        for row in range(len(layer))
        if len({index.chunk_cells["document"][int(at)].as_py() for at in documents[[row]].indices}) > 1
        and len(layer.relations_of(row))
    ]
    entity = layer.entity(spread[0])
    [near, *_] = browse.neighbours(index, Place(0, entity.row))
    field = f"edit_other_{entity.id}"

    def chosen(action: str) -> AppTest:
        app = visit("explore", home, index=index_id, node=entity.id)
        return app.radio(f"edit_action_{entity.id}").set_value(action).run()

    def started(app: AppTest) -> dict[str, Any]:
        app.button(f"primary_edit_{entity.id}").click().run()
        return dict(read_spec(launched[-1]).arguments["edit"])

    app = chosen("split")
    app.text_input(f"{field}_split").input("Another")
    offered = app.multiselect(f"{field}_split_documents")
    assert len(offered.options) > 1
    name = offered.options[0]
    offered.set_value([name])
    assert started(app) == {
        "number": 1, "action": "split", "name": entity.name, "other": "Another", "documents": [name]
    }  # fmt: skip
    app = chosen("describe-relation")
    app.selectbox(f"{field}_describe-relation").set_value(near.name).run()
    [words] = app.text_area
    assert words.value == near.relation.description
    assert words.max_chars == 20_000, "an update would refuse a log with a longer one"
    words.input("They are <b>kin</b>.")
    described = started(app)
    assert (described["other"], described["text"]) == (near.name, "They are <b>kin</b>.")
    app = chosen("delete-relation")
    app.selectbox(f"{field}_delete-relation").set_value(near.name)
    assert started(app)["other"] == near.name
    assert runner.run(launched[-1], home.works()) == 0
    changed = home.indexes.open(index_id)
    row = changed.layers[0].entities["name"].to_pylist().index(entity.name)
    assert near.name not in [each.name for each in browse.neighbours(changed, Place(0, row))]


def test_the_library_leads_to_the_open_fold_of_the_index(home: Workbench, visit: Visit) -> None:
    home.add_documents(CORPUS, [("owls.txt", OWLS)])
    app = visit("library", home, corpus=CORPUS)
    app.button(f"update_{home.indexes.all()[0].id}").click().run()
    app = app.switch_page("../build/page.py").run()
    assert not app.exception
    assert "What an update will change" in drawn.text(app)


def test_an_updated_index_is_compared_with_a_fresh_build_by_a_job(
    home: Workbench, visit: Visit, launched: list[Path]
) -> None:
    index_id = home.indexes.all()[0].id
    home.add_documents(CORPUS, [("owls.txt", OWLS)])
    evidence = (Evidence("owls.txt", "The Ural Owl hunts voles"),)
    question = GoldQuestion("1", "What does the Ural Owl hunt?", ("voles",), evidence)
    home.question_sets.add("Owls", [question], corpus_id=CORPUS)
    home.updates.update(home.indexes.path(index_id), home.updates.corpus_changes(home.indexes.open(index_id)))
    opened(home, visit).button("compare_fresh").click().run()
    [folder] = launched
    assert runner.run(folder, home.works()) == 0
    distance = home.fresh_builds.store.read(home.indexes.open(index_id).id)
    assert distance is not None
    assert (distance.recall, distance.fresh_recall, distance.n_questions) == (1.0, 1.0, 1)
    text = drawn.text(opened(home, visit))
    assert "Distance to a fresh build" in text
    assert "1.000" in text


def test_without_its_corpus_an_index_can_still_be_undone(home: Workbench, visit: Visit) -> None:
    corpus_id = home.add_documents("Owls", [("owls.txt", OWLS)]).corpus_id
    index = home.build(corpus_id, IndexConfig(cluster_size=3))
    assert index.path is not None
    home.updates.edit(index.path, Edit(1, "rename", "Milena Dvorak", "M. Dvorak"))
    home.corpora.delete(corpus_id)
    app = visit("build", home, ticked=index.path.name)
    app.session_state["index_update"] = True
    app.run()
    assert not app.exception
    assert "Milena Dvorak is renamed M. Dvorak." in drawn.text(app)
    app.button("undo_update").click().run()
    assert "Milena Dvorak" in home.indexes.open(index.path.name).layers[0].entities["name"].to_pylist()
