"""The field for uploads speaks the reader's language, whatever Streamlit calls its parts."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import FilePayload, Locator, Page, expect

from tests.browser.conftest import Server, Watched
from tests.browser.runs import settled

pytestmark = pytest.mark.browser

# The texts of the field as they are seen: those of what is hidden are left out, those of style sheets are not.
SEEN = """field => [...field.querySelectorAll('*')].flatMap(each => {
    const own = [...each.childNodes].filter(node => node.nodeType === 3).map(node => node.textContent.trim()).join('');
    const seen = each.checkVisibility() && !each.closest('[data-testid=stIconMaterial]');
    const after = getComputedStyle(each, '::after');
    const said = each.checkVisibility() && after.content.startsWith('"') ? [after.content.slice(1, -1)] : [];
    return (seen && own ? [own] : []).concat(said);
})"""
HELD = """field => {
    const held = new DataTransfer();
    held.items.add(new File(['bees'], 'bees.txt', {type: 'text/plain'}));
    field.dispatchEvent(new DragEvent('dragenter', {dataTransfer: held, bubbles: true, cancelable: true}));
}"""


def field(page: Page, key: str) -> Locator:
    return page.locator(f"[class*='st-key-{key}'] [data-testid=stFileUploaderDropzone]")


def held_above(page: Page, key: str) -> list[str]:
    """What the field says while a file is held above it."""
    field(page, key).evaluate(HELD)
    page.wait_for_function(
        "field => field.querySelector('input + div:not([data-testid])')", arg=field(page, key).element_handle()
    )
    return field(page, key).evaluate(SEEN)


def test_the_field_for_uploads_is_in_the_language_of_the_page(
    server_in: Callable[..., Server], watch: Callable[..., Watched], tmp_path: Path
) -> None:
    server, page = server_in(tmp_path / "home"), watch().page
    page.goto(f"{server.url}/library?lang=zh")
    settled(page)
    if not field(page, "files_").is_visible():
        page.get_by_text("添加文档").first.click()
    field(page, "files_").wait_for()
    assert field(page, "files_").evaluate(SEEN) == ["浏览文件", "每个文件不超过 200 MB"]
    assert page.get_by_role("button", name="浏览文件", exact=False).first.is_visible()
    assert "拖放文件到此处" in held_above(page, "files_")
    page.get_by_role("radio", name="文件夹", exact=True).click()
    settled(page)
    assert field(page, "folder_").evaluate(SEEN) == ["浏览文件夹", "每个文件不超过 200 MB"]
    assert "拖放文件夹到此处" in held_above(page, "folder_")

    # So is the key that keeps what is written in other fields.
    page.goto(f"{server.url}/settings?lang=zh")
    settled(page)
    page.locator(".st-key-set_base_url input").fill("http://127.0.0.1:1/v1")
    hint = page.get_by_test_id("InputInstructions").locator("span").first
    shown = "each => [getComputedStyle(each).fontSize, getComputedStyle(each, '::after').content]"
    assert hint.evaluate(shown) == ["0px", '"按 Enter 应用"']


def test_files_that_were_chosen_are_seen_in_the_field(
    server_in: Callable[..., Server], watch: Callable[..., Watched], tmp_path: Path
) -> None:
    server, page = server_in(tmp_path / "home"), watch().page
    page.goto(f"{server.url}/library?lang=zh")
    settled(page)
    bees = FilePayload(name="bees.txt", mimeType="text/plain", buffer=b"Bees live in hives.")
    field(page, "files_").locator("input").set_input_files([bees])
    expect(field(page, "files_").get_by_text("bees.txt")).to_be_visible()
