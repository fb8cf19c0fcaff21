"""What the data of an index suggest for its settings, with the evidence."""

from dataclasses import dataclass, field

from leanrag_core.messages.message import Message

CLUSTER_SIZE, TAU, TOP_N, TOP_C = "cluster_size", "tau", "top_n", "top_c"


@dataclass(frozen=True)
class SizeEvidence:
    """A clustersize that was tried on layer 0. likelihood: mean log density of an entity. bic: for each entity, lower
    is better. stability: adjusted Rand index of clusterings of two random samples, over the entities in both, 1 for the
    same clusters. relations_inside: share of relations with both ends in one cluster, None without relations.
    layers, aggregated: of the whole hierarchy."""

    cluster_size: int
    likelihood: float | None
    bic: float | None
    stability: float
    relations_inside: float | None
    layers: int
    aggregated: int


@dataclass(frozen=True)
class TauEvidence:
    """A tau that was tried on the relations of layer 1. summarised: pairs of clusters with lambda above it, each a call
    of a language model. connected: share of the clusters in the largest part that summarised relations alone join."""

    tau: int
    summarised: int
    connected: float


@dataclass(frozen=True)
class LambdaQuantile:
    """Of the pairs of clusters in layer 1 that relations join, this share has a lambda of at most strength."""

    share: float
    strength: float


@dataclass(frozen=True)
class ReachEvidence:
    """A top-N or top-C that was tried. tokens: of the context, on average. found: share of the gold quotes in the
    context; without gold the share of pairs of related entities for which a chunk that states the relation is in it."""

    value: int
    tokens: float
    found: float


@dataclass(frozen=True)
class Suggestion:
    """A value that the data suggest for a setting, with the reason in one sentence. now: the index's own value, as
    text; "" where the index has none."""

    name: str
    value: str
    now: str
    reason: Message


@dataclass(frozen=True)
class Suggestions:
    """What was found in the time allowed. entities: of layer 0; sampled: of them so many were clustered. n_questions:
    that were asked; has_gold: they have gold evidence. notes: what was left out, and why. seconds: that it took."""

    entities: int
    sampled: int
    suggestions: tuple[Suggestion, ...] = ()
    sizes: tuple[SizeEvidence, ...] = ()
    taus: tuple[TauEvidence, ...] = ()
    quantiles: tuple[LambdaQuantile, ...] = ()
    top_n: tuple[ReachEvidence, ...] = ()
    top_c: tuple[ReachEvidence, ...] = ()
    n_questions: int = 0
    has_gold: bool = False
    notes: tuple[Message, ...] = field(default=())
    seconds: float = 0.0
