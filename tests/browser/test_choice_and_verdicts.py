"""Which system? and Verdicts as a person uses them: a wish met and not met, Compare; votes by keys, undo, a reload."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from leanrag_core import Workbench
from leanrag_core.evaluation.gold import GoldQuestion
from leanrag_core.evaluation.judging.asking import OVERALL
from leanrag_core.types.experiment import (
    PAIRWISE,
    ExperimentResult,
    ExperimentSpec,
    Judgement,
    QuestionRow,
    RunSpec,
    human_judge,
)
from tests.app.test_evaluate import BETTER, stored
from tests.browser.conftest import Server, Watched
from tests.browser.runs import settled
from tests.browser.test_compare import built
from tests.browser.test_looks import assert_within_reach
from tests.browser.test_story import snap
from tests.waiting import until

pytestmark = pytest.mark.browser

N = 8


def judged(bench: Workbench) -> None:
    """Store an experiment with answers of two runs over eight questions; a judge prefers LeanRAG in both orders."""
    index = bench.indexes.all()[0].id
    runs = (RunSpec("", index, "leanrag", id="leanrag"), RunSpec("", index, "vector", id="vector"))
    ids = [f"q{number}" for number in range(N)]
    answers = {"leanrag": "Ada Thornbury <b>built</b> it. [E1][C1]", "vector": "It was built. [C1] In 1861. [C2]"}
    rows = tuple(QuestionRow(run.key, id_, "fact", {}, (), answers[run.key]) for run in runs for id_ in ids)
    judgements = tuple(
        Judgement("openai:judge", PAIRWISE, id_, *order, 0, {OVERALL: 1.0 if order[0] == "leanrag" else 2.0}, "", "")
        for id_ in ids
        for order in (("leanrag", "vector"), ("vector", "leanrag"))
    )
    spec = ExperimentSpec("Coast", "coast", runs, "vector")
    bench.experiments.store.begin("coast", spec, {}, [GoldQuestion(id_, f"Who built {id_}?") for id_ in ids])
    with bench.experiments.store.writer("coast") as writer:
        writer.add_rows(rows, [])
        writer.add_judgements(judgements)
        writer.finish(ExperimentResult("coast", spec, rows, (), judgements, is_complete=True))


def count(page: Page, done: int) -> None:
    """Check that the ballot says how many pairs are voted on, and that the server has them all."""
    expect(page.locator(".lr-ballot .count")).to_have_text(f"{done} of {N}")


def test_votes_by_keys_are_kept_undone_and_gone_on_with_and_shown_with_agreement(
    server_in: Callable[..., Server], watch: Callable[..., Watched], tmp_path: Path
) -> None:
    bench = built(tmp_path / "home")
    judged(bench)
    server, watched = server_in(bench.root), watch()
    page = watched.page
    page.goto(f"{server.url}/evaluate?tab=verdicts&exp=coast")
    count(page, 0)
    page.get_by_role("textbox", name="Your name").fill("Ann")
    page.keyboard.press("1")  # in the field it is a letter
    page.keyboard.press("Backspace")
    page.keyboard.press("Enter")
    settled(page)
    ballot = page.locator(".lr-ballot")
    expect(ballot).to_contain_text("Who built q")
    for telling in ("LeanRAG", "Naive", "[C1]", "[E1]"):
        expect(ballot).not_to_contain_text(telling)
    expect(ballot.locator(".text b")).to_have_count(0)
    snap(page, "evaluate_verdicts")

    # Each key twice, faster than the server answers; two votes are taken back, and one is given anew.
    for key in ("1", "1", "2", "2", "0", "t", "u", "U", "T"):
        page.keyboard.press(key)
    count(page, 5)
    settled(page)
    # Two are taken back again, of which the server alone knows, and given as before.
    for key in ("u", "u", "2", "0"):
        page.keyboard.press(key)
    count(page, 5)
    settled(page)
    expected = [1.0, 1.0, 2.0, 2.0, 0.0]
    until(lambda: len(bench.verdicts.standing("coast")) == len(expected))  # a busy server hears of the last vote later
    votes = bench.verdicts.standing("coast")
    assert [vote.verdicts[OVERALL] for vote in votes] == expected
    assert {vote.judge for vote in votes} == {human_judge("Ann")}

    # A reload goes on where the voter was.
    question = ballot.locator(".question").inner_text()
    page.reload()
    count(page, 5)
    expect(ballot.locator(".question")).to_have_text(question)
    page.get_by_role("button", name="Reveal results so far").click()
    expect(page.get_by_text("Ann (person), 5 questions")).to_be_visible()
    page.get_by_role("button", name="Hide results").click()
    expect(page.get_by_text("Ann (person), 5 questions")).to_have_count(0)

    page.get_by_role("button", name="Reveal results so far").click()
    expect(page.get_by_text("Ann (person), 5 questions")).to_be_visible()

    # The next vote hides the results, which would tell whose answer it was. The rest by buttons; the last vote is taken
    # back after the end, and given again.
    ballot.get_by_role("button", name=re.compile("Answer 1")).click()
    expect(page.get_by_text("(person)")).to_have_count(0)
    for name in ("Answer 2", "Tie"):
        ballot.get_by_role("button", name=re.compile(name)).click()
    expect(ballot).to_contain_text(f"All {N} pairs are voted on.")
    settled(page)
    page.keyboard.press("u")
    count(page, N - 1)
    page.keyboard.press("0")
    expect(ballot).to_contain_text(f"All {N} pairs are voted on.")
    expect(page.get_by_text(f"Ann (person), {N} questions")).to_be_visible()
    agreement = page.get_by_role("table", name="Agreement of persons with judges and with each other")
    expect(agreement).to_contain_text("judge")
    with_judge = sum(
        vote.verdicts[OVERALL] == (1.0 if vote.first == "leanrag" else 2.0) for vote in bench.verdicts.standing("coast")
    )
    expect(agreement).to_contain_text(f"{100 * with_judge / N:.0f} % (")
    assert_within_reach(page)
    snap(page, "evaluate_verdicts_results")

    # Votes that the server has not heard of when the page is loaded anew, or left, are not lost.
    page.get_by_role("textbox", name="Your name").fill("Cleo" * 20)  # too long, and the ballot is not drawn
    page.keyboard.press("Enter")
    expect(page.get_by_text("80 characters are too many")).to_be_visible()
    page.get_by_role("textbox", name="Your name").fill("Cleo")
    page.keyboard.press("Enter")
    count(page, 0)
    settled(page)
    for key in ("1", "2", "0"):
        page.keyboard.press(key)
    page.reload()
    count(page, 3)
    settled(page)
    for key in ("2", "1"):
        page.keyboard.press(key)
    page.get_by_role("link", name="Build").click()
    expect(page.get_by_role("heading", name="Build", exact=True)).to_be_visible()
    page.get_by_role("link", name="Evaluate").click()
    page.get_by_role("tab", name="Verdicts").click()
    count(page, 5)
    until(lambda: sum(vote.judge == human_judge("Cleo") for vote in bench.verdicts.standing("coast")) == 5)
    votes = [vote.verdicts[OVERALL] for vote in bench.verdicts.standing("coast") if vote.judge == human_judge("Cleo")]
    assert votes == [1.0, 2.0, 0.0, 2.0, 1.0]

    # Another voter begins anew, by criterion.
    page.get_by_role("textbox", name="Your name").fill("Ben")
    page.keyboard.press("Tab")
    page.get_by_role("radio", name="By criterion").click()
    count(page, 0)
    settled(page)
    for _ in range(5):
        page.keyboard.press("2")
    count(page, 1)
    settled(page)
    (by_criterion,) = [vote for vote in bench.verdicts.standing("coast") if vote.judge == human_judge("Ben")]
    assert len(by_criterion.verdicts) == 5
    watched.assert_clean()


def test_a_wish_is_met_not_met_and_met_again_and_its_systems_open_on_compare(
    server_in: Callable[..., Server], watch: Callable[..., Watched], tmp_path: Path
) -> None:
    bench = built(tmp_path / "home")
    stored(bench, BETTER, title="Coast")  # LeanRAG .875 with 500 tokens, Naive .5625 with 1,000
    server, watched = server_in(bench.root), watch()
    page = watched.page
    page.goto(f"{server.url}/evaluate?tab=choice&wrecall=75")
    finding = page.locator(".lr-finding")
    expect(finding).to_contain_text("LeanRAG meets it.")
    settled(page)
    tokens = page.get_by_role("spinbutton", name="Tokens of context, at most")
    for limit, said in (("400", "No stored run meets it."), ("600", "LeanRAG meets it.")):
        tokens.fill(limit)
        tokens.press("Enter")
        expect(finding).to_contain_text(said)
        settled(page)
    assert "wtokens=600" in page.url
    recall = page.get_by_role("slider", name="Gold evidence found, at least")
    for key, said in (("End", "No stored run meets it."), ("Home", "LeanRAG meets it.")):
        recall.press(key)
        expect(finding).to_contain_text(said)
        settled(page)
    assert_within_reach(page)
    snap(page, "evaluate_choice")
    page.get_by_role("button", name="Open 2 on Compare").click()
    expect(page).to_have_url(re.compile(r"/compare\?.*a_strategy=leanrag"))
    settled(page)
    assert "cols=ab" in page.url
    assert "b_strategy=vector" in page.url
    watched.assert_clean()
