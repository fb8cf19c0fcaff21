"""Evaluate on a first visit: the experiments that come with the program."""

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from leanrag_core import Workbench
from tests.app import drawn
from tests.app.test_evaluate import stored


@pytest.mark.parametrize("tab", ["results", "questions"])
def test_evaluate_opens_on_something_real(home: Workbench, visit: Callable[..., AppTest], tab: str) -> None:
    shipped = [each for each in home.experiments.store.all() if each.is_shipped]
    app = visit("evaluate", home, tab=tab)
    drawn.assert_sound(app)
    text = drawn.text(app)
    assert len(shipped) >= 4
    assert "LeanRAG" in text
    assert "Naive RAG" in text
    assert "No experiment yet" not in text


def test_verdicts_are_about_the_questions_of_the_experiment_in_use(
    home: Workbench, visit: Callable[..., AppTest]
) -> None:
    own = stored(home, {"Naive": [0.5, 0.5], "LeanRAG": [1.0, 0.5]}, title="Unanswered")
    app = visit("evaluate", home, tab="verdicts", exp=own)
    drawn.assert_sound(app)
    [chosen] = [box.value for box in app.selectbox if box.label == "Experiment"]
    summaries = {each.id: each for each in home.experiments.store.all()}
    assert summaries[chosen].has_answers
    assert summaries[chosen].question_set == summaries[own].question_set
    home.experiments.store.delete(own)


def test_titles_that_the_program_wrote_are_in_the_language_of_the_page(
    home: Workbench, visit: Callable[..., AppTest]
) -> None:
    shipped = [each for each in home.experiments.store.all() if each.is_shipped]
    starts = {each.title: each.title.split(", ")[0] for each in shipped}
    assert set(starts.values()) == {"All strategies", "Equal budget of 4,000 tokens"}
    for tab in ("results", "history", "choice"):
        app = visit("evaluate", home, tab=tab, lang="zh")
        drawn.assert_sound(app)
        listed = drawn.text(app) + "".join(button.label for button in app.button)
        assert "All strategies" not in listed, tab
        assert "Equal budget" not in listed, tab
    labels = [button.label.replace("\\", "") for button in visit("evaluate", home, lang="zh").button]
    assert "全部策略：Beekeeping and Bee-Pollinated Crops" in labels
    assert "相同预算（4,000 个词元）：Beekeeping and Bee-Pollinated Crops" in labels


def test_sweeps_that_come_with_the_program_are_named_in_the_language_of_the_page(
    home: Workbench, visit: Callable[..., AppTest]
) -> None:
    def offered(**url: str) -> list[str]:
        boxes = visit("evaluate", home, tab="sweeps", **url).selectbox
        return [str(option).replace("\\", "") for box in boxes for option in box.options]

    assert any(title.startswith("Beekeeping and Bee-Pollinated Crops：簇大小 × tau，") for title in offered(lang="zh"))
    assert any(title.startswith("Beekeeping and Bee-Pollinated Crops: clustersize x tau, ") for title in offered())


def test_the_history_dates_one_s_own_experiments_alone(home: Workbench, visit: Callable[..., AppTest]) -> None:
    app = visit("evaluate", home, tab="history")
    drawn.assert_sound(app)
    table = app.dataframe[0].value
    from_program = [each.is_shipped for each in home.experiments.store.all()]
    assert any(from_program)
    assert [changed == "–" for changed in table["Changed"]] == from_program
