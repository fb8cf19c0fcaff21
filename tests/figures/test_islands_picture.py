"""What is drawn of a layer of islands, and the bars of lambda."""

import numpy as np

from leanrag_core.figures.islands import islands_picture, lambda_bars


def ring(n: int) -> tuple[np.ndarray, np.ndarray]:
    rows = np.arange(n)
    return np.stack([rows, (rows + 1) % n], axis=1), np.full(n, 2)


def test_nodes_have_places_of_their_own_inside_the_picture() -> None:
    vectors = np.random.default_rng(0).normal(size=(30, 8))
    ends, strengths = ring(30)
    forest = np.arange(29)
    picture = islands_picture(vectors, ends, strengths, np.zeros(30, dtype=int), forest)
    places = np.stack([picture.x, picture.y], axis=1)
    assert places.min() >= 0
    assert places.max() <= 1
    apart = np.sqrt(((places[:, None] - places[None]) ** 2).sum(axis=2)) + np.eye(30)
    assert apart.min() > 0.03
    again = islands_picture(vectors, ends, strengths, np.zeros(30, dtype=int), forest)
    assert again.x.tolist() == picture.x.tolist()


def test_equal_vectors_do_not_share_a_place() -> None:
    picture = islands_picture(
        np.ones((4, 3)), np.zeros((0, 2), dtype=int), np.zeros(0, dtype=int), np.arange(4), np.zeros(0, dtype=int)
    )
    assert len({(round(x, 3), round(y, 3)) for x, y in zip(picture.x, picture.y, strict=True)}) == 4


def test_a_large_layer_is_sampled_and_its_islands_stay() -> None:
    # 300 nodes in a ring, 10 islands; 40 are drawn.
    vectors = np.random.default_rng(0).normal(size=(310, 4))
    ends, strengths = ring(300)
    labels = np.concatenate([np.zeros(300, dtype=int), np.arange(1, 11)])
    picture = islands_picture(vectors, ends, strengths, labels, np.arange(299), most_nodes=40)
    assert len(picture.rows) == 40
    assert int((labels[picture.rows] > 0).sum()) == 10


def test_the_forest_is_drawn_whole_and_others_are_few() -> None:
    # All 190 pairs of 20 nodes are related; the forest's 19 are drawn and 18 of the others.
    pairs = np.array([(a, b) for a in range(20) for b in range(a + 1, 20)])
    strengths = np.arange(190, 0, -1)
    forest = np.arange(19)  # 0 with every other node
    picture = islands_picture(np.eye(20), pairs, strengths, np.zeros(20, dtype=int), forest)
    assert set(forest) <= set(picture.links.tolist())
    assert len(picture.links) == 19 + 18
    assert (picture.ends == pairs[picture.links]).all()


def test_bars_are_whole_steps_and_the_last_takes_the_rest() -> None:
    bars = lambda_bars(np.array([1, 2, 5, 40]), np.array([50, 20, 10, 2]))
    assert bars[:3] == ((1, 1), (2, 2), (3, 3))
    assert bars[-1] == (12, 40)
    assert lambda_bars(np.array([1, 4]), np.array([3, 1])) == ((1, 1), (2, 2), (3, 3), (4, 4))


def test_bars_of_an_upper_layer_are_wider_and_leave_no_gap() -> None:
    bars = lambda_bars(np.array([10, 60, 100, 300]), np.array([2, 3, 4, 1]))
    assert bars[0] == (1, 10)
    assert [first for first, _ in bars[1:]] == [last + 1 for _, last in bars[:-1]]
    assert bars[-1][1] == 300
