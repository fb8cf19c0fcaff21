"""Counting the tokens of context lines: by adding stored counts, and by the tokenizer."""

import time

from leanrag_core.retrieval.budgets import Candidate, Piece, fixed
from leanrag_core.text.tokens import count_tokens, rest_of_line
from tests.large_index import large_index

TITLE = "Tokens of n context lines, added from stored counts and counted by tiktoken"
SIZES = (10_000,)


def measure(size: int) -> dict[str, float | int | str]:
    """Return the microseconds of a line in both ways, and how many lines they count differently."""
    cells = large_index(size).layers[0].entities.select(["name", "description"]).to_pylist()
    lines = []
    for cell in cells:
        name, said = cell["name"], cell["description"]
        head = (Piece(f" {name}", count_tokens(f" {name}")), fixed(":"))
        lines.append(Candidate("entity", name, f"{name}:", said, head, count_tokens(rest_of_line(said))))
    marks = [f"E{place + 1}" for place in range(size)]
    for mark in marks:
        fixed(f"[{mark}]")
    started = time.perf_counter()
    added = [line.tokens(mark) for line, mark in zip(lines, marks, strict=True)]
    between = time.perf_counter()
    counted = [count_tokens(f"[{mark}] {line.lead} {line.text}\n") for line, mark in zip(lines, marks, strict=True)]
    ended = time.perf_counter()
    return {
        "added_us": round((between - started) / size * 1e6, 2),
        "counted_us": round((ended - between) / size * 1e6, 2),
        "tokens_a_line": round(sum(counted) / size, 1),
        "different": sum(left != right for left, right in zip(added, counted, strict=True)),
    }
