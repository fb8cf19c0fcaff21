"""A presentation as it is planned and as it is stored: all that its slides show, so that neither index nor model is
needed to show it.

Words are not stored: slides take their sentences from the catalog, in the language of the reader (slides.py).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated

from annotated_types import Interval, Len, MaxLen, Predicate

from leanrag_core.errors import InvalidConfig
from leanrag_core.evaluation.gold import GoldQuestion
from leanrag_core.files.records import Count, ShortText, absent_at_default
from leanrag_core.messages.message import Message
from leanrag_core.presenting.edits import MAX_NOTES, MAX_TITLE, Edits, Key, is_image
from leanrag_core.storage.history import RunRecord
from leanrag_core.types.experiment import Parameter

FORMAT, VERSION = "leanrag-presentation", 1
MAX_QUESTIONS, MAX_BESIDE = 6, 2
MAX_ABOUT = 400  # characters

DOCUMENTS, GRAPH, ISLANDS, BRIDGES, HIERARCHY = "documents", "graph", "islands", "bridges", "hierarchy"
STEPS, ANSWER, COMPARE, QUESTIONS, COST = "steps", "answer", "compare", "questions", "cost"
COMPARISON, BOARD, PICTURE = "comparison", "board", "picture"  # kinds of added slides, which begin their keys
SLIDES = (DOCUMENTS, GRAPH, ISLANDS, BRIDGES, HIERARCHY, STEPS, ANSWER, COMPARE, QUESTIONS, COST)

Fraction = Annotated[float, Interval(ge=0, le=1)]
Place = Annotated[int, Interval(ge=0, le=100_000)]
Share = Annotated[float, Interval(ge=-1e9, le=1e9)]
LEANRAG, NAIVE = "leanrag", "vector"


@dataclass(frozen=True)
class PresentedIndex:
    """What the story is about. kind: see types.manifest; model, embedding: their names. layers: entities of each layer,
    from layer 0 up; relations: the same of their relations."""

    id: ShortText
    name: ShortText
    corpus: ShortText
    kind: ShortText
    model: ShortText
    embedding: ShortText
    layers: Annotated[tuple[Count, ...], Len(1, 100)]
    relations: Annotated[tuple[Count, ...], Len(1, 100)]


@dataclass(frozen=True)
class DrawnDocument:
    """A document. tokens: of its text; chunks: of each of its chunks, which overlap."""

    title: ShortText
    tokens: Count
    chunks: Annotated[tuple[Count, ...], MaxLen(500)]


@dataclass(frozen=True)
class Documents:
    """n, tokens, chunks: of all documents; tokens of their texts, as the corpus counts them. drawn: the largest, in the
    order of the index."""

    n: Count
    tokens: Count
    chunks: Count
    drawn: Annotated[tuple[DrawnDocument, ...], MaxLen(100)]


@dataclass(frozen=True)
class Spot:
    """An aggregated entity of the layer of the islands. x, y: its place; size: base entities below it; group: its
    parent's place among the parents; relations: how many it has in the layer, drawn or not."""

    name: ShortText
    x: Fraction
    y: Fraction
    size: Count
    group: Place
    relations: Count
    about: ShortText = ""


@dataclass(frozen=True)
class Bridge:
    """An aggregated relation between two spots, by their places. strength: lambda. is_summarised: a text was written
    for it; else its relations were put in a row."""

    source: Place
    target: Place
    strength: Count
    is_summarised: bool
    about: ShortText = ""


@dataclass(frozen=True)
class Islands:
    """How a layer hangs together with and without its aggregated relations. nodes, relations, summarised: of all of the
    layer; components: parts that no relation joins; largest: entities of the largest part, with the relations.
    spots, bridges: those that are drawn, the largest and the strongest."""

    layer: Count
    nodes: Count
    relations: Count
    summarised: Count
    components_without: Count
    components_with: Count
    largest: Count
    groups: Annotated[tuple[ShortText, ...], MaxLen(200)]
    spots: Annotated[tuple[Spot, ...], MaxLen(200)]
    bridges: Annotated[tuple[Bridge, ...], MaxLen(400)]


@dataclass(frozen=True)
class Dot:
    """A base entity, drawn at its spot. degree: its relations; spot: place of the spot above it."""

    name: ShortText
    type: ShortText
    x: Fraction
    y: Fraction
    degree: Count
    spot: Place


@dataclass(frozen=True)
class GraphPicture:
    """The base graph: its entities with most relations, and the relations between these, by places of dots."""

    types: Mapping[ShortText, Count]
    dots: Annotated[tuple[Dot, ...], MaxLen(400)]
    links: Annotated[tuple[tuple[Place, Place], ...], MaxLen(800)]


@dataclass(frozen=True)
class Block:
    """An entity of the hierarchy, or several that are too small to be drawn: folded counts these, names has some.
    start, end: its part of the height, by its base entities; size: how many these are. names: else, of the lowest
    blocks, the best connected of them."""

    name: ShortText
    start: Fraction
    end: Fraction
    size: Count
    folded: Count = 0
    names: Annotated[tuple[ShortText, ...], MaxLen(20)] = ()
    about: ShortText = ""


@dataclass(frozen=True)
class Column:
    """A layer of the hierarchy. nodes: all entities of the layer."""

    layer: Count
    nodes: Count
    blocks: Annotated[tuple[Block, ...], MaxLen(400)]


@dataclass(frozen=True)
class BridgeEvidence:
    """What is behind an inter-cluster relation of a trace: base relations, the documents that state them, and how
    many of them the document states that has most."""

    relation: ShortText
    statements: Count
    documents: Count
    most_in_one: Count


@dataclass(frozen=True)
class PresentedStrategy:
    """A strategy with the options that differ from its defaults."""

    name: str
    options: Mapping[str, Parameter] = field(default_factory=dict)


@dataclass(frozen=True)
class Side:
    """A question asked with one strategy. gold: how many gold quotes its context holds, None without gold."""

    run: RunRecord
    gold: Count | None = None
    bridges: Annotated[tuple[BridgeEvidence, ...], MaxLen(20)] = ()


@dataclass(frozen=True)
class PresentedQuestion:
    """A question; sides[0] is played, the others are set beside it. n_gold: its gold quotes, 0 where none is known."""

    question: ShortText
    sides: Annotated[tuple[Side, ...], Len(1, 1 + MAX_BESIDE)]
    n_gold: Count = 0


@dataclass(frozen=True)
class Estimate:
    """A mean with its interval, rounded, as it is stored. n: questions."""

    value: Share
    low: Share | None
    high: Share | None
    n: Count


@dataclass(frozen=True)
class Measured:
    """What an experiment on this index measured of the first strategy and of one beside it. beside: place of the side.
    tokens: context of the first over that of the other, question by question. recall: of the gold quotes, of either;
    difference: first minus other; None without gold evidence."""

    experiment: ShortText
    beside: Place
    questions: Count
    tokens: Estimate
    recall: Estimate | None = None
    recall_beside: Estimate | None = None
    difference: Estimate | None = None


@dataclass(frozen=True)
class Cost:
    """What the build was paid: calls, tokens, US dollars."""

    calls: Count
    prompt_tokens: Count
    completion_tokens: Count
    dollars: Annotated[float, Interval(ge=0, le=1e12)]


@dataclass(frozen=True)
class AddedComparison:
    """A question asked with several systems, by two to four stored runs. index: its name; made: the day, ISO 8601.
    budget: tokens that each context is cut to, 0 for whole contexts."""

    question: ShortText
    index: ShortText
    made: Annotated[str, MaxLen(10)]
    sides: Annotated[tuple[Side, ...], Len(2, 4)]
    n_gold: Count = 0
    budget: Count = 0


@dataclass(frozen=True)
class BoardPoint:
    """A setting on the board. tokens: of a context on average; value: of the measure; won, lost: questions against the
    pinned setting."""

    name: Message
    tokens: Estimate
    value: Estimate
    won: Count
    lost: Count


@dataclass(frozen=True)
class AddedBoard:
    """Settings of a system on one question set. points: in the order in which they were tried; pinned, now: places of
    two of them. measure: its title; settings: of the pinned one."""

    system: Message
    settings: Message
    measure: Message
    index: ShortText
    made: Annotated[str, MaxLen(10)]
    points: Annotated[tuple[BoardPoint, ...], Len(1, 20)]
    pinned: Count
    now: Count


MAX_PICTURE = 2_500_000  # characters of a data URI
Picture = Annotated[str, MaxLen(MAX_PICTURE), Predicate(is_image)]


@dataclass(frozen=True)
class AddedPicture:
    """A figure as Explore drew it, in either theme, as data URIs. width, height: px. note: what is drawn of how
    many."""

    title: ShortText
    note: ShortText
    index: ShortText
    made: Annotated[str, MaxLen(10)]
    light: Picture
    dark: Picture
    width: Annotated[int, Interval(ge=1, le=10_000)]
    height: Annotated[int, Interval(ge=1, le=10_000)]


AddedSlide = AddedComparison | AddedBoard | AddedPicture


@dataclass(frozen=True)
class Presentation:
    """A presentation. made: the day, ISO 8601. strategies: of the sides of each question. notes: a speaker's
    own, by slide. islands, graph: None where the hierarchy has no layer to draw them of. edits: what was changed since
    it was made; added: slides of other pages, by key, shown where the edits' order names them."""

    title: Annotated[str, Len(1, MAX_TITLE)]
    made: Annotated[str, MaxLen(10)]
    index: PresentedIndex
    documents: Documents
    graph: GraphPicture | None
    islands: Islands | None
    hierarchy: Annotated[tuple[Column, ...], MaxLen(20)]
    strategies: Annotated[tuple[PresentedStrategy, ...], Len(1, 1 + MAX_BESIDE)]
    questions: Annotated[tuple[PresentedQuestion, ...], Len(1, MAX_QUESTIONS)]
    cost: Cost
    measured: Annotated[tuple[Measured, ...], MaxLen(MAX_BESIDE)] = ()
    notes: Mapping[str, Annotated[str, MaxLen(MAX_NOTES)]] = absent_at_default(factory=dict)
    edits: Edits = absent_at_default(factory=Edits)
    added: Annotated[Mapping[Key, AddedSlide], MaxLen(40)] = absent_at_default(factory=dict)
    format: str = FORMAT
    version: int = VERSION


@dataclass(frozen=True)
class PresentationSummary:
    """A presentation as a list shows it. index_id: which may be gone. is_shipped: it comes with the program. edited:
    when its file was written last, ISO 8601, UTC."""

    id: str
    title: str
    made: str
    index_id: str
    index: str
    questions: tuple[str, ...]
    strategies: tuple[str, ...]
    size_bytes: int
    is_shipped: bool
    edited: str = ""


@dataclass(frozen=True)
class PresentationPlan:
    """strategies: the first is played, the others are set beside it. made: the day, ISO 8601. notes: a speaker's own,
    by slide."""

    title: str
    questions: tuple[GoldQuestion, ...]
    strategies: tuple[PresentedStrategy, ...] = (PresentedStrategy(LEANRAG), PresentedStrategy(NAIVE))
    made: str = ""
    notes: Mapping[str, str] = field(default_factory=dict)


def require_valid(plan: PresentationPlan) -> None:
    """Raise InvalidConfig for a plan of which no presentation can be made, with what to change."""
    if not 0 < len(plan.title.strip()) <= MAX_TITLE:
        raise InvalidConfig("present.bad_title", limit=MAX_TITLE)
    if not 0 < len(plan.questions) <= MAX_QUESTIONS:
        raise InvalidConfig("present.bad_questions", n=MAX_QUESTIONS)
    if not 0 < len(plan.strategies) <= 1 + MAX_BESIDE:
        raise InvalidConfig("present.bad_strategies", n=MAX_BESIDE)
    for slide, text in plan.notes.items():
        if slide not in SLIDES:
            raise InvalidConfig("present.unknown_slide", slide=slide, slides=", ".join(SLIDES))
        if len(text) > MAX_NOTES:
            raise InvalidConfig("present.long_notes", slide=slide, limit=MAX_NOTES)
