import numpy as np
import pytest

from leanrag_core.answering import answer_from, ask_record, split_sentences, write_answer
from leanrag_core.models.base import Completion
from leanrag_core.models.minilm import MiniLM
from leanrag_core.retrieval.base import Query, strategy
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Trace
from leanrag_core.types.usage import Usage
from tests.small_index import unit


@pytest.fixture(scope="module")
def model() -> MiniLM:
    return MiniLM(threads=1)


def trace_of(index: Index, question: str) -> Trace:
    return strategy("leanrag", {"top_n": 6, "top_c": 4}).retrieve(Query(question, unit([[1, 1, 1, 1]])[0]), index)


def answer(index: Index, model: MiniLM, question: str):  # type: ignore[no-untyped-def]
    trace = trace_of(index, question)
    return answer_from(trace, model, model.embed([question])[0])


def test_the_sentence_that_answers_is_cited_to_its_chunk(index: Index, model: MiniLM) -> None:
    made = answer(index, model, "What keeps beetles away?")
    assert made.parts[0].text == "The seed coat keeps beetles away."
    chunk_mark = made.parts[0].marks[0]
    items = {item.mark: item for item in made.trace.context.section("chunks").items}
    assert "seed coat keeps beetles" in items[chunk_mark].text
    assert made.grounded
    assert made.extractive


def test_a_question_about_something_else_is_not_answered(index: Index, model: MiniLM) -> None:
    made = answer(index, model, "Who won the football world cup in 1954?")
    assert not made.grounded
    assert made.citations == ()
    assert made.text.startswith("Nothing in the context answers this.")


def test_sentences_end_where_a_reader_would_end_them() -> None:
    text = "Dr. A. Smith, e.g. of Leeds, saw bees. They danced!  (Some slept.) Was it cold?\n\nYes"
    assert split_sentences(text) == [
        "Dr. A. Smith, e.g. of Leeds, saw bees.",
        "They danced!",
        "(Some slept.)",
        "Was it cold?",
        "Yes",
    ]


class ScriptedModel:
    name = "scripted"
    fingerprint = "scripted:1"

    def __init__(self, reply: str) -> None:
        self.reply, self.prompts = reply, list[str]()

    def complete(self, messages: list[dict[str, str]], **options: object) -> Completion:
        self.prompts.append(messages[-1]["content"])
        return Completion(self.reply, "stop", Usage(calls=1, prompt_tokens=7))


def test_a_written_answer_keeps_only_marks_that_the_context_has(index: Index) -> None:
    trace = trace_of(index, "What do bees make?")
    language = ScriptedModel("Bees make honey [C1][E2]. They fly to Mars [C99].")
    made = write_answer(trace, language)
    assert [(part.text, part.marks) for part in made.parts] == [
        ("Bees make honey.", ("C1", "E2")),
        ("They fly to Mars.", ()),
    ]
    assert made.usage.prompt_tokens == 7
    assert trace.context.text in language.prompts[0]
    assert "What do bees make?" in language.prompts[0]


def test_the_record_has_the_fields_that_the_command_line_promises(index: Index, model: MiniLM) -> None:
    made = answer(index, model, "What keeps beetles away?")
    record = ask_record(made.trace, made)
    assert set(record) >= {"question", "strategy", "parameters", "seeds", "lca", "nodes", "relations", "chunks"}
    assert set(record["context"]["tokens"]) == {"total", "entities", "aggregated", "relations", "chunks"}
    assert record["lca"] == {"id": "id-farm", "name": "farm", "layer": 2}
    assert record["answer"]["citations"] == list(made.citations)
    assert np.isfinite(record["timings_ms"]["total"])
