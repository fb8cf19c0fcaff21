"""The inspector of an entity, a relation and a chunk: what it shows, and what it says of what made it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from leanrag_core import Workbench
from leanrag_core.jobs.events import read_spec
from leanrag_core.queries.entity_search import find_entities
from leanrag_core.types.index import Index
from leanrag_core.types.updating import Edit
from pages.explore.inspected import chunk_blocks
from pages.explore.inspector_values import _around
from tests.app import drawn

Visit = Callable[..., AppTest]


@pytest.fixture
def opened(home: Workbench) -> Index:
    return home.indexes.open(home.indexes.all()[0].id)


def id_of(index: Index, name: str) -> str:
    return next(row.id for row in find_entities(index, name).rows if row.name == name)


def inspected(app: AppTest) -> dict[str, Any]:
    drawn.assert_sound(app)
    [shown] = drawn.component(app, "lr_inspector")
    return dict(shown)


def blocks(shown: dict[str, Any], key: str) -> list[dict[str, Any]]:
    return list(next(tab["blocks"] for tab in shown["tabs"] if tab["key"] == key))


def rows(shown: dict[str, Any], key: str) -> list[dict[str, Any]]:
    return [row for block in blocks(shown, key) if block["kind"] == "rows" for row in block["rows"]]


def test_an_entity_has_its_parents_and_all_its_tabs_at_once(home: Workbench, opened: Index, visit: Visit) -> None:
    node = id_of(opened, "Varroa destructor")
    shown = inspected(visit("explore", home, node=node))
    assert [above["layer"] for above in shown["parents"]] == [3, 2, 1]
    counts = {tab["key"]: tab["count"] for tab in shown["tabs"]}
    entity = opened.layers[0].entity(opened.layers[0].row_of[node])
    n_relations = len(opened.layers[0].relations_of(entity.row))
    assert counts == {"summary": "", "relations": f"{n_relations}", "chunks": f"{len(entity.chunks)}"}
    strengths = [float(row["value"]) for row in rows(shown, "relations")]
    assert strengths == sorted(strengths, reverse=True)
    assert rows(shown, "relations")[0]["bar"] == 1
    marked = {
        piece["text"].casefold() for block in blocks(shown, "chunks") for piece in block["pieces"] if piece["marked"]
    }
    assert "varroa destructor" in marked
    assert shown["made"]["said"].startswith("Extracted by the built-in engine from")


def test_an_aggregated_relation_unfolds_down_to_base_relations_and_chunks(
    home: Workbench, opened: Index, visit: Visit
) -> None:
    relation = opened.layers[2].relation(0)
    while relation.layer:
        shown = inspected(visit("explore", home, rel=relation.id))
        listed = rows(shown, "members")
        assert len(listed) == len(relation.members)
        assert ("λ" if relation.kind == "concatenated" else "built-in writer") in shown["made"]["said"]
        below = opened.layers[relation.layer - 1]
        relation = below.relation(below.relation_row_of[listed[0]["id"]])
    shown = inspected(visit("explore", home, rel=relation.id))
    assert [block["row"] for block in blocks(shown, "chunks")] == list(relation.chunks)
    assert any(piece["marked"] for block in blocks(shown, "chunks") for piece in block["pieces"])


def test_a_chunk_names_what_it_gave(home: Workbench, opened: Index, visit: Visit) -> None:
    entity = opened.layers[0].entity(opened.layers[0].row_of[id_of(opened, "Varroa destructor")])
    chunk = opened.chunk(entity.chunks[0])
    shown = inspected(visit("explore", home, chunk=chunk.id))
    assert entity.id in {row["id"] for row in rows(shown, "entities")}
    [text] = [block for block in blocks(shown, "summary") if block["kind"] == "passage"]
    assert "".join(piece["text"] for piece in text["pieces"]).strip() == chunk.text.strip()


def test_an_entity_that_is_gone_is_said_to_be(home: Workbench, opened: Index, visit: Visit) -> None:
    app = visit("explore", home, node="gone")
    assert inspected(app)["id"] == opened.layers[-1].entity(0).id
    assert "The entity of this link is not in the index" in drawn.text(app)
    assert "The chunk of this link" in drawn.text(visit("explore", home, chunk="gone"))


def test_the_last_question_is_found_in_what_is_inspected(home: Workbench, opened: Index, visit: Visit) -> None:
    trace = home.retrieve(opened, "What do beekeepers use against Varroa destructor?", "leanrag")
    seed = next(item for item in trace.nodes if item.rank == 1)
    app = visit("explore", home, node=seed.id)
    app.session_state["lr_last_question"] = {home.indexes.all()[0].id: trace}
    [line] = [block for block in blocks(inspected(app.run()), "summary") if block["kind"] == "runs"]
    assert line["parts"][0] == {"text": "1", "do": "", "id": "", "strong": True}
    assert line["parts"][1]["text"] == seed.name


def test_a_text_of_a_model_shows_its_call_prompt_and_reply(written: Any, visit: Visit) -> None:
    bench = Workbench.default(written)
    app = visit("explore", bench)
    shown = inspected(app)
    assert shown["made"]["said"].startswith("scripted-chat, call ")
    assert shown["made"]["link"] == "Prompt and reply"
    from pages.common.scope import PAGE
    from pages.explore.inspected import Asked

    app.session_state["lr_drawer"] = (PAGE, Asked(shown["id"]))
    app.run()
    drawn.assert_sound(app)
    prompt, reply = [code.value for code in app.code][-2:]
    assert prompt.startswith("[user]")
    assert shown["name"] in reply


def test_an_edit_by_hand_is_named_and_can_be_taken_back(home: Workbench, visit: Visit, launched: list[Path]) -> None:
    index_id = home.indexes.all()[0].id
    edited = home.updates.edit(home.indexes.path(index_id), Edit(1, "rename", "Marie Curie", "Maria Curie"))
    app = visit("explore", home, node=id_of(edited, "Maria Curie"))
    assert inspected(app)["made"]["lines"] == ["Edited by hand: Marie Curie is renamed Maria Curie."]
    app.button("undo_here_1").click().run()
    [folder] = launched
    assert read_spec(folder).arguments["undone"] == 1


def test_the_words_around_a_quote_are_whole() -> None:
    parts = _around("aaaa " * 20 + "Bees dance." + " bbbb" * 20, 100, 111)
    assert [part.text for part in parts] == ["… " + "aaaa " * 11, "Bees dance.", " bbbb" * 11 + " …"]
    chinese = _around("甲" * 100 + "蜜蜂跳舞。" + "乙" * 100, 100, 105)
    assert [part.text for part in chinese] == ["… " + "甲" * 60, "蜜蜂跳舞。", "乙" * 60 + " …"]
    assert [part.text for part in _around("蜜蜂跳舞。", 0, 5)] == ["", "蜜蜂跳舞。", ""]


def test_a_list_of_chunks_offers_the_next_twelve_or_as_many_as_are_left(
    home: Workbench, opened: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEANRAG_HOME", str(home.root))

    def more(n_chunks: int) -> list[str]:
        blocks = chunk_blocks(opened, home.indexes.all()[0], [0] * n_chunks, [], shown=12)
        return [block["more"] for block in blocks if block["kind"] == "rows"]

    assert [more(n) for n in (12, 15, 30)] == [[], ["Show 3 of 3 more"], ["Show 12 of 18 more"]]
