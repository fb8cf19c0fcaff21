"""Settings of an index, each with bounds, help and the paper's value; names of models; named settings."""

from collections.abc import Collection, Mapping
from dataclasses import Field, dataclass, field, fields
from typing import Any

from leanrag_core.errors import InvalidConfig
from leanrag_core.files.records import absent_at_default
from leanrag_core.messages.message import Message, message

BUILTIN = "builtin"
MULTILINGUAL = "multilingual"  # an extra: an embedding of every language
OPENAI = "openai"
FILE = "file"  # a model file of this machine
REFERENCE = "reference"  # the graph comes with the corpus, written by hand; everything else is built in
HERE = (BUILTIN, REFERENCE, MULTILINGUAL)  # back-ends of one model, on this machine


@dataclass(frozen=True)
class ModelName:
    """A model. backend: who serves it, a file in models/backends. model: its name there, "" for those of HERE."""

    backend: str
    model: str = ""

    def __str__(self) -> str:
        return f"{self.backend}:{self.model}" if self.model else self.backend


def parse_model_name(text: str) -> ModelName:
    """Return the parts of a model's name. Raises InvalidConfig for a text that is no name."""
    if text in HERE:
        return ModelName(text)
    backend, _, model = text.partition(":")
    if not (backend.strip() and model.strip()) or backend in HERE:
        raise InvalidConfig("model.unknown", name=text)
    return ModelName(backend, model.strip())


def model_title(text: str) -> str:
    """Return the name without its back-end, as lists show it: NAME for BACKEND:NAME."""
    return text.partition(":")[2] or text


def endpoint_model(model: str) -> str:
    """Return the name of a model of the OpenAI-compatible endpoint; "" for ""."""
    return str(ModelName(OPENAI, model)) if model else ""


def file_model(name: str) -> str:
    """Return the model's name of a model file of that name; "" for ""."""
    return str(ModelName(FILE, name)) if name else ""


def is_file(text: str) -> bool:
    """Return whether a model of that name is a model file of this machine: nothing leaves it, and nothing costs."""
    return text.partition(":")[0] == FILE and is_remote(text)


def is_remote(text: str) -> bool:
    """Return whether a model of that name is called: not the built-in engine, nor a graph that was written by hand."""
    return ":" in text


# Stages of a build, by the names of its progress.
CHUNK, EXTRACT, EMBED, CLUSTER, RELATIONS = "chunk", "extract", "embed", "cluster", "aggregate relations"
# Steps of a retrieval, in their order.
SEEDS, CLIMB, RELATED, CHUNKS, CONTEXT = STEPS = ("seeds", "climb", "relations", "chunks", "context")


def option(  # noqa: PLR0913  # a declaration beside a field: keywords, of which most are left out
    default: Any,
    *,
    help: str | Message | None = None,
    low: Any = None,
    high: Any = None,
    paper: Any = None,
    choices: tuple[Any, ...] = (),
    absent: bool = False,
    in_row: bool = False,
    link: str = "",
    scale: int = 0,
    equal: Any = None,
    of_engine: bool = False,
    stage: str = "",
    step: str = "",
) -> Any:
    """Return a dataclass field that also draws its form, its command-line flag and its validation.

    help: None for the sentence that has the field's name (help_of).
    absent: the stored record leaves it out at its default, so that indexes from before the option have the same record
    and id. in_row: a number is drawn as a slider, a switch beside others, in the row of a strategy's controls, and a
    setting of an index among the first ones of Build; others are drawn behind a button or a fold. link: its name in
    links, which strategies may share. scale: a slider reaches that far until more is wanted; without it, to its bound.
    equal: its value where contexts of all strategies are filled up to one budget (equal_budget). of_engine: is about
    models and what they are asked; Build draws it with the engine, and no preset holds it. stage: the first stage of a
    build that a setting of an index changes; what stages before it made stays good. step: of a retrieval, on which an
    option acts (retrieval.settings.step_of).
    """
    drawn = {"help": help, "low": low, "high": high, "paper": paper, "choices": choices}
    drawn |= {"in_row": in_row, "link": link, "scale": scale, "equal": equal, "of_engine": of_engine, "stage": stage}
    drawn |= {"step": step}
    return field(default=default, metadata=drawn | (dict(absent_at_default(default).metadata) if absent else {}))


def help_of(spec: "Field[Any]") -> str | Message:
    """Return what an option's field says about itself; "" for a field that is no option."""
    own: str | Message | None = spec.metadata.get("help", "")
    return message(f"option.help.{spec.name}") if own is None else own


def require_choice(option: str, value: str, choices: Collection[str]) -> None:
    """Raise InvalidConfig where the value is none of the choices."""
    if value not in choices:
        raise InvalidConfig("option.not_a_choice", option=option, value=value, choices=", ".join(choices))


def within_bounds(spec: "Field[Any]", value: float) -> bool:
    """Return whether a number is within the bounds of that option."""
    low, high = spec.metadata.get("low"), spec.metadata.get("high")
    return (low is None or value >= low) and (high is None or value <= high)


def validate(config: Any) -> None:
    """Raise InvalidConfig when a field of a configuration dataclass is of another kind, or out of its bounds. The error
    names the field; its title on a page also depends on whether the configuration is an index's."""
    of_index = isinstance(config, IndexConfig)
    for spec in fields(config):
        value, meta = getattr(config, spec.name), spec.metadata
        low, high, choices = meta.get("low"), meta.get("high"), meta.get("choices")
        if isinstance(spec.default, bool):
            if not isinstance(value, bool):
                raise InvalidConfig("option.not_a_switch", option=spec.name, of_index=of_index, value=value)
        elif isinstance(spec.default, int) and (isinstance(value, bool) or not isinstance(value, int)):
            raise InvalidConfig("option.not_an_integer", option=spec.name, of_index=of_index, value=value)
        elif isinstance(spec.default, float) and (isinstance(value, bool) or not isinstance(value, int | float)):
            raise InvalidConfig("option.not_a_number", option=spec.name, of_index=of_index, value=value)
        if choices and value not in choices:
            listed = ", ".join(map(str, choices))
            raise InvalidConfig("option.not_a_choice", option=spec.name, of_index=of_index, value=value, choices=listed)
        if low is not None and value is not None and value < low:
            raise InvalidConfig("option.too_small", option=spec.name, of_index=of_index, value=value, low=low)
        if high is not None and value is not None and value > high:
            raise InvalidConfig("option.too_large", option=spec.name, of_index=of_index, value=value, high=high)


@dataclass(frozen=True)
class IndexConfig:
    """Everything that decides what an index holds. Same corpus, same IndexConfig: same bytes."""

    cluster_size: int = option(20, low=2, high=200, paper=20, in_row=True, stage=CLUSTER)
    tau: str | int | float | None = option(None, paper=3, in_row=True, stage=RELATIONS)
    concatenation_tokens: int = option(1000, low=16, high=8192, stage=RELATIONS)
    chunk_tokens: int = option(512, low=32, high=8192, paper=1024, in_row=True, stage=CHUNK)
    overlap_tokens: int = option(64, low=0, high=4096, paper=128, in_row=True, stage=CHUNK)
    size_cap: bool = option(True, in_row=True, stage=CLUSTER)
    cap_by: str = option("capacity", choices=("capacity", "split"), stage=CLUSTER)
    smoothing: int = option(1, low=0, high=3, paper=0, stage=CLUSTER)
    neighbours: int = option(12, low=1, high=64, stage=CLUSTER)
    space: int = option(128, low=2, high=384, stage=CLUSTER)
    singletons: str = option("join", choices=("join", "keep", "released"), stage=CLUSTER)
    cluster_engine: str = option("workbench", choices=("workbench", "reference"), absent=True, stage=CLUSTER)
    covariance: str = option("tied", choices=("tied", "full", "diag"), absent=True, stage=CLUSTER)
    starts: str = option("one", choices=("one", "released"), absent=True, stage=CLUSTER)
    cluster_count: str = option("size", choices=("size", "bic"), absent=True, stage=CLUSTER)
    reduction: str = option("pca", choices=("pca", "umap", "none"), absent=True, stage=CLUSTER)
    stop_rule: str = option("root", choices=("root", "released"), absent=True, stage=CLUSTER)
    max_layers: str = option("root", choices=("root", "released"), absent=True, stage=CLUSTER)
    relation_rule: str = option("lambda", choices=("lambda", "released"), absent=True, stage=RELATIONS)
    relation_input: str = option("descriptions", choices=("descriptions", "findings"), absent=True, stage=RELATIONS)
    concatenation: str = option("clean", choices=("clean", "records"), absent=True, stage=RELATIONS)
    singleton_relations: str = option("lifted", choices=("lifted", "dropped"), absent=True, stage=RELATIONS)
    model: str = option("builtin", of_engine=True, stage=EXTRACT)
    embedding: str = option("builtin", of_engine=True, stage=EMBED)
    aggregation_model: str = option("", of_engine=True, stage=EXTRACT)
    seed: int = option(0, low=0, high=2**31 - 1, in_row=True, stage=CLUSTER)
    gleaning_rounds: int = option(1, low=0, high=5, of_engine=True, stage=EXTRACT)
    entity_types: tuple[str, ...] = option(
        ("person", "organization", "location", "event", "concept", "product", "method", "law"),
        of_engine=True,
        stage=EXTRACT,
    )
    prompts: tuple[tuple[str, str], ...] = option((), of_engine=True, stage=EXTRACT)

    def __post_init__(self) -> None:
        validate(self)
        if self.overlap_tokens >= self.chunk_tokens:
            raise InvalidConfig(
                "option.overlap_too_large",
                option="overlap_tokens",
                value=self.overlap_tokens,
                limiting_option="chunk_tokens",
                limit=self.chunk_tokens,
                of_index=True,
            )

    @property
    def models(self) -> tuple[str, ...]:
        """Names of all models that a build with these settings asks, each once."""
        return tuple(dict.fromkeys((self.model, self.aggregation_model or self.model, self.embedding)))

    @property
    def writer(self) -> str:
        """Name of the model that answers questions about the index: the one that read it, else the model file that
        wrote its texts, which is on this machine as the built-in engine is."""
        return self.aggregation_model if not is_remote(self.model) and is_file(self.aggregation_model) else self.model


SETTINGS = tuple(spec.name for spec in fields(IndexConfig) if not spec.metadata["of_engine"])  # what a preset holds
ONE_VALUE = tuple(spec.name for spec in fields(IndexConfig) if not isinstance(spec.default, tuple))  # fits one option


def settings_of_stages(*stages: str) -> tuple[str, ...]:
    """Return the settings of an index that change one of these stages first."""
    return tuple(spec.name for spec in fields(IndexConfig) if spec.metadata["stage"] in stages)


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


_OF_PAPER = {
    "cluster_size": 20,
    "tau": "3",
    "chunk_tokens": 1024,
    "overlap_tokens": 128,
    "size_cap": False,
    "smoothing": 0,
}


def _paper(data_set: str, top_n: int, top_c: int) -> Preset:
    return Preset(
        name=f"paper-{data_set.lower()}",
        title=f"Paper: {data_set}",
        help=f"As published for {data_set}: clustersize 20, tau 3, chunks of 1,024 tokens with 128 overlap, "
        f"the mixture without smoothing and size cap, N {top_n}, C {top_c}.",
        index={**_OF_PAPER, "singletons": "keep"},
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
            **_OF_PAPER,
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
