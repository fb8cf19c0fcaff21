"""The board of Compare as a person uses it: sliders by keyboard and mouse, the trail, questions, settings used."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from leanrag_core import IndexConfig, Workbench
from leanrag_core.evaluation.gold import Evidence, GoldQuestion
from tests.browser.conftest import Server, Watched
from tests.browser.runs import excess_width, settled
from tests.browser.test_story import snap

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    bench = Workbench.default(tmp_path_factory.mktemp("board") / "home")
    bench.corpora.all()  # reads the samples
    assert bench.builds.start_first_sample() is None  # its index is prepared
    return bench.root


def slider(page: Page, name: str) -> Locator:
    return page.get_by_role("slider", name=name)


def trail(page: Page) -> Locator:
    return page.locator(".lr-board ol li")


def says(page: Page, text: str) -> None:
    expect(page.locator(".lr-board .sentence")).to_contain_text(text, timeout=90_000)


def test_sliders_move_the_point_and_the_whole_set_answers(
    server_in: Callable[..., Server], watch: Callable[..., Watched], home: Path
) -> None:
    server, watched = server_in(home), watch(moving=True)
    page = watched.page
    page.goto(f"{server.url}/compare?cview=board")
    says(page, "This is the pinned setting: .80 at")
    expect(page.get_by_role("button", name="Pin", exact=True)).to_be_disabled()
    expect(page.get_by_role("button", name="Back one")).to_be_disabled()

    # N and C by keyboard: the trail has a point for each slider, and the sentence the paired result.
    for name, keys in (("Top-N seeds", ("ArrowLeft",) * 5), ("Top-C chunks", ("ArrowRight",) * 3)):
        slider(page, name).focus()
        for key in keys:
            page.keyboard.press(key)
        expect(slider(page, name)).to_have_attribute("aria-valuetext", "5" if name == "Top-N seeds" else "8")
        settled(page)
    says(page, "N 5, C 8 finds 13 points more gold than the pinned setting")
    says(page, "9 questions won, 1 lost.")
    expect(page).to_have_url(re.compile("bset=top_n%3D5%3Btop_c%3D8"))
    expect(page.locator(".lr-board .question.won")).to_have_count(8)
    page.get_by_role("button", name="1 more").click()
    expect(page.locator(".lr-board .question.won")).to_have_count(9)
    expect(page.locator(".lr-board .question.lost")).to_have_count(1)
    snap(page, "board")

    # By mouse; one drag leaves one point.
    before = trail(page).count()
    box = slider(page, "Top-N seeds").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 7 + (box["width"] - 14) * 4 / 29, box["y"] + 10)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"], box["y"] + 10, steps=6)
    page.mouse.up()
    expect(slider(page, "Top-N seeds")).to_have_attribute("aria-valuetext", "30")
    says(page, "N 30, C 8")
    settled(page)
    expect(trail(page)).to_have_count(before + 1)

    # A switch twice; back by key and by button; a point of the trail.
    switch = page.get_by_role("switch", name="Inter-cluster relations")
    for checked in ("false", "true"):
        switch.click()
        expect(switch).to_have_attribute("aria-checked", checked)
        settled(page)
    says(page, "N 30, C 8 ")
    page.locator(".lr-board .plot svg").click(position={"x": 200, "y": 300})
    page.keyboard.press("Backspace")
    says(page, "Inter-cluster relations off")
    page.get_by_role("button", name="Back one").click()
    settled(page)
    page.get_by_role("button", name="Back one").click()
    says(page, "N 5, C 8 finds 13 points")
    mark = page.locator(".lr-board .left").last
    mark.focus()
    expect(page.locator(".lr-board .card")).to_contain_text("against pinned")
    mark.press("Enter")
    settled(page)
    says(page, "pinned setting")

    # Table, measure, axis: there and back.
    for wanted in (1, 0):
        page.get_by_role("button", name="Show as table").click()
        expect(page.locator(".lr-board .table table")).to_have_count(wanted)
    for name in ("0 to 1", "near the points"):
        page.get_by_role("button", name=name, exact=True).click()
        settled(page)
    expect(page.get_by_role("button", name="0 to 1", exact=True)).to_be_visible()
    page.get_by_role("button", name="Clear trail").click()
    expect(trail(page)).to_have_count(0)
    watched.assert_clean()


def test_a_setting_is_pinned_used_taken_back_and_opened_beside(
    server_in: Callable[..., Server], watch: Callable[..., Watched], home: Path
) -> None:
    server, watched = server_in(home), watch()
    page = watched.page
    page.goto(f"{server.url}/compare?cview=board&bset=top_n%3D5%3Btop_c%3D8&bpin=-")
    says(page, "N 5, C 8 finds 13 points more gold")
    page.keyboard.press("p")
    says(page, "This is the pinned setting: .93")
    slider(page, "Top-N seeds").press("End")
    says(page, "N 30")
    slider(page, "Top-N seeds").press("Home")
    says(page, "N 1 ")
    settled(page)

    use, undo = page.get_by_role("button", name="Use these settings"), page.get_by_role("button", name="Undo")
    use.click()
    expect(page.locator(".lr-board")).to_contain_text("Ask and Compare use these settings now.")
    asked = Workbench.default(home).defaults.chosen_for(page.url.split("index=")[1].split("&")[0])
    assert asked is not None
    assert dict(asked.options) == {"top_n": 1, "top_c": 8}
    settled(page)
    undo.click()
    expect(undo).to_have_count(0)
    settled(page)
    assert Workbench.default(home).defaults.chosen_for(page.url.split("index=")[1].split("&")[0]) is None
    use.dblclick()  # twice, and the way back is still there
    expect(undo).to_be_visible()
    settled(page)
    undo.click()
    expect(page.locator(".lr-board")).to_contain_text("keep their settings until you use these")
    settled(page)
    assert Workbench.default(home).defaults.chosen_for(page.url.split("index=")[1].split("&")[0]) is None
    use.click()
    expect(undo).to_be_visible()
    settled(page)
    other = watch().page  # a session that has set nothing
    other.goto(f"{server.url}/ask")
    settled(other)
    expect(other).to_have_url(re.compile(r"[?&]n=1(&|$)"))
    other.get_by_role("link", name="Compare", exact=True).click()
    expect(other).to_have_url(re.compile(r"a_n=1(&|$)"))

    # Another clustersize is a trial, made from kept stages.
    slider(page, "clustersize").press("ArrowLeft")
    says(page, "clustersize 15")
    expect(page.get_by_role("button", name="Use and keep the trial index")).to_be_visible()
    slider(page, "clustersize").press("ArrowRight")
    expect(page.get_by_role("button", name="Use these settings")).to_be_visible(timeout=90_000)
    settled(page)

    page.keyboard.press("c")
    expect(page.locator(".lr-colhead")).to_have_count(3)  # what is compared is seen before a question is asked
    expect(page).to_have_url(re.compile(r"cols=abc"))
    page.get_by_role("radio", name="Board").click()
    page.locator(".lr-board .question").first.click()
    expect(page.locator(".lr-answer")).to_have_count(2, timeout=90_000)
    expect(page).to_have_url(re.compile(r"a_n=5.*b_n=1|b_n=1.*a_n=5"))
    watched.assert_clean()


def test_multiples_of_many_seeds_and_seven_values_are_saved_as_pictures(
    server_in: Callable[..., Server], watch: Callable[..., Watched], home: Path, tmp_path: Path
) -> None:
    server, watched = server_in(home), watch()
    page = watched.page
    question = "Why+does+Varroa+destructor+multiply+best+in+drone+brood?"
    for values, n, n_seeds in (("2,4,6", 3, 20), ("1,2,3,4,5,6,7", 7, 8)):
        page.goto(f"{server.url}/compare?cview=multiples&vary=top_c&vary_at={values}&a_n={n_seeds}&q={question}")
        graphs = page.locator('[class*="st-key-multiples_graph_"] svg:visible')
        expect(graphs).to_have_count(n, timeout=90_000)
        settled(page)
        # Above fifteen seeds each parent has their number in a tray; else they are discs.
        assert (graphs.first.locator("circle").count() > 0) == (n_seeds == 8)
        arcs = graphs.first.locator('path[style*="--lr-inter"]').count()
        assert (arcs > 0) == (n == 3)
        assert excess_width(page) <= 0
        snap(page, f"compare_multiples_{n}_{n_seeds}")
        for name, beginning in (("PNG", b"\x89PNG"), ("SVG", b"<svg")):
            with page.expect_download() as download:
                page.get_by_role("button", name=name).click()
            path = tmp_path / f"{n}.{name.lower()}"
            download.value.save_as(path)
            assert path.read_bytes().startswith(beginning)
        drawn = path.read_text(encoding="utf-8")
        assert drawn.count("tokens") >= n
        assert "var(" not in drawn.replace("style=", "") or "rgb(" in drawn
    watched.assert_clean()


def test_on_a_phone_questions_are_a_sheet_and_controls_stay_below(
    server_in: Callable[..., Server], watch: Callable[..., Watched], home: Path
) -> None:
    server, watched = server_in(home), watch(390, 844)
    page = watched.page
    page.goto(f"{server.url}/compare?cview=board&bset=top_n%3D5%3Btop_c%3D8&bpin=-")
    says(page, "N 5, C 8 finds 13 points more gold")
    settled(page)
    expect(page.locator(".lr-board .question").first).to_be_hidden()
    assert excess_width(page) <= 0
    snap(page, "board_phone")
    link, sheet = page.get_by_role("button", name="9 questions won, 1 lost"), page.get_by_role("dialog")
    for close in (lambda: page.keyboard.press("Escape"), page.get_by_role("button", name="Close").click):
        link.click()
        expect(sheet).to_be_visible()
        expect(sheet.locator(".question.won")).to_have_count(8)
        snap(page, "board_phone_sheet")
        close()
        expect(sheet).to_have_count(0)
        expect(link).to_be_focused()

    # Groups of controls as pills; Pin and Open as column are icons with names.
    for group, name in (("Index", "clustersize"), ("Retrieval", "Top-N seeds")):
        page.get_by_role("button", name=group, exact=True).click()
        expect(slider(page, name)).to_be_visible()
    for name in ("Use these settings", "Pin", "Open as column"):
        box = page.get_by_role("button", name=name, exact=True).bounding_box()
        assert box is not None
        assert box["height"] >= 44
        assert box["y"] + box["height"] <= 844
    page.get_by_role("button", name="Pin", exact=True).click()
    says(page, "This is the pinned setting")
    slider(page, "Top-C chunks").press("ArrowLeft")
    says(page, "C 7")
    settled(page)
    page.locator(".lr-board .tosheet").click()
    sheet.locator(".question").first.click()
    expect(page.locator(".lr-answer").first).to_be_visible(timeout=90_000)
    watched.assert_clean()


def test_kept_stages_that_are_gone_are_made_on_a_click_while_retrieval_goes_on(
    server_in: Callable[..., Server], watch: Callable[..., Watched], home: Path
) -> None:
    Workbench.default(home).stages.clear()
    server, watched = server_in(home), watch()
    page = watched.page
    page.goto(f"{server.url}/compare?cview=board&bset=-&bpin=-")
    expect(page.get_by_text("Kept stages are gone; a move of clustersize takes about")).to_be_visible()
    expect(page.locator(".lr-board")).to_contain_text("embeds anew")
    expect(slider(page, "clustersize")).to_be_disabled()
    expect(page.get_by_role("switch", name="Size cap")).to_be_disabled()
    snap(page, "board_stages_gone")
    page.get_by_role("button", name="Make them").click()
    expect(page.get_by_role("button", name="Make them")).to_have_count(0)
    slider(page, "Top-N seeds").focus()
    for _ in range(2):
        page.keyboard.press("ArrowLeft")
    says(page, "N 8 ")
    expect(slider(page, "clustersize")).to_be_enabled(timeout=180_000)
    expect(page.get_by_text("Kept stages are gone")).to_have_count(0)
    says(page, "N 8 ")
    slider(page, "clustersize").press("ArrowLeft")
    says(page, "clustersize 15")
    watched.assert_clean()


def test_without_questions_the_board_says_where_to_make_them(
    server_in: Callable[..., Server], watch: Callable[..., Watched], tmp_path: Path
) -> None:
    bench = Workbench.default(tmp_path / "home")
    corpus = bench.add_documents("Bees", [("bees.md", b"# Bees\n\nHoney bees pollinate oilseed rape.\n")]).corpus_id
    bench.build(corpus, IndexConfig())
    server, watched = server_in(bench.root), watch()
    watched.page.goto(f"{server.url}/compare?cview=board")
    expect(watched.page.get_by_text("No questions for this corpus.")).to_be_visible()
    watched.page.get_by_role("button", name="Make questions in Evaluate").click()
    expect(watched.page).to_have_url(re.compile("/evaluate.*tab=sets"))
    expect(watched.page.get_by_role("button", name="Generate")).to_be_visible()

    quote = Evidence("bees.md", "Honey bees pollinate oilseed rape.")
    bench.question_sets.add("Own", [GoldQuestion("1", "What do bees pollinate?", evidence=(quote,))], corpus_id=corpus)
    for view in ("set", "board"):
        watched.page.goto(f"{server.url}/compare?cview={view}")
        settled(watched.page)
        expect(watched.page.get_by_text("No questions for this corpus.")).to_have_count(0)
        expect(watched.page.get_by_text("Evidence recall").first).to_be_visible()
    expect(watched.page.get_by_text(re.compile("on 1 question"))).to_be_visible()
    watched.assert_clean()


def test_the_board_goes_into_a_presentation_by_one_click(
    server_in: Callable[..., Server], watch: Callable[..., Watched], home: Path
) -> None:
    server, watched = server_in(home), watch()
    page = watched.page
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(f"{server.url}/compare?cview=board&bset=top_n%3D5")
    for n_points in (2, 3):
        if n_points == 3:
            slider(page, "Top-C chunks").focus()
            page.keyboard.press("ArrowRight")
            expect(trail(page)).to_have_count(1)
            settled(page)
        page.get_by_role("button", name="Add to a presentation").click()
        added = page.get_by_role("button", name="Added as slide")
        expect(added).to_be_visible()
    added.click()
    page.locator(".lre-list .open").last.click()
    expect(page.locator(".lre-slide .lrp-point")).to_have_count(3)
    page.get_by_role("button", name="Show from here").click()
    points = page.locator(".lrp-board tbody button")
    expect(points).to_have_count(3)
    for place in (0, 2):
        points.nth(place).click()
        expect(page.locator(".lrp-board tr.here button")).to_have_text(points.nth(place).inner_text())
        expect(page.locator(".lrp-beside .lrp-strong")).to_contain_text("tokens")
    snap(page, "present_board")
    assert errors == []
    watched.assert_clean()
