"""The play of a trace written by hand: what it marks, what it says, and the file it becomes."""

import json
import re
from dataclasses import replace

import pytest

from leanrag_core.figures.play import play, play_frames, play_words
from leanrag_core.figures.play_cards import sources_of, spans
from leanrag_core.figures.play_values import play_page, play_values
from leanrag_core.messages.message import message
from leanrag_core.types.trace import (
    Answer,
    AnswerPart,
    Context,
    ContextItem,
    ContextSection,
    Source,
    Trace,
    TraceItem,
    TraceStep,
)
from tests.figures.small_trace import node, relation, step, trace_of
from tests.figures.unpacked import unpacked
from tests.small_index import small_index

HOSTILE = "</script><script>alert(1)</script>"


def chunk(id_: str, *seeds: str, rank: int) -> TraceItem:
    source = Source("bees.txt", 0, "Bees", 0, 9, None, 9, seeds)
    return TraceItem(id_, "passage", f"About {id_}", ("passage",), rank=rank, row=rank, source=source)


def small() -> Trace:
    seeds = [node("mite", 0, "bee", rank=1), node("acid", 0, "bee", rank=2), node("rape", 0, "crop", rank=3)]
    above = [node("bee", 1, "root"), node("crop", 1, "root"), node("root", 2, role="lca")]
    chunks = [chunk("c1", "mite", "acid", rank=1), chunk("c2", "rape", rank=2)]
    bridge = relation("bee", "crop", 1, "inter-cluster", strength=4.0)
    trace = trace_of(
        [*seeds, *above],
        [bridge],
        chunks=chunks,
        steps=[
            step("seeds", ("mite", "acid", "rape")),
            step("climb", ("mite", "acid", "rape", "bee", "crop")),
            step("lca", ("root",)),
            step("relations", (), (bridge.id,)),
            step("chunks", ("c1", "c2")),
        ],
    )
    items = (ContextItem("C1", "c1", "text", 9), ContextItem("C2", "c2", "text", 6))
    section = ContextSection("chunks", message("plain", text="Chunks"), "C", "chunk", items, "", 15, 20)
    return replace(trace, context=Context("", 15, (section,)))


def test_cards_are_in_the_order_of_the_trace() -> None:
    names = [f"c{n}" for n in range(40)]
    trace = trace_of([node("mite", 0, rank=1)], [], chunks=[chunk(name, "mite", rank=1) for name in names])
    assert list(sources_of(trace)) == names


def test_a_step_counts_what_its_caption_counts() -> None:
    trace = small()
    walked = replace(node("walked", 0, role="path"), kind="path", layer=None)

    def told(n: int, items: tuple[str, ...], relations: tuple[str, ...] = ()) -> TraceStep:
        return replace(step("told", items, relations), caption=message("count.entities", n=n))

    steps = (
        told(3, ("mite", "acid", "rape"), ("bee>crop",)),
        told(1, ("bee", "crop", "walked")),
        told(5, ("root",)),
        step("chunks", ("c1",)),
    )
    trace = replace(trace, items=(*trace.items, walked), steps=steps)
    assert [segment.count for segment in play(trace).segments] == [3, 1, 0, 0, 0]


def test_frames_say_what_happened_and_why() -> None:
    said = [frame.sentence for frame in play_frames(small())]
    assert said[:-1] == [
        "mite comes first of 3.",
        "seeds.",
        "3 nodes climb to 2 parents in layer 1; most of them, 2, lie below bee.",
        "climb.",
        "lca.",
        "bee and crop are joined: 4 relations run between what lies below them (λ = 4).",
        "relations.",
        "C1 comes first because 2 of 3 seeds lead to it, more than to the other chunk.",
        "C2 follows with 1 of 3 seeds.",
        "chunks.",
    ]


def test_the_bar_of_tokens_fills_with_what_is_lit() -> None:
    assert [frame.tokens for frame in play_frames(small())] == [(0,)] * 7 + [(9,), (15,), (15,), (15,)]


def test_the_bar_says_what_of_each_section_is_in_the_context_and_of_which_budget() -> None:
    trace = small()
    [part] = play(trace).sections
    assert (part.letter, part.tokens, part.budget, part.note) == ("C", 15, 20, "2 of 2")
    [section] = trace.context.sections
    less = replace(trace.context, sections=(replace(section, left_out=3, trimmed=1),))
    assert play(replace(trace, context=less)).sections[0].note == "2 of 5, 3 left out, 1 trimmed"
    ranked = replace(trace, context=less, ranked_chunks=("c1", "c2", "c3", "c4"))
    assert play(ranked).sections[0].note == "2 of 4 candidates, 3 did not fit, 1 trimmed"


@pytest.mark.parametrize(("max_tokens", "budget"), [(None, 20), (18, 18), (12, 20), (37_000, 20)])
def test_the_budget_is_that_of_the_whole_context_where_sections_share_one(max_tokens: int | None, budget: int) -> None:
    trace = small()
    parameters = {**trace.parameters, **({} if max_tokens is None else {"max_tokens": max_tokens})}
    assert play(replace(trace, parameters=parameters)).budget == budget


def test_a_text_that_is_cut_ends_with_an_ellipsis() -> None:
    trace = small()
    items = tuple(replace(item, text="word " * 100) for item in trace.items)
    for item in play(replace(trace, items=items)).items:
        assert len(item.text) <= (260 if item.is_card else 200)
        assert item.text.endswith("word…")


def test_segments_are_the_steps_and_the_answer() -> None:
    names = [part.name for part in play(small()).segments]
    assert names == ["seeds", "climb", "lca", "relations", "chunks", "answer"]


def test_against_a_pinned_run_what_entered_and_what_left_has_a_place() -> None:
    after = small()
    before = replace(after, items=tuple(item for item in after.items if item.id not in ("rape", "crop", "c2")))
    before = replace(before, items=(*before.items, node("hive", 0, "bee", rank=4)), relations=())
    shown = play(after, before=before)
    change = {item.id: item.change for item in shown.items}
    assert {id_ for id_ in change if change[id_] == "entered"} == {"rape", "crop", "c2"}
    assert {id_ for id_ in change if change[id_] == "left"} == {"hive"}
    assert shown.entered == ("bee>crop",)
    assert "hive" in {dot.id for dot in shown.layouts[-1].nodes}
    assert not any("hive" in frame.items for frame in shown.frames), "what left takes no part in the play"
    assert shown.layouts[-1].rows == play(after).layouts[-1].rows, "nor in what the layers count"


def test_another_strategy_marks_nothing() -> None:
    before = replace(small(), strategy="vector", items=())
    assert {item.change for item in play(small(), before=before).items} == {""}


def test_every_frame_is_a_sentence_in_chinese_too() -> None:
    assert all(frame.sentence.strip() for frame in play_frames(small(), language="zh"))
    assert play_words("zh").keys() == play_words().keys()


def test_the_file_holds_the_play_and_runs_nothing_of_its_texts() -> None:
    trace = replace(small(), question=HOSTILE)
    renamed = tuple(replace(item, name=HOSTILE, text=HOSTILE) for item in trace.items)
    page = play_page(replace(trace, items=renamed))
    assert page.count("<script") == page.count("</script>") == 2, "its data and its own script"
    [held] = re.findall(r'<script type="application/json" id="values">(.*?)</script>', page, re.DOTALL)
    assert set(json.loads(held)["play"]["items"]["name"]) == {HOSTILE}
    assert "http://www.w3.org/2000/svg" in page
    assert not re.search(r'(src|href)="', page), "nothing is asked of any network"


def test_what_is_sent_holds_each_record_and_of_curves_the_ends() -> None:
    shown = play(small())
    sent = unpacked(play_values(shown))
    assert {id_: item["name"] for id_, item in sent["items"].items()} == {item.id: item.name for item in shown.items}
    assert [frame["focus"] for frame in sent["frames"]] == [list(frame.focus) for frame in shown.frames]
    for graph, values in zip(shown.layouts, sent["layouts"], strict=True):
        assert [node["id"] for node in values["nodes"]] == [node.id for node in graph.nodes]
        for edge, line in zip(graph.edges, values["edges"], strict=True):
            (x1, y1), (_, middle), (x2, y2) = edge.points[0], edge.points[1], edge.points[-1]
            curve = [] if len(edge.points) == 4 else [middle]
            assert (line["source"], line["target"]) == (edge.source, edge.target)
            assert line["points"] == pytest.approx([x1, y1, x2, y2, *curve], abs=0.05)


def test_a_node_is_marked_within_its_ancestors() -> None:
    index = small_index()
    items = [
        TraceItem(f"{layer}-{row}", "entity", "a", ("path",), layer=layer, row=row)
        for layer, entities in enumerate(index.layers)
        for row in range(len(entities))
    ]
    placed = {span.id: span for span in spans(trace_of(items), index)}
    assert len(placed) == len(items)
    for layer, entities in enumerate(index.layers):
        row_of_spans = sorted((placed[f"{layer}-{row}"] for row in range(len(entities))), key=lambda span: span.left)
        edges = [0.0, *(span.right for span in row_of_spans)]
        assert [span.left for span in row_of_spans] == pytest.approx(edges[:-1], abs=1e-4)
        assert edges[-1] == pytest.approx(1.0, abs=1e-4)
        for row in range(len(entities)) if layer + 1 < len(index.layers) else ():
            parent = placed[f"{layer + 1}-{int(entities.parent[row])}"]
            own = placed[f"{layer}-{row}"]
            assert parent.left - 1e-4 <= own.left < own.right <= parent.right + 1e-4


def test_the_last_frame_says_what_the_answer_is_made_of() -> None:
    trace = small()
    parts = (AnswerPart("Acid kills mites.", ("C1",)), AnswerPart("It is used in winter.", ("C1",)))
    answer = Answer("", parts, ("C1",), grounded=True, extractive=True, model="", trace=trace)
    last = play_frames(trace, answer=answer)[-1]
    assert last.sentence == "Written from the context alone: 2 sentences, 1 item cited, each of them in the context."
    assert last.focus == ("c1",)
    unknown = play_frames(trace, answer=replace(answer, citations=("C9",)))[-1]
    assert "each of them" not in unknown.sentence
