"""A retrieval as a play: all that a browser needs to draw, step through and explain it, computed from its trace.

Positions are those of the layered figure, the same in every frame; a frame says what lights up and why. The scripts
beside this module (scripts/play_*.js) draw it on the pages and in files that open without a server.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from leanrag_core.figures.drawn_nodes import drawn_nodes, kind_title
from leanrag_core.figures.layered import layered_graph
from leanrag_core.figures.layered_places import MEDIUM, MOST_ARCS, NARROW, WIDE, LayeredGraph
from leanrag_core.figures.palette import known_colour
from leanrag_core.figures.play_cards import Cards, Span, anchors, is_card, passage_cards, sources_of, spans
from leanrag_core.figures.play_scenes import Scene, counted, n_leading, scenes
from leanrag_core.messages.catalog import ENGLISH, sentence
from leanrag_core.messages.message import Message, message
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Answer, ContextSection, Style, Trace, TraceItem
from leanrag_core.types.visible import shortened

WIDTHS = (NARROW, MEDIUM, WIDE)  # px of the plots that the browser chooses from
_MOST_PASSAGE, _MOST_TEXT, _MOST_LINE = 260, 200, 180  # characters of a passage, of another item, of a relation
_WORDS = (
    "back", "next", "play", "pause", "again", "speed", "steps", "label", "more", "ranking", "context", "so_far",
    "used", "of", "tokens_of", "holds", "close", "explore", "document", "rank", "name", "role", "layer", "score",
    "parent", "table", "whole", "layer_of", "show_whole", "as_table", "as_figure", "entered", "left", "legend_later",
    "brought",
)  # fmt: skip
_MAX_TOKENS = "max_tokens"  # the option of strategies whose sections have a budget in common


@dataclass(frozen=True)
class Part:
    """A section of the context. note: how many of its items are in it, such as "5 of 23, 18 left out"."""

    letter: str
    title: str
    colour: str
    tokens: int
    budget: int
    note: str = ""


def parts(trace: Trace, language: str) -> tuple[Part, ...]:
    """Return the sections in their order."""
    listed = []
    for each in trace.context.sections:
        title, note = sentence(each.title, language), _section_note(trace, each, language)
        listed.append(Part(each.letter, title, known_colour(each.colour), each.tokens, each.budget, note))
    return tuple(listed)


def budget_of(trace: Trace) -> int:
    """Return the tokens that the whole context may take."""
    context, common = trace.context, trace.parameters.get(_MAX_TOKENS)
    total = sum(section.budget for section in context.sections)
    return common if isinstance(common, int) and context.tokens <= common < total else total


def _section_note(trace: Trace, section: ContextSection, language: str) -> str:
    """Say how many items of the section are taken, and how many were left out; passages are taken of candidates, since
    they may be shorter than the ranked chunks."""
    n, ids = len(section.items), {passage.id for passage in trace.passages}
    total = message("ask.taken_of", n=n, offered=n + section.left_out)
    out = message("ask.left_out", n=section.left_out)
    if trace.ranked_chunks and any(item.ref in ids for item in section.items):
        total = message("ask.taken_of_candidates", n=n, offered=max(len(trace.ranked_chunks), n))
        out = message("ask.did_not_fit", n=section.left_out)
    more: tuple[Message, ...] = (out, message("ask.trimmed", n=section.trimmed))
    sentences = [sentence(part, language) for part in (total, *more) if part is total or part.values["n"]]
    return sentence(message("ask.comma"), language).join(sentences)


@dataclass(frozen=True)
class Marked:
    """trace: the later one, its own items and relations first, then those that left. entered, left: ids of items and
    relations."""

    trace: Trace
    entered: frozenset[str] = frozenset()
    left: frozenset[str] = frozenset()


def marked(trace: Trace, before: Trace | None) -> Marked:
    """Return what entered and what left since `before`; nothing is marked against another strategy, whose ids say
    nothing."""
    if before is None or before.strategy != trace.strategy:
        return Marked(trace)
    items, relations = {each.id for each in trace.items}, {each.id for each in trace.relations}
    old_items = [each for each in before.items if each.id not in items]
    old_relations = [each for each in before.relations if each.id not in relations]
    ids = items | {each.id for each in old_items}
    kept = [each for each in old_relations if {each.source, each.target} <= ids]
    entered = (items - {each.id for each in before.items}) | (relations - {each.id for each in before.relations})
    left = {each.id for each in old_items} | {each.id for each in kept}
    merged = replace(trace, items=(*trace.items, *old_items), relations=(*trace.relations, *kept))
    return Marked(merged, frozenset(entered), frozenset(left))


@dataclass(frozen=True)
class Frame:
    """A picture. step: place of its segment. lead, rest: its sentence in two parts, what it finds and why. items,
    relations: what lights up, by id. focus: what the sentence is about. tokens: of each section so far."""

    step: int
    lead: str
    rest: str
    items: tuple[str, ...]
    relations: tuple[str, ...]
    focus: tuple[str, ...]
    tokens: tuple[int, ...]

    @property
    def sentence(self) -> str:
        """Return both parts."""
        return self.lead + self.rest


@dataclass(frozen=True)
class Segment:
    """A step. count: how much it brings, 0 where that says nothing. first, last: places of its frames."""

    name: str
    title: str
    count: int
    first: int
    last: int


@dataclass(frozen=True)
class PlayItem:
    """An item as cards, lists and tables show it. mark: its citation mark. place: of a passage, its page. n: of a
    passage, how many items lead to it. change: entered, left or nothing. taken: of a passage, its tokens."""

    id: str
    name: str
    about: str
    kind: str
    role: str
    layer: int | None
    rank: int | None
    score: float | None
    parent: str | None
    text: str
    mark: str = ""
    place: str = ""
    n: int = 0
    taken: int = 0
    change: str = ""
    is_card: bool = False


@dataclass(frozen=True)
class Sign:
    """An entry of the legend."""

    title: str
    shape: str
    colour: str


@dataclass(frozen=True)
class Play:
    """Everything of a play. layouts, cards: for each of WIDTHS. lines: what each relation says, by id. holding: ids of
    the items that lead to each passage; n_anchors: how many could. budget: tokens of the whole context. notes: what
    each layout leaves to the table. spans, layers: where nodes are in the whole hierarchy, and the entities of each
    layer. entered, left: ids of relations. marks: the citation marks of relations, by id."""

    question: str
    items: tuple[PlayItem, ...]
    lines: dict[str, str]
    layouts: tuple[LayeredGraph, ...]
    cards: tuple[Cards, ...]
    frames: tuple[Frame, ...]
    segments: tuple[Segment, ...]
    sections: tuple[Part, ...]
    signs: tuple[Sign, ...]
    holding: dict[str, tuple[str, ...]]
    notes: tuple[str, ...]
    spans: tuple[Span, ...] = ()
    layers: tuple[int, ...] = ()
    n_anchors: int = 0
    budget: int = 0
    entered: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    marks: dict[str, str] = field(default_factory=dict)


def play_frames(trace: Trace, *, answer: Answer | None = None, language: str = ENGLISH) -> tuple[Frame, ...]:
    """Return the frames of a trace from its first step to the answer."""
    return tuple(_frame(scene, language) for scene in scenes(trace, answer))


def answer_frame(trace: Trace, answer: Answer, language: str = ENGLISH) -> Frame:
    """Return the last frame of a play, once there is an answer: it may come later than the retrieval."""
    return _frame(scenes(trace, answer)[-1], language)


def play(
    trace: Trace,
    *,
    before: Trace | None = None,
    answer: Answer | None = None,
    index: Index | None = None,
    language: str = ENGLISH,
) -> Play:
    """Return the play of a trace. before: an earlier retrieval, against which what entered and what left is marked.
    index: where it is given, the nodes are marked in its whole hierarchy too."""
    changed = marked(trace, before)
    merged = changed.trace
    cards = [item for item in merged.items if is_card(item)]
    ids = {item.id for item in cards}
    in_graph = replace(
        merged,
        items=tuple(item for item in merged.items if item.id not in ids),
        relations=tuple(each for each in merged.relations if not ids & {each.source, each.target}),
    )
    left = changed.left
    layouts = tuple(layered_graph(in_graph, plot_px=width, language=language, uncounted=left) for width in WIDTHS)
    frames = play_frames(trace, answer=answer, language=language)
    about = {node.id: node.about for node in drawn_nodes(in_graph, language).nodes}
    marks = trace.context.mark_of

    def change(id_: str) -> str:
        return "entered" if id_ in changed.entered else "left" if id_ in left else ""

    return Play(
        question=trace.question,
        items=tuple(_item(merged, item, about, marks, change(item.id), language) for item in merged.items),
        lines={edge.id: edge.about[:_MOST_LINE] for graph in layouts for edge in graph.edges},
        layouts=layouts,
        cards=tuple(
            passage_cards(merged, cards, graph, plot_px=graph.plot_px, language=language, uncounted=left)
            for graph in layouts
        ),
        frames=frames,
        segments=_segments(trace, frames, language),
        sections=parts(trace, language),
        budget=budget_of(trace),
        signs=tuple(_sign(style, language) for style in trace.styles),
        holding=sources_of(merged),
        notes=tuple(_note(graph, merged, language) for graph in layouts),
        spans=spans(merged, index) if index is not None else (),
        layers=trace.index.layer_sizes,
        n_anchors=len(anchors(trace)),
        entered=tuple(each.id for each in merged.relations if each.id in changed.entered),
        left=tuple(each.id for each in merged.relations if each.id in left),
        marks={each.id: marks[each.id] for each in merged.relations if each.id in marks},
    )


def play_words(language: str = ENGLISH) -> dict[str, str]:
    """Return the words of the play's controls, for the scripts, which fill in what is {1} and {2} there."""
    fields = {"n": "{1}", "total": "{2}"}
    return {word: sentence(message(f"play.word.{word}", **fields), language) for word in _WORDS}


def _frame(scene: Scene, language: str) -> Frame:
    lead, *rest = (sentence(part, language) for part in scene.said)
    return Frame(scene.step, lead, "".join(rest), scene.items, scene.relations, scene.focus, scene.tokens)


def _segments(trace: Trace, frames: Sequence[Frame], language: str) -> tuple[Segment, ...]:
    names = [(step.name, sentence(step.title, language)) for step in trace.steps]
    names.append(("answer", sentence(message("ask.answer"), language)))
    counts = (*counted(trace), 0)
    segments = []
    for place, (name, title) in enumerate(names):
        frame_numbers = [number for number, frame in enumerate(frames) if frame.step == place]
        segments.append(Segment(name, title, counts[place], frame_numbers[0], frame_numbers[-1]))
    return tuple(segments)


def _item(
    trace: Trace, item: TraceItem, about: dict[str, str], marks: dict[str, str], change: str, language: str
) -> PlayItem:
    style = trace.style(item.role)
    source = item.source
    page = sentence(message("play.page", page=source.page), language) if source and source.page else ""
    return PlayItem(
        id=item.id,
        name=item.name,
        about=about.get(item.id) or item.name,
        kind=kind_title(item.kind, language),
        role=_title(style, language) if style else item.role,
        layer=item.layer,
        rank=item.rank,
        score=None if item.score is None else round(item.score, 4),
        parent=item.parent,
        text=shortened(item.text, _MOST_PASSAGE if is_card(item) else _MOST_TEXT),
        mark=marks.get(item.id, ""),
        place=page,
        n=n_leading(item),
        taken=source.tokens if source else 0,
        change=change,
        is_card=is_card(item),
    )


def _note(graph: LayeredGraph, trace: Trace, language: str) -> str:
    """Return a sentence on what the figure leaves to the table, or on the lack of a graph; "" for neither."""
    if not graph.nodes:
        return sentence(message("ask.without_graph"), language) if trace.passages else ""
    if not graph.hidden:
        return ""
    code = "ask.not_drawn_trays" if graph.trays else "ask.not_drawn"
    relations = message("count.relations", n=graph.hidden)
    return sentence(message(code, relations=relations, limit=MOST_ARCS), language)


def _title(style: Style, language: str) -> str:
    title = sentence(style.title, language)
    return title[:1].upper() + title[1:]


def _sign(style: Style, language: str) -> Sign:
    shapes = ("disc", "box", "double", "chip") if style.on == "item" else ("line", "arc", "dotted")
    shape = style.shape if style.shape in shapes else shapes[1] if style.on == "item" else shapes[0]
    return Sign(_title(style, language), shape, known_colour(style.colour))
