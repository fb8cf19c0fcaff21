"""Every page opens on its own, in every state of the data folder."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from leanrag_core import IndexConfig, Workbench
from leanrag_core.storage import digests, layout
from tests.app import drawn

PAGES = ("library", "build", "explore", "ask", "compare", "evaluate")
PROJECT = Path(__file__).resolve().parents[2]
Visit = Callable[..., AppTest]


@pytest.mark.parametrize(
    ("page", "expected_text"),
    [
        ("library", "1 corpus, 3 documents"),
        ("build", "Indexes1, newest first"),
        ("explore", "aggregated"),
        ("ask", "Bees, 3 documents, clustersize 3"),
    ],
)
def test_a_page_opens_with_an_index(
    page: str, expected_text: str, home: Workbench, visit: Visit, launched: list[Path]
) -> None:
    app = visit(page, home)
    drawn.assert_sound(app)
    assert expected_text in drawn.text(app)
    assert "Heuristic graph" in drawn.text(app), "the sidebar says what the index is"
    assert launched == [], "a home with an index builds nothing by itself"
    assert app.query_params["index"] == home.indexes.all()[0].id


@pytest.mark.parametrize(
    ("page", "expected_text"),
    [
        ("library", "1 corpus, 3 documents"),
        ("build", "Starting the build of Bees"),
        ("explore", "The first one is being built"),
        ("ask", "The first one is being built"),
    ],
)
def test_a_page_opens_without_an_index_while_the_first_index_is_built(
    page: str, expected_text: str, empty_home: Workbench, visit: Visit, launched: list[Path]
) -> None:
    app = visit(page, empty_home)
    drawn.assert_sound(app)
    assert expected_text in drawn.text(app)
    assert "No index yet" in drawn.text(app)
    [job] = empty_home.jobs.all()
    assert [folder.name for folder in launched] == [job.id]


@pytest.mark.parametrize("page", ["explore", "ask"])
def test_without_an_index_and_a_build_the_way_to_one_is_shown(page: str, empty_home: Workbench, visit: Visit) -> None:
    job_id = empty_home.builds.start_first_sample()
    assert job_id
    empty_home.jobs.cancel(job_id)
    app = visit(page, empty_home)
    drawn.assert_sound(app)
    assert "Build one from a corpus" in drawn.text(app)
    app.button("primary_build_first").click().run()
    drawn.assert_sound(app)
    assert "From documents to a hierarchy" in drawn.text(app)


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("text", ["{not json", '{"a":' * 100_000, '{"format_version": Infinity}'])
def test_an_index_that_does_not_read_leaves_the_pages_usable(
    page: str, text: str, home: Workbench, visit: Visit
) -> None:
    (home.root / "indexes" / "broken").mkdir()
    (home.root / "indexes" / "broken" / "manifest.json").write_text(text, encoding="utf-8")
    app = visit(page, home)
    drawn.assert_sound(app)
    assert "manifest.json cannot be read" in drawn.text(app)
    assert "build it again" in drawn.text(app)
    app.button("delete_damaged_broken").click().run()
    assert "manifest.json cannot be read" not in drawn.text(app)
    assert not (home.root / "indexes" / "broken").exists()


def test_a_corpus_that_does_not_read_leaves_the_library_usable(home: Workbench, visit: Visit) -> None:
    mine = home.corpora.create("Mine")
    (home.root / "corpora" / mine / "corpus.json").write_text("{not json", encoding="utf-8")
    app = visit("library", home)
    drawn.assert_sound(app)
    assert "delete the corpus in the Library" in drawn.text(app)
    app.button(f"delete_damaged_{mine}").click().run()
    drawn.assert_sound(app)
    assert "cannot be read" not in drawn.text(app)


def test_an_index_whose_files_are_gone_is_reported_and_the_page_opens(home: Workbench, visit: Visit) -> None:
    next(home.indexes.all()[0].path.glob("entities-0.arrow")).unlink()
    for page in ("explore", "ask"):
        app = visit(page, home, q="What do beekeepers use?")
        drawn.assert_sound(app)
        assert "entities-0.arrow is missing" in drawn.text(app)
        assert "uild it again" in drawn.text(app)


def test_an_index_of_another_model_is_reported_with_the_remedy(home: Workbench, visit: Visit) -> None:
    folder = home.indexes.all()[0].path
    manifest = layout.read_manifest(folder)
    other = replace(manifest.embedding, fingerprint="other")
    layout.write_manifest(folder, replace(manifest, embedding=other))
    app = visit("ask", home, q="What do beekeepers use?")
    drawn.assert_sound(app)
    assert "build the index again" in drawn.text(app)


def test_the_sidebar_changes_the_index_of_every_page(home: Workbench, visit: Visit) -> None:
    first = home.indexes.all()[0].path
    other = first.rename(first.with_name("other"))
    home.indexes.rename("other", "The other")
    app = visit("explore", home)
    assert app.query_params["index"] == other.name
    assert "The other: 21 entities" in drawn.text(app)


def test_scripts_in_the_browser_set_texts_as_text() -> None:
    scripts = sorted(path for folder in ("pages", "leanrag_core") for path in (PROJECT / folder).rglob("*.js"))
    assert len(scripts) >= 3
    for script in scripts:
        written = script.read_text(encoding="utf-8")
        for way in ("innerHTML", "outerHTML =", "insertAdjacentHTML", "document.write", "eval(", "DOMParser"):
            assert not re.search(rf"(?<!\w){re.escape(way)}", written), f"{script.name}: {way}"


def test_no_page_allows_raw_html_in_markdown() -> None:
    for page in sorted((PROJECT / "pages").rglob("*.py")):
        assert "unsafe_allow" not in page.read_text(encoding="utf-8"), page.name


def test_two_indexes_of_a_corpus_are_distinguished_wherever_they_are_listed(home: Workbench, visit: Visit) -> None:
    first = home.indexes.all()[0]
    home.build(first.corpus_id, IndexConfig(cluster_size=4))
    app = visit("build", home)
    drawn.assert_sound(app)
    expected = ["Bees, clustersize 4", "Bees, clustersize 3"]
    assert app.selectbox("lr_index").options == expected
    app = visit("build", home, ticked=first.id)
    assert app.button("delete_index").label == "Delete Bees, clustersize 3"
    home.indexes.rename(first.id, "The first try")
    app = visit("explore", home, index=first.id)
    assert app.selectbox("lr_index").options == ["Bees", "The first try"], "a name that somebody gave counts"


def test_a_text_of_a_large_file_that_is_none_is_reported_with_the_name_of_the_file(
    home: Workbench, visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        digests, "_HASHED_ON_OPENING", 0
    )  # as if the file were too large to be hashed when it is opened
    summary = home.indexes.all()[0]
    path = summary.path / "entities-0.arrow"
    name = home.indexes.open(summary.id).layers[0].entity(0).name.encode()
    path.write_bytes(path.read_bytes().replace(name, b"\xff" * len(name)))
    for page in ("explore", "ask"):
        app = visit(page, home, q="What do beekeepers use?", view="Table")
        drawn.assert_sound(app)
        assert "entities-0.arrow was changed after it was written" in drawn.text(app)
