"""Index parts on the Build page: what an index has, what it cost, making and deleting one."""

from collections.abc import Callable
from pathlib import Path

from streamlit.testing.v1 import AppTest

from leanrag_core import Workbench
from leanrag_core.jobs.events import read_spec
from tests.app import drawn

Visit = Callable[..., AppTest]


def opened(home: Workbench, visit: Visit) -> AppTest:
    """Open the Build page with the fold of the parts open."""
    app = visit("build", home)
    app.session_state["index_parts"] = True
    app.run()
    assert not app.exception
    return app


def test_a_part_is_made_by_a_job_on_a_click(home: Workbench, visit: Visit, launched: list[Path]) -> None:
    app = opened(home, visit)
    [state] = [state for state in home.parts.all(home.indexes.open(home.indexes.all()[0].id)) if state.name == "chroma"]
    assert "not made" in drawn.text(app)
    app.button(f"make_part_chroma_{state.fingerprint}").click().run()
    assert not app.exception
    [folder] = launched
    spec = read_spec(folder)
    assert (spec.kind, spec.config["part"], spec.config["index"]) == ("part", "chroma", home.indexes.all()[0].id)
    assert app.query_params["job"] == spec.id
    assert "being made" in drawn.text(opened(home, visit))


def test_a_part_is_listed_with_its_cost_and_can_be_deleted(home: Workbench, visit: Visit) -> None:
    index_id = home.indexes.all()[0].id
    record = home.parts.build(home.indexes.open(index_id), "chroma")
    app = opened(home, visit)
    assert "made" in drawn.text(app)
    app.button(f"delete_part_chroma_{record.fingerprint}").click().run()
    assert not app.exception
    assert {state.status for state in home.parts.all(home.indexes.open(index_id))} == {"absent"}


def test_a_damaged_part_says_what_is_wrong_and_is_made_again(home: Workbench, visit: Visit) -> None:
    index_id = home.indexes.all()[0].id
    record = home.parts.build(home.indexes.open(index_id), "chroma")
    folder = home.indexes.path(index_id) / "parts" / "chroma" / record.fingerprint
    (folder / "search.json").write_bytes(b"{}")
    app = opened(home, visit)
    page_text = drawn.text(app)
    assert "damaged" in page_text
    assert "Make it again" in page_text
    assert app.button(f"make_part_chroma_{record.fingerprint}").label.startswith("Make again")


def test_what_a_part_proposes_is_listed_and_made_again_when_accepted(
    home: Workbench, visit: Visit, launched: list[Path]
) -> None:
    index_id = home.indexes.all()[0].id
    home.parts.build(home.indexes.open(index_id), "schema", {"most_types": 1, "frequency": 1, "confidence": 0.1})
    values = [proposal.value for proposal in home.parts.proposals(home.indexes.open(index_id), "schema")]
    app = opened(home, visit)
    [choice] = [each for each in app.multiselect if each.key == "proposed_schema"]
    assert len(choice.options) == len(values) > 1
    choice.select(values[1])
    [accept] = [button for button in app.button if button.label.startswith("Accept")]
    accept.click().run()
    assert not app.exception
    [folder] = launched
    spec = read_spec(folder)
    assert spec.config["part"] == "schema"
    assert spec.config["options"] == {"most_types": 1, "frequency": 1, "confidence": 0.1, "accept": values[1]}
