"""What programs ask of a workbench: its indexes, strategies and documents; retrievals, answers and comparisons."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

from pydantic import ConfigDict, Field

from leanrag_core.answering.record import AskRecord, ask_record
from leanrag_core.comparing.column_specs import ColumnSpec, column_specs
from leanrag_core.comparing.sharing import compare
from leanrag_core.comparing.values import column_values, shared_values
from leanrag_core.errors import IndexNotFound
from leanrag_core.messages.catalog import sentence
from leanrag_core.retrieval.base import StrategyInfo, parts_needed, require_question, strategies, strategy
from leanrag_core.retrieval.settings import official_settings
from leanrag_core.serving.workers import Look
from leanrag_core.storage.indexes import OpenIndexes
from leanrag_core.types.index import Index
from leanrag_core.types.job import nothing
from leanrag_core.types.scope import ALL, Scope
from leanrag_core.types.summary import IndexSummary
from leanrag_core.types.trace import Answer, ContextItem, Trace, TraceItem, TraceRelation, TraceStep
from leanrag_core.types.visible import visible
from leanrag_core.workbench import Workbench
from leanrag_core.workbench.questions import AskRequest

OPEN_BYTES = 600_000_000  # of all opened indexes

Text = Annotated[str, Field(description="The question, in any language.", examples=["What do bees do in winter?"])]
Name = Annotated[str, Field(description="The name of a strategy; GET /api/strategies lists them.")]
Options = Annotated[dict[str, Any], Field(description="Options of the strategy by name; others are at their default.")]


@dataclass(frozen=True)
class RetrieveBody:
    """A question to retrieve for. scope: the documents that are asked, all by default: documents by name or id, those
    below folders, those with any of the tags, those not before `since` and not after `until` (YYYY, YYYY-MM or
    YYYY-MM-DD)."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    question: Text
    strategy: Name = "leanrag"
    options: Options = field(default_factory=dict)
    scope: Scope = ALL


@dataclass(frozen=True)
class AskBody(RetrieveBody):
    """A question to retrieve for and to answer. after: questions before it, the oldest first, which it may point back
    to. stream: the answer comes as server-sent events: `step` and `text` as they are made, `result` at the end, or
    `error`. Other fields: as for a retrieval."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    after: tuple[str, ...] = ()
    stream: bool = False


@dataclass(frozen=True)
class CompareBody:
    """A question to several strategies. columns: two to four of STRATEGY[:OPTION=VALUE,...]. answers: they answer too.
    scope: as for a retrieval."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    question: Text
    columns: Annotated[tuple[str, ...], Field(examples=[["leanrag", "vector:top_c=5"]])] = ("leanrag", "vector")
    answers: bool = True
    scope: Scope = ALL


@dataclass(frozen=True)
class IndexValues:
    """An index that can be asked. id: what requests name it by. created: when it was built, UTC. entities: of each
    layer, from the documents' own up to the root. model: what extracted, "builtin" without a language model. documents:
    how many."""

    id: str
    name: str
    created: str
    documents: int
    chunks: int
    entities: tuple[int, ...]
    model: str


@dataclass(frozen=True)
class StrategyValues:
    """A strategy. calls_model: it asks a language model to retrieve. parts: of the index that it needs. options: with
    their defaults."""

    name: str
    title: str
    help: str
    calls_model: bool
    parts: tuple[str, ...]
    options: dict[str, Any]


@dataclass(frozen=True)
class DocumentValues:
    """A document of an index, by what scopes look at. date: a day, a month or a year, empty when it is not known."""

    id: str
    name: str
    folder: str
    tags: tuple[str, ...]
    date: str


@dataclass(frozen=True)
class Cited:
    """What a citation mark of an answer stands for. kind: passage, entity or relation. name: of an entity or relation,
    of a passage its document. text: as it is in the context. start, end: characters of the document; page: where the
    format has pages."""

    mark: str
    kind: str
    name: str
    text: str
    start: int | None = None
    end: int | None = None
    page: int | None = None


class RetrievedValues(AskRecord):
    """The fields of `ask --json`, and what each mark of the context stands for; of an answer, each that it cites."""

    sources: tuple[Cited, ...]


class AskedValues(RetrievedValues):
    """A retrieval with its answer. asked_as: how a follow-up was made to stand alone, "" otherwise."""

    asked_as: str


@dataclass(frozen=True)
class Asked:
    """An answered question: what was retrieved, the answer, and what its marks stand for. said: how a follow-up was
    made to stand alone, "" otherwise."""

    trace: Trace
    answer: Answer
    sources: tuple[Cited, ...]
    said: str = ""

    def values(self) -> "AskedValues":
        """Return the fields of `ask --json` with the sources, as JSON values."""
        return {**ask_record(self.trace, self.answer), "sources": self.sources, "asked_as": self.said}


class Served:
    """A workbench as programs ask it. opened: the open indexes, shared with all others who ask in this process."""

    def __init__(self, bench: Workbench, opened: OpenIndexes | None = None) -> None:
        self.bench = bench
        self._opened = opened or OpenIndexes(OPEN_BYTES)

    def index(self, index_id: str) -> Index:
        """Return the index of that id, opened once. Raises IndexNotFound, IndexDamaged, IndexTooNew."""
        if not index_id.isprintable() or not self.bench.indexes.path(index_id).is_dir():
            raise IndexNotFound("index.not_found", index=visible(index_id[:200]))  # without the path of its folder
        summary = self.bench.indexes.summary(index_id)
        return self._opened.get((summary.id, summary.created), lambda: self.bench.indexes.open(index_id))

    def checked(self, index_id: str, body: RetrieveBody) -> Index:
        """Return the index of the documents that are asked, cut where these are not all. Raises what says that the
        question cannot be asked: IndexNotFound, InvalidConfig, PartMissing."""
        index = self.index(index_id)
        strategy(body.strategy, body.options)
        require_question(body.question)
        return self.bench.scopes.index(index, body.scope)

    def retrieve(
        self, index: Index, body: RetrieveBody, look: Look, on_step: Callable[[TraceStep], None] = nothing
    ) -> Trace:
        """Return what the strategy retrieves. index: as checked() returns it. Raises as Questions.retrieve() does, and
        Cancelled."""

        def step(done: TraceStep) -> None:
            look()
            on_step(done)

        look()
        heard: dict[str, Any] = {"report": lambda progress: look(), "cancelled": look, "on_step": step}
        return self.bench.questions.retrieve(index, AskRequest(body.question, body.strategy, body.options, **heard))

    def ask(
        self,
        index: Index,
        body: AskBody,
        look: Look,
        *,
        on_step: Callable[[TraceStep], None] = nothing,
        on_text: Callable[[str], None] = nothing,
    ) -> Asked:
        """Return the answer. on_step: called with each step of the retrieval once it is done; on_text: with each piece
        of the answer's text. index: as checked() returns it."""
        standalone_question = ""
        if body.after:
            standalone = self.bench.questions.follow_up(index, body.question, body.after)
            if standalone.question != body.question:
                standalone_question = standalone.question
                body = AskBody(standalone.question, body.strategy, body.options, body.scope)
        reported_steps: list[TraceStep] = []

        def step(done: TraceStep) -> None:
            reported_steps.append(done)
            on_step(done)

        def text(piece: str) -> None:
            look()
            on_text(piece)

        trace = self.retrieve(index, body, look, step)
        for done in trace.steps[len(reported_steps) :]:  # a strategy of one call tells of none while it works
            on_step(done)
        look()
        with self.bench.questions.naming_damage(index):
            answer = self.bench.questions.stream_answer(index, trace, text)
        return Asked(trace, answer, cited(answer), standalone_question)

    def compare(self, index: Index, body: CompareBody, look: Look) -> dict[str, Any]:
        """Return the fields of `compare --json` for one question. index: of the documents that are asked."""
        specs = column_specs(body.columns, strategies())
        columns, traces = {}, {}
        for spec in specs:
            trace, answer = self._column(index, spec, body, look)
            columns[spec.letter] = column_values(index.manifest.name, trace, answer)
            traces[spec.letter] = trace
        return {"question": body.question, "columns": columns, "shared": shared_values(compare(traces))}

    def _column(self, index: Index, spec: ColumnSpec, body: CompareBody, look: Look) -> tuple[Trace, Answer | None]:
        column_index = index if spec.index is None else self.bench.scopes.index(self.index(str(spec.index)), body.scope)
        ask_body = AskBody(body.question, spec.info.name, dict(spec.options))
        if body.answers:
            answered = self.ask(column_index, ask_body, look)
            return answered.trace, answered.answer
        return self.retrieve(column_index, ask_body, look), None

    def documents(self, index_id: str) -> list[DocumentValues]:
        """Return the documents of the index."""
        listed = self.bench.scopes.documents(self.index(index_id))
        return [DocumentValues(each.id, each.name, each.folder, each.tags, each.date) for each in listed]

    def askable(self, index: Index) -> list[StrategyInfo]:
        """Return the strategies that can be asked of the index as it is: their parts are there, and the language model
        where they need one."""
        finished_parts = self.bench.parts.finished(index)
        has_model = self.bench.questions.answering_language(index) is not None
        return [
            info
            for info in strategies().strategies
            if set(parts_needed(info.name, {})) <= finished_parts
            and (has_model or not (info.calls_model or getattr(info.strategy, "model_answers", False)))
        ]


def index_values(summary: IndexSummary) -> IndexValues:
    """Return the index as a list has it."""
    entities = tuple(layer.entities for layer in summary.layers)
    named = (summary.id, summary.title, summary.created)
    return IndexValues(*named, summary.documents, summary.chunks, entities, summary.config.model)


def strategy_values() -> list[StrategyValues]:
    """Return all strategies, LeanRAG first."""
    listed = []
    for info in strategies().strategies:
        title, help_, official = sentence(info.title), sentence(info.help), dict(official_settings(info))
        listed.append(StrategyValues(info.name, title, help_, info.calls_model, info.parts, official))
    return listed


def retrieved_values(trace: Trace) -> RetrievedValues:
    """Return what was retrieved as JSON values."""
    return {**ask_record(trace, None), "sources": marked(trace)}


def cited(answer: Answer) -> tuple[Cited, ...]:
    """Return what each mark of the answer stands for, in the order of the context."""
    marks = {*answer.citations, *(mark for part in answer.parts for mark in part.marks)}
    return marked(answer.trace, marks)


def marked(trace: Trace, marks: set[str] | None = None) -> tuple[Cited, ...]:
    """Return what the marks of the context stand for. marks: these alone, all by default."""
    wanted = [item for item in trace.context.items if marks is None or item.mark in marks]
    items = {item.id: item for item in trace.items}
    relations = {relation.id: relation for relation in trace.relations}
    return tuple(_cited(item, items, relations.get(item.ref)) for item in wanted)


def _cited(item: ContextItem, items: Mapping[str, TraceItem], relation: TraceRelation | None) -> Cited:
    trace_item = items.get(item.ref)
    if trace_item is not None and (source := trace_item.source) is not None:
        text = trace_item.text or item.text
        return Cited(item.mark, "passage", source.document, text, source.start, source.end, source.page)
    if relation is not None:
        ends = [items[end].name if end in items else end for end in (relation.source, relation.target)]
        return Cited(item.mark, "relation", " – ".join(ends), item.text)
    return Cited(item.mark, "entity", item.ref if trace_item is None else trace_item.name, item.text)
