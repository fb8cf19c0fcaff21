"""Reports on communities: what they are made of, with and without a language model."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from leanrag_core.clustering.leiden import CommunityTree
from leanrag_core.errors import BudgetSpent
from leanrag_core.indexing.communities.elements import element_lines, graph_of_layer, tokens_of
from leanrag_core.indexing.communities.making import communities_of
from leanrag_core.indexing.communities.reports import Report, builtin_report, material, ratings
from leanrag_core.indexing.part_base import PartModels, PartTools, parts
from leanrag_core.indexing.part_building import build_part, read_part
from leanrag_core.models.base import Completion
from leanrag_core.models.pacing import Meter
from leanrag_core.storage.layout import read_index, write_index
from leanrag_core.types.calls import Budget, Usage
from leanrag_core.types.communities import BY_MODEL, BY_RULE, CLAIM_SCHEMA, IMPORTED, Communities
from leanrag_core.types.graph import Finding
from leanrag_core.types.imported import ImportedClaim, ImportedCommunity, ImportedExtras, ImportedReport
from tests.contract.indexes import stored
from tests.small_index import small_index

# queen - honey - mite - seed coat and honey - rape - clover: honey has degree 3, mite and rape 2.
GRAPH = graph_of_layer(small_index().layers[0])
ALL = np.arange(6)


def embed(texts: Sequence[str]) -> np.ndarray:
    return np.eye(4, dtype=np.float32)[[len(text) % 4 for text in texts]]


class Model:
    """Replies by a function of the prompt, and keeps the prompts."""

    name = fingerprint = "scripted"

    def __init__(self, reply: Callable[[str], str], meter: Meter | None = None) -> None:
        self.reply, self.meter, self.prompts = reply, meter or Meter(), list[str]()

    def complete(self, messages: list[dict[str, str]], **options: object) -> Completion:
        self.meter.require_budget()
        self.prompts.append(messages[0]["content"])
        usage = Usage(calls=1, prompt_tokens=10, completion_tokens=2)
        self.meter.add("reports", usage)
        return Completion(self.reply(messages[0]["content"]), "stop", usage)


def written(title: str, rating: object = 7) -> str:
    findings = [{"summary": f"Point {n}", "explanation": "Since."} for n in range(12)]
    cells = {"title": title, "summary": "What it is about.", "rating": rating, "reason": "Much.", "findings": findings}
    return json.dumps(cells)


def test_elements_come_by_the_degrees_of_the_ends_of_each_relation() -> None:
    lines = element_lines(GRAPH, np.array([0, 1, 2]))
    # honey-mite: degrees 3 + 2; queen-honey: 1 + 3.
    assert [line.split(":")[0] for line in lines] == [
        "- honey (concept)",
        "- mite (concept)",
        "- honey / mite",
        "- queen (concept)",
        "- queen / honey",
    ]


def test_claims_follow_their_entity_and_single_entities_come_last() -> None:
    graph = replace(GRAPH, claims={2: ["It spread in 1952."]})
    lines = element_lines(graph, np.array([1, 2, 4]))
    assert lines[1:3] == ["- mite (concept): About mite.", "- claim on mite: It spread in 1952."]
    assert lines[-1] == "- clover (concept): About clover."


def test_the_builtin_report_is_made_of_the_members_sentences() -> None:
    report = builtin_report(GRAPH, ALL, (), 5.0)
    assert report.title == "honey, mite, rape"
    assert report.summary.startswith("About honey. About mite. About rape.")
    # honey-mite and honey-rape have 5 degrees, queen-honey 4, rape-clover and mite-seed coat 3.
    assert [finding.summary for finding in report.findings] == [
        "honey and mite:",
        "honey and rape:",
        "queen and honey:",
        "rape and clover:",
        "mite and seed coat:",
    ]
    assert report.reason == "6 entities with 5 relations among them."


def test_a_report_on_a_split_community_takes_from_each_part_in_turn() -> None:
    assert builtin_report(GRAPH, ALL, [np.array([0, 1, 2]), np.array([3, 4, 5])], 5.0).title == "honey, rape, mite"


def test_ratings_are_ten_for_the_most_connected_and_fall_with_degree() -> None:
    assert ratings(GRAPH, [ALL, np.array([0, 1, 2]), np.array([4])]) == [10.0, 8.1, 2.9]
    assert ratings(GRAPH, []) == []


def test_reports_stand_in_for_elements_that_do_not_fit() -> None:
    long = replace(
        GRAPH,
        descriptions=[f"About {name}. " + "word " * (40 if row < 3 else 20) for row, name in enumerate(GRAPH.names)],
    )
    left, right = np.array([0, 1, 2]), np.array([3, 4, 5])
    of = {name: Report(name, "Short.", 1.0, "", (Finding("F", ""),)) for name in ("left", "right")}
    room = tokens_of(element_lines(long, right)) + 20
    text = material(long, ALL, [(left, of["left"]), (right, of["right"])], room).text
    # The left part has more tokens, so its report replaces it, and the right one's elements then fit.
    assert text.startswith("- Report on left: Short.\n- F")
    assert "word" in text
    assert "Report on right" not in text
    everything = material(long, ALL, [(left, of["left"]), (right, of["right"])], 10_000).text
    assert everything == "\n".join(element_lines(long, ALL))
    assert material(long, ALL, (), 60).left_out > 0


def made_by(model: Model, tmp_path: Path, **options: object) -> Communities:
    index, info = stored("tiny", tmp_path / "index"), parts().named("communities")
    tools = PartTools(embed, model, meter=model.meter)
    build_part(index, info, info.configured(options), PartModels(model), tools)
    communities: Communities = read_part(index, info)
    return communities


def test_a_model_writes_the_reports_and_ten_findings_are_kept(tmp_path: Path) -> None:
    model = Model(lambda prompt: written("Bees"))
    communities = made_by(model, tmp_path)
    assert set(communities.table["made"].to_pylist()) == {BY_MODEL}
    assert set(communities.table["title"].to_pylist()) == {"Bees"}
    assert communities.rating.tolist() == [7.0] * len(communities)
    assert [len(communities.findings(row)) for row in range(len(communities))] == [10] * len(communities)
    assert len(model.prompts) == len(communities) == 3
    assert not communities.by_rule


@pytest.mark.parametrize("reply", ["no JSON", "{}", written("Bees", rating=11), written("", 5), '{"title": "a"'])
def test_a_report_that_cannot_be_used_twice_is_written_by_rule(reply: str, tmp_path: Path) -> None:
    first = "honey"  # only the community with honey gets a bad reply
    model = Model(lambda prompt: reply if f"- {first} (" in prompt else written("Bees"))
    communities = made_by(model, tmp_path)
    assert sorted(communities.table["made"].to_pylist()) == [BY_RULE, BY_MODEL, BY_MODEL]
    assert communities.n_by_rule == 1
    assert model.meter.read().faults == 1


def test_a_spent_budget_ends_the_part_and_the_next_attempt_makes_it(tmp_path: Path) -> None:
    with pytest.raises(BudgetSpent):
        made_by(Model(lambda prompt: written("Bees"), Meter(Budget(calls=1))), tmp_path)
    assert len(made_by(Model(lambda prompt: written("Bees")), tmp_path)) == 3


def test_claims_are_asked_for_each_chunk_and_kept_by_entity(tmp_path: Path) -> None:
    claim = json.dumps({"claims": [{"entity": "Mite", "claim": "It drinks."}, {"entity": "nobody", "claim": "x"}, 3]})
    model = Model(lambda prompt: claim if "Passage:" in prompt else written("Bees"))
    communities = made_by(model, tmp_path, claims=True)
    assert communities.claims.to_pylist() == [{"entity": 2, "chunk": 1, "description": "It drinks."}]
    assert communities.claims_of(np.array([2, 3])) == [(2, "It drinks.")]
    assert any("- claim on mite: It drinks." in prompt for prompt in model.prompts)


def test_without_a_model_there_are_no_claims_and_reports_say_who_wrote_them(tmp_path: Path) -> None:
    index, info = stored("tiny", tmp_path / "index"), parts().named("communities")
    build_part(index, info, info.configured({"claims": True}), PartModels(), PartTools(embed))
    communities: Communities = read_part(index, info)
    assert (communities.claims.num_rows, communities.by_rule) == (0, True)


def test_the_communities_of_a_level_divide_the_graph() -> None:
    tree = CommunityTree(
        np.array([0, 0, 1, 1]),
        np.array([-1, -1, 0, 0]),
        np.array([0, 3, 6, 8, 9]),
        np.array([0, 1, 2, 3, 4, 5, 0, 1, 2]),
    )
    made = communities_of(GRAPH, tree, PartTools(embed), max_tokens=1000, dimension=4)
    assert made.at_level(0).tolist() == [0, 1]
    assert made.at_level(1).tolist() == made.at_level(5).tolist() == [1, 2, 3]
    assert made.children_of(0).tolist() == [2, 3]
    assert made.membership.sum(axis=0).tolist() == [3, 3, 2, 1]
    assert made.table["id"].to_pylist() == ["community-0-0", "community-0-1", "community-1-0", "community-1-1"]


def test_communities_of_another_system_keep_their_reports_and_claims(tmp_path: Path) -> None:
    report = ImportedReport("Hive", "All about bees.", 6.0, (Finding("Queens", "lay eggs."),))
    given = (
        ImportedCommunity("b", 2, "a", "Small", ("id-gone", "id-honey")),
        ImportedCommunity("a", 1, "", "Large", ("id-honey", "id-queen"), report),
        ImportedCommunity("c", 1, "", "Gone", ("id-gone",)),
    )
    claims = (
        ImportedClaim("id-honey", "", "fact", "true", "It keeps.", chunk="chunk-1"),
        ImportedClaim("id-gone", "", "fact", "true", "Lost."),
    )
    write_index(tmp_path, small_index(), ImportedExtras("graphrag", given, claims))
    index, info = read_index(tmp_path), parts().named("communities")
    build_part(index, info, info.config(), PartModels(), PartTools(embed))
    made: Communities = read_part(index, info)
    assert [made.nodes[row].tolist() for row in range(len(made))] == [[0, 1], [1]]
    assert (made.level.tolist(), made.parent.tolist()) == ([0, 1], [-1, 0])
    assert made.table["title"].to_pylist() == ["Hive", "Small"]
    assert made.report(0) == "All about bees.\n- Queens lay eggs."
    assert set(made.table["made"].to_pylist()) == {IMPORTED}
    assert made.claims.to_pylist() == [{"entity": 1, "chunk": 1, "description": "It keeps."}]
    assert made != Communities(made.table, made.vectors, CLAIM_SCHEMA.empty_table(), 6)
    options = info.configured({"imported": False})
    record = build_part(index, info, options, PartModels(), PartTools(embed))
    assert record.fingerprint != info.part.fingerprint(index, info.config(), PartModels())
    assert read_part(index, info).by_rule
