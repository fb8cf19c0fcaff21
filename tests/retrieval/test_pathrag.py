"""PathRAG on the small index (tests/small_index.py)."""

import json

import numpy as np

from leanrag_core.retrieval.base import Query, strategy
from leanrag_core.retrieval.strategies.pathrag import relation_between
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Trace
from tests.retrieval.scripted_tools import Scripted
from tests.small_index import unit

QUEEN, MITES = unit([[1, 0, 0, 0], [0, 1, 0, 0]])
RELATION_VECTORS = unit([[1, 0, 0, 0], [0, 1, 1, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0, 1, 0, 0]])
KEYWORDS = json.dumps({"low_level": ["queen"], "high_level": ["harm"]})


def retrieve(index: Index, reply: str = KEYWORDS, **options: int | float) -> Trace:
    scripted = Scripted({"queen": QUEEN, "harm": MITES}, [reply], {"relation_vectors": RELATION_VECTORS})
    query = Query("What harms the queen?", QUEEN)
    return strategy("pathrag", options).retrieve(query, index, scripted.tools)


def paths(trace: Trace) -> list[str]:
    """Return the paths of the context, in its order."""
    [section] = [each for each in trace.context.sections if each.name == "paths"]
    return [item.text.partition(":")[0] for item in section.items]


def test_the_most_reliable_path_ends_the_context(index: Index) -> None:
    trace = retrieve(index, top_k=3)  # queen, honey, mite: related in a line
    # The two relations have all of the resource; over two edges .8 of it comes: .9 on average.
    assert (paths(trace)[0], len(paths(trace))) == ("queen – honey – mite", 3)
    last = trace.context.sections[-1]
    reliable = {item.id: item.score or 0.0 for item in trace.items if item.kind == "path"}
    scores = [reliable[item.ref] for item in last.items]
    assert (last.name, scores) == ("paths", sorted(scores))
    assert trace.context.text.endswith(f"{last.items[-1].text}\n\n")


def test_where_the_budget_ends_the_most_reliable_paths_stay(index: Index) -> None:
    every = retrieve(index, top_k=3)
    few = retrieve(index, top_k=3, path_tokens=40)
    assert 0 < len(paths(few)) < len(paths(every))
    assert paths(few)[-1] == paths(every)[-1]


def test_chunks_of_the_relations_come_before_those_of_the_entities(index: Index) -> None:
    trace = retrieve(index, top_k=1)
    # No relation of the small index says in which chunks it is; the queen is in chunk 0.
    assert list(trace.ranked_chunks) == [0]
    assert paths(retrieve(index, top_k=1)) == []


def test_a_question_without_themes_has_paths_all_the_same(index: Index) -> None:
    trace = retrieve(index, json.dumps({"low_level": ["queen"], "high_level": []}), top_k=3)
    assert paths(trace)
    assert next(section for section in trace.context.sections if section.name == "relations").items == ()


def test_of_several_relations_between_two_entities_the_strongest_is_taken(index: Index) -> None:
    base = index.layers[0]
    assert relation_between(base, 1, 0) == relation_between(base, 0, 1) == 0
    assert np.array_equal(np.sort(base.ends[relation_between(base, 5, 2)]), [2, 5])
