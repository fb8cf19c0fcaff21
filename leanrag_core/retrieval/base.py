"""The interface of retrieval strategies, and how they are found: one file each in strategies/."""

import re
from collections.abc import Hashable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass, field, fields, is_dataclass
from functools import cache
from pathlib import Path
from traceback import walk_tb
from types import ModuleType
from typing import Any, Generic, Protocol, TypeVar, cast, runtime_checkable

import numpy as np

from leanrag_core.errors import InvalidConfig, LeanRAGError, StrategyFailed
from leanrag_core.extensions import BrokenExtension, discover
from leanrag_core.files.records import may_be_absent
from leanrag_core.messages.message import Message, message
from leanrag_core.retrieval.tools import Tools
from leanrag_core.text.plain_words import in_words
from leanrag_core.types.config import CHUNKS, option, validate
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Answer, Parameter, Trace, TraceIndex

_SURROGATE = re.compile("[\ud800-\udfff]")
MAX_QUESTION = 4_000  # characters: the page's address holds the question, at up to nine bytes for each
_DECLARED = ("name", "title", "help", "badge", "differs", "calls_model", "parts", "presets", "retrieve")
# How near a strategy is to what was published under its name; titles are the messages "badge.NAME".
BADGES = ("native", "faithful", "own-part", "style-of", "beyond-paper")
RERANK = "rerank"  # the option of all strategies that rank passages; see retrieval.reranking
MAX_TOKENS, TOP_C = "max_tokens", "top_c"  # options that all strategies with a budget, or a number of passages, have


def require_question(text: str) -> None:
    """Raise InvalidConfig for a question that is empty, too long, or no text."""
    if not text.strip():
        raise InvalidConfig("question.empty")
    # Python reads bytes of another encoding on the command line as lone surrogates.
    if _SURROGATE.search(text):
        raise InvalidConfig("question.not_utf8")
    if len(text) > MAX_QUESTION:
        raise InvalidConfig("question.too_long", characters=len(text), limit=MAX_QUESTION)


@dataclass(frozen=True, eq=False)
class Query:
    """A question and its embedding. vector: (d,) float32, unit length."""

    text: str
    vector: np.ndarray

    def __post_init__(self) -> None:
        require_question(self.text)


@dataclass(frozen=True)
class Preset:
    """Values of a strategy's options under a name: official, paper, released, or a variant. What it does not name is at
    its default."""

    name: str
    title: Message
    options: Mapping[str, Parameter] = field(default_factory=dict)


def published(name: str, **options: Parameter) -> Preset:
    """Return the preset official, paper or released with those options."""
    return Preset(name, message(f"preset.{name}"), options)


OFFICIAL = published("official")
SCORE, COSINE = message("score.plain"), message("score.cosine")  # what the scores of a strategy's items may be


class Strategy(Protocol):
    """Finds evidence for a question in an index; its module also has `Config`, a dataclass of options.

    badge: one of BADGES. differs: in a sentence, what differs from the published system. calls_model: whether
    retrieve() calls a language model where there is one; then it runs when the person asks and not before. parts: names
    of the index parts that it needs. presets: options with the values of its publication, or of its release.

    A strategy that answers by itself is an AnsweringStrategy; other answers are written from the trace's context.
    """

    name: str
    title: Message
    help: Message
    badge: str
    differs: Message
    calls_model: bool
    parts: tuple[str, ...]
    presets: tuple[Preset, ...]

    def __init__(self, config: Any) -> None: ...

    def retrieve(self, query: Query, index: Index, tools: Tools) -> Trace:
        """Return all that was retrieved, with reasons."""


@runtime_checkable
class AnsweringStrategy(Strategy, Protocol):
    """A strategy that makes the answer too, for example from the answers to parts of the context."""

    def answer(self, trace: Trace, tools: Tools) -> Answer:
        """Return the answer to the trace's question."""


@runtime_checkable
class PromptingStrategy(Strategy, Protocol):
    """A strategy whose answers a language model writes from the context with another prompt than the common one."""

    @property
    def answer_task(self) -> str:
        """Return the prompt's task; its fields are those of the common prompt."""


@dataclass(frozen=True)
class UnrankedOptions:
    """Options of a strategy that ranks no passages, whose bounds are checked when they are made."""

    def __post_init__(self) -> None:
        validate(self)


@dataclass(frozen=True)
class Options(UnrankedOptions):
    """Options of a strategy that ranks passages. rerank: how many of its first candidates are reranked, 0 for none.
    Records leave 0 out, so that runs without reranking keep the record that they had before it existed."""

    _: KW_ONLY
    rerank: int = option(0, low=0, high=200, absent=True, link="rerank", step=CHUNKS, help=message("option.rerank"))


def chunks_option(default: int, **more: Any) -> Any:
    """Return the option top_c of a strategy. more: what differs from those of most strategies."""
    usual = {"low": 1, "high": 50, "help": message("vector.option.top_c"), "in_row": True, "link": "c", "scale": 20}
    return option(default, **{**usual, **more})


def recorded_options(config: Any) -> dict[str, Parameter]:
    """Return the options as records have them: all, but those that are absent at their default."""
    options = cast(Hashable, type(config))
    values = ((name, getattr(config, name), absent_at) for name, absent_at in _recorded(options))
    return {name: value for name, value, absent_at in values if absent_at is _ALWAYS or value != absent_at}


_ALWAYS = object()  # of an option that every record has


@cache
def _recorded(options: Any) -> tuple[tuple[str, object], ...]:
    """Return the names of the options, each with the value at which records leave it out."""
    return tuple((spec.name, spec.default if may_be_absent(spec) else _ALWAYS) for spec in fields(options))


C = TypeVar("C", bound=UnrankedOptions)


class StrategyBase(Generic[C]):
    """The defaults that most strategies share. One without a model, without an index part, and with official options
    alone declares its name, its badge and retrieve().

    title, help, differs: unless given, the messages "strategy.NAME.title" and so on. score: what the scores of its
    items are. model_answers: whether it has no answer without a language model.
    """

    name: str
    title: Message
    help: Message
    differs: Message
    badge = "style-of"
    score = SCORE
    calls_model = False
    model_answers = False
    parts: tuple[str, ...] = ()
    presets: tuple[Preset, ...] = (OFFICIAL,)

    def __init__(self, config: C) -> None:
        self.config = config

    @property
    def needed_parts(self) -> tuple[str, ...]:
        """Return names of the index parts that it needs with its options."""
        return self.parts

    def __init_subclass__(cls) -> None:
        for text in ("title", "help", "differs"):
            if not hasattr(cls, text):
                setattr(cls, text, message(f"strategy.{cls.name}.{text}"))


@dataclass(frozen=True)
class StrategyInfo:
    """A strategy as a form shows it. config: its configuration dataclass."""

    name: str
    title: Message
    help: Message
    badge: str
    differs: Message
    calls_model: bool
    parts: tuple[str, ...]
    presets: tuple[Preset, ...]
    config: type[Any]
    strategy: type
    score: Message = SCORE

    @property
    def badge_title(self) -> Message:
        """Return the badge in words."""
        return message(f"badge.{self.badge}")

    def preset(self, name: str) -> Preset:
        """Return the preset of that name. Raises InvalidConfig for an unknown one."""
        known = {preset.name: preset for preset in self.presets}
        if name not in known:
            raise InvalidConfig("strategy.unknown_preset", strategy=self.name, preset=name, known=", ".join(known))
        return known[name]


@dataclass(frozen=True)
class StrategyList:
    """The strategies that can be used, and the files that hold none."""

    strategies: tuple[StrategyInfo, ...]
    broken: tuple[BrokenExtension, ...] = ()

    def by_name(self) -> dict[str, StrategyInfo]:
        """Return the strategies by name, in their order."""
        return {info.name: info for info in self.strategies}

    def named(self, name: str) -> StrategyInfo:
        """Return the strategy of that name. Raises InvalidConfig for an unknown one."""
        known = self.by_name()
        if name not in known:
            raise InvalidConfig("strategy.unknown", strategy=name, known=", ".join(sorted(known)))
        return known[name]


def score_title(name: str) -> Message:
    """Return what the scores of that strategy's items are; plain scores for a strategy of another program."""
    return next((info.score for info in strategies().strategies if info.name == name), SCORE)


def strategies() -> StrategyList:
    """Return all strategies of the strategies folder, LeanRAG first, then by name."""
    from leanrag_core.retrieval import strategies as folder

    discovered = discover(folder, "Strategy", _DECLARED, own=("Config",))
    examined = _examined(discovered.modules)
    return StrategyList(examined.strategies, discovered.broken + examined.broken)


@cache
def _examined(modules: tuple[ModuleType, ...]) -> StrategyList:
    """Return the strategies of the modules; cached, since each question looks its strategy up several times."""
    listed: list[StrategyInfo] = []
    broken: list[BrokenExtension] = []
    for module in modules:
        wrong = _wrongly_declared(module)
        if wrong:
            file = f"{module.__name__.rsplit('.', 1)[-1]}.py"
            broken.append(BrokenExtension(file, message("extension.wrong_kind", file=file, name=wrong)))
        else:
            listed.append(_described(module))
    listed.sort(key=lambda info: (info.name != "leanrag", info.name))
    return StrategyList(tuple(listed), tuple(broken))


def _wrongly_declared(module: Any) -> str:
    """Return the first declaration of the module that is not of its kind, "" when all are: forms and lists rely on
    them."""
    kind = module.Strategy
    of_kind = {
        "Config": isinstance(module.Config, type) and is_dataclass(module.Config),
        "Strategy.name": isinstance(kind.name, str) and bool(kind.name),
        "Strategy.title": isinstance(kind.title, Message),
        "Strategy.help": isinstance(kind.help, Message),
        "Strategy.parts": isinstance(kind.parts, tuple) and all(isinstance(part, str) for part in kind.parts),
        "Strategy.badge": kind.badge in BADGES,
        "Strategy.differs": isinstance(kind.differs, Message),
        "Strategy.presets": isinstance(kind.presets, tuple) and all(isinstance(each, Preset) for each in kind.presets),
        "Strategy.score": isinstance(getattr(kind, "score", SCORE), Message),
        "Strategy.retrieve": callable(kind.retrieve),
    }
    return next((name for name, right in of_kind.items() if not right), "")


def _described(module: Any) -> StrategyInfo:
    kind = module.Strategy
    declared = {name: getattr(kind, name) for name in _DECLARED if name != "retrieve"}
    return StrategyInfo(**declared, config=module.Config, strategy=kind, score=getattr(kind, "score", SCORE))


def strategy(name: str, options: Mapping[str, Any]) -> Strategy:
    """Return the strategy of that name, configured. Raises InvalidConfig for an unknown name or option, StrategyFailed
    where its own code fails.

    Options that it had in an earlier version (its attribute `former_options`) have no effect, so that records of such a
    version still open.
    """
    info = strategies().named(name)
    known_options = set(info.config.__dataclass_fields__)
    former = getattr(info.strategy, "former_options", ())
    options = {option: value for option, value in options.items() if option not in former}
    unknown = sorted(set(options) - known_options)
    if unknown:
        raise InvalidConfig(
            "strategy.unknown_option", strategy=name, option=unknown[0], known=", ".join(sorted(known_options))
        )
    with naming_failure(name):
        configured: Strategy = info.strategy(info.config(**options))
    return configured


@contextmanager
def naming_failure(name: str) -> Iterator[None]:
    """Turn an unexpected error of the strategy inside the block into StrategyFailed, which names file and line."""
    try:
        yield
    except LeanRAGError:
        raise
    except Exception as error:  # a strategy that somebody wrote may raise anything
        places = [(frame.f_code.co_filename, line) for frame, line in walk_tb(error.__traceback__)]
        module = strategies().named(name).strategy.__module__.rsplit(".", 1)[-1]
        own_places = [(file, line) for file, line in places if Path(file).stem == module]
        file, line = (own_places or places)[-1]
        raise StrategyFailed(
            "strategy.failed", strategy=name, file=Path(file).name, line=line, reason=in_words(error)
        ) from error


def parts_needed(name: str, options: Mapping[str, Any]) -> tuple[str, ...]:
    """Return names of the index parts that the strategy needs with those options. Raises as strategy() does."""
    configured = strategy(name, options)
    with naming_failure(name):
        parts: tuple[str, ...] = getattr(configured, "needed_parts", configured.parts)
    return parts


def equal_budget(info: StrategyInfo, tokens: int) -> dict[str, Parameter]:
    """Return options that let the strategy fill a context of that many tokens, so that systems are compared at equal
    cost.

    A number of passages is raised to its bound, since it would end some contexts before the budget does; an option may
    have a value for this case (option(equal=...)).
    """
    options: dict[str, Parameter] = {}
    specs = info.config.__dataclass_fields__
    if MAX_TOKENS in specs:
        options[MAX_TOKENS] = tokens
        if TOP_C in specs:
            options[TOP_C] = int(specs[TOP_C].metadata["high"])
        filling = {name: spec.metadata.get("equal") for name, spec in specs.items()}
        options |= {name: value for name, value in filling.items() if value is not None}
    return options


def trace_index(index: Index) -> TraceIndex:
    """Return what a trace keeps of its index."""
    return TraceIndex(index.id, index.manifest.name, tuple(len(layer) for layer in index.layers))
