import pytest

from leanrag_core.figures.blocks import Folding, fold


def folded(
    weights: list[float], kept: tuple[int, ...] = (), room: float = 300, least: float = 20, skip: int = 0
) -> Folding:
    return fold(weights, [least] * len(weights), kept, room, fold_sizes=(26, 56), gap=3, skip=skip)


@pytest.mark.parametrize("n", [1, 2, 7, 12, 13, 40, 900])
def test_named_and_folded_are_all_children_and_fill_the_room(n: int) -> None:
    made = folded([float(n - place) for place in range(n)])
    assert len(made.named) + len(made.folded) == n
    gaps = 3 * (len(made.named) - (0 if made.folded else 1))
    assert sum(made.sizes) + made.fold_size + gaps == pytest.approx(300)
    assert all(size >= 20 - 1e-9 for size in made.sizes)


def test_children_that_fit_are_as_large_as_their_weights() -> None:
    made = folded([3, 2, 1], room=306)
    assert made.named == (0, 1, 2)
    assert made.sizes == pytest.approx((150, 100, 50))
    assert (made.folded, made.fold_size) == ((), 0.0)


def test_what_has_no_room_is_folded_from_the_smallest() -> None:
    made = folded([1.0] * 40)
    assert made.named == tuple(range(len(made.named)))
    assert 8 <= len(made.named) <= 12
    assert 26 <= made.fold_size <= 56


def test_kept_children_are_named_however_small() -> None:
    made = folded([100.0] * 10 + [0.001] * 50, kept=(41, 59))
    assert {41, 59} <= set(made.named)


def test_many_small_children_do_not_crowd_out_a_large_one() -> None:
    made = folded([1000.0] + [1.0] * 60)
    assert made.sizes[0] > 0.5 * 300


def test_the_next_children_are_named_when_the_first_ones_are_skipped() -> None:
    first = folded([1.0] * 40)
    following = folded([1.0] * 40, skip=len(first.named))
    assert set(first.named).isdisjoint(following.named)
    assert len(following.named) + len(following.folded) == 40


def test_kept_children_beyond_the_room_keep_their_least_size() -> None:
    made = folded([1.0] * 30, kept=tuple(range(30)), room=100)
    assert made.sizes == pytest.approx((20.0,) * 30)


def test_what_is_folded_stays_small_beside_a_single_kept_child() -> None:
    made = folded([100.0] + [0.1] * 10, kept=(0,), room=60)
    assert (made.named, len(made.folded)) == ((0,), 10)
    assert (made.fold_size, made.sizes) == (26, pytest.approx((31,)))
