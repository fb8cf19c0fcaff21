"""Descriptions of entities and relations that are too long for an index."""

import numpy as np
import pyarrow as pa
import pytest

from leanrag_core.indexing.condensing import LONGEST, beginning, condense
from leanrag_core.models.base import Completion
from leanrag_core.prompts.catalog import PromptBook
from leanrag_core.text.tokens import count_tokens
from leanrag_core.types.calls import Usage
from leanrag_core.types.graph import ENTITY_SCHEMA, RELATION_SCHEMA, Graph
from tests.small_index import entity, relation

# Sixty descriptions of a relation: 25 tokens or so each, joined.
TOLD = " ".join(
    f"In chapter {n} the keeper of the northern hives sells wax and honey to the miller at the old bridge."
    for n in range(60)
)
SHORT = "Wax melts."


def graph(entities: list[str], relations: list[str]) -> Graph:
    rows = [entity(f"n{row}", [], text) for row, text in enumerate(entities)]
    pairs = [relation(0, row + 1, description=text) for row, text in enumerate(relations)]
    return Graph(pa.Table.from_pylist(rows, schema=ENTITY_SCHEMA), pa.Table.from_pylist(pairs, schema=RELATION_SCHEMA))


class Scripted:
    name = "scripted"
    fingerprint = "scripted:1"

    def __init__(self, reply: str) -> None:
        self.reply, self.prompts = reply, list[str]()

    def complete(self, messages: list[dict[str, str]], **options: object) -> Completion:
        self.prompts.append(messages[0]["content"])
        return Completion(self.reply, "stop", Usage(calls=1))


def test_a_relation_described_in_sixty_chunks_is_condensed_like_an_entity() -> None:
    assert count_tokens(TOLD) > 2 * LONGEST
    model = Scripted("They trade in wax and honey.")
    made = condense(graph([TOLD, SHORT, SHORT], [TOLD, SHORT]), model, PromptBook())
    assert made.graph.entities["description"].to_pylist() == ["They trade in wax and honey.", SHORT, SHORT]
    assert made.graph.relations["description"].to_pylist() == ["They trade in wax and honey.", SHORT]
    assert made.usage.calls == len(model.prompts) == 2
    assert "the relation between n0 and n1" in model.prompts[1]
    assert TOLD in model.prompts[1]
    assert made.drops == ()


@pytest.mark.parametrize("model", [None, Scripted("  ")], ids=["built-in", "a model without words"])
def test_where_no_model_condenses_the_first_sentences_stay_and_the_loss_is_reported(model: Scripted | None) -> None:
    made = condense(graph([SHORT, SHORT], [TOLD]), model, PromptBook())
    [kept] = made.graph.relations["description"].to_pylist()
    assert TOLD.startswith(kept)
    assert kept.endswith("bridge.")
    assert LONGEST / 2 < count_tokens(kept) <= LONGEST
    assert [(drop.stage, drop.item) for drop in made.drops] == [("merge", "relation 'n0 and n1'")]


def test_other_cells_and_short_descriptions_stay_as_they_are() -> None:
    before = graph([SHORT, SHORT], [TOLD])
    after = condense(before, None, PromptBook()).graph
    assert after.entities == before.entities
    assert after.relations.drop_columns(["description"]) == before.relations.drop_columns(["description"])
    assert after.relations.schema == before.relations.schema


def test_a_text_without_sentence_ends_is_cut_where_it_fits() -> None:
    text = "wax " * 900
    assert 0 < count_tokens(beginning(text, 100)) <= 100
    assert beginning("蜂が飛ぶ。" * 300, 100).endswith("。")
    rng = np.random.default_rng(0)
    for limit in rng.integers(1, 300, 20).tolist():
        assert count_tokens(beginning(TOLD, limit)) <= limit
