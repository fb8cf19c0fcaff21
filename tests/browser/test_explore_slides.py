"""Pictures of Explore go into a presentation on one click: every view, in both themes; the file opens offline."""

import base64
import io
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image
from playwright.sync_api import Page, expect

from leanrag_core import IndexConfig, Workbench
from leanrag_core.messages.catalog import sentence
from leanrag_core.messages.message import message
from leanrag_core.presenting.story import AddedPicture
from leanrag_core.workbench.presentations import export_presentation
from tests.browser.conftest import Server, Watched
from tests.browser.runs import excess_width, settled
from tests.browser.test_present import pages_of
from tests.browser.test_story import SHOTS, snap
from tests.endpoint.coast import story

pytestmark = pytest.mark.browser

VIEWS = ("hierarchy", "graph", "schema", "map", "formation", "islands", "clusters")
CHOICES = ".st-key-explore_views [role=radiogroup] button, .st-key-explore_views button[kind]"


def choose(page: Page, view: str) -> None:
    title = sentence(message(f"explore.view.{view}"))
    page.locator(CHOICES).filter(has_text=re.compile(f"^{re.escape(title)}$")).click()


def image_of(picture: str) -> Image.Image:
    return Image.open(io.BytesIO(base64.b64decode(picture.partition(",")[2]))).convert("RGB")


def test_every_view_becomes_a_slide_that_is_shown_exported_and_printed(
    server_in: Callable[..., Server], watch: Callable[..., Watched], tmp_path: Path
) -> None:
    bench = Workbench.default(tmp_path / "home")
    corpus = bench.add_documents("Coast", [(f"s{n}.txt", story(n)) for n in range(6)]).corpus_id
    index = bench.build(corpus, IndexConfig(cluster_size=3, tau=1, chunk_tokens=64, overlap_tokens=8), name="Coast")
    server, watched = server_in(tmp_path / "home"), watch()
    page = watched.page
    page.goto(f"{server.url}/explore?index={index.folder_name}&view={VIEWS[0]}")
    settled(page)
    first = None
    for n, view in enumerate(VIEWS):
        if n:
            # In one session, as a person goes from view to view.
            choose(page, view)
            settled(page)
        page.locator(".lr-figtools").first.wait_for()
        before = page.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--lr-bg')")
        page.get_by_role("button", name="Add to a presentation").click()
        added = page.get_by_role("button", name=re.compile("Added as slide [0-9]+; open it"))
        expect(added).to_be_visible()
        settled(page)
        assert page.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--lr-bg')") == before
        first = first or int(re.search(r"slide (\d+)", added.inner_text())[1])
        expect(added).to_have_text(re.compile(f"slide {first + n};"))
        if n < 2:
            snap(page, f"explore_slide_{view}")

    # Another state of the same view is another picture; the same one is not offered twice.
    page.locator(CHOICES).first.click()
    settled(page)
    page.get_by_role("radio", name="Treemap").or_(page.get_by_role("button", name="Treemap")).first.click()
    settled(page)
    page.get_by_role("button", name="Add to a presentation").click()
    expect(page.get_by_role("button", name=f"Added as slide {first + len(VIEWS)}; open it")).to_be_visible()

    # All nodes of the graph are on a canvas, which is painted once more for the other theme.
    choose(page, "graph")
    settled(page)
    page.get_by_role("button", name="All nodes").click()
    page.locator(".lr-lg-figure canvas").wait_for()
    settled(page)
    page.get_by_role("button", name="Add to a presentation").click()
    expect(page.get_by_role("button", name=f"Added as slide {first + len(VIEWS) + 1}; open it")).to_be_visible()

    [own, *_] = bench.presentations.all().presentations
    stored = bench.presentations.read(own.id)
    pictures = [added for added in stored.added.values() if isinstance(added, AddedPicture)]
    assert len(pictures) == len(VIEWS) + 2
    for view, added in zip((*VIEWS, "treemap", "all"), pictures, strict=True):
        light, dark = image_of(added.light), image_of(added.dark)
        assert light.size == dark.size, view
        assert light.size[0] >= added.width
        assert light.getpixel((1, light.size[1] - 2)) == (255, 255, 255), view
        assert dark.getpixel((1, dark.size[1] - 2)) == (22, 24, 27), view
        colours = len(light.getcolors(1_000_000) or range(1_000_000))
        assert colours > 20, view
        if SHOTS:
            light.save(f"{SHOTS}/slide_{view}_light.png")
            dark.save(f"{SHOTS}/slide_{view}_dark.png")

    # The slide is there in the editor, and in the file that is passed on, which asks for nothing.
    page.get_by_role("button", name=re.compile("Added as slide")).click()
    settled(page)
    expect(page.locator(".lre-list li.here")).to_contain_text(pictures[-1].title[:20])
    titles = page.locator(".lre-list .open")
    expect(titles.nth(first - 1)).to_contain_text(pictures[0].title[:20])
    titles.nth(first - 1).click()
    expect(page.locator(".lre-slide .lrp-title")).to_contain_text(pictures[0].title[:20])
    expect(page.locator(".lre-slide img").first).to_be_visible()
    expect(page.locator(".lre-slide .lrp-facts")).to_have_text("")  # the documents of the picture may be others
    snap(page, "explore_slide_edited")
    n_slides = titles.count()
    assert len(pages_of(page.pdf(prefer_css_page_size=True))) == n_slides
    out = tmp_path / "deck.html"
    export_presentation(stored, out)
    alone = watch()
    asked: list[str] = []
    alone.page.on("request", lambda request: asked.append(request.url))
    alone.page.goto(f"{out.as_uri()}#{first}.1.1")
    expect(alone.page.locator("img[src^='data:image/png']").first).to_be_visible()
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
    snap(alone.page, "explore_slide_file")
    assert len(pages_of(alone.page.pdf(prefer_css_page_size=True, print_background=True))) == n_slides
    watched.assert_clean()
    alone.assert_clean()


def test_a_view_without_a_picture_and_a_picture_too_large_say_so(
    server_in: Callable[..., Server], watch: Callable[..., Watched], tmp_path: Path
) -> None:
    bench = Workbench.default(tmp_path / "home")
    corpus = bench.add_documents("Coast", [(f"s{n}.txt", story(n)) for n in range(6)]).corpus_id
    index = bench.build(corpus, IndexConfig(cluster_size=3, tau=1, chunk_tokens=64, overlap_tokens=8), name="Coast")
    server, watched = server_in(tmp_path / "home"), watch(390, 844, dark=True)
    page = watched.page
    page.goto(f"{server.url}/explore?index={index.folder_name}&table=1")
    settled(page)
    for _ in range(2):
        page.get_by_role("button", name="Add to a presentation").click()
        expect(page.get_by_text("This view shows no picture now.")).to_be_visible()
    page.get_by_role("button", name="Show as picture").click()
    settled(page)
    page.locator(".lr-figtools").first.wait_for()
    page.evaluate("HTMLCanvasElement.prototype.toDataURL = () => 'data:image/png;base64,' + 'A'.repeat(3e6)")
    page.get_by_role("button", name="Add to a presentation").click()
    expect(page.get_by_text("too large for a slide")).to_be_visible()
    # What is no picture is refused by the server, whatever a browser sends.
    page.evaluate("HTMLCanvasElement.prototype.toDataURL = () => 'data:text/html;base64,PHNjcmlwdD4='")
    page.get_by_role("button", name="Add to a presentation").click()
    expect(page.get_by_text("what the browser sent is no picture", exact=False).first).to_be_visible()
    assert all(
        not each.title.startswith("Coast") for each in bench.presentations.all().presentations if not each.is_shipped
    )
    assert excess_width(page) <= 0
    snap(page, "explore_slide_phone_dark")
    watched.assert_clean()
