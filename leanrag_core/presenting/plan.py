"""What a presentation is made of, as a person chooses it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from leanrag_core.errors import InvalidConfig
from leanrag_core.evaluation.gold import GoldQuestion
from leanrag_core.presenting.story import MAX_BESIDE, MAX_NOTES, MAX_QUESTIONS, MAX_TITLE, SLIDES, PresentedStrategy

LEANRAG, NAIVE = "leanrag", "vector"


@dataclass(frozen=True)
class PresentationPlan:
    """strategies: the first is played, the others are set beside it. made: the day, ISO 8601. notes: a speaker's own,
    by slide."""

    title: str
    questions: tuple[GoldQuestion, ...]
    strategies: tuple[PresentedStrategy, ...] = (PresentedStrategy(LEANRAG), PresentedStrategy(NAIVE))
    made: str = ""
    notes: Mapping[str, str] = field(default_factory=dict)


def require_valid(plan: PresentationPlan) -> None:
    """Raises InvalidConfig for a plan of which no presentation can be made, with what to change."""
    if not 0 < len(plan.title.strip()) <= MAX_TITLE:
        raise InvalidConfig("present.bad_title", limit=MAX_TITLE)
    if not 0 < len(plan.questions) <= MAX_QUESTIONS:
        raise InvalidConfig("present.bad_questions", n=MAX_QUESTIONS)
    if not 0 < len(plan.strategies) <= 1 + MAX_BESIDE:
        raise InvalidConfig("present.bad_strategies", n=MAX_BESIDE)
    for slide, text in plan.notes.items():
        if slide not in SLIDES:
            raise InvalidConfig("present.unknown_slide", slide=slide, slides=", ".join(SLIDES))
        if len(text) > MAX_NOTES:
            raise InvalidConfig("present.long_notes", slide=slide, limit=MAX_NOTES)
