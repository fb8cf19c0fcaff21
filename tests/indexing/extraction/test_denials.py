"""Descriptions that say that there is no relation: found, and told from those that say one."""

import json
from pathlib import Path

import pytest

from benchmarks.denials import planted
from leanrag_core.indexing.chunking import chunk_documents
from leanrag_core.indexing.extraction.builtin import BuiltinExtractor
from leanrag_core.indexing.extraction.denials import denies, denies_pair
from leanrag_core.indexing.extraction.reply import parse_reply
from leanrag_core.types.corpus import Document
from leanrag_core.workbench.samples import SAMPLES
from tests.reading import read_graph

DENIALS = """\
There is no clear relation between the two.
The mill is not related to the lighthouse.
No relationship is mentioned in the passage.
These two entities are not directly connected.
No direct connection between Ada Thornbury and Hester Lunn is stated.
The text does not mention any relationship between them.
Bees and paraffin are unrelated.
The relationship between the queen and the reef is unclear.
There isn't any link between the board and the hive.
The passage gives no explicit association between the two.
The two are mentioned together but have no stated relation.
It is not specified how the keeper relates to the lens.
No specific relationship described.
None.
No connection.
The connection between them is not explained in the text.
Neither is linked to the other.
The document does not specify a relationship.
They do not interact with each other.
The relation is unknown.
Although both appear in the chapter, they have no known ties.
The author does not connect the two.
There are no explicit links between oxalic acid and the Coast Board.
Their relationship is not defined.
Oxalic acid is in no way related to Holm Rock.
The two concepts aren't explicitly linked.
No apparent relationship exists between clover and the tribunal.
The relationship, if any, is not stated.
Mentioned in the same paragraph without any relation.
The passage does not establish a connection.
No evidence of a relation is given.
There seems to be no relationship between the entities.
The two are independent of each other.
X has nothing to do with Y.
No relation found.
The mite is not associated with the tide mill.
Nothing in the passage links the two.
It is unclear how these are related.
They are not known to be connected.
The text provides no information about a relationship between them.
There is no meaningful association.
Not related.
Unrelated entities.
no clear relationship
N/A
The passage says nothing about how they are related.
Not directly linked in the text.
They lack any direct connection.
No obvious link is apparent.
The entities do not share a relationship.
两者没有明确的关系。
文中未提及二者之间的关系。
李冰与活水公园无关。
两者之间不存在直接联系。
二者关系不明。
没有直接关联。
都江堰与紫坪铺并不相关。
文中没有说明两者的关系。
看不出任何联系。
两者毫无关系。
The excerpt offers no direct link between the queen and the Coast Board.
No relationship could be identified from the text.
The source does not describe any connection between paraffin and mites.
Grey Harbour and clover have no association in this passage.
The two terms are never connected.
There was no interaction between them.
These are separate topics with no relation to one another.
Nothing suggests a relationship.
It is not stated whether they are related.
The nature of their relationship is unspecified.
The lens is not linked with the tribunal.
Ada Thornbury has no relation to oxalic acid.
There are not any known ties between the two boards.
The passage doesn't mention a relationship.
The relation between the two is not described.
The two are not linked in any way.
No association is given in this chunk.
Their connection remains unknown.
这两个实体之间没有联系。
文本没有提到它们有什么关系。
The passage shows no link between the harbour and the seed coat.
Hester Lunn and the reef have no relationship mentioned.
The text fails to state a relationship.
No relation is given between bees and boats.
They are simply listed together, without any stated connection.
There is no explicit mention of a connection.
The document never links the two.
They share no connection.
How they are connected is not explained.
The relationship is not specified in the passage.
The hive is unrelated to the loan agreement.
The two events are not related.
No particular relationship.
The board is not explicitly associated with the keeper.
It does not say how the lens is related to the mill.
Does not have any relation to the previous entity.
There is no information on how these are linked.
There exists no direct relationship.
这两者没有任何关系。
原文未说明二者的联系。
""".splitlines()
TIES = (
    "Ada Thornbury built the lighthouse.",
    "The Coast Board did not pay the keepers of Holm Rock.",
    "Drones have no father; the queen lays them.",
    "No keeper left Holm Rock without the Coast Board's leave.",
    "The reef and the lighthouse are connected by a causeway. It is not used in winter.",
    "Oxalic acid kills Varroa mites, but is not related to honey.  It is used in winter.",
    "李冰主持修建了都江堰，没有使用火药。",
)


def test_planted_denials_are_found() -> None:
    missed = [text for text in DENIALS if not denies(text)]
    assert len(DENIALS) == 100
    assert len(missed) <= 5, missed


def test_what_ties_two_is_kept() -> None:
    assert not [text for text in TIES if denies(text)]


def test_fewer_than_two_in_a_hundred_true_relations_are_taken_for_denials() -> None:
    texts = [
        json.loads(line).get("description", "")
        for path in sorted(SAMPLES.glob("*/reference/relations.jsonl"))
        for line in path.read_text(encoding="utf-8").splitlines()
    ]
    assert len(texts) > 1000
    assert sum(map(denies, texts)) < 0.02 * len(texts)


def test_a_denied_relation_of_a_reply_is_dropped_with_its_reason() -> None:
    relations = [
        {"source": "mill", "target": "reef", "description": "There is no clear relation between the two."},
        {"source": "mill", "target": "barley", "description": "The mill grinds barley."},
    ]
    entities = [{"name": name, "type": "thing", "description": name} for name in ("mill", "reef", "barley")]
    reply = parse_reply(json.dumps({"entities": entities, "relations": relations}), "chunk-1")
    assert [(each.source, each.target) for each in reply.relations] == [("mill", "barley")]
    [drop] = reply.drops
    assert "says that the two are not related" in drop.reason


WORDINGS = Path(__file__).with_name("denied_relations.txt")


def test_denials_of_varied_wording_are_found() -> None:
    texts = [line.format(a="Ada Thornbury", b="都江堰") for line in WORDINGS.read_text(encoding="utf-8").splitlines()]
    missed = [text for text in texts if not denies(text)]
    assert len(texts) > 300
    assert len(missed) <= 0.05 * len(texts), missed


def test_planted_denials_that_were_written_apart_from_the_rule_are_found() -> None:
    for language, texts in planted().items():
        missed = [text for text in texts if not denies(text)]
        assert len(missed) <= 0.05 * len(texts), (language, missed)
    assert sum(map(len, planted().values())) >= 200


@pytest.mark.parametrize(
    ("sentence", "names", "denied"),
    [
        ("Oxalic acid is not related to honey.", ("oxalic acid", "honey"), True),
        ("Oxalic acid isn't linked in any way with the honey.", ("oxalic acid", "honey"), True),
        ("There is no known relation between oxalic acid and honey.", ("oxalic acid", "honey"), True),
        ("李冰与乐山大佛没有关系。", ("李冰", "乐山大佛"), True),
        ("Oxalic acid, which is not related to honey, kills mites.", ("oxalic acid", "mites"), False),
        ("Ada Thornbury did not leave Holm Rock.", ("Ada Thornbury", "Holm Rock"), False),
        ("Pages without any links to others need the surfer.", ("Pages", "surfer"), False),
        ("李冰与其子修建都江堰，没有使用火药。", ("李冰", "都江堰"), False),
    ],
)
def test_a_sentence_of_a_document_denies_the_pair_that_it_is_about(
    sentence: str, names: tuple[str, str], denied: bool
) -> None:
    assert denies_pair(sentence, names) is denied


def test_the_built_in_extractor_links_no_pair_that_its_sentence_denies() -> None:
    text = "Oxalic acid is not related to clover honey. Oxalic acid kills Varroa mites."
    document = Document("d", "bees.txt", "bees", "text/plain", text, language="en")
    chunks = chunk_documents([document], max_tokens=100, overlap_tokens=0)
    [extraction] = BuiltinExtractor().extract([document], chunks, lambda n: None)
    pairs = {frozenset((each.source, each.target)) for each in extraction.relations}
    assert not [pair for pair in pairs if {"oxalic acid", "clover honey"} <= {name.casefold() for name in pair}]
    assert [pair for pair in pairs if any("mites" in name for name in pair)]
    assert [drop for drop in extraction.drops if "they are not related" in drop.reason]


def test_an_import_leaves_a_denied_relation_out_with_its_reason(tmp_path: Path) -> None:
    rows = [{"name": name, "description": name} for name in ("mill", "reef", "barley")]
    (tmp_path / "entities.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    relations = [
        {"source": "mill", "target": "reef", "description": "The text does not say how the two are related."},
        {"source": "mill", "target": "barley", "description": "The mill grinds barley."},
    ]
    (tmp_path / "relations.jsonl").write_text("".join(json.dumps(row) + "\n" for row in relations))
    imported = read_graph(tmp_path, "plain")
    assert imported.graph.relations["description"].to_pylist() == ["The mill grinds barley."]
    assert imported.counts.left_out == 1
    [drop] = [drop for drop in imported.drops if "not related" in drop.reason]
    assert "relations.jsonl" in drop.item
