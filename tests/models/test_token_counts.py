import pytest

from leanrag_core.models.endpoint import TokenCounts, token_counts
from leanrag_core.types.calls import Usage
from leanrag_core.types.settings import Price


@pytest.mark.parametrize(
    "said",
    [
        {"prompt_tokens_details": {"cached_tokens": 60}},  # OpenAI, Azure, Groq, xAI, vLLM, llama.cpp
        {"prompt_cache_hit_tokens": 60, "prompt_cache_miss_tokens": 40},  # DeepSeek
        {"cached_tokens": 60},  # Moonshot, Together
        {"cache_read_input_tokens": 60},  # gateways to Anthropic
    ],
)
def test_cached_tokens_are_read_where_each_provider_says_them(said: dict[str, object]) -> None:
    assert token_counts({"prompt_tokens": 100, "completion_tokens": 7, **said}) == TokenCounts(100, 7, 60)


@pytest.mark.parametrize(
    "said",
    [
        {},
        {"prompt_tokens_details": None},
        {"prompt_tokens_details": {"cached_tokens": None}},
        {"prompt_tokens_details": {"cached_tokens": -1}},
        {"cached_tokens": True},
        {"cached_tokens": "60"},
    ],
)
def test_what_is_no_count_is_none_cached(said: dict[str, object]) -> None:
    assert token_counts({"prompt_tokens": 100, "completion_tokens": 7, **said}) == TokenCounts(100, 7, 0)


def test_no_more_is_cached_than_was_read_and_no_usage_is_no_tokens() -> None:
    assert token_counts({"prompt_tokens": 10, "cached_tokens": 60}).cached == 10
    assert token_counts(None) == TokenCounts()


def test_cached_tokens_cost_what_the_price_says_else_as_much_as_others() -> None:
    assert Price(2.0, 8.0, 0.5).of(1_000_000, 500_000, 400_000) == pytest.approx(0.6 * 2 + 0.4 * 0.5 + 0.5 * 8)
    assert Price(2.0, 8.0, 0.0).of(1_000_000, 0, 1_000_000) == 0.0
    assert Price(2.0, 8.0).of(1_000_000, 0, 400_000) == 2.0


def test_readings_of_cached_tokens_add_up() -> None:
    assert (Usage(1, 10, cached_tokens=4) + Usage(1, 10, cached_tokens=3)).cached_tokens == 7
    assert (Usage(2, 20, cached_tokens=7) - Usage(1, 10, cached_tokens=3)).cached_tokens == 4
