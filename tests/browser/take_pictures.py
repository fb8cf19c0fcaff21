"""Pictures of all pages and states: `python -m tests.browser.take_pictures FOLDER`, or `--guide` for docs/pictures.

A home with the index that the program opens with is made first, or taken where --home names one.
"""

import argparse
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from leanrag_core import Workbench
from tests.browser import runs
from tests.browser.conftest import ARGUMENTS, CHROMIUM, PROJECT, start_server
from tests.browser.states import states

SAMPLE = "sample-agriculture"
QUESTION = (
    "Why does Varroa destructor multiply best in drone brood, "
    "and how does the season calendar make use of this in spring?"
)
SIZES = ((1440, 900), (390, 844))
SLIDE = "#6.5"  # of the sample presentation: the question, step by step
GUIDE = {
    "library": "library",
    "build": "build",
    "explore": "explore_hierarchy",
    "islands": "explore_islands",
    "ask": "ask_answered",
    "compare": "compare_answered",
    "evaluate": "evaluate_results",
    "present": "present_shown",
    "settings": "settings",
}


def home_with_a_sample(folder: Path) -> Path:
    """Return a home whose only index is the one that the program opens with."""
    bench = Workbench.default(folder)
    if not bench.indexes.all():
        bench.corpora.all()  # reads the samples
        bench.builds.start_first_sample()
    return folder


def page_of(browser: Browser, size: tuple[int, int], theme: str) -> Page:
    """Open a page of that size and theme, on which the tour has been seen."""
    dark = "dark" if theme == "dark" else "light"
    page = browser.new_page(viewport={"width": size[0], "height": size[1]}, color_scheme=dark)
    page.add_init_script("localStorage.setItem('leanrag-tour-seen', '1')")
    runs.follow(page)
    return page


def take(page: Page, url: str, path: Path, *, whole: bool) -> None:
    """Take a picture of the page. whole: as high as the page is, up to 3,500 px."""
    page.goto(url)
    runs.settled(page)
    page.wait_for_timeout(1_500)  # figures move to their places
    size = page.viewport_size
    assert size is not None
    if whole:
        height = page.evaluate("document.querySelector('[data-testid=stMain]').scrollHeight")
        page.set_viewport_size({"width": size["width"], "height": min(max(height, size["height"]), 3_500)})
        page.wait_for_timeout(500)
    page.screenshot(path=path)
    page.set_viewport_size(size)


def main() -> None:
    """Take the pictures that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--guide", action="store_true", help="those of the user guide alone, into docs/pictures")
    parser.add_argument("--home", type=Path)
    parser.add_argument("--language", default="en")
    parser.add_argument("--only", nargs="*", help="names of states")
    options = parser.parse_args()
    folder = PROJECT / "docs" / "pictures" if options.guide else options.folder
    if folder is None:
        parser.error("name a folder, or --guide")
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as made, sync_playwright() as playwright:
        home = home_with_a_sample(options.home or Path(made))
        index = next(each.id for each in Workbench.default(home).indexes.all() if each.corpus_id == SAMPLE)
        server = start_server(home, "app.py")
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        paths = states(QUESTION, index=index)
        wanted = GUIDE if options.guide else {name: name for name in paths}
        try:
            for size in SIZES[:1] if options.guide else SIZES:
                for theme in ("light",) if options.guide else ("light", "dark"):
                    page = page_of(browser, size, theme)
                    for name, state in wanted.items():
                        if options.only and name not in options.only:
                            continue
                        path = paths[state]
                        url = f"{server.url}/{path}{'&' if '?' in path else '?'}lang={options.language}"
                        url += SLIDE if options.guide and state == "present_shown" else ""
                        file = f"{name}.png" if options.guide else f"{name}_{size[0]}_{theme}.png"
                        take(page, url, folder / file, whole=not options.guide)
                    page.close()
        finally:
            server.process.terminate()
            server.process.wait(timeout=20)


if __name__ == "__main__":
    main()
