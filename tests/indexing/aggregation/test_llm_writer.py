import json
from dataclasses import replace

import numpy as np
import pytest

from leanrag_core.errors import ReplyError
from leanrag_core.indexing.aggregation.llm_writer import ENTITY_REPLY, LLMWriter
from leanrag_core.indexing.aggregation.summary_reply import faults_of, parse_summary
from leanrag_core.indexing.aggregation.writer import ClusterView, InsideRelation, RelationGroupView
from leanrag_core.models.base import Completion
from leanrag_core.text.tokens import count_tokens
from leanrag_core.types.calls import Usage

GOOD = {
    "name": "Enemies of the hive",
    "description": "What harms a colony.",
    "findings": [{"summary": "Mites feed on brood.", "explanation": "They weaken the colony."}],
}


class ScriptedModel:
    name = fingerprint = "scripted"

    def __init__(self, *replies):
        self.replies, self.asked = list(replies), []

    def complete(self, messages, *, schema=None, max_tokens=None, **options):
        self.asked.append((messages, schema))
        reply = self.replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        reply, finish = reply if isinstance(reply, tuple) else (reply, "stop")
        return Completion(reply, finish, Usage(1, 10, 5), asked_again="stands_for" in options)


def cluster(description="A small animal.", n=2):
    return ClusterView(
        layer=1,
        label=0,
        rows=tuple(range(n)),
        names=("varroa mite", "wax moth", *(f"beetle {row}" for row in range(2, n))),
        types=("organism",) * n,
        descriptions=(description,) * n,
        vectors=np.ones((n, 1), dtype=np.float32),
        degrees=(0, 1, *(0,) * (n - 2)),
        relations=(InsideRelation(0, 1, "stated", 1.0, 1, (), "Both live in hives."),),
    )


GROUP = RelationGroupView(
    1, "Pests", "Harmful.", "Hives", "Homes.", 5, (("stated", 5),), (), ("Mites enter hives.",), (("mite", "hive"),)
)


def test_a_good_reply_is_taken_as_it_is():
    model = ScriptedModel(json.dumps(GOOD))
    summary = LLMWriter(model).entity(cluster())
    assert (summary.name, summary.description) == (GOOD["name"], GOOD["description"])
    assert summary.findings[0].explanation == "They weaken the colony."
    assert summary.usage == Usage(1, 10, 5)
    assert summary.drops == ()
    assert model.asked[0][1] is ENTITY_REPLY


def test_the_prompt_holds_members_and_relations_the_most_connected_first():
    model = ScriptedModel(json.dumps(GOOD))
    LLMWriter(model).entity(cluster())
    prompt = model.asked[0][0][0]["content"]
    assert 0 < prompt.index("wax moth (organism)") < prompt.index("varroa mite (organism)")
    assert "Both live in hives." in prompt


def test_broken_json_is_mended():
    reply = "```json\n" + json.dumps(GOOD)[:-1] + ",\n```"
    assert LLMWriter(ScriptedModel(reply)).entity(cluster()).name == GOOD["name"]


def test_a_members_name_is_asked_for_again_with_the_reason():
    model = ScriptedModel(json.dumps({**GOOD, "name": "Varroa  Mite"}), json.dumps(GOOD))
    summary = LLMWriter(model).entity(cluster())
    assert summary.name == GOOD["name"]
    assert len(model.asked) == 2
    assert summary.usage.calls == 1, "a refused reply is the meter's, so that a resumed build records the same"
    assert "already the name of a member" in model.asked[1][0][-1]["content"]
    assert summary.drops == ()


def test_after_two_bad_replies_the_builtin_writer_writes_and_a_drop_says_so():
    summary = LLMWriter(ScriptedModel("no", "no again")).entity(cluster())
    assert summary.name
    assert summary.usage.calls == 0
    assert [drop.stage for drop in summary.drops] == ["aggregate entities"]
    assert "built-in writer" in summary.drops[0].reason


def test_a_model_that_refuses_is_asked_once_more_and_then_replaced():
    model = ScriptedModel(*[ReplyError("the reply was filtered")] * 3, json.dumps(GOOD))
    summary = LLMWriter(model).entity(cluster())
    assert "filtered, 2 times; the built-in writer" in summary.drops[0].reason
    assert LLMWriter(model).entity(cluster()).name == GOOD["name"]


def test_members_that_do_not_fit_are_counted():
    model = ScriptedModel(json.dumps(GOOD))
    summary = LLMWriter(model, input_tokens=300).entity(cluster("A small animal of the hive. " * 10, n=12))
    prompt = model.asked[0][0][0]["content"]
    shown = sum(f"beetle {row} (organism)" in prompt for row in range(2, 12)) + 2
    assert 2 <= shown < 12
    assert f"{12 - shown} members did not fit" in summary.drops[0].reason


def test_a_relation_is_one_line_within_its_limit():
    writer = LLMWriter(
        ScriptedModel('"Pests live\n in hives."', " ".join(f"word{n}" for n in range(300))), sentence_tokens=20
    )
    assert writer.relation(GROUP).text == "Pests live in hives."
    long = writer.relation(GROUP)
    assert count_tokens(long.text) <= 20
    assert "cut at 20 tokens" in long.drops[0].reason


def test_texts_that_fit_are_not_cut_and_others_are_cut_to_one_length_with_a_count():
    long = " ".join(f"word{n}" for n in range(300))
    model = ScriptedModel(*[json.dumps(GOOD)] * 2)
    whole = LLMWriter(model).entity(cluster(long))
    assert model.asked[0][0][0]["content"].count("word299") == 2
    assert whole.drops == ()
    cut = LLMWriter(model, input_tokens=900).entity(cluster(long))
    prompt = model.asked[1][0][0]["content"]
    assert "varroa mite" in prompt
    assert "word299" not in prompt
    assert prompt.count("word100 ") == 2
    assert [drop.reason for drop in cut.drops] == [
        "the texts of 2 members were cut to fit into the 900 tokens of the prompt"
    ]


@pytest.mark.parametrize(
    ("sentence", "fault"),
    [
        ("Pests live in hives. They harm them.", "2 sentences"),
        ("Pests such as the Varroa Mite live in hives.", "'varroa mite'"),
    ],
)
def test_a_sentence_that_is_not_as_asked_is_asked_for_once_more_then_kept_and_reported(sentence, fault):
    group = replace(GROUP, pairs=(("varroa mite", "hives"),))
    model = ScriptedModel(sentence, "Pests live in hives, as Dr. Moss of St. Ives says.")
    better = LLMWriter(model).relation(group)
    assert better.text == "Pests live in hives, as Dr. Moss of St. Ives says."
    assert better.drops == ()
    assert fault in model.asked[1][0][-1]["content"]
    kept = LLMWriter(ScriptedModel(sentence, sentence)).relation(group)
    assert kept.text == sentence
    assert len(kept.drops) == 1
    assert fault in kept.drops[0].reason


def test_words_of_the_groups_and_common_nouns_name_no_member():
    group = replace(GROUP, left_name="Varroa mite and its kin", pairs=(("Varroa mite", "brood"),))
    assert faults_of("Varroa mite and its kin feed on brood.", group) == []
    eastern = replace(GROUP, pairs=(("蜂群", "蜂螨"),))
    assert len(faults_of("害虫与蜂群有关。", eastern)) == 1


def test_a_cut_sentence_is_not_taken():
    model = ScriptedModel(("Pests live in", "length"), "Pests live in hives.")
    assert LLMWriter(model).relation(GROUP).text == "Pests live in hives."
    stays = LLMWriter(ScriptedModel(("Pests live in", "length"), ("Pests", "length"))).relation(GROUP)
    assert "joined by 5 relations" in stays.text
    assert "cut at the token limit" in stays.drops[0].reason


def test_a_silent_model_gets_the_builtin_sentence():
    sentence = LLMWriter(ScriptedModel(" ", "")).relation(GROUP)
    assert sentence.text == "“Pests” and “Hives” are joined by 5 relations."
    assert "built-in writer" in sentence.drops[0].reason


def test_findings_are_taken_in_any_form_that_says_something_and_the_others_are_reported():
    listed = [{"explanation": "x"}, "text", {"summary": "Kept."}, {"Title": "T", "details": "d"}, 7, {}, ""]
    written = LLMWriter(ScriptedModel(json.dumps({**GOOD, "findings": listed}))).entity(cluster())
    assert [(finding.summary, finding.explanation) for finding in written.findings] == [
        ("x", ""),
        ("text", ""),
        ("Kept.", ""),
        ("T", "d"),
    ]
    assert len(written.drops) == 3
    assert all(drop.stage == "aggregate entities" and "cluster 0" in drop.item for drop in written.drops)
    assert [finding.summary for finding in parse_summary(json.dumps({**GOOD, "findings": "One."}), []).findings] == [
        "One."
    ]


def test_a_summary_that_breaks_off_is_asked_for_again():
    model = ScriptedModel(json.dumps(GOOD)[:-40], json.dumps(GOOD))
    written = LLMWriter(model).entity(cluster())
    assert written.findings[0].explanation == "They weaken the colony."
    assert "breaks off" in model.asked[1][0][-1]["content"]


@pytest.mark.parametrize("reply", ["", "[]", "7", '{"name": "x"}', '{"name": " ", "description": "y"}'])
def test_replies_without_the_parts_are_refused(reply):
    with pytest.raises(ReplyError):
        parse_summary(reply, [])
