from dataclasses import replace
from pathlib import Path
from typing import Any

from leanrag_core.queries.index_table import short_title, with_titles
from leanrag_core.types.config import IndexConfig
from leanrag_core.types.summary import IndexSummary, RecordedConfig

CREATED = "2026-11-19T12:02:00+00:00"


def an_index(id_: str, name: str = "Bees", **config: Any) -> IndexSummary:
    known = {name: value for name, value in config.items() if name in vars(IndexConfig())}
    settings = RecordedConfig(**known).noting(config)
    return IndexSummary(id_, name, "bees", "Bees", CREATED, "LLM graph", settings, 1, 1, (), Path(id_), 1)


def titles(*indexes: IndexSummary) -> list[str]:
    return [index.title for index in with_titles(indexes)]


def test_an_index_with_a_unique_name_is_called_by_it() -> None:
    assert titles(an_index("a", cluster_size=5), an_index("b", "Wasps", cluster_size=9)) == ["Bees", "Wasps"]


def test_indexes_of_one_name_are_distinguished_by_what_differs() -> None:
    assert titles(an_index("a", cluster_size=5, tau="3"), an_index("b", cluster_size=9, tau="3")) == [
        "Bees, clustersize 5",
        "Bees, clustersize 9",
    ]
    assert titles(an_index("a", model="builtin", tau=None), an_index("b", model="openai:gpt-x", tau="q0.5")) == [
        "Bees, built-in engine",
        "Bees, gpt-x",
    ]


def test_the_settings_that_differ_are_named_in_the_readers_language() -> None:
    group = (an_index("a", cluster_size=5), an_index("b", model="reference"), an_index("c"))
    apart = [index.apart for index in with_titles(group, "zh")]
    assert apart == ["内置引擎，簇大小 5", "参考图谱，簇大小 20", "内置引擎，簇大小 20"]
    assert with_titles(group, "zh")[0].title == "Bees，内置引擎，簇大小 5"
    copies = with_titles((an_index("a"), replace(an_index("b"), created="2026-11-20T12:02:00+00:00")), "zh")
    assert copies[0].apart.startswith("构建于 2026年11月19日")


def test_as_few_settings_as_are_needed_are_named() -> None:
    group = (
        an_index("a", cluster_size=5, tau="2", seed=1),
        an_index("b", cluster_size=5, tau=None, seed=2),
        an_index("c", cluster_size=9, tau=None, seed=2),
    )
    assert titles(*group) == [
        "Bees, clustersize 5, tau 2",
        "Bees, clustersize 5, tau auto",
        "Bees, clustersize 9, tau auto",
    ]


def test_a_setting_that_an_older_index_lacks_counts_as_its_default() -> None:
    assert titles(an_index("a"), an_index("b", cluster_size=9)) == ["Bees, clustersize 20", "Bees, clustersize 9"]


def test_settings_of_another_version_are_named_as_they_are_written() -> None:
    assert titles(an_index("a", wing_span=2), an_index("b", wing_span=3)) == ["Bees, wing span 2", "Bees, wing span 3"]
    assert titles(an_index("a", chunk_tokens="many"), an_index("b", chunk_tokens=8)) == [
        "Bees, chunk tokens many",
        "Bees, chunks of 8 tokens",
    ]


def test_copies_are_distinguished_by_their_dates() -> None:
    later = replace(an_index("b"), created="2026-11-20T12:02:00+00:00")
    first, second = titles(an_index("a"), later)
    assert first.startswith("Bees, built 19 Nov 2026")
    assert second.startswith("Bees, built 20 Nov 2026")


def test_a_short_title_keeps_what_distinguishes_the_index() -> None:
    long = "Beekeeping and bee-pollinated crops"
    first, _ = with_titles([an_index("a", long, cluster_size=5), an_index("b", long, cluster_size=9)])
    assert short_title(first, 26) == "Beekeeping…, clustersize 5"
    assert short_title(an_index("a", long), 26) == long
