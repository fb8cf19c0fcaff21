"""Presentations as files: nothing is lost, files of others and damaged ones are refused in a sentence."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from leanrag_core import Workbench
from leanrag_core.errors import InvalidConfig, PresentationNotFound, PresentationTooNew, RecordDamaged
from leanrag_core.presenting.storing import MAX_BYTES, PresentationStore, content_of, presentation_of
from leanrag_core.presenting.story import Presentation

Make = Callable[..., Presentation]


def test_a_presentation_comes_back_equal(make: Make) -> None:
    made = make()
    assert presentation_of(content_of(made), name="p.json") == made


@pytest.mark.parametrize("content", [b"[]", b"{}", b'{"format":"leanrag-run","version":1}'])
def test_another_file_is_called_no_presentation(content: bytes) -> None:
    with pytest.raises(PresentationNotFound, match=r"mine\.json is not a presentation"):
        presentation_of(content, name="mine.json")


def test_a_newer_file_and_one_that_is_too_large_are_refused(make: Make) -> None:
    with pytest.raises(PresentationTooNew, match="newer version"):
        presentation_of(content_of(replace(make(), version=2)), name="p.json")
    with pytest.raises(RecordDamaged, match="24,000,00"):
        presentation_of(b" " * (MAX_BYTES + 1), name="p.json")


@pytest.mark.parametrize(
    ("path", "value", "field"),
    [
        (("islands", "bridges", 0, "target"), 99, "islands.bridges"),
        (("islands", "spots", 0, "group"), 7, "islands.spots"),
        (("islands", "spots", 0, "x"), 1.5, "islands.spots.0.x"),
        (("graph", "links", 0, 1), 400, "graph.links"),
        (("graph", "dots", 0, "spot"), 50, "graph.dots"),
        (("strategies",), [{"name": "leanrag", "options": {}}], "questions"),
        (("questions", 0, "sides", 0, "run", "trace", "question"), 5, "questions.0.sides.0.run.trace.question"),
        (("title",), "", "title"),
        (("documents", "n"), -1, "documents.n"),
    ],
)
def test_a_damaged_field_is_named(path: tuple[Any, ...], value: Any, field: str, make: Make) -> None:
    values = json.loads(content_of(make()))
    inner = values
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value
    with pytest.raises(RecordDamaged) as raised:
        presentation_of(json.dumps(values).encode(), name="p.json")
    assert raised.value.field == field


def test_a_message_that_no_catalog_knows_is_refused(make: Make) -> None:
    values = json.loads(content_of(make()))
    values["questions"][0]["sides"][0]["run"]["trace"]["title"] = {"code": "no.such.code", "values": {}}
    with pytest.raises(RecordDamaged):
        presentation_of(json.dumps(values).encode(), name="p.json")


def test_the_store_lists_own_presentations_first_and_names_damaged_ones(make: Make, tmp_path: Path) -> None:
    shipped = tmp_path / "shipped"
    shipped.mkdir()
    (shipped / "sample.json").write_bytes(content_of(make()))
    store = PresentationStore(tmp_path / "own", shipped)
    id_ = store.add(replace(make(), title="Mine 蜂"))
    assert id_.startswith("mine-")
    (tmp_path / "own" / "broken.json").write_text("{")
    listed = store.all()
    assert [(each.id, each.is_shipped) for each in listed.presentations] == [(id_, False), ("sample", True)]
    assert listed.presentations[0].questions == ("What spoils the honey?", "Who meets whom?")
    assert [each.id for each in listed.damaged] == ["broken"]
    assert store.add(replace(make(), title="Mine 蜂")) == id_
    store.delete(id_)
    store.delete("broken")
    assert [each.id for each in store.all().presentations] == ["sample"]
    with pytest.raises(InvalidConfig, match="comes with the program"):
        store.delete("sample")


def test_recorded_runs_of_an_index_are_each_question_with_each_system_once(make: Make, tmp_path: Path) -> None:
    store, made = Workbench.default(tmp_path).presentations, make()
    first = store.add(replace(made, title="First"))
    store.add(replace(made, title="Second"))
    assert len(store.runs_of(made.index.id)) == 4
    assert {run.trace.strategy for run in store.runs_of(made.index.id)} == {"leanrag", "vector"}
    assert store.runs_of("another") == ()
    store.path(first).write_text("{")
    assert len(store.runs_of(made.index.id)) == 4


@pytest.mark.parametrize("id_", ["../sample", "Sample", "", "a/b", "absent"])
def test_an_id_cannot_leave_the_store(id_: str, tmp_path: Path) -> None:
    with pytest.raises(PresentationNotFound):
        PresentationStore(tmp_path / "own", tmp_path).read(id_)
