"""Places of embeddings in the plane: the same each time, neighbours together, and the rest between them."""

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from leanrag_core.figures.embedding_map import (
    SAMPLE,
    MapPlaces,
    embedding_places,
    largest_clusters,
    places_of,
    sample_rows,
    weighted_place,
)

pytestmark = pytest.mark.slow


def unit(vectors: np.ndarray) -> np.ndarray:
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def groups(n: int = 20) -> np.ndarray:
    """Return two groups of vectors, far apart."""
    noise = np.random.default_rng(0).normal(scale=0.05, size=(2 * n, 8))
    noise[:n, 0] += 1
    noise[n:, 1] += 1
    return unit(noise)


def test_the_same_vectors_have_the_same_places_within_the_frame() -> None:
    shown = embedding_places(groups())
    assert shown.places.tobytes() == embedding_places(groups().copy()).places.tobytes()
    assert shown.places.min() >= 0
    assert shown.places.max() <= 1


def test_places_do_not_depend_on_the_number_of_threads_that_libraries_have() -> None:
    draw = np.random.default_rng(0)
    vectors = unit(draw.normal(size=(40, 384)))[draw.integers(0, 40, 400)]  # of alike ones there are many nearest

    def places(threads: int) -> bytes:
        with threadpool_limits(limits=threads):
            return embedding_places(vectors).places.tobytes()

    embedding_places(vectors)  # loads the libraries that are limited
    assert places(1) == places(2)


def test_a_group_stays_together() -> None:
    places = embedding_places(groups()).places
    left, right = places[:20].mean(axis=0), places[20:].mean(axis=0)
    to_left, to_right = (np.linalg.norm(places - middle, axis=1) for middle in (left, right))
    assert (to_left[:20] < to_right[:20]).all()
    assert (to_right[20:] < to_left[20:]).all()


@pytest.mark.parametrize("shape", [(0, 4), (1, 4), (2, 4), (3, 4), (5, 1), (4, 4)])
def test_few_or_equal_vectors_have_places_too(shape: tuple[int, int]) -> None:
    shown = embedding_places(np.ones(shape, dtype=np.float32))
    assert shown.places.shape == (shape[0], 2)
    assert np.isfinite(shown.places).all()


def test_the_sample_of_a_large_layer_is_fixed_and_spread_over_it() -> None:
    rows = sample_rows(100_000)
    assert len(rows) == SAMPLE
    assert (rows[0], rows[-1]) == (0, 99_999)
    assert np.diff(rows).max() <= 2 * 100_000 / SAMPLE


def test_an_entity_outside_the_sample_lies_between_its_nearest() -> None:
    vectors = groups()
    rows = np.arange(0, 40, 2)
    shown = MapPlaces(rows, embedding_places(vectors[rows]).places)
    own, other = places_of(vectors, [4, 5], shown)
    assert own == pytest.approx(shown.places[2])
    first_group = shown.places[:10]
    assert (first_group.min(axis=0) <= other).all()
    assert (other <= first_group.max(axis=0)).all()


def test_a_question_lies_nearer_to_what_it_met_with_a_higher_cosine() -> None:
    places = np.array([[0, 0], [1, 0]], dtype=np.float32)
    assert weighted_place(places, np.array([0.75, 0.25])) == pytest.approx([0.25, 0])
    assert weighted_place(places, np.array([-1.0, -1.0])) == pytest.approx([0.5, 0])


def test_the_largest_clusters_that_have_drawn_points_come_first() -> None:
    places = np.array([[x / 10, 0.5] for x in range(5)] + [[0.9, 0.9]], dtype=np.float32)
    first, second = largest_clusters(places, np.array([1, 1, 1, 1, 1, 0]), np.array([7, 50, 99]), most=5)
    assert (first.row, first.size, second.row, second.size) == (1, 50, 0, 7), "the third one has no drawn point"
    assert first.centre == pytest.approx((0.2, 0.5))
    assert (len(first.regions), len(second.regions)) == (1, 0)
