import json

import pytest

from leanrag_core.prompts.catalog import load_prompt
from tests.endpoint.scripted_model import ScriptedModel, entity_names, recognise

PASSAGE = (
    "The tide mill at Carrow was built by Hester Lunn. Hester Lunn had learnt millwrighting from Amos Lunn. "
    "The railway ended the grinding, for the railway was cheap."
)
MEMBERS = "- Carrow (location): Carrow is a village.\n- Hester Lunn (person): Hester Lunn built it."
FIELDS = {
    "text": PASSAGE,
    "entity_types": "person, location",
    "name": "Carrow",
    "descriptions": "- Carrow is a village. It is small.\n- Carrow has a mill.",
    "max_tokens": "100",
    "members": MEMBERS,
    "relations": "- Hester Lunn / Carrow: Hester Lunn worked at Carrow.",
    "left_name": "Carrow matters",
    "left_description": "All of Carrow.",
    "right_name": "Lunn circle",
    "right_description": "The Lunns.",
    "context": "## Entities\n[E1] Carrow: A village.\n## Source chunks\n[C1] (Mills) Hester Lunn built the mill.",
    "question": "Who built the mill?",
}


def prompt(task: str) -> str:
    text = load_prompt(task)
    return text.fill(**{name: FIELDS[name] for name in text.fields})


def user(text: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": text}]


# Prompts of builds and of answers; to those of single strategies the model repeats what it was asked.
KNOWN = (
    "aggregate_entity",
    "aggregate_relation",
    "answer",
    "extract_graph",
    "glean_graph",
    "merge_descriptions",
)


@pytest.mark.parametrize("task", KNOWN)
def test_every_prompt_of_builds_and_answers_is_recognised(task: str):
    assert recognise(user(prompt(task)))[0] == task


def test_a_complaint_leaves_the_task_as_it_was():
    first = user(prompt("aggregate_entity"))
    complaint = "That cannot be used: no JSON. Answer again, in the form that was asked for."
    again = [*first, {"role": "assistant", "content": "?"}, *user(complaint)]
    assert ScriptedModel().reply(again) == ScriptedModel().reply(first)


def test_extraction_names_capitalised_runs_and_repeated_long_words():
    assert entity_names(PASSAGE) == ["Carrow", "Hester Lunn", "Amos Lunn", "railway"]
    reply = json.loads(ScriptedModel().reply(user(prompt("extract_graph"))).text)
    assert reply["entities"][1] == {
        "name": "Hester Lunn",
        "type": "person",
        "description": "Hester Lunn is named here: The tide mill at Carrow was built by Hester Lunn.",
    }
    assert [
        (relation["source"], relation["target"], relation["keywords"], relation["strength"])
        for relation in reply["relations"]
    ] == [
        ("Carrow", "Hester Lunn", ["built"], 5),
        ("Hester Lunn", "Amos Lunn", ["millwrighting"], 5),
    ]


def test_repeated_chinese_terms_are_entities():
    assert entity_names("骨质疏松，一种疾病。钙可治骨质疏松。骨质疏松，常见。") == ["骨质疏松"]


def test_entities_alone_are_given_when_asked_for_alone():
    text = prompt("extract_graph") + '\n\nGive the entities alone: {"entities": []}'
    assert list(json.loads(ScriptedModel().reply(user(text)).text)) == ["entities"]


def test_gleaning_finds_nothing_more_unless_scripted_to():
    asked = [*user(prompt("extract_graph")), {"role": "assistant", "content": "{}"}, *user(prompt("glean_graph"))]
    assert json.loads(ScriptedModel().reply(asked).text) == {"entities": [], "relations": [], "done": True}
    once_more = ScriptedModel(glean_one_more=True)
    reply = json.loads(once_more.reply(asked).text)
    assert ([entity["name"] for entity in reply["entities"]], reply["done"]) == (["millwrighting"], False)
    second = [*asked, {"role": "assistant", "content": "{}"}, *user(prompt("glean_graph"))]
    assert json.loads(once_more.reply(second).text) == {"entities": [], "relations": [], "done": True}


def test_an_aggregated_entity_is_named_after_two_members_and_unlike_any():
    written = json.loads(ScriptedModel().reply(user(prompt("aggregate_entity"))).text)
    assert written["name"].startswith("Carrow and Hester Lunn ")
    assert "Carrow is a village." in written["description"]
    assert [finding["summary"] for finding in written["findings"]] == [
        "Carrow is a village.",
        "Hester Lunn built it.",
        "Hester Lunn worked at Carrow.",
    ]
    taken = MEMBERS + "".join(f"\n- {written['name']} (group): G{n}." for n in range(1))
    text = load_prompt("aggregate_entity").fill(members=taken, relations="(none)")
    assert json.loads(ScriptedModel().reply(user(text)).text)["name"] != written["name"]


def test_the_other_prompts_get_sentences_of_their_material():
    model = ScriptedModel()
    merged = "Carrow is described so: Carrow is a village. Carrow has a mill."
    assert model.reply(user(prompt("merge_descriptions"))).text == merged
    joined = "Carrow matters stands in 1 relation to Lunn circle."
    assert model.reply(user(prompt("aggregate_relation"))).text == joined
    assert model.reply(user(prompt("answer"))).text == "(Mills) Hester Lunn built the mill. [C1]"
    assert model.reply(user("Hello there")).text == "You said: Hello there"
    assert ScriptedModel(further=(("^Judge", lambda text: "7"),)).reply(user("Judge this")).text == "7"
