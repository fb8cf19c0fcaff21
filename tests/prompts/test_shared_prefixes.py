"""Providers read the common beginning of prompts once and charge less for it the next time. So instructions stand
before what differs from call to call."""

import re
from pathlib import Path

import pytest

from leanrag_core.indexing.extraction.llm import LLMExtractor
from leanrag_core.models.base import Completion
from leanrag_core.models.registry import Models
from leanrag_core.prompts.catalog import load_prompt, tasks
from leanrag_core.storage.calls import CallStore
from leanrag_core.text.tokens import count_tokens
from leanrag_core.types.calls import NO_USAGE
from leanrag_core.types.settings import Settings

CACHED_FROM = 1024  # tokens of a common beginning; shorter ones no hosted provider keeps
# Fields that are the same in all calls of one piece of work: of an index, a question set, a judge's run.
CONSTANT = {
    "extract_graph": {"entity_types"},
    "extract_graph_short": {"entity_types"},
    "glean_graph": {"entity_types"},
    "extract_attributes": {"schema"},
    "decompose_question": {"most", "types"},
    "refine_schema": {"most", "schema"},
    "imagine_users": {"n", "corpus"},
    "imagine_tasks": {"n"},
    "imagine_questions": {"n"},
    "summarise_passages": {"max_tokens"},
    "merge_descriptions": {"max_tokens"},
    "aggregate_relation": {"max_tokens"},
}
TAIL = 48  # tokens behind the first field that differs: fences, labels, the form of the reply
# Their rules stand behind the material. All that is common to two of these prompts is far too short to be kept by any
# provider, so they stay as they are: another text would be asked again wherever its answers are kept.
RULES_BEHIND = {"aggregate_relation", "judge_gold", "judge_pair", "judge_score", "list_claims", "merge_descriptions"}
BEGINNINGS = {  # the tokens of the longest shared beginnings
    "extract_graph": 962,
    "extract_graph_short": 267,
    "extract_attributes": 249,
    "community_report": 231,
    "answer_reject": 219,
    "aggregate_entity": 201,
}


def parts_of(task: str) -> list[str]:
    """Return the text around the fields that differ from call to call, in order."""
    prompt = load_prompt(task)
    constant = CONSTANT.get(task, set())
    text = re.sub(r"\{([a-z_]+)\}", lambda field: "same" if field[1] in constant else field[0], prompt.text)
    return re.split(r"\{[a-z_]+\}", text)


@pytest.mark.parametrize("task", tasks())
def test_what_prompts_have_in_common_comes_before_what_differs(task: str) -> None:
    first, *behind = map(count_tokens, parts_of(task))
    if task in RULES_BEHIND:
        assert sum(behind) > TAIL, "it is no exception any more"
        assert first + sum(behind) < CACHED_FROM / 2, "its rules are worth being moved to the front"
    else:
        assert sum(behind) <= TAIL, f"{sum(behind)} tokens stand behind the material"


def test_the_shared_beginnings_by_name() -> None:
    tokens = {task: count_tokens(parts_of(task)[0]) for task in tasks()}
    assert {task: abs(tokens[task] - known) <= 3 for task, known in BEGINNINGS.items()} == dict.fromkeys(
        BEGINNINGS, True
    )
    others = {task for task in tasks() if tokens[task] > min(BEGINNINGS.values())}
    assert others <= set(BEGINNINGS)


def test_two_passages_share_all_but_themselves_and_gleaning_shares_the_whole_first_call(tmp_path: Path) -> None:
    model = Models(Settings(base_url="http://127.0.0.1:1/v1"), CallStore(tmp_path)).language("openai:m")
    assert model is not None
    extractor = LLMExtractor(model, entity_types=("person", "place"))
    one, other = (extractor.first_messages(text)[0]["content"] for text in ("Ada met Charles.", "Bees dance."))
    beginning = load_prompt("extract_graph").fill(entity_types="person, place", text="").rpartition("\nPASSAGE>>>")[0]
    assert one.startswith(beginning)
    assert other.startswith(beginning)
    first = extractor.first_messages("Ada met Charles.")
    more = extractor._next_messages(first, Completion('{"entities": []}', "stop", NO_USAGE))
    assert more[: len(first)] == first
