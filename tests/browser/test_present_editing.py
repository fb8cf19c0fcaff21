"""A presentation is edited as a person does it: order, slides left out, words in place, notes, logo; each twice."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from leanrag_core import Workbench
from tests.browser.conftest import Server, Watched
from tests.browser.runs import excess_width, settled
from tests.browser.test_present import HOSTILE, SAMPLE, n_pages
from tests.browser.test_story import snap

pytestmark = pytest.mark.browser

LOGO = b"<svg xmlns='http://www.w3.org/2000/svg' width='40' height='20'><rect width='40' height='20'/></svg>"
BROKEN = b"\x89PNG\r\n\x1a\n" + b"0" * 50
TRICK = b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>"


def saved(page: Page) -> None:
    expect(page.locator(".lre-status")).to_have_text("saved")


def rows(page: Page) -> Locator:
    return page.locator(".lre-list .open")


def words(page: Page, label: str, text: str) -> None:
    page.get_by_role("textbox", name=label, exact=True).fill(text)
    page.keyboard.press("Enter")
    saved(page)


def test_a_presentation_is_edited_in_place_saved_and_undone(
    server_in: Callable[..., Server], watch: Callable[..., Watched], tmp_path: Path
) -> None:
    watched = watch()
    page, server = watched.page, server_in(tmp_path / "home")
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(f"{server.url}/present")
    settled(page)
    page.get_by_role("button", name="Edit", exact=True).click()
    expect(rows(page)).to_have_count(10)

    for _ in range(2):
        rows(page).first.focus()
        page.keyboard.press("Alt+ArrowDown")
        expect(rows(page).nth(1)).to_contain_text("What was read")
        page.get_by_role("button", name="Move up: What was read").click()
        expect(rows(page).first).to_contain_text("What was read")
        page.get_by_role("button", name="Leave out: What was read").click()
        expect(rows(page).first).to_contain_text("left out")
        page.get_by_role("button", name="Put back: What was read").click()
        expect(rows(page).first).not_to_contain_text("left out")
        saved(page)

    for title in ("What 99 people read", "What 21,619 tokens say"):
        words(page, "Title of the slide", title)
        expect(rows(page).first).to_contain_text(title)
        expect(page.locator(".lre-list small.error")).to_have_count(1 if "99" in title else 0)
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".lre-hint")).to_contain_text("99 is not a figure of this slide")
    page.get_by_role("button", name="Undo").click()
    expect(rows(page).first).to_contain_text("What was read")
    page.get_by_role("button", name="Redo").click()
    page.get_by_role("button", name="Redo").click()
    expect(rows(page).first).to_contain_text("What 21,619 tokens say")
    saved(page)

    notes = page.get_by_label("Speaker's notes")
    for round_ in range(2):
        for place in range(10):  # a click right after typing goes where it should, and so does what was typed
            rows(page).nth(place).click(delay=100 * round_)  # as long as a finger presses
            expect(rows(page).nth(place)).to_have_attribute("aria-current", "true")
            notes.fill(f"{round_}: note {place}")
            expect(page.locator(".lre-status")).not_to_have_text("saved")
        saved(page)
    for place in range(10):
        rows(page).nth(place).click()
        expect(notes).to_have_value(f"1: note {place}")
        expect(page.locator(".lre-slide .lrp-title")).to_have_text(rows(page).nth(place).locator("span").inner_text())
    for round_ in range(2):  # a reload keeps the slide, and asks before it loses what was typed
        rows(page).nth(4 + round_).click()
        notes.fill(f"typed before reload {round_}")
        with page.expect_event("dialog") as asked:
            page.evaluate("setTimeout(() => location.reload())")
        asked.value.dismiss()
        saved(page)
        page.reload()
        expect(rows(page).nth(4 + round_)).to_have_attribute("aria-current", "true")
        expect(notes).to_have_value(f"typed before reload {round_}")
    rows(page).first.click()

    for _ in range(2):
        page.locator("[data-key=add-text]").click()
        expect(rows(page)).to_have_count(11)
        page.get_by_role("button", name="Undo").click()  # one click takes it back
        expect(rows(page)).to_have_count(10)

    for quotation in ("All is water.", HOSTILE):
        page.locator("[data-key=add-text]").click()
        page.keyboard.type("A claim")
        page.keyboard.press("Enter")
        saved(page)
        words(page, "A quotation", quotation)
        page.get_by_label("Speaker's notes").fill(HOSTILE)
        page.get_by_label("Speaker's notes").blur()
        saved(page)
    expect(rows(page)).to_have_count(12)
    page.get_by_role("button", name="Remove slide: A claim").last.click()
    expect(rows(page)).to_have_count(11)
    page.get_by_role("button", name="Undo").click()
    expect(rows(page)).to_have_count(12)
    expect(page.locator(".lre-slide img")).to_have_count(0)
    snap(page, "present_edit")

    page.locator("[data-key=logo]").set_input_files({"name": "l.svg", "mimeType": "image/svg+xml", "buffer": LOGO})
    expect(page.locator(".lre-slide img.lrp-logo")).to_have_count(1)
    saved(page)
    page.locator("[data-key=logo]").set_input_files({"name": "x.svg", "mimeType": "image/svg+xml", "buffer": TRICK})
    expect(page.locator(".lre-status.error")).to_contain_text("without scripts")
    page.locator("[data-key=logo]").set_input_files({"name": "b.png", "mimeType": "image/png", "buffer": BROKEN})
    expect(page.locator(".lre-status.error")).to_contain_text("must be a PNG")
    assert page.locator("img.lrp-logo").evaluate("picture => picture.naturalWidth") == 40, "the logo stays"

    page.locator(".lre-card summary").click()
    page.get_by_label("Tokens for each").fill("2000")
    page.get_by_role("button", name="Add the slide").click()
    expect(rows(page)).to_have_count(13)
    expect(page.locator(".lre-slide .lrp-title")).to_have_text("The same question, 2,000 tokens each")
    saved(page)

    assert n_pages(page.pdf(prefer_css_page_size=True)) == 13
    page.get_by_role("button", name="Show from here").click()
    expect(page.locator(".lrp-count")).to_contain_text("of 13")
    expect(page.locator(".lrp-title")).to_have_text("The same question, 2,000 tokens each")
    page.keyboard.press("Home")
    expect(page.locator(".lrp-title")).to_have_text("What 21,619 tokens say")
    page.keyboard.press("Escape")
    settled(page)

    [own, sample] = Workbench(tmp_path / "home").presentations.all().presentations
    assert sample.id == SAMPLE
    stored = Workbench(tmp_path / "home").presentations.read(own.id)
    assert [typed.quotation for key, typed in stored.edits.words.items() if key.startswith("text-")] == [
        "All is water.",
        HOSTILE,
    ]
    assert stored.edits.logo.startswith("data:image/svg+xml;base64,")
    assert errors == []
    watched.assert_clean()

    phone = watch(390, 844, dark=True).page
    phone.goto(f"{server.url}/present?lang=zh&edit={own.id}")
    expect(phone.locator(".lre-list .open")).to_have_count(13)
    expect(phone.get_by_role("button", name="完成")).to_be_visible()
    assert excess_width(phone) <= 0
    snap(phone, "present_edit_phone")

    # The menu of a card makes room for the dialog that asks before its presentation goes; a way out twice.
    page.goto(f"{server.url}/present")
    settled(page)
    dialog = page.get_by_role("dialog").filter(has_text="Its slides, notes and edits go for good.")
    for leave in ("Escape", "Escape", "Delete"):
        page.locator('[class*="st-key-more_"] button').first.click()
        page.get_by_role("button", name="Delete", exact=True).click()
        expect(dialog).to_be_visible()
        expect(page.locator("button", has_text="Presentation file")).to_have_count(0)
        if leave == "Escape":
            page.keyboard.press("Escape")
        else:
            snap(page, "present_delete")
            dialog.get_by_role("button", name="Delete", exact=True).click()
        expect(dialog).to_have_count(0)
        settled(page)
    assert [each.id for each in Workbench(tmp_path / "home").presentations.all().presentations] == [SAMPLE]
    watched.assert_clean()


def test_the_field_that_is_reached_from_another_one_takes_what_is_typed(
    server_in: Callable[..., Server], watch: Callable[..., Watched], tmp_path: Path
) -> None:
    watched = watch()
    page, server = watched.page, server_in(tmp_path / "home")
    page.goto(f"{server.url}/present")
    settled(page)
    page.get_by_role("button", name="Edit", exact=True).click()
    page.locator("[data-key=add-text]").click()
    page.keyboard.type("Why we try it")
    page.get_by_role("textbox", name="One claim, in your words").click()
    page.keyboard.type("Reading less")
    page.keyboard.press("Tab")
    page.keyboard.type("Less is more")
    page.keyboard.press("Enter")
    saved(page)
    for label, text in (
        ("Title of the slide", "Why we try it"),
        ("One claim, in your words", "Reading less"),
        ("A quotation", "Less is more"),
    ):
        expect(page.get_by_role("textbox", name=label)).to_have_text(text)


def test_what_was_changed_in_another_tab_is_not_undone_here(
    server_in: Callable[..., Server], watch: Callable[..., Watched], tmp_path: Path
) -> None:
    server, here, elsewhere = server_in(tmp_path / "home"), watch().page, watch().page
    here.goto(f"{server.url}/present")
    settled(here)
    here.get_by_role("button", name="Edit", exact=True).click()
    title, occasion = "Title of the presentation", "Occasion or speaker"
    words(here, occasion, "Spring")
    elsewhere.goto(here.url)
    words(elsewhere, title, "Of another tab")
    here.get_by_role("textbox", name=title).fill("Of this tab")
    here.keyboard.press("Enter")
    expect(here.locator(".lre-status.error")).to_contain_text("was changed elsewhere")
    expect(here.locator(".lre-bar > b")).to_have_text("Of another tab")
    expect(here.get_by_role("button", name="Undo")).to_be_disabled()
    for text in ("Summer", "Autumn"):
        words(here, occasion, text)
    here.get_by_role("button", name="Undo").click()
    saved(here)
    expect(here.get_by_role("textbox", name=occasion)).to_have_text("Summer")
    expect(here.locator(".lre-bar > b")).to_have_text("Of another tab")
