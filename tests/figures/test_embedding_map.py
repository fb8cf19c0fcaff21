"""The map of embeddings as values: places, shares of variance, colours, and names that stay text."""

from itertools import combinations
from typing import Any

import numpy as np
import pytest

from leanrag_core.figures.embedding_map import MAX_POINTS, EmbeddingMap, label_places, map_chart
from leanrag_core.figures.palette import palette

LIGHT = palette(dark=False)
# Four points on a cross: 4 long and 2 wide, so the variances are as 4 to 1.
CROSS = np.array([[2, 0, 5], [-2, 0, 5], [0, 1, 5], [0, -1, 5]], dtype=np.float32)
HOSTILE = '</script><img src=x onerror=alert(1)> & "q" <a href="http://evil.example">x</a> \u202edrow'


def test_a_cross_lies_along_the_axes_with_their_shares_of_the_variance() -> None:
    points = EmbeddingMap(CROSS)
    assert points.places == pytest.approx(np.array([[2, 0], [-2, 0], [0, 1], [0, -1]]))
    assert points.shares == pytest.approx((0.8, 0.2))
    titles = [axis.title.text for axis in _layout_axes(points)]
    assert titles == ["Component 1, 80.0 % of the variance", "Component 2, 20.0 % of the variance"]


def test_the_same_embeddings_give_the_same_map_and_mirrored_axes_do_not_flip_it() -> None:
    vectors = np.random.default_rng(1).normal(size=(200, 16)).astype(np.float32)
    assert EmbeddingMap(vectors).places.tobytes() == EmbeddingMap(vectors.copy()).places.tobytes()
    backwards = EmbeddingMap(vectors[::-1])
    assert backwards.places[::-1] == pytest.approx(EmbeddingMap(vectors).places), "the order of the points is no matter"


@pytest.mark.parametrize("shape", [(1, 8), (2, 8), (5, 1)])
def test_a_few_points_are_drawn_although_they_span_no_plane(shape: tuple[int, int]) -> None:
    points = EmbeddingMap(np.ones(shape, dtype=np.float32))
    assert points.places == pytest.approx(np.zeros((shape[0], 2)))
    assert points.shares == (0.0, 0.0)
    assert map_chart(points, ["x"] * shape[0], np.zeros(shape[0], np.int32), ["c"], LIGHT).rows[0][0] == "x"


def test_a_large_layer_is_drawn_by_points_from_its_first_to_its_last() -> None:
    rows = EmbeddingMap(np.random.default_rng(0).normal(size=(25_001, 4)).astype(np.float32)).rows
    assert (len(rows), rows[0], rows[-1]) == (MAX_POINTS, 0, 25_000)
    assert set(np.diff(rows)) <= {2, 3}


def test_a_point_has_the_colour_of_its_cluster_and_comes_back_as_its_position() -> None:
    chart = map_chart(EmbeddingMap(CROSS), list("abcd"), np.array([1, 1, 0, 1]), ["small", "large"], LIGHT, chosen=2)
    points, ring = chart.figure.data
    assert points.type == "scattergl"
    colours = dict(zip(points.customdata, points.marker.color, strict=True))
    assert [colours[n] for n in range(4)] == [LIGHT.clusters[n] for n in (0, 0, 1, 0)]
    assert (ring.x[0], ring.y[0]) == pytest.approx((0, 1))
    assert [note.text for note in chart.figure.layout.annotations] == ["large", "small"]
    assert chart.rows[2] == ("c", "small", "0.0000", "1.0000")
    assert chart.label == "4 entities in 2 clusters"


def test_small_clusters_share_a_neutral_colour_and_lie_below_the_others() -> None:
    points = EmbeddingMap(np.random.default_rng(0).normal(size=(24, 4)).astype(np.float32))
    cluster_of = np.array([11, *range(11), *range(10), 0, 0], dtype=np.int32)  # 10 and 11 have one point
    chart = map_chart(points, ["n"] * 24, cluster_of, [f"c{n}" for n in range(12)], LIGHT)
    drawn = chart.figure.data[0]
    assert [colour == LIGHT["tree"] for colour in drawn.marker.color] == [True] * 2 + [False] * 22
    assert sorted(drawn.customdata) == list(range(24))
    assert len(chart.figure.layout.annotations) == 10


def test_labels_of_clusters_in_one_place_do_not_lie_over_one_another() -> None:
    places = np.random.default_rng(0).normal(size=(500, 2))
    placed = label_places(np.zeros((10, 2)), places)
    step = np.ptp(places[:, 1]) * 27 / 480
    assert all(abs(a[1] - b[1]) >= step * 0.999 for a, b in combinations(placed, 2))
    assert placed.mean(axis=0) == pytest.approx((0, 0))
    far = np.array([[-3.0, 0.0], [3.0, 0.0]])
    assert label_places(far, places).tolist() == far.tolist()


def test_names_are_text_in_hover_and_labels() -> None:
    chart = map_chart(EmbeddingMap(CROSS), [HOSTILE] * 4, np.zeros(4, np.int32), [HOSTILE], LIGHT)
    texts = [*chart.figure.data[0].text, *(note.text for note in chart.figure.layout.annotations)]
    for text in texts:
        bare = text.replace("<b>", "").replace("</b>", "").replace("<br>", "")
        assert "<" not in bare
        assert ">" not in bare
        assert "&lt;/script&gt;" in text
        assert "\u202e" not in text
    unseen = map_chart(EmbeddingMap(CROSS), ["\u202edrow"] * 4, np.zeros(4, np.int32), ["c"], LIGHT)
    assert unseen.figure.data[0].text[0] == "<b>[U+202E]drow</b><br>in c"


def _layout_axes(points: EmbeddingMap) -> list[Any]:
    chart = map_chart(points, list("abcd"), np.zeros(4, np.int32), ["c"], LIGHT)
    return [chart.figure.layout.xaxis, chart.figure.layout.yaxis]
