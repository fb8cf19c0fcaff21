"""The picture of a graph while it is built: what is found, what merging and clustering make of it."""

import json
from pathlib import Path

import numpy as np
import pytest

from leanrag_core import IndexConfig, Workbench
from leanrag_core.jobs.growth import FILE, MOST_LINKS, MOST_NAMES, GrowthLog, read_growth
from leanrag_core.types.graph import Graph, Layer
from leanrag_core.types.growth import Found, Growth, News
from leanrag_core.types.job import Progress
from tests.small_index import entity, relation, small_index


def found(*names: str, links: tuple[tuple[str, str], ...] = ()) -> Found:
    return Found({name: name.capitalize() for name in names}, links)


def graph(names: list[str], ends: list[tuple[int, int]]) -> Graph:
    index = small_index()
    base = index.layers[0]
    entities = type(base.entities).from_pylist([entity(name, [0]) for name in names], schema=base.entities.schema)
    relations = type(base.relations).from_pylist([relation(*pair) for pair in ends], schema=base.relations.schema)
    return Graph(entities, relations)


def layer(made: Graph, number: int, parent: list[int]) -> Layer:
    n = made.entities.num_rows
    return Layer(made.entities, made.relations, number, np.zeros((n, 1), np.float32), np.array(parent, np.int32))


def test_names_keep_their_places_while_others_come(tmp_path: Path) -> None:
    log = GrowthLog(tmp_path)
    assert read_growth(tmp_path) == Growth()
    log.add(found("bee", "mite", links=(("bee", "mite"), ("mite", "bee"), ("bee", "bee"), ("bee", "unknown"))))
    log.add(found("bee", "wax", links=(("wax", "bee"),)))
    growth = read_growth(tmp_path)
    assert growth.names == ("Bee", "Mite", "Wax")
    assert growth.links == ((0, 1), (0, 2))


def test_merging_takes_away_adds_and_settles_the_relations(tmp_path: Path) -> None:
    log = GrowthLog(tmp_path)
    log.add(found("bee", "bees", "mite", links=(("bee", "bees"),)))
    log.add(graph(["wax", "MITE", "bee"], [(2, 1), (1, 2), (0, 2)]))
    growth = read_growth(tmp_path)
    assert growth.names == ("Bee", "Bees", "Mite", "wax")
    assert growth.gone == (1,)
    assert growth.links == ((0, 2), (0, 3))


def test_clusters_are_told_layer_by_layer_for_what_is_drawn(tmp_path: Path) -> None:
    log = GrowthLog(tmp_path)
    log.add(found("bee", "bees", "mite"))
    base = graph(["mite", "bee", "wax"], [(0, 1)])
    log.add(base)
    log.add(layer(base, 0, [5, 3, 5]))  # mite and wax in cluster 5, bee in 3
    above = graph([f"cluster {n}" for n in range(6)], [])
    log.add(layer(above, 1, [0, 0, 0, 1, 1, 0]))
    growth = read_growth(tmp_path)
    assert growth.names == ("Bee", "Bees", "Mite", "wax")
    assert growth.clusters == ((0, -1, 1, 1), (1, 0))
    assert growth.titles == (("cluster 3", "cluster 5"),)
    assert growth.n_clusters == (6, 2)


def test_a_large_corpus_writes_no_more_than_a_small_one(tmp_path: Path) -> None:
    log = GrowthLog(tmp_path)
    names = [f"name {n}" for n in range(5000)]
    for start in range(0, 5000, 50):
        part = names[start : start + 50]
        log.add(found(*part, links=tuple(zip(part, reversed(part), strict=True)) + tuple((part[0], n) for n in names)))
    size = (tmp_path / FILE).stat().st_size
    assert size < 30_000
    growth = read_growth(tmp_path)
    assert len(growth.names) == MOST_NAMES
    assert len(growth.links) <= MOST_LINKS
    log.add(graph(names, [(n, n + 1) for n in range(4999)]))
    assert len(read_growth(tmp_path).names) == MOST_NAMES


def test_a_line_that_is_being_written_is_left_out_and_a_lost_folder_stops_nothing(tmp_path: Path) -> None:
    log = GrowthLog(tmp_path)
    log.add(found("bee"))
    with (tmp_path / FILE).open("ab") as file:
        file.write(b'{"names": ["wa')
    assert read_growth(tmp_path).names == ("Bee",)
    GrowthLog(tmp_path / "gone").add(found("bee"))


def test_news_are_taken_once() -> None:
    news = News()
    news.add({"bee": "Bee"}, [("bee", "mite")])
    assert news.take() == Found({"bee": "Bee"}, (("bee", "mite"),))
    assert news.take() == Found({}, ())


@pytest.mark.slow
def test_a_build_tells_entities_then_the_graph_then_each_layer(tmp_path: Path) -> None:
    bench = Workbench.default(tmp_path / "home")
    corpus = bench.add_documents("bees", [("bees.md", _TEXT.encode())])
    log = GrowthLog(tmp_path)
    kinds = []

    def report(progress: Progress) -> None:
        if progress.made is not None:
            kinds.append(type(progress.made).__name__)
            log.add(progress.made)

    index = bench.build(corpus.corpus_id, IndexConfig(cluster_size=3), report=report)
    growth = read_growth(tmp_path)
    assert kinds[0] == "Found"
    assert kinds[-len(index.layers) :] == ["Graph", *["Layer"] * (len(index.layers) - 1)]
    drawn = {name for place, name in enumerate(growth.names) if place not in growth.gone}
    assert {name.lower() for name in drawn} == {name.lower() for name in index.layers[0].entities["name"].to_pylist()}
    assert growth.n_clusters == tuple(len(each) for each in index.layers[1:])
    assert json.loads((tmp_path / FILE).read_bytes().splitlines()[0])["names"], "the first line has entities"


_TEXT = """# Bees

Anna Breedt keeps honey bees in Zwolle. Karl von Frisch decoded the waggle dance of honey bees.
Varroa destructor feeds on honey bees. Oxalic acid kills Varroa destructor in winter.
The city of Zwolle pays Anna Breedt. Apple orchards need honey bees in May.
"""
