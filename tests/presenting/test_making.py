"""A presentation holds what an index and its answers give, and the same bytes each time."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from leanrag_core.errors import InvalidConfig
from leanrag_core.evaluation.gold import GoldQuestion
from leanrag_core.presenting.making import measured
from leanrag_core.presenting.pictures import grouped_places
from leanrag_core.presenting.storing import content_of
from leanrag_core.presenting.story import Presentation, PresentationPlan, PresentedStrategy
from leanrag_core.retrieval.base import strategies
from leanrag_core.retrieval.settings import all_settings
from leanrag_core.types.experiment import ExperimentResult, ExperimentSpec, QuestionRow, RunSpec
from tests.presenting.conftest import PLAN, STRATEGIES

Make = Callable[..., Presentation]


def test_the_pictures_are_those_of_the_index(make: Make) -> None:
    made = make()
    assert (made.documents.n, made.documents.chunks) == (2, 4)
    assert [len(document.chunks) for document in made.documents.drawn] == [2, 2]
    assert made.islands is not None
    assert (made.islands.layer, made.islands.nodes) == (1, 2)
    # Two summaries without a relation are two parts; their aggregated relation makes them one.
    assert (made.islands.components_without, made.islands.components_with, made.islands.largest) == (2, 1, 2)
    assert [spot.relations for spot in made.islands.spots] == [1, 1]
    [bridge] = made.islands.bridges
    assert (bridge.strength, bridge.is_summarised) == (2, False)
    assert made.graph is not None
    assert sorted(dot.name for dot in made.graph.dots) == ["clover", "honey", "mite", "queen", "rape", "seed coat"]
    assert len(made.graph.links) == 5
    root, middle = made.hierarchy
    assert [(block.name, block.start, block.end) for block in root.blocks] == [("farm", 0.0, 1.0)]
    assert [(block.name, block.start, block.end) for block in middle.blocks] == [
        ("bees", 0.0, 0.5),
        ("fields", 0.5, 1.0),
    ]


def test_gold_quotes_are_counted_in_the_context_of_each_side(make: Make) -> None:
    first, second = make().questions
    assert first.n_gold == 2
    # One quote is in chunk 1, the other in none. Chunk 1 is at a right angle to the vector asked with, so the other
    # strategy does not read it among its two.
    assert [side.gold for side in first.sides] == [1, 0]
    assert [side.gold for side in second.sides] == [None, None]


def test_the_same_plan_gives_the_same_bytes(make: Make) -> None:
    assert content_of(make()) == content_of(make())


def test_no_time_is_kept(make: Make) -> None:
    for question in make().questions:
        for side in question.sides:
            assert side.run.trace.timings_ms == {"total": 0}
            assert side.run.trace.usage.seconds == 0


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"title": " "}, "title"),
        ({"questions": ()}, "between 1 and 6"),
        ({"questions": (GoldQuestion("q", "why?"),) * 7}, "between 1 and 6"),
        ({"strategies": (PresentedStrategy("leanrag"),) * 4}, "at most 2"),
        ({"notes": {"slide-9": "x"}}, "slide-9"),
        ({"notes": {"cost": "x" * 2_001}}, "longer than 2,000"),
    ],
)
def test_a_plan_that_cannot_be_made_says_what_to_change(change: dict[str, object], reason: str, make: Make) -> None:
    with pytest.raises(InvalidConfig, match=reason):
        make(replace(PLAN, **change))


def test_places_of_a_picture_do_not_meet() -> None:
    places = grouped_places([0] * 30 + [1] * 5 + [2] * 7)
    assert len({(place.x, place.y) for place in places}) == 42
    assert all(0 <= value <= 1 for place in places for value in (place.x, place.y))


def experiment(index: str, options: dict[str, int], tokens: tuple[tuple[int, int], ...]) -> ExperimentResult:
    # As the page makes them: told apart by an id, without a name of their own.
    runs = (RunSpec("", "here", "leanrag", id="ours"), RunSpec("", "here", "vector", options, id="theirs"))
    rows = tuple(
        QuestionRow(run, f"q{number}", "", {"context-tokens": float(pair[side])})
        for side, run in enumerate(("ours", "theirs"))
        for number, pair in enumerate(tokens)
    )
    spec = ExperimentSpec("Both", "set", runs, baseline="theirs")
    return ExperimentResult("e", spec, rows, is_complete=True, versions={"index here": index})


def test_an_experiment_counts_for_this_index_and_these_options_alone() -> None:
    result = experiment("index-small", {"top_c": 2}, ((50, 100), (30, 40)))
    [figures] = measured([result], "index-small", STRATEGIES)
    # 50 of 100 and 30 of 40 tokens are 80 of 140: the same share as in the tables, not the mean of .5 and .75.
    assert (figures.tokens.value, figures.tokens.n, figures.questions, figures.beside) == (0.571429, 2, 2, 1)
    assert figures.recall is None
    assert measured([result], "index-other", STRATEGIES) == ()
    assert measured([experiment("index-small", {"top_c": 9}, ((1, 2),))], "index-small", STRATEGIES) == ()
    assert measured([replace(result, is_complete=False)], "index-small", STRATEGIES) == ()


def test_a_share_of_the_tokens_is_never_below_0() -> None:
    """A strategy that finds nothing for most questions reads no tokens there."""
    [figures] = measured(
        [experiment("index-small", {"top_c": 2}, ((900, 0),) * 5 + ((900, 90),))], "index-small", STRATEGIES
    )
    assert figures.tokens.value == 60
    assert figures.tokens.low == 0


def test_an_experiment_that_names_official_settings_counts_for_a_strategy_that_names_none() -> None:
    info = strategies().named("vector")
    result = experiment("index-small", all_settings(info, {}), ((50, 100),))
    [figures] = measured([result], "index-small", (PresentedStrategy("leanrag"), PresentedStrategy("vector")))
    assert figures.tokens.value == 0.5


def test_a_plan_has_two_strategies_unless_it_says_so() -> None:
    plan = PresentationPlan("t", PLAN.questions)
    assert [each.name for each in plan.strategies] == ["leanrag", "vector"]
