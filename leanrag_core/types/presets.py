"""Named settings: how an index is built and how it is asked, the paper's data sets among them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from leanrag_core.errors import InvalidConfig
from leanrag_core.types.config import IndexConfig

_DESCRIPTION, _TITLE = 600, 160  # tokens: of the longest entity with its names, of a chunk's title and page


@dataclass(frozen=True)
class Preset:
    """index: fields of IndexConfig that differ from its defaults. ask: options of a retrieval by LeanRAG, budgets among
    them. plain_mixture: whether clusters are those of the paper's mixture alone, without smoothing, size cap and joined
    singletons."""

    name: str
    title: str
    help: str
    index: Mapping[str, Any]
    ask: Mapping[str, Any]
    plain_mixture: bool

    def config(self, **changes: Any) -> IndexConfig:
        """Return the settings of an index built with the preset; changes take the place of its own fields."""
        return IndexConfig(**{**self.index, **changes})


def budgets(top_n: int, top_c: int, chunk_tokens: int) -> dict[str, int]:
    """Return token budgets that hold so many seeds and chunks without a loss, and are never below the defaults."""
    return {
        "entity_tokens": max(9000, top_n * _DESCRIPTION),
        "aggregated_tokens": 8000,
        "relation_tokens": 8000,
        "chunk_tokens": max(12000, -(-top_c * (chunk_tokens + _TITLE) // 1000) * 1000),
    }


def _paper(data_set: str, top_n: int, top_c: int) -> Preset:
    index = {
        "cluster_size": 20,
        "tau": "3",
        "chunk_tokens": 1024,
        "overlap_tokens": 128,
        "size_cap": False,
        "smoothing": 0,
        "singletons": "keep",
    }
    return Preset(
        name=f"paper-{data_set.lower()}",
        title=f"Paper: {data_set}",
        help=f"As published for {data_set}: clustersize 20, tau 3, chunks of 1,024 tokens with 128 overlap, "
        f"the mixture without smoothing and size cap, N {top_n}, C {top_c}.",
        index=index,
        ask={"top_n": top_n, "top_c": top_c, **budgets(top_n, top_c, 1024)},
        plain_mixture=True,
    )


_PRESETS = (
    Preset("default", "Default", "The program's own defaults.", {}, {}, plain_mixture=False),
    _paper("Mix", 10, 5),
    _paper("CS", 10, 10),
    _paper("Legal", 15, 10),
    _paper("Agriculture", 10, 5),
    Preset(
        name="released",
        title="As released",
        help="Where the authors' released code departs from their paper; docs/as_released.md has the effect of each. "
        "It needs the package umap-learn.",
        index={
            "cluster_size": 20,
            "tau": "3",
            "chunk_tokens": 1024,
            "overlap_tokens": 128,
            "size_cap": False,
            "smoothing": 0,
            "cluster_engine": "reference",
            "covariance": "full",
            "starts": "released",
            "cluster_count": "bic",
            "reduction": "umap",
            "singletons": "released",
            "stop_rule": "released",
            "max_layers": "released",
            "relation_rule": "released",
            "relation_input": "findings",
            "concatenation": "records",
            "singleton_relations": "dropped",
        },
        ask={
            "top_n": 10,
            "top_c": 5,
            "seed_layers": "aggregated",
            "base_relations": False,
            "ties": "seed_rank",
            "budgets": "released",
            "max_tokens": 31_000,
        },
        plain_mixture=True,
    ),
)


def presets() -> tuple[Preset, ...]:
    """Return all presets, the defaults first."""
    return _PRESETS


def preset(name: str) -> Preset:
    """Return the preset of that name. Raises InvalidConfig."""
    by_name = {known.name: known for known in _PRESETS}
    if name not in by_name:
        raise InvalidConfig("preset.not_found", name=name, presets=", ".join(by_name))
    return by_name[name]
