"""Extraction on Evaluate: how much of a reference graph an index has, with what was missed."""

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from leanrag_core import Workbench
from leanrag_core.evaluation.extraction import Example, Examples, ExtractionScore, MatchScore, Share
from leanrag_core.workbench.builds import Builds
from leanrag_core.workbench.references import References
from tests.app import drawn

Visit = Callable[..., AppTest]
HOSTILE = "<script>x</script> [a](b)"
SCORE = ExtractionScore(
    matches=(
        MatchScore("normalised", Share(10, 20, 7, 8), Share(4, 10, 1, 2)),
        MatchScore("exact", Share(10, 20, 5, 5), Share(4, 10, 1, 1)),
        MatchScore("embedding", Share(10, 20, 9, 12), Share(4, 10, 2, 3)),
    ),
    types={"person": Share(6, 8, 6, 4), "group": Share(0, 3, 0, 0)},
    kinds={"verb": Share(4, 5, 1, 1)},
    examples=Examples((Example("Ada", "person", HOSTILE, "a.md"),), (), (Example("Bzz", "heading"),), ()),
)


def test_without_a_reference_graph_the_page_says_where_there_is_one(home: Workbench, visit: Visit) -> None:
    app = visit("evaluate", home, tab="extraction")
    drawn.assert_sound(app)
    assert "No index of a corpus with a reference graph." in drawn.text(app)


def test_shares_types_and_what_was_missed_are_shown(
    home: Workbench, visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[bool] = []

    def score(references: References, index: object, *, embedded: bool = True) -> ExtractionScore:
        asked.append(embedded)
        return SCORE

    monkeypatch.setattr(Builds, "has_reference", lambda builds, corpus: True)
    monkeypatch.setattr(References, "score", score)
    app = visit("evaluate", home, tab="extraction")
    drawn.assert_sound(app)
    text = drawn.text(app)
    assert "The extraction finds 70 % of the 10 entities of the reference graph and 25 % of its 4 pairs" in text
    assert "built-in70 %40 %25 %20 %" in text, "recall and precision of entities, then of relations"
    assert "person68100 %50 %" in text
    assert "joined by a verb" in text, "as Explore calls it"
    assert HOSTILE in text
    assert asked == [False], "names are not embedded before a person wants that"
    app.segmented_control("lr_xmatch").set_value("embedding").run()
    drawn.assert_sound(app)
    assert app.query_params["xmatch"] == "embedding"
    assert "The extraction finds 90 % of the 10 entities" in drawn.text(app)
    assert asked == [False, True]
    again = visit("evaluate", home, tab="extraction", xlist="other_entities")
    drawn.assert_sound(again)
    assert "Bzz" in drawn.text(again)
    empty = visit("evaluate", home, tab="extraction", xlist="missed_relations")
    assert "None." in drawn.text(empty)
