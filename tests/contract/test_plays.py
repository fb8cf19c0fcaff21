"""The play of every strategy: each sentence is held against the trace, for a strategy of anybody."""

import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from leanrag_core import Workbench
from leanrag_core.figures.play import play
from leanrag_core.figures.play_scenes import Scene, scenes
from leanrag_core.messages.message import Message
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Trace, TraceItem
from tests.contract.test_strategies import NAMES, retrieve

Values = Mapping[str, Any]


def named(trace: Trace, scene: Scene) -> TraceItem:
    """Return the only item that the sentence is about."""
    [id_] = scene.focus
    return trace.item(id_)


def marked(trace: Trace, label: str) -> TraceItem:
    """Return the passage of a citation mark; without one it is called by its name."""
    refs = {item.mark: item.ref for section in trace.context.sections for item in section.items}
    return trace.item(refs[label]) if label in refs else next(each for each in trace.passages if each.name == label)


def n_leading(item: TraceItem) -> int:
    return len(item.source.items) if item.source else 0


def is_first(trace: Trace, scene: Scene, values: Values) -> bool:
    item = named(trace, scene)
    same = [each for each in trace.items if each.role == item.role and each.rank is not None]
    return item.rank == min(each.rank or 0 for each in same)


def is_best(trace: Trace, scene: Scene, values: Values) -> bool:
    item = named(trace, scene)
    if item.source is not None:
        others = [each.score for each in trace.passages if each.id != item.id]
        return len(trace.passages) == values["n"] and all(item.score > each for each in others if each is not None)
    lit = [trace.item(id_) for each in scenes(trace) if each.step == scene.step for id_ in each.items]
    ranked = [each for each in lit if each.rank is not None and each.source is None]
    return len(ranked) == values["n"] and all(item.score > each.score for each in ranked if each.id != item.id)


def climbs(trace: Trace, scene: Scene, values: Values) -> bool:
    below = [item for item in trace.items if item.parent in scene.items]
    return len(below) == values["n"] and {trace.item(id_).layer for id_ in scene.items} == {values["layer"]}


def climbs_most(trace: Trace, scene: Scene, values: Values) -> bool:
    counts = {trace.item(id_).name: sum(each.parent == id_ for each in trace.items) for id_ in scene.items}
    return (
        max(counts.values()) == values["n"] == counts[values["name"]] and list(counts.values()).count(values["n"]) == 1
    )


def bridges(trace: Trace, scene: Scene, values: Values) -> bool:
    [relation] = [each for each in trace.relations if each.id in scene.relations]
    return round(relation.strength) == values["n"] and {relation.source, relation.target} == set(scene.focus)


def share_is(trace: Trace, scene: Scene, values: Values) -> bool:
    item = named(trace, scene)
    share = values["share"].values
    led = {id_ for each in trace.passages if each.source for id_ in each.source.items}
    return share["count"] == n_leading(item) and len(led) <= share["n"]


def section_is(trace: Trace, scene: Scene, values: Values) -> bool:
    section = next(each for each in trace.context.sections if each.title == values["section"])
    return (section.tokens, section.budget) == (values["tokens"], values["budget"]) and scene.tokens[
        trace.context.sections.index(section)
    ] == section.tokens


CHECKS: dict[str, Callable[[Trace, Scene, Values], bool]] = {
    "play.first": is_first,
    "play.first_of": lambda trace, scene, values: values["n"] > 1,
    "play.best_score": is_best,
    "play.best_score_of": is_best,
    "play.climb": climbs,
    "play.climb_one": lambda trace, scene, values: trace.item(*scene.items).name == values["name"],
    "play.climb_most": climbs_most,
    "play.climb_evenly": lambda trace, scene, values: all(
        sum(each.parent == id_ for each in trace.items) <= values["n"] for id_ in scene.items
    ),
    "play.joined": lambda trace, scene, values: (
        {trace.item(id_).name for id_ in scene.focus} == {values["first"], values["second"]}
    ),
    "play.bridge": bridges,
    "play.by_kind": lambda trace, scene, values: any(style.title == values["kind"] for style in trace.styles),
    "play.first_because": lambda trace, scene, values: (
        share_is(trace, scene, values) and n_leading(named(trace, scene)) == max(map(n_leading, trace.passages))
    ),
    "play.follows_with": share_is,
    "play.as_many_as": lambda trace, scene, values: (
        n_leading(marked(trace, values["label"])) == n_leading(named(trace, scene))
    ),
    "play.more_than_others": lambda trace, scene, values: (
        values["n"] == len(trace.passages) - 1
        and all(
            n_leading(each) < n_leading(named(trace, scene)) for each in trace.passages if each.id not in scene.focus
        )
    ),
    "play.follows_scored": lambda trace, scene, values: (
        float(values["score"].replace("−", "-").replace(",", "")) == pytest.approx(named(trace, scene).score, abs=0.006)
    ),
    "play.enters": lambda trace, scene, values: named(trace, scene).score is None,
    "play.not_in_context": lambda trace, scene, values: (
        scene.focus[0] not in {item.ref for section in trace.context.sections for item in section.items}
    ),
    "play.section": section_is,
    "play.section_all": lambda trace, scene, values: len(scene.focus) == values["n"],
    "play.section_cut": lambda trace, scene, values: (
        len(scene.focus) == values["n"] and values["offered"] == values["n"] + values["left_out"]
    ),
    "play.stop": lambda trace, scene, values: True,
    "plain": lambda trace, scene, values: values["text"] == "",
}


def is_true(trace: Trace, scene: Scene, said: Message) -> bool:
    """Return whether the sentence of a scene is true. A caption is the strategy's own; the sentence on the answer
    counts what it was given."""
    if scene.step < len(trace.steps) and said == trace.steps[scene.step].caption:
        return True
    if scene.step == len(trace.steps):
        return bool(said.values["items"].values["n"] == sum(len(each.items) for each in trace.context.sections))
    return CHECKS[said.code](trace, scene, said.values)


@pytest.mark.parametrize("name", NAMES)
def test_each_sentence_is_true(contract_home: Workbench, indexes: dict[str, Index], name: str) -> None:
    trace = retrieve(contract_home, indexes["tiny"], name, "tiny")
    for scene in scenes(trace):
        for said in scene.said:
            assert is_true(trace, scene, said), (scene.step, said)


@pytest.mark.parametrize("name", NAMES)
def test_all_that_was_retrieved_lights_up_once_and_fills_the_context(
    contract_home: Workbench, indexes: dict[str, Index], name: str
) -> None:
    trace = retrieve(contract_home, indexes["tiny"], name, "tiny")
    played = scenes(trace)
    assert sorted(id_ for scene in played for id_ in scene.items) == sorted(item.id for item in trace.items)
    assert sorted(id_ for scene in played for id_ in scene.relations) == sorted(each.id for each in trace.relations)
    assert played[-1].tokens == tuple(section.tokens for section in trace.context.sections)
    steps = [scene.step for scene in played]
    assert steps == sorted(steps)
    assert set(steps) == set(range(len(trace.steps) + 1)), "each step, and then the answer"


@pytest.mark.parametrize("name", NAMES)
def test_every_item_has_a_place_at_every_width(contract_home: Workbench, indexes: dict[str, Index], name: str) -> None:
    trace = retrieve(contract_home, indexes["tiny"], name, "tiny")
    shown = play(trace)
    for graph, band in zip(shown.layouts, shown.cards, strict=True):
        placed = {dot.id for dot in graph.nodes} | {id_ for dot in graph.nodes for id_ in dot.members}
        placed |= {card.id for card in band.cards} | {id_ for card in band.cards for id_ in card.members}
        assert {item.id for item in trace.items} <= placed
        boxes = [(card.x - card.width / 2, card.x + card.width / 2) for card in band.cards]
        assert all(-0.001 < left < right < 1.001 for left, right in boxes)
        assert {thread.card for thread in band.threads} <= {card.id for card in band.cards}
    text = "".join(frame.sentence for frame in shown.frames)
    assert not re.search(r"\{\w+\}", text), "every sentence is filled in"
