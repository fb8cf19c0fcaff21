"""What happens in each picture of a retrieval that is played, computed from its trace alone.

A step of a trace becomes one or several scenes: what it lights up is grouped by what the trace says about it (ranked
items, parents of what is lit, relations, passages), and its last scene is the step's own caption. So strategies from
other packages are played, too.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from leanrag_core.figures import numbers
from leanrag_core.figures.drawing import isolated
from leanrag_core.figures.play_cards import anchors, is_card
from leanrag_core.messages.catalog import codes
from leanrag_core.messages.message import Message, message
from leanrag_core.types.trace import Answer, Trace, TraceItem, TraceRelation

_ENTITIES = ("entity", "aggregated-entity")
_AGGREGATED = ("summarised", "concatenated")  # how relations come about whose strength is lambda
MOST_ALONE = 5  # relations, and passages, that have a scene each; the others light up together
STOP = message("play.stop")


def passage_said(trace: Trace, passage: TraceItem, *, first: bool) -> tuple[Message, ...]:
    """Describe the passage: how many items lead to it where that ranks the passages, else its score."""
    marks = trace.context.mark_of
    label = marks.get(passage.id) or isolated(passage.name)
    end = STOP if passage.id in marks or not marks else message("play.not_in_context")
    leading = anchors(trace)
    if leading and _ranked_by_count(trace):
        share = count_of(passage, leading)
        if not first:
            return message("play.follows_with", label=label, share=share), end
        return message("play.first_because", label=label, share=share), _lead(trace, passage, marks), end
    if passage.score is not None:
        score = numbers.decimal(passage.score, 2)
        others = [each.score for each in trace.passages if each.id != passage.id]
        if first and others and all(each is not None and each < passage.score for each in others):
            why = message("play.best_score_of", score=score, n=len(trace.passages))
            return message("play.first", name=label), why, end
        return message("play.follows_scored", label=label, score=score), end
    return message("play.enters", label=label), end


def count_of(passage: TraceItem, leading: list[TraceItem]) -> Message:
    """Write "7 of 30 seeds", of those that lead to passages."""
    code = f"markup.of_items.{leading[0].role.replace('-', '_')}"
    return message(code if code in codes() else "markup.of_items", count=n_leading(passage), n=len(leading))


def n_leading(passage: TraceItem) -> int:
    """Return how many items lead to the passage."""
    return len(passage.source.items) if passage.source else 0


def _ranked_by_count(trace: Trace) -> bool:
    """Tell whether no passage has more leading items than the one before, so that their number explains the order."""
    counts = [n_leading(passage) for passage in trace.passages]
    return all(before >= after for before, after in pairwise(counts)) and bool(counts) and counts[0] > 0


def _lead(trace: Trace, passage: TraceItem, marks: dict[str, str]) -> Message:
    """Say how many other passages have as many leading items, or that all have fewer."""
    others = [each for each in trace.passages if each.id != passage.id]
    equal = [each for each in others if n_leading(each) == n_leading(passage)]
    if equal:
        return message("play.as_many_as", n=len(equal), label=marks.get(equal[0].id) or isolated(equal[0].name))
    return message("play.more_than_others", n=len(others)) if others else message("plain", text="")


@dataclass(frozen=True)
class Scene:
    """step: its place in the trace; that of the answer comes after the last. said: one sentence, what it finds first
    and then why. items, relations: ids of what lights up. focus: ids of what the sentence is about. tokens: of each
    section of the context, so far."""

    step: int
    said: tuple[Message, ...]
    items: tuple[str, ...] = ()
    relations: tuple[str, ...] = ()
    focus: tuple[str, ...] = ()
    tokens: tuple[int, ...] = ()


def _held(trace: Trace) -> frozenset[str]:
    """Return ids of the relations that end at a passage which is drawn as a card."""
    cards = {item.id for item in trace.items if is_card(item)}
    return frozenset(relation.id for relation in trace.relations if cards & {relation.source, relation.target})


def scenes(trace: Trace, answer: Answer | None = None) -> tuple[Scene, ...]:
    """Return the play from the first step to the answer. Each item and relation of the trace lights up once."""
    all_scenes: list[Scene] = []
    held, full = _held(trace), tuple(section.tokens for section in trace.context.sections)
    lit: set[str] = set()
    for place, step in enumerate(trace.steps):
        last = place == len(trace.steps) - 1
        items = [item for item in trace.items if item.id not in lit and (last or item.id in step.items)]
        relations = [each for each in trace.relations if each.id not in lit and (last or each.id in step.relations)]
        step_scenes: list[Scene] = list(_details(trace, held, place, items, relations, lit))
        if last and not (items or relations):
            step_scenes = list(_section_scenes(trace, place))
        shown = {id_ for scene in step_scenes for id_ in (*scene.items, *scene.relations)}
        rest = tuple(item.id for item in items if item.id not in shown)
        joined = tuple(relation.id for relation in relations if relation.id not in shown)
        step_scenes.append(Scene(place, (step.caption,), rest, joined, tuple(item.id for item in items)))
        for scene in step_scenes:
            lit |= {*scene.items, *scene.relations}
            spent = scene.tokens or (full if scene is step_scenes[-1] and last else tokens_so_far(trace, lit))
            all_scenes.append(Scene(scene.step, scene.said, scene.items, scene.relations, scene.focus, spent))
    all_scenes.append(Scene(len(trace.steps), _answered(trace, answer), focus=_cited(trace, answer), tokens=full))
    return tuple(all_scenes)


def counted(trace: Trace) -> tuple[int, ...]:
    """Return how many things each step brings, 0 where that number would puzzle.

    Counted are the new things of one kind: those that are no entities (paths, passages), else entities, else relations
    that are no links to a parent. The number is given where the step's caption has it, or its parts add up to it.
    """
    kind_of = {item.id: item.kind for item in trace.items}
    counted_ids: set[str] = set()
    counts = []
    beside = {relation.id for relation in trace.relations} - trace.tree_links - _held(trace)
    for step in trace.steps:
        new = ({*step.items} | ({*step.relations} & beside)) - counted_ids
        counted_ids |= new
        kinds = Counter(kind_of[id_] for id_ in new if id_ in kind_of)
        others = [n for kind, n in kinds.items() if kind not in _ENTITIES]
        count = (sum(others) or kinds.total() or len(new)) if len(others) < 2 else 0
        caption_numbers = _numbers(step.caption)
        counts.append(count if count in {*caption_numbers, sum(caption_numbers)} else 0)
    return tuple(counts)


def _numbers(caption: Message) -> list[int]:
    """Return the whole numbers that the caption is filled with, those of messages in it included."""
    whole_numbers: list[int] = []
    for value in caption.values.values():
        for part in value if isinstance(value, tuple) else (value,):
            if isinstance(part, Message):
                whole_numbers += _numbers(part)
            elif isinstance(part, int) and not isinstance(part, bool):
                whole_numbers.append(part)
    return whole_numbers


def tokens_so_far(trace: Trace, lit: Collection[str]) -> tuple[int, ...]:
    """Return tokens of each section of the context whose items are lit."""
    return tuple(
        min(section.tokens, sum(item.tokens for item in section.items if item.ref in lit))
        for section in trace.context.sections
    )


def _details(
    trace: Trace,
    held: frozenset[str],
    place: int,
    items: Sequence[TraceItem],
    relations: Sequence[TraceRelation],
    lit: Collection[str],
) -> Iterator[Scene]:
    """Yield the scenes of a step before its caption. held: see _held()."""
    shape = {style.role: style.shape for style in trace.styles if style.on == "item"}
    cards = [item for item in items if is_card(item)]
    nodes = [item for item in items if not is_card(item)]
    yield from _ranked(trace, place, nodes)
    meeting = {item.id for item in nodes if any(shape.get(role) == "double" for role in item.roles)}
    climbing = [item for item in nodes if item.rank is None and item.layer and item.id not in meeting]
    lit_now = {*lit, *(item.id for item in nodes)}
    yield from _climbs(trace, place, climbing, lit_now, [each for each in relations if each.id in trace.tree_links])
    beside = [each for each in relations if each.id not in trace.tree_links | held]
    yield from _bridges(trace, place, [each for each in beside if each.layer])
    to_cards = [each for each in relations if each.id in held]
    for number, card in enumerate(cards[:MOST_ALONE]):
        own = tuple(each.id for each in to_cards if card.id in (each.source, each.target))
        yield Scene(place, passage_said(trace, card, first=number == 0), (card.id,), own, (card.id,))


def _ranked(trace: Trace, place: int, nodes: Sequence[TraceItem]) -> Iterator[Scene]:
    """Yield the best of the ranked items; the others follow with the caption."""
    ranked = sorted((item for item in nodes if item.rank is not None), key=lambda item: item.rank or 0)
    if len(ranked) < 2:
        return
    best, others = ranked[0], ranked[1:]
    if any((each.rank or 0) < (best.rank or 0) for each in trace.with_role(best.role) if each.rank is not None):
        return  # the best of them was lit before
    name, scores = isolated(best.name), [item.score for item in others if item.score is not None]
    lead = message("play.first", name=name)
    why = message("play.first_of", n=len(ranked))
    if best.score is not None and len(scores) == len(others) and best.score > max(scores):
        why = message("play.best_score", score=numbers.decimal(best.score, 2), n=len(ranked))
    yield Scene(place, (lead, why), (best.id,), (), (best.id,))


def _climbs(
    trace: Trace, place: int, nodes: Sequence[TraceItem], lit: Collection[str], links: Sequence[TraceRelation]
) -> Iterator[Scene]:
    """Yield the parents of what is lit, a scene a layer, from below."""
    for layer in sorted({item.layer for item in nodes if item.layer}):
        row = [item for item in nodes if item.layer == layer]
        below = {
            item.id: [each.id for each in trace.items if each.parent == item.id and each.id in lit] for item in row
        }
        n = sum(map(len, below.values()))
        if not n:
            continue
        most = max(row, key=lambda item: len(below[item.id]))
        lead = message("play.climb", n=n, nodes=message("play.nodes", n=len(row)), layer=layer)
        n_below = len(below[most.id])
        name = isolated(most.name)
        if len(row) == 1:
            why = message("play.climb_one", name=name)
        elif sum(len(children) == n_below for children in below.values()) == 1:
            why = message("play.climb_most", n=n_below, name=name)
        else:
            why = message("play.climb_evenly", n=n_below)
        children = {id_ for ids in below.values() for id_ in ids}
        own = tuple(
            link.id
            for link in links
            if children & {link.source, link.target} and below.keys() & {link.source, link.target}
        )
        ids = tuple(item.id for item in row)
        yield Scene(place, (lead, why), ids, own, ids)


def _bridges(trace: Trace, place: int, relations: Sequence[TraceRelation]) -> Iterator[Scene]:
    """Yield relations between aggregated nodes, a scene for each of the strongest; the others come with the caption."""
    names = {item.id: isolated(item.name) for item in trace.items}
    for relation in sorted(relations, key=lambda each: (-each.strength, each.id))[:MOST_ALONE]:
        if not {relation.source, relation.target} <= names.keys():
            continue
        lead = message("play.joined", first=names[relation.source], second=names[relation.target])
        style = trace.style(relation.role, on="relation")
        why = message("play.by_kind", kind=style.title if style else relation.role)
        if relation.made in _AGGREGATED:
            why = message("play.bridge", n=int(relation.strength + 0.5))
        yield Scene(place, (lead, why), (), (relation.id,), (relation.source, relation.target))


def _section_scenes(trace: Trace, place: int) -> Iterator[Scene]:
    """Yield how the context is filled, a scene a section."""
    sections = trace.context.sections
    for number, section in enumerate(sections):
        share = message("play.section", section=section.title, tokens=section.tokens, budget=section.budget)
        n, out = len(section.items), section.left_out
        why = (
            message("play.section_cut", n=n, offered=n + out, left_out=out) if out else message("play.section_all", n=n)
        )
        spent = tuple(each.tokens if after <= number else 0 for after, each in enumerate(sections))
        yield Scene(place, (share, why), focus=tuple(item.ref for item in section.items), tokens=spent)


def _answered(trace: Trace, answer: Answer | None) -> tuple[Message, ...]:
    """Return the answer in figures, or that there is none yet."""
    if answer is not None and answer.grounded and answer.citations:
        known = {item.mark for item in trace.context.items}
        n, cited = len(answer.parts), len(answer.citations)
        lead = message(
            "play.answer", sentences=message("play.sentences", n=n), citations=message("play.citations", n=cited)
        )
        return lead, message("play.all_cited") if known >= {*answer.citations} else STOP
    n_items = len(trace.context.items)
    time = numbers.duration(trace.timings_ms.get("total", 0.0) / 1000)
    return (message("ask.caption_of_answer", time=time, items=message("count.items", n=n_items)),)


def _cited(trace: Trace, answer: Answer | None) -> tuple[str, ...]:
    marks = {*answer.citations} if answer is not None else set()
    return tuple(item.ref for item in trace.context.items if item.mark in marks)
