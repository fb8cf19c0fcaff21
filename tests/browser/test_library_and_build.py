"""Library and Build as a person uses them: pasted text, a folder, a ZIP file with a bad one, the sliders, suggestions
that are accepted, an index that is deleted and taken back; by mouse, by keyboard and on a phone."""

import io
import re
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from leanrag_core import IndexConfig, Workbench
from leanrag_core.indexing.chunking import chunk_documents
from tests.app import job_records
from tests.browser.conftest import Server, Watched
from tests.browser.runs import excess_width, settled
from tests.browser.test_story import TEXT, snap
from tests.paged_file import HEAD, TEXTS, paged_file

pytestmark = pytest.mark.browser
HOSTILE = "<img src=x onerror=alert(1)>.txt"
# Where the titles end on the right: a row that is cut off does not make its page scroll.
WIDEST = """() => Math.max(...[...document.querySelectorAll('.lr-head .t, .lr-big b')]
  .map((title) => title.getBoundingClientRect().right))"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a home with one index; tests work on copies of it."""
    bench = Workbench.default(tmp_path_factory.mktemp("built"))
    corpus = bench.add_documents("Grey Coast", [("coast.md", TEXT.encode())]).corpus_id
    bench.build(corpus, IndexConfig(cluster_size=3, chunk_tokens=64, overlap_tokens=8), name="Coast")
    return bench.root


@pytest.fixture
def bench(built: Path, tmp_path: Path) -> Workbench:
    return Workbench.default(shutil.copytree(built, tmp_path / "home"))


def archive(**files: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as zipped:
        for name, content in files.items():
            zipped.writestr(name.replace("_", "."), content)
    return packed.getvalue()


def add_by(page: Page, way: str) -> None:
    """Open the form where it is closed, and choose what is added."""
    choice = page.locator(".st-key-upload").get_by_role("radio", name=way, exact=True)
    if not choice.is_visible():
        page.get_by_text("Add documents").first.click()
    choice.click()
    settled(page)


def close(page: Page) -> None:
    page.get_by_role("button", name="Close", exact=True).click()
    settled(page)


def test_text_a_folder_and_an_archive_become_documents_cut_into_chunks(
    server_in: Callable[..., Server], watch: Callable[..., Watched], bench: Workbench, tmp_path: Path
) -> None:
    folder = tmp_path / "papers"
    (folder / "old").mkdir(parents=True)
    (folder / "a.txt").write_text("Marram Point has a lighthouse.")
    (folder / "old" / "b.txt").write_text("Holm Rock has one, too.")
    server, watched = server_in(bench.root), watch()
    page = watched.page
    page.goto(f"{server.url}/library")
    settled(page)
    # The corpus of one's own comes first, and its index leads on.
    expect(page.locator(".lr-card .n").first).to_have_text("Grey Coast")
    expect(page.get_by_role("button", name="Explore", exact=True).first).to_be_visible()
    add_by(page, "Text")
    page.get_by_label("Title of the text").fill("Tides")
    page.keyboard.press("Enter")
    settled(page)
    page.get_by_role("textbox", name="Text", exact=True).fill("The tide turns. " * 150)
    page.keyboard.press("Control+Enter")
    settled(page)
    page.get_by_role("button", name="Add text").click()
    expect(page.get_by_text("1 document added.")).to_be_visible()
    settled(page)
    close(page)

    # The slider cuts the text in the browser; its last value goes to the form of Build.
    cuts = page.locator(".lr-cuts .cut")
    expect(cuts).to_have_count(2)
    slider = page.get_by_role("slider", name="Chunk size")
    slider.focus()
    page.keyboard.press("Home")
    expect(page.locator(".lr-cuts .said")).to_have_text(re.compile("^64 tokens, 8 of overlap: "))
    own = bench.corpora.all()[0].id  # the newest
    [tides] = [document.id for document in bench.corpora.documents(own) if document.name == "Tides.txt"]
    as_built = chunk_documents([bench.corpora.document(own, tides)], max_tokens=64, overlap_tokens=8)
    expect(cuts).to_have_count(len(as_built))
    expect(page.locator(".lr-cuts .shared").first).to_be_visible()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".lr-cuts .said")).to_have_text(re.compile("^96 tokens"))
    snap(page, "library_chunks")

    add_by(page, "Folder")
    page.locator('input[type="file"]').first.set_input_files(folder)
    page.get_by_role("button", name="Add 2 files").click()
    expect(page.get_by_text("2 documents added.")).to_be_visible()
    settled(page)
    close(page)

    add_by(page, "Files")
    content = archive(keepers_txt=b"Each lighthouse had three keepers.", broken_pdf=b"not a pdf")
    page.locator('input[type="file"]').first.set_input_files(
        [
            {"name": "coast.zip", "mimeType": "application/zip", "buffer": content},
            {"name": HOSTILE, "mimeType": "text/plain", "buffer": b"A pigeon loft."},
        ]
    )
    page.get_by_role("button", name="Add 2 files").click()
    expect(page.get_by_text("1 of 3 documents could not be read. The others are in.")).to_be_visible()
    expect(page.locator(".lr-files").first).to_contain_text("broken.pdf")
    settled(page)
    snap(page, "library_rows")
    corpus_is_renamed(page)

    slider.focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".lr-cuts .said")).to_have_text(re.compile("^96 tokens"))
    page.get_by_role("button", name="Build with this size").click()
    expect(page.get_by_role("heading", name="Build", exact=True)).to_be_visible()
    settled(page)
    expect(page.get_by_label("Chunk size, tokens")).to_have_value("96")
    watched.assert_clean()


def corpus_is_renamed(page: Page) -> None:
    for name in ("Lights of the coast", "海岸的灯塔"):
        page.get_by_role("button", name="Rename", exact=True).click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_label("Name of the corpus").fill(name)
        dialog.get_by_role("button", name="Rename", exact=True).click()
        expect(dialog).to_have_count(0)
        settled(page)
        expect(page.get_by_role("heading", name=name)).to_be_visible()
    snap(page, "library_renamed")


def test_what_is_not_read_is_put_back_and_left_out_again_and_fits_a_phone(
    server_in: Callable[..., Server], watch: Callable[..., Watched], bench: Workbench
) -> None:
    server, watched = server_in(bench.root), watch()
    running_heads(watched.page, server, bench)
    read_over_table(watched.page, server, bench)
    watched.assert_clean()
    phone = watch(390, 844, dark=True)
    nothing_is_cut_off(phone.page, server, bench)
    phone.assert_clean()


def running_heads(page: Page, server: Server, bench: Workbench) -> None:
    own = bench.add_documents("Insects", [("a.pdf", paged_file())]).corpus_id
    page.goto(f"{server.url}/library?corpus={own}")
    settled(page)
    text, without = page.locator(".lr-cuts .lr-text"), bench.corpora.documents(own)[0].id
    for _ in range(2):
        expect(text.locator("del")).to_have_text([HEAD] * 3)
        snap(page, "library_running_heads")
        text.get_by_role("button", name=f"put back: {HEAD}").nth(1).click()
        expect(text.locator("del")).to_have_count(0)
        expect(text.locator(".back:not(.head)")).to_have_text([re.compile(HEAD)] * 3)
        settled(page)
        [row] = bench.corpora.documents(own)
        assert bench.corpora.document(own, row.id).text == "\n\n".join(f"{HEAD}\n\n{each}" for each in TEXTS)
        snap(page, "library_running_heads_back")
        text.get_by_role("button", name=f"leave out: {HEAD}").first.click()
        expect(text.locator("del")).to_have_count(3)
        settled(page)
        assert [row.id for row in bench.corpora.documents(own)] == [without]


def read_over_table(page: Page, server: Server, bench: Workbench) -> None:
    prose, row = "Varroa mites weaken honey bees in winter.", "BISLIG 7 1,592 7,412 2 754"
    own = bench.add_documents("Hives", [("a.txt", f"{prose}\n\n{row}\n\n{prose}".encode())]).corpus_id
    page.goto(f"{server.url}/library?corpus={own}")
    settled(page)
    text = page.locator(".lr-cuts .lr-text")
    expect(text.locator("s")).to_have_text([row])
    expect(text.locator(".why .reason")).to_have_text(["table"])
    snap(page, "library_asides")
    text.get_by_role("button", name="put back: table").click()
    expect(text.get_by_role("button", name="leave out: table")).to_be_visible()
    expect(text.locator("s")).to_have_count(0)
    settled(page)
    [document] = bench.corpora.documents(own)
    assert len(bench.corpora.document(own, document.id).read_anyway) == 1
    snap(page, "library_asides_read")
    text.get_by_role("button", name="leave out: table").click()
    expect(text.locator("s")).to_have_text([row])
    settled(page)
    [document] = bench.corpora.documents(own)
    assert bench.corpora.document(own, document.id).read_anyway == ()


def test_settings_are_suggested_and_indexes_are_deleted_and_taken_back(
    server_in: Callable[..., Server], watch: Callable[..., Watched], bench: Workbench
) -> None:
    index = bench.indexes.all()[0]
    server, watched = server_in(bench.root), watch()
    page = watched.page
    page.goto(f"{server.url}/build?corpus={index.corpus_id}&index={index.id}")
    settled(page)
    # The effect of clustersize follows its slider; where it is let go, the form has its size.
    slider = page.get_by_role("slider", name="Effect of clustersize")
    slider.focus()
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".lr-effect .said")).to_have_text(re.compile("^clustersize 18, estimated: "))
    settled(page)
    expect(page.get_by_label("clustersize", exact=True)).to_have_value("18")

    page.get_by_text("Suggest settings from the data").click()
    page.get_by_role("button", name="Suggest", exact=True).click()
    accept = page.locator(".st-key-suggested_tau").get_by_role("button", name=re.compile("^Accept"))
    expect(accept).to_be_visible()
    expect(page.get_by_label("tau", exact=True)).to_have_value("")
    settled(page)
    accept.click()
    settled(page)
    expect(page.get_by_label("tau", exact=True)).not_to_have_value("")
    expect(page.locator(".st-key-suggested_tau").get_by_role("button", name=re.compile("is set$"))).to_be_disabled()
    settled(page)
    snap(page, "build_suggested")

    page.get_by_role("button", name="Delete Coast", exact=True).click()
    expect(page.get_by_text("Coast is deleted")).to_be_visible()
    settled(page)
    assert bench.indexes.all() == []
    page.reload()
    settled(page)
    page.get_by_role("button", name="Undo", exact=True).click()
    expect(page.get_by_text("is deleted")).to_have_count(0)
    expect(page.get_by_role("button", name="Delete Coast", exact=True)).to_be_visible()
    assert [each.id for each in bench.indexes.all()] == [index.id]
    ticked_rows_are_what_is_deleted(page, server, bench)
    watched.assert_clean()


def ticked_rows_are_what_is_deleted(page: Page, server: Server, bench: Workbench) -> None:
    """Tick a row and delete its index, twice."""
    corpus = bench.indexes.all()[0].corpus_id
    for name, size in (("Dune", 4), ("Egret", 5)):
        bench.build(corpus, IndexConfig(cluster_size=size, chunk_tokens=64, overlap_tokens=8), name=name)
    page.goto(f"{server.url}/build")
    settled(page)
    expect(page.get_by_text("Tick an index to explore")).to_be_visible()
    left = ["Egret", "Dune", "Coast"]  # the newest first, as in the table
    for row in (1, 1):
        tick_row(page, row)
        name = left.pop(row)
        page.get_by_role("button", name=f"Delete {name}", exact=True).click()
        expect(page.get_by_text(f"{name} is deleted")).to_be_visible()
        settled(page)
        assert [index.name for index in bench.indexes.all()] == left
        if len(left) > 1:
            expect(page.get_by_text("Tick an index to explore"), "nothing is ticked in its place").to_be_visible()


def tick_row(page: Page, row: int) -> None:
    """Tick a row of the table of indexes, which is a canvas: the first row has number 0."""
    table = page.get_by_test_id("stDataFrame").last
    table.scroll_into_view_if_needed()
    box = table.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 20, box["y"] + 35 * (row + 1) + 17)
    settled(page)


def nothing_is_cut_off(page: Page, server: Server, bench: Workbench) -> None:
    """Open both pages on a phone, with long names and a text from right to left, and in a wide window."""
    arabic = "الإعلان العالمي لحقوق الإنسان. " * 40
    bench.add_documents("Ein sehr langer Name eines Korpus " * 3, [(f"{'x' * 120}.txt", arabic.encode())])
    for name in ("library", "build"):
        page.goto(f"{server.url}/{name}")
        settled(page)
        expect(page.get_by_role("heading", name=name.capitalize(), exact=True)).to_be_visible()
        assert excess_width(page) <= 0
    corpus, name = bench.corpora.all()[0].id, "Korpus" * 80
    bench.rename_corpus(corpus, name)
    job = job_records.a_job(bench, job_records.STARTED, job_records.FAILED, title=name)
    for width in (390, 1440):
        page.set_viewport_size({"width": width, "height": 844})
        for link in (f"library?corpus={corpus}", f"build?job={job.name}"):
            page.goto(f"{server.url}/{link}")
            settled(page)
            expect(page.locator(".lr-head .t, .lr-big b").filter(has_text=name)).to_be_visible()
            assert page.evaluate(WIDEST) <= width, link
        drawn = page.locator(".lr-cuts" if name == "library" else ".lr-effect")
        expect(drawn).to_be_visible()
        assert drawn.evaluate("node => node.scrollWidth <= node.clientWidth + 1")
        snap(page, f"{name}_phone")
