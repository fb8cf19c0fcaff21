"""Edits change words and places alone; a typed figure that is not stored is not shown."""

import base64
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from leanrag_core.errors import InvalidConfig, PresentationChanged, RecordDamaged
from leanrag_core.files.records import from_values
from leanrag_core.presenting.edits import Edits, Wording, numbers_beyond, require_logo
from leanrag_core.presenting.pages_added import cut_side
from leanrag_core.presenting.slides import deck_of
from leanrag_core.presenting.storing import PresentationStore, content_of, presentation_of, revision_of
from leanrag_core.presenting.story import AddedComparison, AddedPicture, Presentation

Make = Callable[..., Presentation]
PNG = "data:image/png;base64," + base64.b64encode(b"\x89PNG\r\n\x1a\n").decode()


def svg(content: bytes) -> str:
    return "data:image/svg+xml;base64," + base64.b64encode(content).decode()


def kinds(presentation: Presentation) -> list[str]:
    return [slide.key for slide in deck_of(presentation).slides]


def test_slides_move_are_left_out_and_come_back(make: Make) -> None:
    made = make()
    stored = kinds(made)
    edits = Edits(order=("cost", "text-1", "steps"), left_out=("documents",), words={"text-1": Wording("Hello")})
    edited = replace(made, edits=edits)
    assert kinds(edited) == ["cost", "text-1", "steps", *(k for k in stored if k not in ("cost", "steps", "documents"))]
    assert kinds(replace(edited, edits=replace(edits, left_out=())))[3] == "documents"
    assert "documents" in [slide.key for slide in deck_of(edited, whole=True).slides]
    assert kinds(replace(made, edits=Edits(order=("gone-4", "cost")))) == ["cost", *stored[:-1]]


def test_a_deck_of_which_everything_is_left_out_shows_all(make: Make) -> None:
    made = make()
    assert kinds(replace(made, edits=Edits(left_out=tuple(kinds(made))))) == kinds(made)


def test_a_typed_figure_that_is_not_stored_is_not_shown(make: Make) -> None:
    made = make()
    typed = {"documents": Wording("Our 2 texts", "read in 2026"), "graph": Wording("A graph of 99 names")}
    deck = deck_of(replace(made, edits=Edits(words=typed)))
    views = {slide.key: slide.views[0] for slide in deck.slides}
    documents = made.documents.n
    assert (views["documents"].title == "Our 2 texts") is (documents == 2)
    assert views["graph"].title == views["graph"].stored != "A graph of 99 names"
    assert "99" in views["graph"].problem


@pytest.mark.parametrize(
    ("typed", "stored", "beyond"),
    [
        ("12 statements", ["11 statements"], ("12",)),
        ("21,619 tokens", ["21619"], ()),
        ("４４ %", ["44 %"], ()),
        ("1,5 times", ["1.5"], ()),
        ("no figure", [], ()),
    ],
)
def test_numbers_are_compared_by_value(typed: str, stored: list[str], beyond: tuple[str, ...]) -> None:
    assert numbers_beyond(typed, stored) == beyond


def test_edits_are_kept_a_shipped_presentation_is_copied_and_an_old_file_opens(make: Make, tmp_path: Path) -> None:
    shipped = tmp_path / "shipped"
    shipped.mkdir()
    old = content_of(make())
    assert b'"edits"' not in old
    (shipped / "sample.json").write_bytes(old)
    store = PresentationStore(tmp_path / "own", shipped)
    revision = revision_of(store.read("sample"))
    own = store.edit("sample", Edits(title="Mine"), revision=revision)
    assert own != "sample"
    assert (shipped / "sample.json").read_bytes() == old
    with pytest.raises(PresentationChanged):
        store.edit(own, Edits(title="From an old window"), revision=revision)
    assert store.edit(own, Edits(title="Again"), revision=revision_of(store.read(own))) == own
    assert [each.title for each in store.all().presentations] == ["Again", "Bees & fields"]
    assert store.add(replace(make(), edits=Edits(title="Mine"))) != own, "the edited one is not written over"


def test_slides_of_other_pages_are_added_numbered_and_removed_by_the_order(make: Make, tmp_path: Path) -> None:
    store = PresentationStore(tmp_path / "own", tmp_path)
    id_ = store.add(make())
    picture = AddedPicture("Hubs", "all of 8", "Bees", "2026-11-22", PNG, PNG, 10, 10)
    first = store.add_slide(id_, "picture", picture, after="documents")
    assert (first.key, first.place) == ("picture-1", 2)
    assert store.add_slide(id_, "picture", picture).key == "picture-2"
    foot = deck_of(store.read(id_)).slides[1].views[0].foot
    assert foot.endswith("22 Nov 2026. all of 8"), "where it comes from is a sentence of its own"
    stored = store.read(id_)
    assert stored == presentation_of(content_of(stored), name="p.json")
    without = replace(stored.edits, order=tuple(key for key in stored.edits.order if key != "picture-1"))
    store.edit(id_, without, revision=revision_of(stored))
    assert "picture-1" not in kinds(store.read(id_))
    store.edit(id_, stored.edits, revision=revision_of(store.read(id_)))
    assert kinds(store.read(id_))[1] == "picture-1", "a removed slide comes back"


def test_at_equal_tokens_whole_items_stay_and_an_answer_of_lost_texts_goes(make: Make) -> None:
    question = make().questions[0]
    side = question.sides[1]
    whole = side.run.trace.context.tokens
    assert cut_side(side, whole) == side
    items = [item for section in side.run.trace.context.sections for item in section.items]
    cut = cut_side(side, items[0].tokens, frozenset({items[0].ref}))
    assert cut.run.trace.context.tokens == items[0].tokens
    assert [passage.id for passage in cut.run.trace.passages] == [items[0].ref]
    assert cut.gold == 1
    assert cut_side(side, items[0].tokens).gold is None
    cited = side.run.answer
    assert cited is not None
    assert (cut.run.answer is None) is (not set(cited.citations) <= {items[0].mark})
    made = make()
    added = AddedComparison(question.question, "Bees", made.made, (question.sides[0], cut), 2, whole)
    deck = deck_of(replace(made, edits=Edits(order=("comparison-1",)), added={"comparison-1": added}))
    assert deck.slides[0].views[0].title == f"The same question, {whole:,} tokens each"


def test_a_comparison_in_which_nobody_answers_praises_no_smaller_reading(make: Make) -> None:
    made = make()
    question = made.questions[0]
    small, large = sorted(question.sides, key=lambda side: side.run.trace.context.tokens)[:: len(question.sides) - 1]
    titles = []
    for grounded in (True, False):
        sides = [
            replace(side, run=replace(side.run, answer=side.run.answer and replace(side.run.answer, grounded=grounded)))
            for side in (small, large)
        ]
        added = AddedComparison(question.question, "Bees", made.made, tuple(sides), 2, 0)
        deck = deck_of(replace(made, edits=Edits(order=("comparison-1",)), added={"comparison-1": added}))
        titles.append(deck.slides[0].views[0].title)
    assert "% of the reading" in titles[0]
    assert titles[1] == "The same question, side by side"


@pytest.mark.parametrize(
    "content",
    [
        b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>",
        b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>",
        b"<!DOCTYPE svg [<!ENTITY a 'b'>]><svg/>",
        b"GIF89a",
        b"",
    ],
)
def test_a_logo_with_scripts_or_of_another_kind_is_refused(content: bytes) -> None:
    with pytest.raises(InvalidConfig):
        require_logo(svg(content))


def test_a_logo_is_an_image_and_no_markup() -> None:
    logo = svg(b"<svg xmlns='http://www.w3.org/2000/svg'><text>only = one</text></svg>")
    require_logo(logo)
    assert from_values(Edits, {"logo": logo}).logo == logo
    for wrong in ("javascript:alert(1)", "data:text/html;base64,PGI+", "https://example.org/a.png"):
        with pytest.raises(RecordDamaged):
            from_values(Edits, {"logo": wrong})
    with pytest.raises(RecordDamaged):
        from_values(Edits, {"words": {"../x": {"title": "a"}}})
