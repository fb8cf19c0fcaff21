"""What columns of one strategy are called, and what differs."""

from typing import Any

from leanrag_core.messages.catalog import sentence
from leanrag_core.retrieval.variants import Setting, VariantSettings, changed_settings, groups


def settings(strategy: str = "leanrag", index: dict[str, Any] | None = None, **options: Any) -> VariantSettings:
    return VariantSettings(
        strategy,
        {"top_n": 10, "top_c": 5, "findings": False, **options},
        {"cluster_size": 20, "tau": None, **(index or {})},
    )


def name(group: Any, letter: str) -> str:
    return sentence(group.name(letter))


def test_one_difference_is_the_name_of_each() -> None:
    (group,) = groups({"A": settings(), "B": settings(top_n=20), "C": settings("vector")})
    assert [*group.settings] == ["A", "B"]
    assert (name(group, "A"), name(group, "B")) == ("N 10", "N 20")
    assert [setting.name for setting in group.equal] == ["cluster_size", "tau", "top_c", "findings"]


def test_of_three_differences_the_first_is_named_those_of_the_index_first() -> None:
    other = settings(index={"cluster_size": 8}, top_n=20, findings=True)
    (group,) = groups({"A": settings(), "B": other})
    assert name(group, "B") == "clustersize 8 and 2 more"
    (group,) = groups({"A": settings(), "B": settings(index={"cluster_size": 8}, top_n=20)})
    assert name(group, "B") == "clustersize 8, N 20"


def test_the_same_settings_have_no_name_and_different_strategies_no_group() -> None:
    (group,) = groups({"A": settings(), "B": settings(index={"tau": ""})})
    assert group.differing == ()
    assert group.name("A") is None
    assert groups({"A": settings(), "B": settings("vector")}) == ()


def test_values_in_words_and_what_is_changed() -> None:
    assert sentence(Setting("tau", of_index=True).words(None)) == "tau by default"
    assert sentence(Setting("chunk_tokens", of_index=True).words(256)) == "chunk size 256"
    assert sentence(Setting("chunk_tokens").words(9000)) == "Budget: chunks, tokens 9,000"
    assert changed_settings({"cluster_size": 20, "tau": 3}, {"cluster_size": 20, "tau": "3"}) == {}
    assert changed_settings({"cluster_size": 20, "tau": 3}, {"cluster_size": 8}) == {"cluster_size": 8}
