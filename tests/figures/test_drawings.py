"""Drawings of a comparison: what is where, and that no text becomes markup."""

from dataclasses import replace

from leanrag_core.figures.drawing import Drawing, fitted, text
from leanrag_core.figures.drawn_nodes import drawn_nodes
from leanrag_core.figures.overlaps import lane_drawing, upset
from leanrag_core.figures.small_graph import aligned, small_graph
from leanrag_core.messages.message import message
from leanrag_core.retrieval.graph_traces import Asked, _asked_items
from tests.comparing.test_sharing import A, B, C


def texts(drawing: Drawing) -> list[str]:
    return [shape.text for shape in drawing.shapes if shape.tag == "text"]


def test_text_of_documents_is_escaped_in_an_svg() -> None:
    hostile = "<script>alert(1)</script>\u202e"
    svg = Drawing(10, 10, hostile, (text(0, 0, hostile, title=hostile),)).as_svg()
    assert "<script>" not in svg
    assert svg.count("&lt;script&gt;") == 3
    assert "\u202e" not in svg


def test_an_upset_picture_has_a_bar_for_each_intersection_and_dark_ones_for_shared_items() -> None:
    drawing = upset({"A": 3, "B": 1}, [(("A", "B"), 1), (("A",), 2)], width=200, label="x", none="none")
    bars = [shape for shape in drawing.shapes if shape.title]
    assert [(bar.title, "--lr-text" in str(bar.attributes["style"])) for bar in bars] == [
        ("A, B: 1", True),
        ("A: 2", False),
    ]
    heights = [bar.attributes["height"] for bar in bars]
    assert heights == [17, 34], "in proportion to the counts"
    assert texts(upset({"A": 1, "C": 0}, [(("A",), 1)], width=200, label="x", none="nothing")).count("nothing") == 1


def test_items_that_columns_share_have_the_same_place_in_each() -> None:
    slots = aligned({"A": A, "B": B, "C": C})
    assert slots.place_of["A"]["id-honey"] == slots.place_of["B"]["id-honey"]
    assert len({*slots.place_of["B"].values()}) == 2, "no two items in one place"
    drawing = small_graph("B", B, slots, {"id-honey": "AB", "id-mite": "B"}, width=340)
    filled = {
        shape.title.split(":")[0]: "fill:var(--lr-bg)" not in str(shape.attributes["style"])
        for shape in drawing.shapes
        if shape.tag == "circle"
    }
    assert filled == {"honey": True, "mite": False}


def test_boxes_with_the_same_words_say_what_each_of_them_is() -> None:
    low, high = message("lightrag.step.low"), message("lightrag.step.high")
    asked = [Asked(f"keywords-{title.code}", "mites", title, {0}, title=title) for title in (low, high)]
    items, _ = _asked_items(asked, A.items)
    trace = replace(A, items=(*A.items, *items))
    drawing = small_graph("A", trace, aligned({"A": trace}), {}, width=400, language="en")
    assert {"Details: mites", "Themes: mites"} <= set(texts(drawing))
    assert [node.name for node in drawn_nodes(trace, "zh").nodes[-2:]] == ["细节：mites", "主题：mites"]


def test_a_strategy_without_a_graph_shows_its_ranking() -> None:
    drawing = small_graph("C", C, aligned({"A": A, "C": C}), {"chunk-1": "AC"}, width=340)
    assert texts(drawing)[-1] == "C1"
    assert "No graph: 1 passages by score" in drawing.label
    long = replace(C, items=C.items * 20)
    for language, more in (("en", "and 7 more"), ("zh", "另有 7 个")):
        assert texts(small_graph("C", long, aligned({"C": long}), {}, width=340, language=language))[-1] == more


def test_a_lane_ends_in_a_cross_with_its_reason_or_in_a_pill() -> None:
    lost = lane_drawing("B", ["5 entities", "not reached"], passed=1, stages=6, width=590, label="x")
    assert texts(lost) == ["5 entities", "not reached"]
    assert any("--lr-left" in str(shape.attributes["style"]) for shape in lost.shapes)
    reached = lane_drawing("B", [*"abcde", "found at 3"], passed=6, stages=6, width=590, label="x")
    assert texts(reached)[-1] == "found at 3"
    assert not any("--lr-left" in str(shape.attributes["style"]) for shape in reached.shapes)


def test_no_drawing_is_wider_than_its_ground() -> None:
    for width in (250, 340, 520):
        long = lane_drawing(
            "",
            ["a very long text of a stage " * 3, "a reason that is long " * 8],
            passed=1,
            stages=6,
            width=width,
            label="x",
        )
        for shape in long.shapes:
            if shape.tag == "text" and shape.attributes["text-anchor"] == "start":
                assert float(shape.attributes["x"]) + 6.5 * len(shape.text) <= width + 8


def test_a_text_is_cut_with_an_ellipsis_and_cjk_counts_double() -> None:
    assert fitted("abcdefghij", 200, 10) == "abcdefghij"
    assert fitted("abcdefghij", 30, 10) == "abcd…"
    assert fitted("蜜蜂蜜蜂蜜蜂", 30, 10) == "蜜蜂…"
