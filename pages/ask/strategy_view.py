"""A line on the chosen strategy: how near it is to what was published, and what differs."""

from leanrag_core.retrieval.base import StrategyInfo
from pages.common.html import draw, html
from pages.common.messages import words


def line(info: StrategyInfo) -> None:
    """The badge, and in a sentence what differs from the published system."""
    draw(
        html(
            '<div class="lr-small lr-muted"><span class="lr-tag">{}</span> {}</div>',
            words(info.badge_title),
            words(info.differs),
        )
    )
