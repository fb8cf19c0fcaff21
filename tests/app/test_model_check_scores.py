"""A checked model beside the reference graph: shares under each way to compare names, and examples as text."""

from streamlit.testing.v1 import AppTest


def page() -> None:
    from leanrag_core.evaluation.extraction import GivenGraph, extraction_score
    from leanrag_core.indexing.model_check import ModelCheck
    from leanrag_core.indexing.reference.records import Quote, ReferenceEntity, ReferenceRelation
    from leanrag_core.workbench.references import PassageScores
    from pages.settings import endpoint_view

    quotes = (Quote("bees.md", "Bees make honey."),)
    gold = (
        ReferenceEntity("bee", "organism", "An insect.", quotes, ("Bees",)),
        ReferenceEntity("honey", "substance", "Food.", quotes),
    )
    relations = (ReferenceRelation("bee", "honey", "Made.", ("making",), 8, quotes),)
    given = GivenGraph((("bees", "organism"), ("<b>box</b>", "thing")), (("bees", "<b>box</b>", ""),))
    score = extraction_score(given, gold, relations)
    check = ModelCheck("m", "{}", "schema", 1.0, 10, 10, None, (), (), "good", ())
    endpoint_view.show_check(check, PassageScores(score, score))


def test_shares_and_examples_are_shown_and_names_stay_text() -> None:
    app = AppTest.from_function(page).run(timeout=30)
    assert not app.exception
    table = app.dataframe[0].value
    assert table["Entities"].tolist()[:2] == ["1 of 2", "0 of 2"]  # as normalised, then exactly
    assert table["of those given"].tolist()[0] == "1 of 2"
    text = " ".join(str(getattr(element, "body", "") or element.value) for element in (*app.markdown, *app.get("html")))
    assert "Entities that it missed:</b> honey" in text
    assert "bees – &lt;b&gt;box&lt;/b&gt;" in text
    assert "<b>box</b>" not in text
