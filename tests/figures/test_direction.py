"""Names are isolated where they could reorder the text beside them."""

import pytest

from leanrag_core.figures.drawing import isolated


@pytest.mark.parametrize("name", ["مراكش", "ירושלים", "Hotel ירושלים 5", "٣"])
def test_a_name_from_right_to_left_is_isolated(name: str) -> None:
    assert isolated(name) == f"\u2068{name}\u2069"


@pytest.mark.parametrize("name", ["", "Marie Curie", "Москва 1905", "東京", "3.5 %"])
def test_other_names_stay_as_they_are(name: str) -> None:
    assert isolated(name) == name
