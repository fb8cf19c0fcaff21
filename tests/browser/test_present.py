"""A presentation is shown and exported as a person does it: keys, notes, play, phone; the file opens by itself."""

import re
from collections.abc import Callable
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from leanrag_core import Workbench
from leanrag_core.messages.message import message
from leanrag_core.presenting.edits import Edits
from leanrag_core.presenting.slides import as_html
from leanrag_core.presenting.story import AddedBoard, BoardPoint, Estimate
from tests.browser.conftest import LOADED_FONTS, Server, Watched
from tests.browser.runs import excess_width, settled
from tests.browser.test_story import snap

pytestmark = pytest.mark.browser

HOSTILE = "</script><img src=x onerror=document.body.remove()> <b>bold</b> \u202egnp.exe"
SAMPLE = "people-cities-and-ideas"


def heading(page: Page, text: str) -> None:
    expect(page.locator(".lrp-title")).to_have_text(text)


def hostile_copy(bench: Workbench) -> str:
    """Store a copy of the sample with names of entities and documents that are markup; return its id."""
    made = bench.presentations.read(SAMPLE)
    assert made.graph is not None
    assert made.islands is not None
    drawn = tuple(replace(document, title=HOSTILE) for document in made.documents.drawn)
    dots = tuple(replace(dot, name=HOSTILE) for dot in made.graph.dots)
    spots = tuple(replace(spot, name=HOSTILE) for spot in made.islands.spots)
    question = made.questions[0]
    side = question.sides[0]
    items = tuple(replace(item, name=HOSTILE, text=HOSTILE) for item in side.run.trace.items)
    trace = replace(side.run.trace, question=HOSTILE, items=items)
    sides = (replace(side, run=replace(side.run, trace=trace)), *question.sides[1:])
    return bench.presentations.add(
        replace(
            made,
            title="Hostile " + HOSTILE[:60],
            documents=replace(made.documents, drawn=drawn),
            graph=replace(made.graph, dots=dots),
            islands=replace(made.islands, spots=spots),
            questions=(replace(question, question=HOSTILE, sides=sides), *made.questions[1:]),
            notes={"documents": "Say hello."},
        )
    )


def test_the_sample_is_shown_with_the_keyboard_without_any_index(
    server_in: Callable[..., Server], watch: Callable[..., Watched], tmp_path: Path
) -> None:
    watched = watch()
    page, server = watched.page, server_in(tmp_path / "home")
    page.goto(f"{server.url}/present")
    settled(page)
    page.get_by_role("button", name="Present", exact=True).click()
    heading(page, "What was read")
    expect(page.locator(".lrp-count")).to_have_text("1 of 10")
    page.keyboard.press("ArrowRight")
    heading(page, "From text to a graph")
    page.keyboard.press("Space")
    heading(page, "Summaries alone are islands")
    expect(page.locator(".lrp-spot.alone")).to_have_count(27)
    page.keyboard.press("ArrowRight")
    heading(page, "Aggregated relations join them all")
    expect(page.locator(".lrp-spot.joined")).to_have_count(27)
    page.keyboard.press("ArrowLeft")
    heading(page, "Summaries alone are islands")
    page.keyboard.press("End")
    heading(page, "What it cost")
    page.keyboard.press("Home")
    heading(page, "What was read")
    page.keyboard.press("n")
    expect(page.locator(".lrp-notes")).to_contain_text("all the documents that the index was built from")
    page.keyboard.press("n")
    expect(page.locator(".lrp-notes")).to_be_hidden()
    page.get_by_role("button", name="Slide 6: One question, step by step").click()
    here = page.locator(".lrp-steps .here")
    expect(here).to_contain_text("Seeds")
    for step in ("Climb", "Meet", "Bridges", "Chunks", "Context"):
        page.keyboard.press("ArrowRight")
        expect(here).to_contain_text(step)
        left = page.locator(".lrp-left")
        assert left.evaluate("column => column.scrollHeight <= column.clientHeight + 1"), "no line is cut"
    page.keyboard.press("p")  # plays on to the end
    expect(here).to_contain_text("Answer")
    expect(page.locator(".lrp-answer.opening")).to_have_css("-webkit-line-clamp", "3")  # with an ellipsis behind
    page.keyboard.press("ArrowLeft")
    expect(here).to_contain_text("Context")
    snap(page, "present_steps")
    with page.expect_popup() as opened:
        page.keyboard.press("s")
    speaker = opened.value
    expect(speaker.locator("h1")).to_have_text("One question, step by step")
    for _ in range(2):
        page.reload()  # the place is in the address
        settled(page)
        expect(here).to_contain_text("Context")
        expect(speaker.locator(".lrp-now").first).to_contain_text("press S there")
        page.keyboard.press("s")  # takes the speaker's window over
        expect(speaker.get_by_text("press S there")).to_have_count(0)
        speaker.keyboard.press("ArrowLeft")
        expect(here).to_contain_text("Chunks")
        speaker.keyboard.press("ArrowRight")
        expect(here).to_contain_text("Context")
    assert len(page.context.pages) == 2
    page.keyboard.press("End")
    page.keyboard.press("ArrowLeft")
    page.get_by_role("button", name="Which assistant of Max Born").click()
    expect(page.locator(".lrp-question")).to_contain_text("Which assistant of Max Born")
    page.keyboard.press("Escape")
    settled(page)
    expect(page.get_by_text("A presentation is made of an index: build one first.")).to_be_visible()
    watched.assert_clean()


def test_the_exported_file_opens_alone_and_names_are_text(
    server_in: Callable[..., Server], watch: Callable[..., Watched], browser: Browser, tmp_path: Path
) -> None:
    bench = Workbench(tmp_path / "home")
    hostile = hostile_copy(bench)
    watched = watch(390, 844, dark=True)
    page, server = watched.page, server_in(tmp_path / "home")
    page.goto(f"{server.url}/present")
    settled(page)
    with page.expect_download() as download:
        page.get_by_role("button", name="HTML file").first.click()
    saved = tmp_path / "story.html"
    download.value.save_as(saved)
    assert saved.stat().st_size < 5_000_000
    page.goto(f"{server.url}/present?lang=en&show={hostile}#3.1.1")
    settled(page)
    heading(page, "Summaries alone are islands")
    expect(page.locator(".lrp img")).to_have_count(0)
    assert excess_width(page) <= 0
    watched.assert_clean()

    with browser.new_context(viewport={"width": 1440, "height": 900}, offline=True) as alone:
        asked: list[str] = []
        file = alone.new_page()
        file.on("request", lambda request: asked.append(request.url))
        file.goto(saved.as_uri())
        heading(file, "What was read")
        assert "Source Sans" in str(file.evaluate(LOADED_FONTS)), "the file brings its type faces"
        kinds = []
        for _ in range(40):  # steps and slides, to the end
            kinds.append(file.locator(".lrp").get_attribute("data-kind"))
            if file.locator(".lrp-count").inner_text() == "10 of 10":
                break
            file.keyboard.press("ArrowRight")
        assert kinds[-1] == "cost"
        assert kinds.count("steps") == 7
        expect(file.locator("img, iframe")).to_have_count(0)
        file.goto(f"{saved.as_uri()}#6.1.1")
        expect(file.locator(".lrp-question")).to_have_text(HOSTILE.replace("\u202e", "[U+202E]"))
        file.goto(f"{saved.as_uri()}#7.1.1")
        file.locator(".lrp-answer .lrp-chip").last.hover()
        expect(file.locator(".lrp-answer .lrp-chip.here")).not_to_have_count(0)
        assert [url for url in asked if not url.startswith("file:")] == []


def pages_of(content: bytes) -> list[str]:
    """Return the texts of a PDF's pages."""
    from pdfminer.high_level import extract_pages
    from pdfminer.layout import LAParams, LTTextContainer

    return [
        " ".join(part.get_text() for part in page if isinstance(part, LTTextContainer))
        for page in extract_pages(BytesIO(content), laparams=LAParams(boxes_flow=None))
    ]


def n_pages(content: bytes) -> int:
    """Return how many pages a PDF has; their texts are not read."""
    from pdfminer.pdfpage import PDFPage

    return sum(1 for _ in PDFPage.get_pages(BytesIO(content)))


def test_paper_has_a_slide_a_page_with_steps_answer_notes_and_source(browser: Browser, tmp_path: Path) -> None:
    made = Workbench(tmp_path / "home").presentations.read(SAMPLE)
    edits = Edits(notes={"steps": HOSTILE}, left_out=("graph",), order=("cost",), subtitle=HOSTILE[:50])
    file = tmp_path / "story.html"
    file.write_bytes(as_html(replace(made, edits=edits)))
    with browser.new_context(viewport={"width": 1440, "height": 900}, offline=True, color_scheme="dark") as context:
        errors: list[str] = []
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(file.as_uri())
        heading(page, "What it cost")
        pages = pages_of(page.pdf(prefer_css_page_size=True, print_background=True))
        assert len(pages) == 9
        assert all(f"{place} of 9" in text for place, text in enumerate(pages, start=1))
        [steps] = [text for text in pages if "One question, step by step" in text]
        for expected in ("Seeds", "Context", "Sources on this page", "onerror=document.body.remove()", "2026"):
            assert expected in steps
        assert "Top-N seeds 10" in steps.replace("\n", " ")
        expect(page.locator(".lrp-sheets")).to_have_count(0)
        assert n_pages(page.pdf(prefer_css_page_size=True, print_background=True)) == 9, "a second time the same"
        expect(page.locator(".lrp-sheets")).to_have_count(0)
        heading(page, "What it cost")
        # Names on paper are as wide as they were measured, so that none leaves its block.
        page.emulate_media(media="print")
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        name = page.locator(".lrp-sheets .lrp-name").first
        assert name.evaluate("name => getComputedStyle(name).textRendering.toLowerCase()") == "geometricprecision"
        assert errors == []


def test_a_table_on_the_next_slide_is_as_small_as_what_it_stands_in(browser: Browser, tmp_path: Path) -> None:
    made = Workbench(tmp_path / "home").presentations.read(SAMPLE)
    point = BoardPoint(message("plain", text="N 10"), Estimate(3900, 3800, 4000, 26), Estimate(0.8, 0.7, 0.9, 26), 0, 0)
    words = (message("plain", text=text) for text in ("LeanRAG", "N 10", "Evidence recall"))
    board = AddedBoard(*words, "Bees", "2026-11-22", (point,), 0, 0)
    file = tmp_path / "story.html"
    edits = Edits(order=("documents", "board-1"))
    file.write_bytes(as_html(replace(made, edits=edits, added={"board-1": board})))
    with browser.new_context(viewport={"width": 1440, "height": 900}, offline=True) as context:
        page = context.new_page()
        page.goto(file.as_uri())
        with page.expect_popup() as opened:
            page.keyboard.press("s")
        table = opened.value.locator(".lrp-preview table")
        expect(table).to_contain_text("N 10")
        sizes = table.evaluate("table => [table, table.parentElement].map(each => getComputedStyle(each).fontSize)")
        assert sizes[0] == sizes[1]


def test_names_of_documents_have_the_room_that_they_take(browser: Browser, tmp_path: Path) -> None:
    made = Workbench(tmp_path / "home").presentations.read(SAMPLE)
    title = "Protocol for the Inspection of Brood in Autumn"
    drawn = tuple(replace(document, title=title) for document in made.documents.drawn)
    file = tmp_path / "story.html"
    file.write_bytes(as_html(replace(made, documents=replace(made.documents, drawn=drawn))))
    with browser.new_context(viewport={"width": 1440, "height": 900}, offline=True) as context:
        page = context.new_page()
        page.goto(file.as_uri())
        heading(page, "What was read")
        label = page.locator(".lrp-label").first
        expect(label).to_have_text(title)
        chunk = page.locator(".lrp-chunk").first
        right, left = (each.bounding_box() for each in (label, chunk))
        assert right is not None
        assert left is not None
        assert right["x"] + right["width"] <= left["x"]


def test_the_speaker_has_notes_and_the_next_slide_in_a_second_window(browser: Browser, tmp_path: Path) -> None:
    made = Workbench(tmp_path / "home").presentations.read(SAMPLE)
    file = tmp_path / "story.html"
    first, second, *others = made.questions
    long = replace(second, question="Which of them is it? " * 40)
    hostile = replace(made, questions=(first, long, *others), edits=Edits(notes={"documents": HOSTILE}))
    file.write_bytes(as_html(hostile))
    with browser.new_context(viewport={"width": 1440, "height": 900}, offline=True) as context:
        errors: list[str] = []
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(file.as_uri())
        for _ in range(2):
            with page.expect_popup() as opened:
                page.keyboard.press("s")
            speaker = opened.value
            expect(speaker.locator("h1")).to_have_text("What was read")
            expect(speaker.locator(".lrp-own")).to_have_text(HOSTILE.replace("\u202e", "[U+202E]"))
            expect(speaker.locator(".lrp-preview .lrp-title")).to_have_text("From text to a graph")
            expect(speaker.locator("output")).to_have_text(re.compile(r"0:0\d"))
            speaker.keyboard.press("ArrowRight")
            heading(page, "From text to a graph")
            expect(speaker.locator(".lrp-preview .lrp-title")).to_have_text("Summaries alone are islands")
            speaker.get_by_role("button", name="Back").click()
            heading(page, "What was read")
            expect(speaker.locator("img")).to_have_count(0)
            speaker.close()
            expect(page.get_by_role("button", name="Speaker's view")).to_have_attribute("aria-pressed", "false")
        page.keyboard.press("End")
        with page.expect_popup() as opened:
            page.get_by_role("button", name="Speaker's view").click()
        expect(opened.value.locator(".lrp-preview")).to_have_text("This is the last slide.")
        page.keyboard.press("ArrowLeft")
        heading(page, "3 questions, side by side")
        rows = page.locator(".lrp-body")
        assert rows.evaluate("body => body.scrollHeight <= body.clientHeight + 1"), "a long question is cut"
        page.keyboard.press("End")
        page.reload()  # a file cannot reach its window again: it is closed, and opened anew
        with page.expect_popup() as opened:
            page.keyboard.press("s")
        expect(opened.value.locator(".lrp-preview")).to_have_text("This is the last slide.")
        assert len(context.pages) == 2
        assert errors == []
