"""A presentation of the small index, made without a language model."""

from collections.abc import Callable

import numpy as np
import pytest

from leanrag_core.answering.extractive import extractive_answer
from leanrag_core.evaluation.gold import Evidence, GoldQuestion
from leanrag_core.presenting.making import make_presentation
from leanrag_core.presenting.story import Presentation, PresentationPlan, PresentedStrategy
from leanrag_core.retrieval.base import Query, strategy
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Answer
from tests.retrieval.tools import TOOLS
from tests.small_index import small_index, unit

GOLD = GoldQuestion(
    "q1",
    "What spoils the honey?",
    ("mite",),
    (Evidence("0.txt", "A mite drinks from the bee"), Evidence("0.txt", "words that nobody wrote")),
)
STRATEGIES = (PresentedStrategy("leanrag"), PresentedStrategy("vector", {"top_c": 2}))
PLAN = PresentationPlan("Bees & fields", (GOLD, GoldQuestion("own", "Who meets whom?")), STRATEGIES, "2026-11-22")


def ask(index: Index, question: str, chosen: PresentedStrategy) -> Answer:
    trace = strategy(chosen.name, chosen.options).retrieve(Query(question, unit([[1, 0, 1, 0]])[0]), index, TOOLS)
    return extractive_answer(trace, lambda texts: np.ones((len(texts), 4)) / 2, np.ones(4) / 2)


@pytest.fixture
def make() -> Callable[..., Presentation]:
    """Return a function: make(plan, index) is the presentation of a plan, of the small index by default."""

    def made(plan: PresentationPlan = PLAN, index: Index | None = None) -> Presentation:
        return make_presentation(index or small_index(), plan, ask)

    return made
