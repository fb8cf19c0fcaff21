"""Earlier states on the pages: a list on Build that names, compares, restores and deletes; other pages open one."""

from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from leanrag_core import Workbench
from leanrag_core.evaluation.gold import Evidence, GoldQuestion
from leanrag_core.types.updating import Edit
from leanrag_core.workbench.indexes import earlier_id
from tests.app import drawn
from tests.app.conftest import CORPUS

Visit = Callable[..., AppTest]
OWLS = b"The Ural Owl hunts voles in the Carpathian Forest. Milena Dvorak counted the Ural Owl near Poloniny."


@pytest.fixture
def folder(home: Workbench) -> Path:
    """Return the folder of an index that has been updated once."""
    folder = home.indexes.path(home.indexes.all()[0].id)
    home.add_documents(CORPUS, [("owls.txt", OWLS)])
    home.updates.update(folder, home.updates.corpus_changes(home.indexes.open(folder.name)))
    return folder


def opened(home: Workbench, visit: Visit, **url: str) -> AppTest:
    """Open the Build page with the fold open."""
    app = visit("build", home, **url)
    app.session_state["index_snapshots"] = True
    app.run()
    assert not app.exception
    return app


def test_states_are_listed_named_and_the_present_one_is_kept(home: Workbench, visit: Visit, folder: Path) -> None:
    app = opened(home, visit)
    text = drawn.text(app)
    assert "Before an update: documents added 1, changed 0, removed 0." in text
    assert "3 documents" in text
    app.text_input("snapshot_name").input("<b>with owls</b>").run()
    app.button("keep_snapshot").click().run()
    assert not app.exception
    assert "&lt;b&gt;with owls&lt;/b&gt;" in drawn.text(app) or "<b>with owls</b>" in drawn.text(app)
    assert [state.name for state in home.snapshots.list(folder)] == ["<b>with owls</b>", ""]

    app.text_input("snapshot_name").input("<b>with owls</b>").run()
    app.button("keep_snapshot").click().run()
    assert "another state is called" in drawn.text(app).lower()


def test_a_state_is_compared_and_asked_on_a_click(home: Workbench, visit: Visit, folder: Path) -> None:
    evidence = (Evidence("owls.txt", "The Ural Owl hunts voles"),)
    home.question_sets.add("Owls", [GoldQuestion("1", "What hunts voles?", ("owl",), evidence)], corpus_id=CORPUS)
    app = opened(home, visit)
    app.button("compare_snapshot_1").click().run()
    assert not app.exception
    text = drawn.text(app)
    assert "Adjusted Rand index" in text
    assert "owls.txt" in text
    app.button("ask_snapshot").click().run()
    assert not app.exception
    text = drawn.text(app)
    assert "Questions won: 1. " in text
    assert "What hunts voles?" in text
    app.button("compare_snapshot_1").click().run()
    assert "Adjusted Rand index" not in drawn.text(app)


def test_the_link_of_a_comparison_shows_it_again(home: Workbench, visit: Visit, folder: Path) -> None:
    app = opened(home, visit, ticked=folder.name)
    app.button("compare_snapshot_1").click().run()
    link = {name: str(value) for name, value in app.query_params.items()}
    assert link["ticked"] == folder.name
    reloaded = visit("build", home, **link)
    drawn.assert_sound(reloaded)
    assert "Adjusted Rand index" in drawn.text(reloaded)


def test_a_state_is_restored_and_deleted_on_a_click(home: Workbench, visit: Visit, folder: Path) -> None:
    app = opened(home, visit)
    app.button("restore_snapshot_1").click().run()
    assert not app.exception
    assert home.indexes.open(folder.name).documents.num_rows == 3
    assert "Before another state was restored." in drawn.text(app)
    app.button("delete_snapshot_1").click().run()
    app.button("delete_snapshot_1_confirm").click().run()
    assert not app.exception
    assert [state.number for state in home.snapshots.list(folder)] == [2]


def test_a_state_that_was_deleted_elsewhere_is_named_with_where_those_are_that_there_are(
    home: Workbench, visit: Visit, folder: Path
) -> None:
    app = opened(home, visit)
    home.snapshots.delete(folder, "1")
    app.button("restore_snapshot_1").click().run()
    drawn.assert_sound(app)
    assert "the page Build, under Earlier states, and" in drawn.text(app)


@pytest.mark.parametrize("page", ["explore", "ask", "compare", "evaluate", "present", "library", "build"])
def test_every_page_takes_a_state_by_link_and_says_that_it_is_an_earlier_one(
    page: str, home: Workbench, visit: Visit, folder: Path
) -> None:
    [state] = home.snapshots.list(folder)
    id_ = earlier_id(folder.name, state)
    app = visit(page, home, index=id_, q="What did Marie Curie discover?" if page in ("ask", "compare") else "")
    assert not app.exception
    assert "This is an earlier state of" in drawn.text(app)
    app.button("to_present_state").click().run()
    assert not app.exception
    assert "This is an earlier state of" not in drawn.text(app)


def test_an_earlier_state_is_not_edited_from_where_it_is_looked_at(home: Workbench, visit: Visit, folder: Path) -> None:
    [state] = home.snapshots.list(folder)
    layer = home.snapshots.open(folder, "1").layers[0]
    node = layer.entities["id"][layer.entities["name"].to_pylist().index("Marie Curie")].as_py()
    app = visit("explore", home, index=earlier_id(folder.name, state), node=node)
    assert not app.exception
    assert [each.key for each in app.button if str(each.key).startswith("primary_edit_")] == []


def test_a_link_to_a_state_that_is_gone_says_so(home: Workbench, visit: Visit, folder: Path) -> None:
    [state] = home.snapshots.list(folder)
    home.updates.undo(folder)
    home.updates.edit(folder, Edit(1, "rename", "Marie Curie", "M. Curie"))
    home.updates.forget_earlier(folder)
    app = visit("ask", home, index=earlier_id(folder.name, state))
    assert not app.exception
    assert "not here" in drawn.text(app).lower() or "gone" in drawn.text(app).lower()
