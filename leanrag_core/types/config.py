"""Settings of an index, each with bounds, help and the paper's value."""

from dataclasses import dataclass, field, fields
from typing import Any

from leanrag_core.errors import InvalidConfig
from leanrag_core.messages.message import Message
from leanrag_core.records import absent_at_default


def option(
    default: Any,
    *,
    help: str | Message,
    low: Any = None,
    high: Any = None,
    paper: Any = None,
    choices: tuple[Any, ...] = (),
    absent: bool = False,
    in_row: bool = False,
    link: str = "",
    scale: int = 0,
    equal: Any = None,
) -> Any:
    """A dataclass field that also draws its form, its command-line flag and its validation.

    absent: the stored record leaves it out at its default, so that indexes from before the option have the same record
    and id. in_row: a number is drawn as a slider, a switch beside others, in the row of a strategy's controls; other
    options are drawn behind a button. link: its name in links, which strategies may share. scale: a slider reaches at
    least that far. equal: its value where contexts of all strategies are filled up to one budget (equal_budget).
    """
    drawn = {"help": help, "low": low, "high": high, "paper": paper, "choices": choices}
    drawn |= {"in_row": in_row, "link": link, "scale": scale, "equal": equal}
    return field(default=default, metadata=drawn | (dict(absent_at_default(default).metadata) if absent else {}))


def validate(config: Any) -> None:
    """Raise InvalidConfig when a field of a configuration dataclass is of another kind, or out of its bounds."""
    for spec in fields(config):
        value, meta = getattr(config, spec.name), spec.metadata
        low, high, choices = meta.get("low"), meta.get("high"), meta.get("choices")
        if isinstance(spec.default, bool):
            if not isinstance(value, bool):
                raise InvalidConfig("option.not_a_switch", option=spec.name, value=value)
        elif isinstance(spec.default, int) and (isinstance(value, bool) or not isinstance(value, int)):
            raise InvalidConfig("option.not_an_integer", option=spec.name, value=value)
        elif isinstance(spec.default, float) and (isinstance(value, bool) or not isinstance(value, int | float)):
            raise InvalidConfig("option.not_a_number", option=spec.name, value=value)
        if choices and value not in choices:
            raise InvalidConfig(
                "option.not_a_choice", option=spec.name, value=value, choices=", ".join(map(str, choices))
            )
        if low is not None and value is not None and value < low:
            raise InvalidConfig("option.too_small", option=spec.name, value=value, low=low)
        if high is not None and value is not None and value > high:
            raise InvalidConfig("option.too_large", option=spec.name, value=value, high=high)


@dataclass(frozen=True)
class IndexConfig:
    """Everything that decides what an index holds. Same corpus, same IndexConfig: same bytes."""

    cluster_size: int = option(
        20, low=2, high=200, paper=20, help="Wanted number of nodes in a cluster; smaller makes more layers."
    )
    tau: str | int | float | None = option(
        None,
        paper=3,
        help="Relations above tau are summarised, others joined. A number, a list by layer (3,5), a quantile "
        "(q0.75); empty chooses 3, then q0.75 above layer 1 for the heuristic graph.",
    )
    concatenation_tokens: int = option(
        1000,
        low=16,
        high=8192,
        help="Longest description of a relation that is joined from others, in tokens; those that tell most about both "
        "ends stay.",
    )
    chunk_tokens: int = option(512, low=32, high=8192, paper=1024, help="Tokens of a chunk.")
    overlap_tokens: int = option(64, low=0, high=4096, paper=128, help="Tokens shared by neighbouring chunks.")
    size_cap: bool = option(True, help="No cluster above 2 x clustersize nodes.")
    cap_by: str = option(
        "capacity",
        choices=("capacity", "split"),
        help="How the cap is kept: nodes move to their next best cluster with room, or the cluster is split.",
    )
    smoothing: int = option(
        1,
        low=0,
        high=3,
        paper=0,
        help="Rounds of averaging each vector with its nearest neighbours before clustering; 0 is the plain mixture.",
    )
    neighbours: int = option(
        12, low=1, high=64, help="Nearest neighbours that a round averages, at most 0.6 x clustersize."
    )
    space: int = option(
        128, low=2, high=384, help="Principal components in which the mixture is fitted; fewer in small layers."
    )
    singletons: str = option(
        "join",
        choices=("join", "keep", "released"),
        help="A cluster of one node joins its best cluster with room, or stays alone. As released it stays, and paths "
        "end at it: there its parent has its own name, and so is itself.",
    )
    cluster_engine: str = option(
        "workbench",
        choices=("workbench", "reference"),
        absent=True,
        help="Who fits the mixture: workbench scales to a million entities; reference is scikit-learn, for small ones.",
    )
    covariance: str = option(
        "tied",
        choices=("tied", "full", "diag"),
        absent=True,
        help="Reference engine: one covariance for all clusters, a full or a diagonal one for each.",
    )
    cluster_count: str = option(
        "size",
        choices=("size", "bic"),
        absent=True,
        help="Reference engine: n / clustersize clusters, or as many as the lowest BIC of 1 to 49 says, as released.",
    )
    reduction: str = option(
        "pca",
        choices=("pca", "umap", "none"),
        absent=True,
        help="Reference engine: what is clustered. Principal components, 2 dimensions of UMAP as released, or all.",
    )
    stop_rule: str = option(
        "root",
        choices=("root", "released"),
        absent=True,
        help="Layers until one node is left, or, as released, the root over the first layer with at most 4 clusters.",
    )
    relation_rule: str = option(
        "lambda",
        choices=("lambda", "released"),
        absent=True,
        help="Relations above tau are summarised, or, as released, those longer than (depth - layer) x 80 tokens.",
    )
    relation_input: str = option(
        "descriptions",
        choices=("descriptions", "findings"),
        absent=True,
        help="What the sentence on an aggregated relation is written from: descriptions of both ends, or, as released, "
        "their findings.",
    )
    concatenation: str = option(
        "clean",
        choices=("clean", "records"),
        absent=True,
        help="Joined relations as clean text, or, as released, as records with delimiters.",
    )
    singleton_relations: str = option(
        "lifted",
        choices=("lifted", "dropped"),
        absent=True,
        help="Relations of a node that is alone in its cluster go up with it, or are dropped, as released.",
    )
    model: str = option(
        "builtin", help="Language model: builtin, openai:NAME at your endpoint, or reference: a graph written by hand."
    )
    embedding: str = option("builtin", help="Embedding model: builtin (all-MiniLM-L6-v2), or openai:NAME.")
    aggregation_model: str = option(
        "", help="Another language model for descriptions, aggregated entities and relations; empty takes the same."
    )
    seed: int = option(0, low=0, high=2**31 - 1, help="Seed of every random choice.")
    gleaning_rounds: int = option(
        1, low=0, high=5, help="Extra rounds that ask a language model what it missed in a chunk."
    )
    entity_types: tuple[str, ...] = option(
        ("person", "organization", "location", "event", "concept", "product", "method", "law"),
        help="Entity types that a language model is asked for.",
    )
    prompts: tuple[tuple[str, str], ...] = option((), help="Prompts of this index's own: pairs of task and text.")

    def __post_init__(self) -> None:
        validate(self)
        if self.overlap_tokens >= self.chunk_tokens:
            raise InvalidConfig("option.overlap_too_large", overlap=self.overlap_tokens, chunk=self.chunk_tokens)
