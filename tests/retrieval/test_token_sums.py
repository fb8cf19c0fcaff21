from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leanrag_core.retrieval.base import Query, strategy
from leanrag_core.retrieval.budgets import Piece, blank_line_tokens, fixed, joined
from leanrag_core.storage.layout import read_index, write_index
from leanrag_core.text.tokens import count_tokens
from leanrag_core.types.graph import ENTITY_SCHEMA, ENTITY_TOKENS, RELATION_SCHEMA
from leanrag_core.types.index import Index
from tests.retrieval.tools import TOOLS
from tests.small_index import small_index, unit

# Letters, digits and marks that the vocabulary's pattern treats in its own way: contractions, several digits, runs of
# marks, spaces and line ends of many kinds, combining marks, letters of several bytes.
PIECES = ("a", "Ab", "12345", "'s", "'", ".", "...", '"', ")", ":", " ", "  ", "\n", "\r\n", "\t", "\u00a0", "\u0301")
TEXT = st.lists(st.sampled_from((*PIECES, "蜂", "🐝", "é", "x" * 1500, "!" * 1200)), max_size=8).map("".join)


@settings(max_examples=150)
@given(TEXT, TEXT, TEXT)
def test_the_pieces_of_a_line_count_what_the_whole_counts(name: str, parent: str, rest: str) -> None:
    texts = ("[E12]", f" {name}", " (part of", f" {parent}", "):", f" {rest}\n")
    pieces = [Piece(text, count_tokens(text)) for text in texts]
    assert joined(pieces) == count_tokens("".join(texts))
    assert joined(pieces[:5]) + pieces[5].tokens == count_tokens("".join(texts))


@settings(max_examples=150)
@given(TEXT)
def test_an_empty_line_adds_what_the_count_of_both_adds(text: str) -> None:
    line = f"[C1] {text}\n"
    assert count_tokens(line) + blank_line_tokens(line) == count_tokens(f"{line}\n")


def test_a_mark_at_the_end_of_a_name_is_counted_with_what_follows() -> None:
    # "!:" is one token of the vocabulary, "!" and ":" are two.
    pieces = [fixed(" Acme!"), fixed(":")]
    assert joined(pieces) == 3
    assert [piece.tokens for piece in pieces] == [3, 1]


def rewritten(table: pa.Table, schema: pa.Schema, texts: list[str], *columns: str) -> pa.Table:
    rows = table.to_pylist()
    for place, row in enumerate(rows):
        for column in columns:
            row[column] = texts[place % len(texts)] + (row[column] if column == "name" else "")
        if "findings" in row:
            row["findings"] = [{"summary": texts[0], "explanation": texts[-1]}, {"summary": "s", "explanation": ""}]
    return pa.Table.from_pylist(rows, schema=schema)


@settings(max_examples=40)
@given(st.lists(TEXT, min_size=1, max_size=5), st.integers(0, 400), st.booleans())
def test_a_context_counts_the_tokens_of_its_text_and_keeps_its_budgets(
    texts: list[str], budget: int, findings: bool
) -> None:
    index = small_index()
    layers = tuple(
        replace(
            layer,
            entities=rewritten(layer.entities, ENTITY_SCHEMA, texts, "name", "description"),
            relations=rewritten(layer.relations, RELATION_SCHEMA, texts, "description"),
        )
        for layer in index.layers
    )
    assert_exact(replace(index, layers=layers), budget, findings)


def assert_exact(index: Index, budget: int, findings: bool) -> None:
    options = dict.fromkeys(("entity_tokens", "aggregated_tokens", "relation_tokens", "chunk_tokens"), budget)
    made = strategy("leanrag", {"top_n": 6, "findings": findings, **options})
    context = made.retrieve(Query("what?", unit([[1, 0, 1, 0.2]])[0]), index, TOOLS).context
    for section in context.sections:
        assert section.tokens == count_tokens(section.text) <= budget
        lines = [f"[{item.mark}] {item.text}\n" for item in section.items]
        assert [item.tokens for item in section.items] == [count_tokens(line) for line in lines]
    assert context.tokens == count_tokens(context.text)


@pytest.mark.parametrize("findings", [False, True])
def test_counts_read_from_disk_give_the_context_that_counting_gives(tmp_path: Path, findings: bool) -> None:
    index = small_index()
    texts = ["A hive's 12345 bees ", "Wax! ", "蜂 "]
    layers = tuple(
        replace(layer, entities=rewritten(layer.entities, ENTITY_SCHEMA, texts, "name", "description"))
        for layer in index.layers
    )
    index = replace(index, layers=layers)
    write_index(tmp_path, index)
    read = read_index(tmp_path)
    assert set(ENTITY_TOKENS) <= set(read.layers[1].token_counts)
    assert index.layers[1].token_counts == {}
    for budget in (30, 60, 120, 1000):
        assert_exact(read, budget, findings)
        query, made = Query("what?", unit([[1, 0, 1, 0.2]])[0]), strategy("leanrag", {"findings": findings})
        assert made.retrieve(query, read, TOOLS).context == made.retrieve(query, index, TOOLS).context
