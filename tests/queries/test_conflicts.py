"""Quotes that contradict each other: planted ones are found with both quotes; paraphrases and changes are none."""

import pytest

from leanrag_core import IndexConfig, Workbench
from leanrag_core.queries.conflicts import conflicts_of_entity, conflicts_of_relation, find_conflicts, judge, judge_cost
from leanrag_core.types.conflicts import DENIED, VALUE, Conflict, Quote
from leanrag_core.types.index import Index
from tests.retrieval.scripted import ScriptedLanguage

CONTRADICTIONS = """
Holm Lighthouse was built in 1911. | Holm Lighthouse, a tower of stone, was built in May 1921. | built
The Coast Board was founded in 1898. | The Coast Board was established on 3 May 1901. | founded
Holm Lighthouse is 30 metres high. | Holm Lighthouse stands 42 m tall. | height
The height of Holm Bridge is 30 m. | Holm Bridge has a height of 50 m. | height
Ada Thornbury was born in 1870. | Ada Thornbury was born in 1872. | born
Ada Thornbury was born in Sandlux. | Ada Thornbury was born in Quarmax. | birthplace
The capital of Norland is Sandlux. | The capital of Norland is Quarmax. | capital
Wellix Lines is headquartered in Sandlux. | Wellix Lines is based in Quarmax. | headquarters
Wellix Lines has 300 employees. | Wellix Lines has about 900 employees. | employees
Captain Torvex joined Wellix Lines. | Captain Torvex never joined Wellix Lines. | join
Oxalic acid kills Varroa mites. | Oxalic acid does not kill Varroa mites. | kill
都江堰大学成立于1956年。 | 都江堰大学成立于1958年3月。 | founded
青石大桥高120米。 | 青石大桥高95米。 | height
青石大学于1956年成立。 | 青石大学成立于1960年。 | founded
"""
AGREE = """
Holm Lighthouse was built in 1911. | Holm Lighthouse was built in May 1911.
Holm Lighthouse is 30 metres high. | Holm Lighthouse is 98 feet tall.
Holm Lighthouse was built in 1911. | Holm Lighthouse was opened in 1912.
Wellix Lines has 300 employees. | Wellix Lines has 12 members.
In 1998 Wellix Lines was based in Sandlux. | Since 2005 Wellix Lines is based in Quarmax.
In 1998 Wellix Lines had 300 employees. | In 2010 Wellix Lines had 900 employees.
The capital of Norland is Sandlux. | Sandlux is the capital of Norland.
Captain Torvex joined Wellix Lines. | Captain Torvex was a member of Wellix Lines.
Captain Torvex works for Wellix Lines. | Captain Torvex no longer works for Wellix Lines.
Captain Torvex joined Wellix Lines. | Captain Torvex did not leave Wellix Lines.
Ada Thornbury was born in 1870. | Bela Thornbury was born in 1872.
都江堰大学成立于1956年。 | 都江堰大学成立于1956年9月。
"""


def rows(text: str) -> list[list[str]]:
    return [[part.strip() for part in line.split("|")] for line in text.strip().splitlines()]


def built(home: Workbench, *texts: str) -> Index:
    filler = "Keepers of the coast keep bees, and the ferry carries mail. 这里有一座灯塔，渡船运送邮件。"
    files = [(f"{number}.md", f"{text} {filler}".encode()) for number, text in enumerate(texts)]
    corpus = home.add_documents("coast", files).corpus_id
    return home.build(corpus, IndexConfig(cluster_size=3, chunk_tokens=100, overlap_tokens=5))


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Workbench:
    return Workbench.default(tmp_path_factory.mktemp("conflicts"))


@pytest.mark.slow
@pytest.mark.parametrize(("one", "other", "what"), rows(CONTRADICTIONS))
def test_a_planted_contradiction_is_found_with_both_quotes(home: Workbench, one: str, other: str, what: str) -> None:
    index = built(home, one, other)
    report = find_conflicts(index)
    [conflict] = [each for each in report.conflicts if each.what.startswith(what)]
    assert {conflict.first.text, conflict.second.text} == {one, other}
    for quote in (conflict.first, conflict.second):
        assert " ".join(index.chunk(quote.chunk).text[quote.start : quote.end].split()) == quote.text
    assert report.conflicts == (conflict,)
    assert conflict.kind == (VALUE if len(conflict.entities) == 1 else DENIED)


@pytest.mark.slow
@pytest.mark.parametrize(("one", "other"), rows(AGREE))
def test_what_agrees_or_has_changed_is_no_contradiction(home: Workbench, one: str, other: str) -> None:
    assert find_conflicts(built(home, one, other)).conflicts == ()


@pytest.mark.slow
def test_conflicts_are_those_of_the_entity_and_of_the_relation(home: Workbench) -> None:
    index = built(
        home,
        "Captain Torvex joined Wellix Lines. Holm Lighthouse was built in 1911.",
        "Captain Torvex never joined Wellix Lines. Holm Lighthouse was built in 1921.",
    )
    base = index.layers[0]
    whole = find_conflicts(index).conflicts
    assert {each.what for each in whole} == {"join", "built"}
    of_entity = {name: conflicts_of_entity(index, row) for row, name in enumerate(base.entities["name"].to_pylist())}
    assert [each.what for each in of_entity["Holm Lighthouse"]] == ["built"]
    torvex = next(name for name in of_entity if "Torvex" in name)
    assert [each.what for each in of_entity[torvex]] == ["join"]
    told = [conflicts_of_relation(index, base.relation(row)) for row in range(base.relations.num_rows)]
    assert [each.what for each in sum(told, ())] == ["join"]


def quote(text: str, date: str = "") -> Quote:
    return Quote(text, 0, 0, len(text), "a.md", date, "")


@pytest.mark.parametrize(
    ("reply", "verdict"),
    [
        ("contradiction", "contradiction"),
        ("Change.", "change"),
        ("I cannot say.", "unclear"),
        ("contradiction or change", "unclear"),
    ],
)
def test_a_model_confirms_a_contradiction_or_takes_it_back(reply: str, verdict: str) -> None:
    conflict = Conflict(VALUE, ("e",), ("Holm",), "built", quote("Built in 1911.", "2021"), quote("Built in 1921."))
    model = ScriptedLanguage(lambda prompt: reply)
    assert judge(conflict, model).verdict == verdict
    [asked] = model.prompts
    assert "built of Holm" in asked
    assert "Built in 1911. (document of 2021)" in asked
    assert judge_cost([conflict, conflict]) == 2 * judge_cost([conflict]) > 0
