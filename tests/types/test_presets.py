"""Named settings, and that nothing of theirs is lost on the way to an index or a question."""

import pytest

import leanrag_core
from leanrag_core.errors import InvalidConfig
from leanrag_core.retrieval.strategies.leanrag import RELEASED, Config
from leanrag_core.types.config import IndexConfig, preset, presets

PAPER = {"paper-mix": (10, 5), "paper-cs": (10, 10), "paper-legal": (15, 10), "paper-agriculture": (10, 5)}


def test_the_presets_are_the_defaults_and_the_papers_data_sets() -> None:
    assert [known.name for known in presets()] == ["default", *PAPER, "released"]
    assert preset("default").config() == IndexConfig()
    assert Config(**preset("default").ask) == Config()
    assert leanrag_core.presets is presets


@pytest.mark.parametrize("name", PAPER)
def test_a_preset_of_the_paper_holds_what_was_published_and_the_plain_mixture(name: str) -> None:
    made = preset(name).config()
    assert (made.cluster_size, made.tau, made.chunk_tokens, made.overlap_tokens) == (20, "3", 1024, 128)
    assert (made.smoothing, made.size_cap, made.singletons) == (0, False, "keep")
    assert preset(name).plain_mixture
    asked = Config(**preset(name).ask)
    assert (asked.top_n, asked.top_c) == PAPER[name]


@pytest.mark.parametrize("name", PAPER)
def test_the_budgets_of_a_preset_hold_its_seeds_and_chunks(name: str) -> None:
    asked = Config(**preset(name).ask)
    assert asked.entity_tokens >= asked.top_n * 550  # a description of 500 tokens with its names
    assert asked.chunk_tokens >= asked.top_c * (1024 + 60)
    assert preset(name).config(seed=7) == IndexConfig(**preset(name).index, seed=7)


def test_the_released_preset_departs_from_the_paper_where_the_code_does() -> None:
    made, asked = preset("released").config(), Config(**preset("released").ask)
    assert (made.cluster_count, made.reduction, made.singletons) == ("bic", "umap", "released")
    assert {made.stop_rule, made.relation_rule, made.max_layers, made.starts} == {"released"}
    assert made.covariance == "full"
    assert (made.relation_input, made.concatenation, made.singleton_relations) == ("findings", "records", "dropped")
    assert RELEASED.items() <= vars(asked).items()
    assert RELEASED.keys() == preset("released").ask.keys() - {"top_n", "top_c"}


def test_an_unknown_preset_is_named_with_what_there_is() -> None:
    with pytest.raises(InvalidConfig, match=r"no preset 'paper'; choose one of default, paper-mix"):
        preset("paper")
