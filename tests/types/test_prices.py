"""Models of a build that have no price."""

from leanrag_core.types.config import IndexConfig
from leanrag_core.types.settings import Price, Settings


def test_every_model_that_is_called_and_has_no_price_is_named_once() -> None:
    config = IndexConfig(model="openai:chat", aggregation_model="openai:writer", embedding="openai:embedder")
    assert Settings().unpriced(config.models) == ["chat", "embedder", "writer"]
    assert Settings(prices={"chat": Price(1.0, 2.0), "embedder": Price()}).unpriced(config.models) == ["writer"]
    one = IndexConfig(model="openai:chat", embedding="builtin")
    assert one.models == ("openai:chat", "builtin"), "clusters are written by the model that extracts"
    assert Settings().unpriced(one.models) == ["chat"]
    assert Settings().unpriced(IndexConfig().models) == []
