import pytest

from leanrag_core.errors import InvalidConfig
from leanrag_core.prompts.catalog import Prompt, load_prompt, tasks

FIELDS = {
    "aggregate_entity": {"members", "relations"},
    "aggregate_relation": {
        "left_name",
        "left_description",
        "right_name",
        "right_description",
        "relations",
        "max_tokens",
    },
    "answer": {"context", "question"},
    "summarise_passages": {"passages", "max_tokens"},
    "map_reports": {"question", "reports"},
    "rate_report": {"question", "report"},
    "reduce_points": {"question", "points"},
    "community_report": {"elements"},
    "extract_claims": {"entities", "text"},
    "extract_graph": {"entity_types", "text"},
    "glean_graph": {"entity_types"},
    "imagine_questions": {"n", "user", "task", "corpus"},
    "imagine_tasks": {"n", "user", "corpus"},
    "imagine_users": {"n", "corpus"},
    "infer_names_open": {"context", "question", "answer", "placeholders"},
    "infer_names_reject": {"context", "question", "answer", "placeholders"},
    "judge_conflict": {"what", "names", "first", "second"},
    "judge_gold": {"mark", "question", "gold", "first"},
    "judge_pair": {"mark", "question", "first", "second"},
    "judge_score": {"mark", "question", "first"},
    "list_claims": {"mark", "answer"},
    "merge_descriptions": {"name", "descriptions", "max_tokens"},
}


@pytest.mark.parametrize("task", sorted(FIELDS))
def test_every_task_has_a_prompt_with_the_fields_its_caller_knows(task: str) -> None:
    prompt = load_prompt(task)
    assert prompt.fields == FIELDS[task]
    assert prompt.fill(**{field: f"<{field}>" for field in FIELDS[task]}).count("<") >= len(FIELDS[task])


def test_the_catalog_lists_all_tasks() -> None:
    assert set(FIELDS) <= set(tasks())


def test_the_version_asked_for_is_the_one_loaded() -> None:
    assert load_prompt("answer", 1).version == 1
    with pytest.raises(InvalidConfig, match="no prompt answer v99"):
        load_prompt("answer", 99)
    with pytest.raises(InvalidConfig, match="no prompt nonsense"):
        load_prompt("nonsense")


def test_filling_reports_missing_and_unknown_fields() -> None:
    prompt = Prompt("demo", 1, "Hello {name}.")
    with pytest.raises(InvalidConfig, match="needs the fields name"):
        prompt.fill()
    with pytest.raises(InvalidConfig, match="given were extra, name"):
        prompt.fill(name="x", extra="y")


def test_braces_in_a_value_and_json_in_a_text_stay_as_they_are() -> None:
    prompt = Prompt("demo", 1, 'Give {"a": 1} for {text}.')
    assert prompt.fill(text="{text} {other}") == 'Give {"a": 1} for {text} {other}.'


def test_another_text_has_another_fingerprint() -> None:
    assert Prompt("demo", 1, "a").fingerprint != Prompt("demo", 1, "b").fingerprint
    assert Prompt("demo", 1, "a").fingerprint == Prompt("demo", 1, "a").fingerprint
