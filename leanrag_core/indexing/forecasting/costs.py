"""What calls cost, and the embedding of texts here or at an endpoint."""

from leanrag_core.types.config import BUILTIN, IndexConfig, model_title
from leanrag_core.types.forecast import SECONDS_A_TEXT, ZERO, Range, StageForecast
from leanrag_core.types.settings import Price, Settings

_TEXTS_A_CALL = 64
_TOKENS_A_TEXT = 80


def embedding_stage(texts: Range, config: IndexConfig, settings: Settings) -> StageForecast:
    """Return the embedding of so many texts; with the built-in model it takes time alone."""
    if config.embedding == BUILTIN:
        return StageForecast("embed", seconds=texts.scaled(SECONDS_A_TEXT))
    calls, tokens = texts.scaled(1 / _TEXTS_A_CALL) + Range(1, 3, 6), texts.scaled(_TOKENS_A_TEXT)
    price = settings.price(model_title(config.embedding))
    return StageForecast("embed", calls, tokens, ZERO, money(tokens, ZERO, price))


def money(prompts: Range, replies: Range, price: Price) -> Range:
    """Return US dollars of so many tokens of prompts and replies."""
    return Range(
        price.of(int(prompts.low), int(replies.low)),
        price.of(int(prompts.expected), int(replies.expected)),
        price.of(int(prompts.high), int(replies.high)),
    )
