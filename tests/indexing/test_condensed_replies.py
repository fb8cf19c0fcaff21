"""What becomes of a condensed description that is cut, or longer than it may be."""

from typing import Any

from leanrag_core.indexing.condensing import LONGEST, Condensed, condense
from leanrag_core.indexing.resolution import resolve
from leanrag_core.models.base import Completion
from leanrag_core.prompts.catalog import PromptBook
from leanrag_core.text.tokens import count_tokens
from leanrag_core.types.calls import Usage
from leanrag_core.types.corpus import Chunk
from leanrag_core.types.extraction import Extraction, Mention

LONG = " ".join(f"word{n}" for n in range(600))


class Scripted:
    name = fingerprint = "scripted"

    def __init__(self, *replies: tuple[str, str]) -> None:
        self.replies = list(replies)

    def complete(self, messages: list[dict[str, str]], **options: Any) -> Completion:
        return Completion(*self.replies.pop(0), Usage(1))


def condensed(*replies: tuple[str, str]) -> Condensed:
    chunk = Chunk("c", "d", 0, 0, 4, 1, "text")
    extraction = Extraction("c", (Mention("Ada", "person", LONG, "c"),), ())
    graph = resolve([extraction], [chunk], heuristic=False).graph
    return condense(graph, Scripted(*replies), PromptBook())


def description(result: Condensed) -> str:
    return str(result.graph.entities["description"][0].as_py())


def test_a_reply_that_is_cut_is_asked_for_again() -> None:
    result = condensed(("Ada wrote and", "length"), ("Ada wrote.", "stop"))
    assert description(result) == "Ada wrote."
    assert result.drops == ()


def test_two_cut_replies_leave_the_descriptions_and_a_drop() -> None:
    result = condensed(("Ada wrote and", "length"), ("Ada", "length"))
    assert description(result).startswith("word0 word1")
    assert "cut at the token limit" in result.drops[0].reason


def test_a_reply_that_is_too_long_is_cut_and_the_cut_is_reported() -> None:
    result = condensed((LONG, "stop"))
    assert count_tokens(description(result)) <= LONGEST
    assert [drop.reason for drop in result.drops] == [f"the condensed description was cut at {LONGEST} tokens"]
