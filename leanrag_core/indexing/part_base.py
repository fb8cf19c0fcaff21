"""What every index part takes and gives, and how parts are found: one file each in parts/.

Such a file has a dataclass `Config` of its options, and a class `Part` as described here.
"""

import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy as np

from leanrag_core.errors import InvalidConfig, PartMissing
from leanrag_core.extensions import BrokenExtension, discover
from leanrag_core.messages.catalog import codes
from leanrag_core.messages.message import Message, message
from leanrag_core.models.asking import ask
from leanrag_core.models.base import Completion, LanguageModel
from leanrag_core.models.pacing import Meter
from leanrag_core.models.window import fill_within
from leanrag_core.prompts.catalog import PromptBook
from leanrag_core.storage.part_store import index_digests, no_part
from leanrag_core.storage.search_connection import Connect
from leanrag_core.text.plain_words import in_words
from leanrag_core.types.calls import JsonSchema
from leanrag_core.types.config import validate
from leanrag_core.types.forecast import SECONDS_A_TEXT, ZERO, Forecast, Range, StageForecast
from leanrag_core.types.index import Index
from leanrag_core.types.job import Progress, Report, nothing, silent
from leanrag_core.types.manifest import LANGUAGE

T = TypeVar("T")
_TEXTS_AT_ONCE = 256
_DECLARED = ("name", "title", "help", "needs", "offered", "fingerprint", "forecast", "build", "lasting_files", "read")


@dataclass(frozen=True, eq=False)
class PartModels:
    """What decides a part beside the index. language: the model that writes texts, None with the built-in engine.

    parts: fingerprints of the other parts that the index has, by name.
    """

    language: LanguageModel | None = None
    parts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class PartTools:
    """What a part may use while it is made; the workbench makes it.

    embed: (n, d) float32 unit rows by the index's own model. language: counted by `meter`; None with the built-in
    engine. part: what another part's read() gave; raises PartMissing. meter: its require_budget() comes before each
    call and raises BudgetSpent. connect: to the Chroma server of the settings; None for files.
    report: progress; raises Cancelled when the job is to stop. cancelled: the same without progress.
    """

    embed: Callable[[Sequence[str]], np.ndarray]
    language: LanguageModel | None = None
    prompts: PromptBook = field(default_factory=PromptBook)
    part: Callable[[str], Any] = no_part
    meter: Meter = field(default_factory=Meter)
    connect: Connect | None = None
    report: Report = silent
    cancelled: Callable[[], None] = nothing

    def counting(self, unit: str) -> Callable[[int, int], None]:
        """Return a function that reports how many of how many are done. unit: what is counted."""
        return lambda done, total: self.report(Progress("make", done, total, unit))

    def embed_all(self, texts: Sequence[str], dimension: int) -> np.ndarray:
        """Embed any number of texts in steps that are reported; return (n, dimension) float32 unit rows."""
        vectors = [np.zeros((0, dimension), dtype=np.float32)]
        for start in range(0, len(texts), _TEXTS_AT_ONCE):
            self.report(Progress("make", start, len(texts), "vectors"))
            vectors.append(self.embed(texts[start : start + _TEXTS_AT_ONCE]))
        return np.concatenate(vectors)

    def ask(
        self,
        language: LanguageModel,
        task: str,
        read: Callable[[Completion], T],
        *,
        form: JsonSchema | None = None,
        keep: Collection[str] = (),
        **fields: object,
    ) -> T:
        """Return what `read` makes of the model's reply to the prompt of that task; see models.asking.ask(). form: of
        the reply. keep: fields that are never cut. Raises BudgetSpent, Cancelled, ReplyError.
        """
        self.meter.require_budget()
        prompt = self.prompts.of(task)
        messages = [{"role": "user", "content": fill_within(language, prompt, keep=keep, **fields)}]
        return ask(language, messages, read, schema=form, task=prompt.fingerprint).value


@dataclass(frozen=True)
class Proposal:
    """Something that a part proposes to a person. value: the entry that accepting it adds to the part's option, whose
    entries are separated by commas.
    """

    value: str
    text: Message
    accepted: bool


@runtime_checkable
class ProposingPart(Protocol):
    """A part that proposes something of its content to a person; what is accepted goes into an option, and the part is
    made again.

    accepts: the name of that option, a text.
    """

    accepts: str

    def proposals(self, content: Any) -> tuple[Proposal, ...]:
        """Return the proposals. content: what read() gave."""


class Part(Protocol):
    """A part of an index.

    needs: what it rests on: "entities", "relations", "chunks", "vectors", "language", or names of other parts. When any
    of these changes, so does its fingerprint, and it is made again.
    """

    name: str
    title: Message
    help: Message
    needs: tuple[str, ...]

    def offered(self, index: Index) -> bool:
        """Return whether this index should have the part; its build job then makes it when the index is complete."""

    def fingerprint(self, index: Index, config: Any, models: PartModels) -> str:
        """Return a hash of everything that decides the part; see fingerprint_of()."""

    def forecast(self, index: Index, config: Any, models: PartModels) -> Forecast:
        """Estimate the calls, tokens and seconds that making the part takes."""

    def build(self, index: Index, folder: Path, config: Any, tools: PartTools) -> None:
        """Write the part into the folder, which may hold what an earlier attempt has written."""

    def lasting_files(self, folder: Path) -> Iterable[str]:
        """Return the paths, below the folder, of the files that never change after build(); their hashes are
        recorded.
        """

    def read(self, folder: Path, index: Index) -> Any:
        """Return what strategies get of the finished part. Raises PartDamaged."""


@dataclass(frozen=True)
class Options:
    """Options of a part, whose bounds are checked when they are made; as they are, those of a part that has none."""

    def __post_init__(self) -> None:
        validate(self)


class PartBase:
    """What most parts have in common: they are made when a person, or a strategy, asks for them, rest on what they need
    and on their options, and have files that nothing changes.

    title, help: unless given, the messages "part.NAME.title" and "part.NAME.help".
    version: of the part's rules; raise it when they give something else of the same index. writes_texts: whether a
    language model writes some of it, where there is one. seconds: that making it takes, besides those for each entity
    and relation of the base graph, each chunk, and each vector of all layers.
    """

    name: str
    title: Message
    help: Message
    needs: tuple[str, ...]
    version = 1
    writes_texts = False
    seconds = Range(0.05, 0.3, 1.0)
    seconds_an_entity = seconds_a_relation = seconds_a_chunk = seconds_a_vector = ZERO

    def __init_subclass__(cls) -> None:
        for text in ("title", "help"):
            code = f"part.{getattr(cls, 'name', '')}.{text}"
            if not hasattr(cls, text) and code in codes():  # a part of another program that has none is reported
                setattr(cls, text, message(code))

    def offered(self, index: Index) -> bool:
        """Return False: the part is made on demand."""
        return False

    def fingerprint(self, index: Index, config: Any, models: PartModels) -> str:
        """Return a hash of what the part needs, its options, its version, and what writes its texts. Raises what
        index_digests() does."""
        own = fingerprint_of(self, self.version, index, config, models)
        return with_language(own, index, models) if self.writes_texts else own

    def forecast(self, index: Index, config: Any, models: PartModels) -> Forecast:
        """Estimate the seconds of a part that asks no model."""
        base = index.layers[0]
        seconds = self.seconds + self.seconds_an_entity.scaled(len(base))
        seconds += self.seconds_a_relation.scaled(base.relations.num_rows)
        seconds += self.seconds_a_chunk.scaled(index.chunks.num_rows)
        return part_forecast(seconds + self.seconds_a_vector.scaled(sum(map(len, index.layers))))

    def lasting_files(self, folder: Path) -> Iterable[str]:
        """Return every file."""
        return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


@dataclass(frozen=True)
class PartInfo:
    """A part as lists and forms show it. config: its configuration dataclass."""

    part: Part
    config: type[Any]

    @property
    def name(self) -> str:
        """Its name, which is that of its file and folder."""
        return self.part.name

    def configured(self, options: Mapping[str, Any]) -> Any:
        """Return the part's configuration with those options. Raises InvalidConfig for an unknown one, or one out of
        bounds.
        """
        known = set(self.config.__dataclass_fields__)
        unknown = sorted(set(options) - known)
        if unknown:
            listed = ", ".join(sorted(known)) or "none"
            raise InvalidConfig("part.unknown_option", part=self.name, option=unknown[0], known=listed)
        return self.config(**options)


@dataclass(frozen=True)
class PartList:
    """The parts that an index may have, and the files that cannot be used."""

    parts: tuple[PartInfo, ...]
    broken: tuple[BrokenExtension, ...] = ()

    def named(self, name: str) -> PartInfo:
        """Return the part of that name. Raises InvalidConfig for an unknown one."""
        for info in self.parts:
            if info.name == name:
                return info
        raise InvalidConfig("part.unknown", part=name, known=", ".join(info.name for info in self.parts))


def parts(folder: ModuleType | None = None) -> PartList:
    """Return all parts of the parts folder, by name."""
    from leanrag_core.indexing import parts as own

    discovered = discover(folder or own, "Part", _DECLARED, own=("Config",))
    listed: list[PartInfo] = []
    broken = list(discovered.broken)
    for module in discovered.modules:
        try:
            listed.append(PartInfo(module.Part(), module.Config))
        except (Exception, SystemExit) as error:  # what somebody wrote may raise anything
            file = f"{module.__name__.rsplit('.', 1)[-1]}.py"
            broken.append(BrokenExtension(file, message("extension.import_failed", file=file, reason=in_words(error))))
    return PartList(tuple(sorted(listed, key=lambda info: info.name)), tuple(broken))


def rests_on(part: "Part | PartBase", index: Index, models: PartModels) -> dict[str, str]:
    """Return a digest of each thing that the part needs; "" for a need that is missing."""
    if index.path is None:
        raise PartMissing("part.index_in_memory", part=part.name)
    digests = index_digests(index.path, part.needs)
    language = models.language.fingerprint if models.language is not None else "none"
    return {
        need: digests[need] if need in digests else language if need == LANGUAGE else models.parts.get(need, "")
        for need in part.needs
    }


def fingerprint_of(part: "Part | PartBase", version: int, index: Index, config: Any, models: PartModels) -> str:
    """Return a hash of what a part rests on, its options, and the version of its rules. Raises what index_digests()
    does.
    """
    decides = [part.name, version, asdict(config), rests_on(part, index, models)]
    return hashlib.sha256(json.dumps(decides, sort_keys=True).encode()).hexdigest()[:16]


_A_NODE = Range(0.1, 0.3, 0.8)  # groups of all levels for each node
_REPLY_TOKENS = Range(200, 600, 1500)


def with_language(fingerprint: str, index: Index, models: PartModels) -> str:
    """Return the fingerprint of a part whose texts a language model writes where there is one; the part does not need
    it.
    """
    if models.language is None:
        return fingerprint
    decides = [fingerprint, models.language.fingerprint, *map(repr, index.manifest.config.prompts)]
    return hashlib.sha256("\n".join(decides).encode()).hexdigest()[:16]


def part_forecast(seconds: Range, stages: tuple[StageForecast, ...] = ()) -> Forecast:
    """Return the forecast of a part; no chunk is read for it, and no entity made."""
    return Forecast(chunks=0, sampled=0, entities=ZERO, stages=stages, seconds=seconds)


def text_forecast(n_nodes: int, prompt_tokens: int, models: PartModels, *, more_calls: int = 0) -> Forecast:
    """Estimate what texts on groups of so many nodes take: seconds with the built-in writer, calls with a model."""
    groups = _A_NODE.scaled(n_nodes) + Range(0.1, 0.5, 1.0)
    seconds = groups.scaled(SECONDS_A_TEXT) + Range(0.1, 0.5, 3.0)
    calls = groups + Range(more_calls, more_calls, more_calls)
    prompts = Range(calls.low * 200, calls.expected * min(1500, prompt_tokens), calls.high * prompt_tokens)
    stage = StageForecast("make", calls, prompts, calls.times(_REPLY_TOKENS), ZERO)
    return model_forecast(seconds, models, stage, calls.scaled(2.0))


def model_forecast(seconds: Range, models: PartModels, stage: StageForecast, seconds_of_calls: Range) -> Forecast:
    """Return the forecast of a part of which a language model, where there is one, makes that stage."""
    if models.language is None:
        return part_forecast(seconds)
    return part_forecast(seconds + seconds_of_calls, (stage,))
