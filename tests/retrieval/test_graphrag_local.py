"""GraphRAG's local search, worked out by hand on the small index."""

import numpy as np

from leanrag_core.retrieval.base import Query
from leanrag_core.retrieval.base_graph import relations_around
from leanrag_core.retrieval.local_search import local_chunks, local_evidence
from leanrag_core.retrieval.strategies.graphrag_local import Config, Strategy
from leanrag_core.retrieval.tracing import Retrieval
from leanrag_core.text.tokens import count_tokens
from leanrag_core.types.communities import Communities
from leanrag_core.types.trace import Trace
from tests.retrieval.hand_communities import hand_communities, index_with_chunks_of_relations
from tests.retrieval.tools import TOOLS, with_parts
from tests.small_index import small_index, unit

# Cosines: honey (.8 + .3) / 1.118 = .984, queen 1 / 1.118 = .894.
QUERY = Query("Who stores honey?", unit([[1, 0.5, 0, 0]])[0])


def trace(communities: Communities | None = None, **options: object) -> Trace:
    tools = with_parts(TOOLS, communities=hand_communities() if communities is None else communities)
    config = Config(**{"top_k": 2, "level": "C0", **options})
    return Strategy(config).retrieve(QUERY, index_with_chunks_of_relations(), tools)


def names(retrieved: Trace, role: str) -> list[str]:
    return [item.name for item in retrieved.with_role(role)]


def test_the_golden_retrieval() -> None:
    made = trace()
    assert names(made, "entity") == ["honey", "queen"]
    assert names(made, "community") == ["Hive"]  # holds both; Fields holds none
    # queen-honey joins both; then mite and rape, each related to one of them, by degrees and row.
    assert [each.id for each in made.relations if each.role in ("inside", "outside")] == [
        "rel-0-1-verb",
        "rel-1-2-verb",
        "rel-1-3-verb",
    ]
    assert names(made, "neighbour") == ["mite", "rape"]
    # Of honey: two relations in chunk 1, one in chunk 0, none in chunk 2. Queen adds none.
    assert made.ranked_chunks == (1, 0, 2)
    assert [passage.score for passage in made.passages] == [2.0, 1.0, 0.0]
    assert [passage.source.items for passage in made.passages if passage.source] == [
        ("id-honey",),
        ("id-honey", "id-queen"),
        ("id-honey",),
    ]
    assert [each.target for each in made.relations if each.role == "member"] == ["id-honey", "id-queen"]


def test_the_chunks_alone_are_those_of_the_whole_search() -> None:
    index, communities = index_with_chunks_of_relations(), hand_communities()
    run = Retrieval(Strategy(Config(top_k=2, level="C0")), QUERY, index, TOOLS)
    whole = local_evidence(run, communities, QUERY.vector, 1000)
    assert list(local_chunks(run, QUERY.vector)) == list(whole.chunks)
    assert [chunk.row for chunk in whole.chunks] == [1, 0, 2]


def test_communities_are_ordered_by_how_many_entities_they_hold_then_by_rating() -> None:
    assert names(trace(level="C1"), "community") == ["Honey"]
    assert names(trace(level="C1", top_k=3), "community") == ["Honey", "Mite"]
    assert names(trace(level="C0", top_k=6), "community") == ["Hive", "Fields"]  # three each; 9 before 7
    assert names(trace(level="C3", top_k=6), "community") == ["Fields", "Honey", "Mite"]


def test_outside_relations_prefer_neighbours_of_several_entities_then_degrees() -> None:
    # From honey and clover: rape is related to both (degrees 3 + 2, 2 + 1); mite (3 + 2) and queen (3 + 1) to honey.
    around = relations_around(small_index().layers[0], [1, 4], most_outside=10)
    assert (around.inside.tolist(), around.outside.tolist()) == ([], [2, 3, 1, 0])
    assert around.links.tolist() == [2, 2, 1, 1]
    assert relations_around(small_index().layers[0], [1, 4], most_outside=1).outside.tolist() == [2]


def test_the_budget_is_shared_out_and_never_exceeded() -> None:
    for budget in (0, 40, 200, 1000):
        made = trace(max_tokens=budget)
        sections = {part.name: part for part in made.context.sections}
        assert sections["communities"].budget == budget * 15 // 100
        assert sections["chunks"].budget == budget // 2
        assert sections["entities"].tokens + sections["relations"].tokens <= budget - budget * 15 // 100 - budget // 2
        assert made.context.tokens == count_tokens(made.context.text) <= budget


def test_claims_follow_the_entities_and_their_absence_is_noted() -> None:
    with_claims = trace(hand_communities([(1, 1, "Honey keeps for years."), (5, 3, "Hard.")]))
    assert "Claim on honey: Honey keeps for years." in with_claims.context.section("entities").text
    assert "Hard." not in with_claims.context.text
    assert [note.code for note in with_claims.notes] == []
    assert [note.code for note in trace().notes] == ["communities.note.no_claims"]


def test_reports_without_a_model_are_noted() -> None:
    codes = [note.code for note in trace(hand_communities(by_model=False)).notes]
    assert codes == ["communities.note.by_rule", "communities.note.no_claims"]


def test_an_index_without_communities_still_has_entities_and_chunks() -> None:
    none = hand_communities()
    empty = Communities(none.table.slice(0, 0), np.zeros((0, 4), dtype=np.float32), none.claims, 6)
    made = trace(empty)
    assert names(made, "entity") == ["honey", "queen"]
    assert made.notes[0].code == "communities.note.none"
