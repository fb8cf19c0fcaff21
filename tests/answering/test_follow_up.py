"""How a follow-up is made to stand alone: by the rule on names, and by a model's reply."""

from dataclasses import dataclass, field
from typing import Any

import pytest

from leanrag_core.answering.follow_up import MODEL, RULE, by_model, by_rule
from leanrag_core.models.base import Completion
from leanrag_core.prompts.catalog import load_prompt
from leanrag_core.queries.entity_search import names_in
from leanrag_core.types.calls import Usage
from leanrag_core.types.index import Index

BEFORE = "What does the seed coat do for rape?"


def ruled(index: Index, question: str, before: str = BEFORE) -> tuple[str, str]:
    made = by_rule(question, before, names_in(index, before), names_in(index, question))
    assert made.way == RULE
    return made.question, made.said.code


def test_names_of_entities_are_whole_words_the_longest_first(index: Index) -> None:
    assert names_in(index, BEFORE) == ["seed coat", "rape"]
    assert names_in(index, "Mites and honeydew") == []


def test_the_names_of_the_question_before_follow_what_points_back(index: Index) -> None:
    assert ruled(index, "Who invented it?") == ("Who invented it? (seed coat, rape)", "follow.names")
    assert ruled(index, "And in winter?") == ("And in winter? (seed coat, rape)", "follow.names")
    assert ruled(index, "Does it harm honey and rape?") == (
        "Does it harm honey and rape? (seed coat)",
        "follow.names",
    )


def test_a_question_that_names_its_own_subject_is_left_as_it_is(index: Index) -> None:
    assert ruled(index, "Who feeds the queen?") == ("Who feeds the queen?", "follow.stands_alone")


def test_the_question_before_comes_first_where_it_names_nothing(index: Index) -> None:
    assert ruled(index, "And why?", "How cold is it?") == ("How cold is it? And why?", "follow.question")
    assert ruled(index, "And why?", "") == ("And why?", "follow.nothing_to_add")


def test_words_of_chinese_point_back_too(index: Index) -> None:
    made = by_rule("它什么时候产卵？", "蜂王是什么？", ["蜂王"], [])
    assert made.question == "它什么时候产卵？ (蜂王)"


@dataclass
class Scripted:
    """Says one reply, and notes what it was asked."""

    text: str
    name: str = "openai:m"
    fingerprint: str = "m"
    asked: list[str] = field(default_factory=list)

    def complete(self, messages: list[dict[str, str]], **more: Any) -> Completion:
        self.asked.append(messages[0]["content"])
        return Completion(self.text, "stop", Usage(calls=1, prompt_tokens=5, completion_tokens=3))


def test_a_model_reads_the_thread_and_its_line_is_the_question() -> None:
    model = Scripted(' "Who invented the seed coat?"\n')
    made = by_model("Who invented it?", ["What is rape?", BEFORE], "It keeps beetles away.", model)
    assert made is not None
    assert (made.question, made.way, made.usage.calls) == ("Who invented the seed coat?", MODEL, 1)
    [asked] = model.asked
    assert f"- What is rape?\n- {BEFORE}\n(Answer: It keeps beetles away.)" in asked
    assert "Last question: Who invented it?" in asked


ECHO = f"You said: {load_prompt('standalone_question').text}"


@pytest.mark.parametrize("text", ["", "  \n", "x" * 2_001, ECHO, ECHO[:200]])
def test_a_reply_that_is_no_question_is_not_taken(text: str) -> None:
    assert by_model("Who?", [BEFORE], "", Scripted(text)) is None
