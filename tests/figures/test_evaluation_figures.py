"""Figures of Evaluate: where a value is drawn, and by which sign a reader tells what it means."""

import math

import pytest

from leanrag_core.evaluation.statistics import Interval
from leanrag_core.figures import numbers
from leanrag_core.figures.drawing import Drawing, Shape, plain_values, round_axis, text_width
from leanrag_core.figures.interval_marks import (
    Beside,
    Difference,
    beside_published,
    column_scale,
    forest,
    pair_mark,
)
from leanrag_core.figures.judge_charts import (
    BiasBar,
    CurvePoint,
    LengthFit,
    LengthPoint,
    agreement_matrix,
    bias_bars,
    fitted_curve,
    length_curve,
)
from leanrag_core.figures.pareto import CostAxis, ParetoPoint, front, pareto
from leanrag_core.figures.question_dots import QuestionDot, question_dots
from leanrag_core.figures.sweep_charts import (
    HeatAxis,
    HeatCell,
    ParallelAxis,
    ParallelRun,
    heat_map,
    height_of,
    parallel,
    ramp_step,
)

HOSTILE = "<script>alert(1)</script>"


def estimate(value: float, low: float | None = None, high: float | None = None) -> Interval:
    return Interval(value, low, high, n=1)


def texts(drawing: Drawing) -> list[str]:
    return [shape.text for shape in drawing.shapes if shape.tag == "text"]


def style(shape: Shape) -> str:
    return str(shape.attributes.get("style"))


def titled(drawing: Drawing, beginning: str) -> Shape:
    """Return the mark with that tooltip; names that are cut have one too."""
    return next(shape for shape in drawing.shapes if shape.tag != "text" and shape.title.startswith(beginning))


def test_an_axis_ends_at_round_values_and_holds_all() -> None:
    axis = round_axis([0.67, 0.79], 0, 100, most_ticks=5)
    assert axis.ticks == (0.65, 0.7, 0.75, 0.8)
    assert axis.at(0.65) == 0
    assert axis.at(0.8) == 100
    assert axis.at(2.0) == 100, "beyond the end"
    assert round_axis([0.5, 0.5], 0, 1).low < 0.5 < round_axis([0.5, 0.5], 0, 1).high
    assert round_axis([math.inf], 0, 1).holds(0.5)


def test_the_cells_of_a_column_share_a_scale() -> None:
    scale = column_scale([estimate(0.7, 0.6, 0.8), estimate(0.5, 0.4, 0.6), estimate(0.45)])
    lowest, highest = scale.mark(estimate(0.4)), scale.mark(estimate(0.8))
    assert (lowest.dot, highest.dot) == (4.0, 96.0)
    mark = scale.mark(estimate(0.6, 0.5, 0.7))
    assert (mark.dot, mark.left, mark.width) == (50.0, 27.0, 46.0)
    assert scale.mark(estimate(0.6)).width == 0
    assert column_scale([estimate(0.5)]).mark(estimate(0.5)).dot == 50.0


def test_a_pair_has_a_mark_for_each_order_and_their_mean() -> None:
    mark = pair_mark(estimate(0.51, 0.45, 0.57), 0.8, 0.22)
    assert (mark.both, mark.left, mark.width) == (51.0, 45.0, 12.0)
    assert (mark.shown_first, mark.shown_second, mark.span) == (80.0, 22.0, (22.0, 58.0))
    assert pair_mark(estimate(0.5), None, None).span == (50.0, 0.0)


@pytest.mark.parametrize(
    ("value", "score", "difference"),
    [
        (0.83, ".83", "+.83"),
        (1.0, "1.00", "+1.00"),
        (-0.012, "−.01", "−.01"),
        (0.001, ".00", ".00"),
        (0.999, "1.00", "+1.00"),
        (7.21, "7.21", "+7.21"),
    ],
)
def test_scores_are_written_without_a_leading_zero(value: float, score: str, difference: str) -> None:
    assert (numbers.score(value), numbers.difference(value)) == (score, difference)


def test_p_values_have_three_places_where_these_matter() -> None:
    assert [numbers.p_value(p) for p in (0.0004, 0.004, 0.71)] == ["< .001", ".004", ".71"]


def test_a_difference_is_a_filled_dot_where_it_is_sure() -> None:
    rows = [
        Difference("Fact", "31", -0.01, -0.06, 0.04, "−.01", is_sure=False),
        Difference("Multi-hop", "38", 0.16, 0.1, 0.22, "+.16", is_sure=True),
    ]
    drawing = forest(rows, width=400, colour="column-a", label="x", tick=numbers.difference)
    ring, dot = titled(drawing, "Fact"), titled(drawing, "Multi-hop")
    assert "fill:var(--lr-bg)" in style(ring)
    assert "fill:var(--lr-column-a)" in style(dot)
    assert float(dot.attributes["cx"]) > float(ring.attributes["cx"])
    assert {"Fact", "31", "−.01", "Multi-hop", "38", "+.16"} <= set(texts(drawing))
    zero = next(shape for shape in drawing.shapes if "--lr-mute" in style(shape) and shape.tag == "path")
    at_zero = float(str(zero.attributes["d"])[1:].split(" ")[0])
    assert float(ring.attributes["cx"]) < at_zero < float(dot.attributes["cx"])


def test_published_values_are_hollow_squares_and_need_no_own_value() -> None:
    rows = [Beside("LeanRAG", 8.21, 8.1, 8.3, 8.59, "8.21"), Beside("HiRAG", None, None, None, 8.08, "–")]
    drawing = beside_published(rows, width=400, label="x", tick=lambda value: f"{value:g}")
    squares = [shape for shape in drawing.shapes if shape.tag == "rect"]
    assert [square.title for square in squares] == ["LeanRAG: 8.59", "HiRAG: 8.08"]
    assert all("fill:none" in style(square) and "dasharray" in style(square) for square in squares)
    assert len([shape for shape in drawing.shapes if shape.tag == "circle"]) == 1


def test_the_ramp_has_five_equal_steps() -> None:
    assert [ramp_step(value, 0.5, 1.0) for value in (0.5, 0.59, 0.6, 0.8, 0.99, 1.0)] == [0, 0, 1, 3, 4, 4]


def test_a_heat_map_outlines_the_best_rings_what_is_no_worse_and_can_be_picked() -> None:
    cells = [
        HeatCell("10", "3", 0.7, ".70", "2,418", pick="a"),
        HeatCell("20", "3", 0.8, ".80", "2,600", is_best=True, pick="b"),
        HeatCell("20", "5", 0.79, ".79", "2,300", is_close=True, is_chosen=True, pick="c"),
        HeatCell("10", "5", None, "–"),
    ]
    drawing = heat_map(cells, HeatAxis("clustersize", ["10", "20"]), HeatAxis("tau", ["3", "5"]), width=480, label="x")
    faces = {shape.pick: shape for shape in drawing.shapes if shape.pick}
    assert sorted(faces) == ["a", "b", "c"]
    assert ["l0)" in style(faces["a"]), "l4)" in style(faces["b"]), "l4)" in style(faces["c"])] == [True] * 3
    assert faces["a"].attributes["x"] == faces["b"].attributes["x"] < faces["c"].attributes["x"]
    assert faces["a"].attributes["y"] < faces["b"].attributes["y"] == faces["c"].attributes["y"]
    [ring] = [shape for shape in drawing.shapes if shape.tag == "circle"]
    assert float(ring.attributes["cx"]) > float(faces["c"].attributes["x"])
    outlines = [style(shape) for shape in drawing.shapes if shape.tag == "path"]
    assert sum("--lr-text" in outline for outline in outlines) == 1
    assert sum("--lr-prim" in outline for outline in outlines) == 1
    assert [faces[pick].is_picked for pick in "abc"] == [False, False, True]
    shapes = plain_values([drawing])[0]["shapes"]
    assert isinstance(shapes, list)
    assert sum(shape["isPicked"] for shape in shapes) == 1
    light = heat_map(
        cells, HeatAxis("", ["10", "20"]), HeatAxis("", ["3", "5"]), width=480, label="", less_is_better=True
    )
    assert "l4)" in style(next(shape for shape in light.shapes if shape.pick == "a")), "darker is better"


def test_in_a_narrow_cell_the_ring_stands_beside_the_number() -> None:
    columns = [str(number) for number in range(6)]
    cells = [HeatCell("10", column, 0.8, ".80", "4,614", is_close=True, pick=column) for column in columns]
    for width in (290, 480, 900):
        drawing = heat_map(cells, HeatAxis("size", ["10"]), HeatAxis("tau", columns), width=width, label="x")
        rings = [shape.attributes for shape in drawing.shapes if shape.tag == "circle"]
        numbers_shown = [shape.attributes for shape in drawing.shapes if shape.text == ".80"]
        faces = [shape.attributes for shape in drawing.shapes if shape.pick]
        for ring, number, face in zip(rings, numbers_shown, faces, strict=True):
            half = text_width(".80", 14.5) / 2
            assert float(number["x"]) + half <= float(ring["cx"]) - float(ring["r"])
            assert float(face["x"]) <= float(number["x"]) - half


def test_the_front_keeps_what_nothing_beats() -> None:
    points = [(2000, 0.7), (2200, 0.74), (2300, 0.73), (2400, 0.78), (2200, 0.72), (2500, 0.78)]
    assert front(points) == (0, 1, 3)
    assert front([]) == ()


def test_the_staircase_climbs_at_each_setting_of_the_front() -> None:
    points = [
        ParetoPoint("20 / 3", 2400, 0.78, is_front=True, pick="a"),
        ParetoPoint("30 / 5", 2260, 0.76, 0.725, 0.795, is_front=True, is_chosen=True, pick="b"),
        ParetoPoint("5 / 2", 3180, 0.7, pick="c"),
    ]
    drawing = pareto(
        points, width=560, label="x", cost=CostAxis("tokens", lambda v: f"{v:,.0f}"), value_tick=numbers.score
    )
    marks = {shape.pick: shape for shape in drawing.shapes if shape.pick}
    [stairs] = [shape for shape in drawing.shapes if shape.tag == "path" and "stroke-width:1.8" in style(shape)]
    first, second = (marks[pick].attributes for pick in "ba")
    expected = f"H{float(first['cx']):.1f}V{float(first['cy']):.1f}H{float(second['cx']):.1f}V{float(second['cy']):.1f}"
    assert expected in str(stairs.attributes["d"])
    assert "--lr-prim" in style(marks["b"])
    assert "fill:var(--lr-bg)" in style(marks["c"])
    assert "30 / 5" in texts(drawing)
    assert "5 / 2" not in texts(drawing), "settings off the front are not named"


def test_a_run_goes_through_the_heights_of_its_values() -> None:
    axes = [ParallelAxis("tau", 1, 8, "1", "8"), ParallelAxis("recall", 0.6, 0.8, ".60", ".80", kept=(0.75, 0.8))]
    runs = [
        ParallelRun("one", (1, 0.8), is_kept=True),
        ParallelRun("two", (8, 0.6), is_chosen=True),
        ParallelRun("three", (4, None)),
    ]
    drawing = parallel(axes, runs, width=400, label="x")
    assert (height_of(1, axes[0]), height_of(8, axes[0])) == (206, 40)
    lines = {
        shape.title: shape for shape in drawing.shapes if shape.title in ("one", "two", "three") and shape.tag == "path"
    }
    assert str(lines["one"].attributes["d"]).startswith("M34.0 206.0C")
    assert str(lines["one"].attributes["d"]).endswith("366.0 40.0")
    assert "three" not in lines, "one known value makes no line"
    assert "--lr-prim" in style(lines["two"])
    assert [shape.attributes["cy"] for shape in drawing.shapes if shape.tag == "circle"] == [40, 206]
    [kept] = [shape for shape in drawing.shapes if shape.tag == "rect"]
    assert kept.attributes["y"] == 40
    assert kept.attributes["height"] == 41.5


def test_a_long_title_of_an_axis_takes_two_lines_above_its_highest_value() -> None:
    axes = [ParallelAxis(title, 0, 1, "0", "1") for title in ("tau", "Evidence recall", "Recall per 1,000 tokens")]
    drawing = parallel(axes, [], width=240, label="x")
    at = {shape.text: float(shape.attributes["y"]) for shape in drawing.shapes if shape.tag == "text"}
    assert at["tau"] == at["Evidence"] < at["recall"] < at["1"] < height_of(1, axes[0])
    assert at["Recall per"] == at["tau"]
    alone = parallel(axes[:1], [], width=240, label="x")
    assert [shape.attributes["y"] for shape in alone.shapes if shape.text == "tau"] == [14]


def test_a_bias_is_coloured_only_where_its_interval_excludes_a_half() -> None:
    bars = [
        BiasBar("Directness", 0.54, 0.46, 0.62, "54 %"),
        BiasBar("Overall", 0.67, 0.6, 0.74, "67 %", is_overall=True),
    ]
    drawing = bias_bars(bars, width=320, label="x", no_bias="50 %, no bias")
    weak, strong = titled(drawing, "Directness"), titled(drawing, "Overall")
    assert "--lr-base" in style(weak)
    assert "--lr-left" in style(strong)
    assert weak.attributes["x"] == strong.attributes["x"], "both begin at a half"
    assert float(strong.attributes["width"]) / float(weak.attributes["width"]) == pytest.approx(17 / 4, rel=0.02)
    below = bias_bars([BiasBar("Overall", 0.3, 0.2, 0.4, "30 %")], width=320, label="x", no_bias="50 %")
    bar = titled(below, "Overall")
    line = next(shape for shape in below.shapes if "dasharray" in style(shape))
    end = float(bar.attributes["x"]) + float(bar.attributes["width"])
    assert end == pytest.approx(float(str(line.attributes["d"])[1:].split(" ")[0]), abs=0.2)


def test_the_length_curve_has_equal_lengths_in_its_middle() -> None:
    points = [LengthPoint(2.0, 0.9, "A", "LeanRAG"), LengthPoint(1.0, 0.5, "", "other")]
    curve = [CurvePoint(0.5, 0.1, 0.05, 0.2), CurvePoint(1.0, 0.5, 0.4, 0.6), CurvePoint(2.0, 0.9, 0.8, 0.95)]
    drawing = length_curve(
        points, curve, width=400, label="x", ratio_title="length", ratio_names={0.5: "half", 1: "equal", 8: "eight"}
    )
    right, middle = titled(drawing, "LeanRAG"), titled(drawing, "other")
    assert float(middle.attributes["cx"]) == pytest.approx((46 + 388) / 2, abs=0.1)
    assert float(right.attributes["cx"]) == pytest.approx(388, abs=0.1)
    assert float(right.attributes["cy"]) < float(middle.attributes["cy"])
    assert "half" in texts(drawing)
    assert "eight" not in texts(drawing), "beyond the axis"
    assert any(
        "M388.0" not in str(s.attributes["d"]) and str(s.attributes["d"]).endswith("Z")
        for s in drawing.shapes
        if s.tag == "path"
    )


def test_agreement_with_oneself_is_dashed() -> None:
    drawing = agreement_matrix(
        ["Judge 1", "Judge 2"], {(0, 0): 0.62, (0, 1): 0.41, (1, 1): -0.05}, width=300, label="x"
    )
    cells = {shape.title: shape for shape in drawing.shapes if shape.tag == "rect"}
    assert "dasharray" in style(cells["Judge 1 / Judge 1: 0.62"])
    assert "dasharray" not in style(cells["Judge 1 / Judge 2: 0.41"])
    assert {".62", ".41", "−.05"} <= set(texts(drawing))
    assert "l0)" in style(cells["Judge 2 / Judge 2: -0.05"])


def test_names_become_no_markup_in_a_file() -> None:
    hostile = Difference(HOSTILE, HOSTILE, 0.1, 0, 0.2, "x", is_sure=False)
    drawings = [
        forest([hostile], width=400, colour="prim", label=HOSTILE, tick=str),
        heat_map(
            [HeatCell(HOSTILE, HOSTILE, 1, HOSTILE)],
            HeatAxis(HOSTILE, [HOSTILE]),
            HeatAxis("", [HOSTILE]),
            width=400,
            label="",
        ),
        parallel([ParallelAxis(HOSTILE, 0, 1, "0", "1")], [ParallelRun(HOSTILE, (1,))], width=300, label=HOSTILE),
        agreement_matrix([HOSTILE], {(0, 0): 1}, width=300, label=HOSTILE),
        bias_bars([BiasBar(HOSTILE, 0.5, 0.4, 0.6, "")], width=300, label=HOSTILE, no_bias=HOSTILE),
    ]
    for drawing in drawings:
        assert "<script>" not in drawing.as_svg()


def test_the_curve_goes_through_the_rate_at_equal_length_and_doubles_the_odds() -> None:
    curve = fitted_curve(LengthFit((0.5, 0.4, 0.6), (3.0, 2.0, 4.5)), reach=2.0, points=3)
    assert [round(each.ratio, 6) for each in curve] == [0.5, 1.0, 2.0]
    assert [round(each.rate, 6) for each in curve] == [0.25, 0.5, 0.75], "odds of a third, one, and three"
    middle = curve[1]
    assert (round(middle.low, 6), round(middle.high, 6)) == (0.4, 0.6)
    assert all(each.low < each.rate < each.high for each in curve)
    assert curve[2].high - curve[2].low > middle.high - middle.low - 0.1


def test_names_of_ratios_that_would_touch_are_left_out() -> None:
    names = {0.25: "a quarter", 0.5: "half", 1.0: "equal", 2.0: "twice", 4.0: "four times"}
    points = [LengthPoint(8.0, 0.9, "A", "x")]
    wide = length_curve(points, (), width=560, label="", ratio_title="", ratio_names=names)
    narrow = length_curve(points, (), width=200, label="", ratio_title="", ratio_names=names)
    assert set(names.values()) <= set(texts(wide))
    assert "equal" in texts(narrow)
    assert "four times" not in texts(narrow)


def test_shares_are_drawn_on_an_axis_that_ends_at_one() -> None:
    points = [ParetoPoint("a", 1, 1.0, is_front=True), ParetoPoint("b", 2, 1.0, is_chosen=True)]
    drawing = pareto(points, width=400, label="x", cost=CostAxis("", str), value_tick=numbers.score)
    assert "1.00" in texts(drawing)
    assert "1.05" not in texts(drawing)


def test_a_name_that_would_cover_a_point_is_moved_or_left_out() -> None:
    crowd = [ParetoPoint(f"setting {n}", 100 + n / 10, 0.5 + n / 1000, is_front=True) for n in range(20)]
    far = ParetoPoint("far away", 200, 0.9, is_front=True)
    drawing = pareto([*crowd, far], width=400, label="x", cost=CostAxis("", str), value_tick=numbers.score)
    names = [shape for shape in drawing.shapes if shape.text.startswith(("setting", "far"))]
    points = [shape.attributes for shape in drawing.shapes if shape.tag == "circle"]
    assert "far away" in [name.text for name in names]
    assert len(names) < 21
    for name in names:
        left, base = float(name.attributes["x"]), float(name.attributes["y"])
        inside = [p for p in points if left < float(p["cx"]) < left + 50 and base - 10 < float(p["cy"]) < base + 2]
        assert inside == []


def test_a_name_keeps_clear_of_the_line_of_the_front() -> None:
    points = [
        ParetoPoint("LightRAG", 1500, 0.5, is_front=True),  # without room at the left
        ParetoPoint("PathRAG", 2090, 0.481),  # below its name's next place
        ParetoPoint("LeanRAG", 2530, 0.8, is_front=True),  # where the line rises
        ParetoPoint("HippoRAG", 9000, 0.4),
    ]
    drawing = pareto(points, width=400, label="x", cost=CostAxis("", str), value_tick=numbers.score)
    marks = {shape.title: shape.attributes for shape in drawing.shapes if shape.tag == "circle"}
    [name] = [shape.attributes for shape in drawing.shapes if shape.text == "LightRAG"]
    rises_at, left = float(marks["LeanRAG"]["cx"]), float(name["x"])
    assert left + text_width("LightRAG", 12) < rises_at
    assert float(name["y"]) < float(marks["LightRAG"]["cy"])


def test_questions_are_piled_at_their_difference_and_dots_shrink_with_the_highest_pile() -> None:
    def drawing(n: int) -> Drawing:
        dots = [QuestionDot(0.0, 0.0, f"{n}", f"q{n}") for n in range(n)]
        dots += [QuestionDot(0.5, 0.5, "won", "won"), QuestionDot(-0.5, -0.5, "lost", "lost")]
        return question_dots(dots, width=400, label="questions", tick=str)

    few, many = drawing(3), drawing(60)
    for each in (few, many):
        places = {shape.pick: shape.attributes for shape in each.shapes if shape.pick}
        assert float(places["lost"]["cx"]) < float(places["q0"]["cx"]) < float(places["won"]["cx"])
        assert len({places[f"q{n}"]["cy"] for n in range(3)}) == 3, "none covers another"
        assert all(0 < float(at["cy"]) < each.height for at in places.values()), "all are on the ground"
    radius = [float(next(s for s in each.shapes if s.pick == "q0").attributes["r"]) for each in (few, many)]
    assert radius[0] > radius[1] >= 1


def test_what_is_selected_stays_and_the_rest_of_what_can_be_picked_fades() -> None:
    points = [ParetoPoint(name, cost, 0.5, pick=name) for name, cost in (("a", 1), ("b", 2), ("c", 3))]
    plain = pareto(points, width=320, label="front", cost=CostAxis("tokens", str), value_tick=str)
    assert plain.with_selected(()) == plain
    marked = plain.with_selected(("b",))
    picks = {shape.pick: shape for shape in marked.shapes if shape.pick}
    assert [name for name, shape in picks.items() if shape.is_picked] == ["b"]
    assert ["opacity" in str(shape.attributes["style"]) for shape in picks.values()] == [True, False, True]
    others = zip(plain.shapes, marked.shapes, strict=True)
    assert all(one == other for one, other in others if not one.pick), "axes and names stay as they are"
