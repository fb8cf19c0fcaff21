"""What a strategy did with a question: items and relations in their roles, ordered steps, and the context.

Nothing here is particular to a strategy. What a role looks like, which sections a context has and which steps were
taken is declared in the trace itself, so that whatever shows a trace derives it from there.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from leanrag_core.files.records import absent_at_default
from leanrag_core.messages.message import Message
from leanrag_core.types.calls import NO_USAGE, Usage
from leanrag_core.types.scope import Scope
from leanrag_core.types.visible import ShownInNotebooks

Parameter = str | int | float | bool | None
PASSAGE_ROLE = "passage"


@dataclass(frozen=True)
class Style:
    """How the items or relations of a role are drawn. title: for legends. colour: a name of the palette; a neutral
    colour replaces an unknown name. shape: of items disc, box, double or chip; of relations line, arc or dotted.
    on: "item" or "relation"."""

    role: str
    title: Message
    colour: str
    shape: str
    on: str = "item"


@dataclass(frozen=True)
class Source:
    """Where a passage is. start, end: characters of the document. items: ids of the items that led to the passage,
    such as the seeds that occur in it, best first."""

    document: str
    document_row: int
    title: str
    start: int
    end: int
    page: int | None
    tokens: int
    items: tuple[str, ...] = ()

    @property
    def names(self) -> frozenset[str]:
        """What a gold question may call its document: file name and title."""
        return frozenset((self.document, self.title))


@dataclass(frozen=True)
class TraceItem:
    """Something that a strategy found or made: entity, aggregated-entity, passage, community, sub-question, keyword.

    roles: what it is in this retrieval; the first one decides how it is drawn. layer: of the hierarchy, None outside.
    row: in the index's table of that kind, None where there is none. rank: 1 is best. reason: why it is here. parent:
    id of the item above it in this trace. source: of passages alone. reranked: the score of a reranker. title: what it
    is among others of its kind, said before its name where it is drawn.
    """

    id: str
    kind: str
    name: str
    roles: tuple[str, ...]
    layer: int | None = None
    row: int | None = None
    score: float | None = None
    rank: int | None = None
    reason: Message | None = None
    parent: str | None = None
    type: str = ""
    text: str = ""
    source: Source | None = None
    reranked: float | None = absent_at_default()
    title: Message | None = absent_at_default()

    @property
    def role(self) -> str:
        """The role that decides how it is drawn."""
        return self.roles[0] if self.roles else ""


@dataclass(frozen=True)
class TraceRelation:
    """A relation between two items. role: such as tree, base or inter-cluster. made: how its description came about,
    such as summarised or concatenated; strength: lambda of aggregated relations, the weight of base ones. row: in the
    relations of its layer, None where it is in no table."""

    id: str
    source: str
    target: str
    role: str
    layer: int | None
    made: str
    strength: float
    description: str
    row: int | None = None
    score: float | None = None
    reason: Message | None = None


@dataclass(frozen=True)
class ContextItem:
    """One item of the context. mark: its citation mark, e.g. E1 or C1. ref: id of the item or relation that it is
    made of. kind: see Lost. lead: characters of the text before the description begins. trimmed: the description was
    cut to fit."""

    mark: str
    ref: str
    text: str
    tokens: int
    kind: str = ""
    lead: int = 0
    trimmed: bool = False


@dataclass(frozen=True)
class Lost:
    """What a section lacks of a kind of items. noun: code of the message that counts the kind, "3 seed entities"."""

    kind: str
    offered: int
    left_out: int
    trimmed: int
    noun: str = ""


@dataclass(frozen=True)
class ContextSection:
    """A section of the context with its own budget, as its strategy declares it.

    letter: upper-case letters that begin its citation marks, no other section's. colour: a name of the palette.
    left_out counts items that did not fit, trimmed those that were cut. lost: the same by kind, of the kinds that lack
    something. phrase: the title as it is in a sentence ("the entities"); noun: what one of its items is ("entity").
    """

    name: str
    title: Message
    letter: str
    colour: str
    items: tuple[ContextItem, ...]
    text: str
    tokens: int
    budget: int
    left_out: int = 0
    trimmed: int = 0
    lost: tuple[Lost, ...] = ()
    phrase: Message | None = None
    noun: Message | None = None


@dataclass(frozen=True)
class Context:
    """The sections in order, and their joined text as sent to a model. tokens: cl100k count of text."""

    text: str
    tokens: int
    sections: tuple[ContextSection, ...]

    @property
    def items(self) -> tuple[ContextItem, ...]:
        """The items of all sections, in their order."""
        return tuple(item for section in self.sections for item in section.items)

    @property
    def mark_of(self) -> dict[str, str]:
        """The citation mark of each item or relation that the context holds, by its id."""
        return {item.ref: item.mark for item in self.items}

    def section(self, name: str) -> ContextSection:
        """Return the section of that name. Raises KeyError for an unknown name."""
        return {section.name: section for section in self.sections}[name]


@dataclass(frozen=True)
class TraceStep:
    """A step of the retrieval. title: for a tab; caption: one sentence that says what happened. items, relations: ids
    of what the step lights up."""

    name: str
    title: Message
    caption: Message
    items: tuple[str, ...] = ()
    relations: tuple[str, ...] = ()
    usage: Usage = NO_USAGE
    milliseconds: float = 0.0


@dataclass(frozen=True)
class TraceIndex:
    """Of the index, what drawing a trace takes. layer_sizes: entities of each layer, from layer 0 up."""

    id: str
    name: str
    layer_sizes: tuple[int, ...]


@dataclass(frozen=True)
class Trace(ShownInNotebooks):
    """All that a strategy retrieved for a question, with reasons, steps and notes for the reader.

    title: of the strategy. ranked_chunks: rows of all candidate chunks in rank order, beyond those that were taken too.
    search: how the vectors were searched, exact or approximate. scope: the documents that were asked, where these are
    not all; rows are then those of the index cut to it.
    """

    question: str
    strategy: str
    title: Message
    parameters: Mapping[str, Parameter]
    items: tuple[TraceItem, ...]
    relations: tuple[TraceRelation, ...]
    context: Context
    steps: tuple[TraceStep, ...]
    styles: tuple[Style, ...]
    index: TraceIndex
    notes: tuple[Message, ...] = ()
    usage: Usage = NO_USAGE
    ranked_chunks: tuple[int, ...] = ()
    search: str = "exact"
    scope: Scope | None = absent_at_default()

    @cached_property
    def _by_id(self) -> dict[str, TraceItem]:
        return {item.id: item for item in self.items}

    @cached_property
    def passages(self) -> tuple[TraceItem, ...]:
        """The items that are passages of a document, in rank order."""
        return tuple(item for item in self.items if item.source is not None)

    @property
    def gives_passages(self) -> bool:
        """Whether passages are among what the strategy retrieves, even if this question brought none."""
        return bool(self.passages or self.ranked_chunks) or self.style(PASSAGE_ROLE) is not None

    @cached_property
    def nodes(self) -> tuple[TraceItem, ...]:
        """The items that are not passages."""
        return tuple(item for item in self.items if item.source is None)

    @cached_property
    def tree_links(self) -> frozenset[str]:
        """Ids of the relations that only repeat which item is the parent of another one."""
        parents = {frozenset((item.id, item.parent)) for item in self.items if item.parent}
        return frozenset(each.id for each in self.relations if frozenset((each.source, each.target)) in parents)

    @property
    def timings_ms(self) -> dict[str, float]:
        """Milliseconds of each step that took any, and their total."""
        timings = {step.name: step.milliseconds for step in self.steps if step.milliseconds}
        return timings | {"total": sum(timings.values())}

    def with_role(self, role: str) -> tuple[TraceItem, ...]:
        """Return the items that have that role, in the order of the trace."""
        return tuple(item for item in self.items if role in item.roles)

    def item(self, id_: str) -> TraceItem:
        """Return the item of that id. Raises KeyError for an unknown one."""
        return self._by_id[id_]

    def style(self, role: str, on: str = "item") -> Style | None:
        """Return how that role is drawn, where the strategy says so."""
        return next((style for style in self.styles if (style.role, style.on) == (role, on)), None)


@dataclass(frozen=True)
class AnswerPart:
    """A piece of an answer: a sentence and the citation marks that support it. section: of the context, which a
    sentence of an extractive answer is from; empty when a model wrote it."""

    text: str
    marks: tuple[str, ...]
    section: str = ""


@dataclass(frozen=True)
class Answer(ShownInNotebooks):
    """An answer from a context alone. text: with marks in brackets, e.g. "... [C1]". extractive: made of the
    context's own sentences. grounded: False when the context does not answer (text then says so). Where an
    extractive answer is not grounded: nearest, the sentence of the context that is nearest to the question;
    nearest_parts, it and the best ones of the next items, with their marks; because, why, where that is known."""

    text: str
    parts: tuple[AnswerPart, ...]
    citations: tuple[str, ...]
    grounded: bool
    extractive: bool
    model: str
    trace: Trace
    usage: Usage = NO_USAGE
    nearest: str = ""
    nearest_parts: tuple[AnswerPart, ...] = ()
    because: Message | None = None


RUN_FORMAT, RUN_VERSION = "leanrag-run", 1


@dataclass(frozen=True)
class RecordedRun:
    """A trace and, where there is one, the answer from it. format, version: of the file."""

    trace: Trace
    answer: Answer | None = None
    format: str = RUN_FORMAT
    version: int = RUN_VERSION
