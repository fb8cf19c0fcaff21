import numpy as np

from leanrag_core.figures.blocks import CONNECTIVITY, SIZE, TYPE, hit_steps, measure
from tests.large_index import large_index


def test_steps_are_quarters_of_the_layer() -> None:
    index = large_index(400)
    made = measure(index, CONNECTIVITY).layers[0]
    assert made.values.tolist() == index.layers[0].degrees.tolist()
    assert set(made.steps) <= {0, 1, 2, 3, 4}
    assert made.steps[int(made.values.argmax())] == 4
    order = np.argsort(made.values, kind="stable")
    assert (np.diff(made.steps[order]) >= 0).all()


def test_the_size_of_a_base_entity_is_its_chunks() -> None:
    index = large_index(400)
    made = measure(index, SIZE)
    assert made.layers[0].values.tolist() == [len(index.layers[0].entity(row).chunks) for row in range(400)]
    assert made.layers[1].values.tolist() == index.leaf_counts[1].tolist()


def test_the_type_of_a_cluster_is_the_most_frequent_below_it() -> None:
    index = large_index(400)
    made = measure(index, TYPE)
    kinds = index.layers[0].entities["type"].to_pylist()
    for row in range(len(index.layers[1])):
        below = [kinds[child] for child in index.children_of(1, row)]
        value = int(made.layers[1].values[row])
        others = sum(kind not in made.types for kind in below)
        counted = [below.count(kind) for kind in made.types]
        assert (max(counted) == counted[value]) if value >= 0 else others >= max(counted)


def test_more_than_three_hits_have_one_colour() -> None:
    assert [hit_steps({0: n}, 1, 0) for n in (0, 1, 3, 9)] == [0, 1, 3, 3]
    assert hit_steps({0: 7}, 0, 0) == 1, "in layer 0 it is a rank"
