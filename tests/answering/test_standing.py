"""Whether what is asked for stands in a context, by the form of the question."""

import pytest

from leanrag_core.answering import standing
from leanrag_core.answering.asked import DATE, NAMED, NUMBER, OPEN, PERSON, PLACE, REASON, THING, asked_parts
from leanrag_core.answering.chinese import chinese_parts
from leanrag_core.answering.standing import is_answered
from leanrag_core.text.sentences import split_sentences
from leanrag_core.types.trace import Trace
from tests.answering.contexts import trace_of_passages

PASSAGE = (
    "The mill at Orley was built by Hanna Voss in 1871. It ground rye for nine villages. The miller liked to keep 12 "
    "geese, because geese warn of strangers. Strangers paid a toll of four pence at the bridge. The wheel turned left."
)


def context(question: str, *passages: str) -> Trace:
    return trace_of_passages(question, passages or (PASSAGE,))


@pytest.mark.parametrize(
    ("question", "kinds"),
    [
        ("How many geese did the miller keep?", [NUMBER]),
        ("What toll did strangers pay?", [NUMBER]),
        ("Who built the mill, and in which year?", [PERSON, DATE]),
        ("Where is the mill?", [PLACE]),
        ("Why did the miller keep geese?", [REASON]),
        ("Which way did the wheel turn?", [NAMED]),
        ("What did the mill grind?", [THING]),
        ("How did the wheel turn?", [OPEN]),
        ("Was the mill built in 1871?", [OPEN]),
        ("Is the mill haunted by poltergeists?", [OPEN]),
        ("Wann wurde die Mühle gebaut?", [OPEN]),
        ("Hanna Voss's wedding year?", [DATE]),
        ("The mill's rent?", [NUMBER]),
        ("The mill at Orley", [OPEN]),
    ],
)
def test_the_question_word_tells_the_kind_of_answer(question: str, kinds: list[str]) -> None:
    assert [part.kind for part in asked_parts(question)] == kinds


@pytest.mark.parametrize(
    "question",
    [
        "How many geese did the miller keep?",
        "What toll did strangers pay at the bridge?",
        "Who built the mill at Orley?",
        "When was the mill at Orley built?",
        "Why did the miller keep geese?",
        "How many villages did the mill grind rye for?",
        "How did the mill come to Orley?",
        "Was the mill at Orley built before the railway?",
        "Tell me about carburettors",  # asks nothing that a form could tell
        "Was bedeutet die Mühle?",
        "Was frisst ein Huhn?",
        "Wann wurde die Mühle gebaut?",
        "Which animals warn the miller of strangers?",  # geese, of which nothing says that they are animals
    ],
)
def test_what_stands_in_the_context_is_answered(question: str) -> None:
    assert is_answered(question, context(question))


@pytest.mark.parametrize(
    "question",
    [
        "How many sacks did the mill at Orley grind a day?",  # there is a number, but none of sacks
        "What salary did the miller of Orley receive?",
        "In which harbour did the miller sell his rye?",
        "Which variety of barley did Hanna Voss prefer?",
        "What price did the villages pay for the flour of the mill?",
        "Is the mill haunted by poltergeists?",
        "Was Orley haunted by poltergeists?",
        "Was there a carburettor?",
        "How does a carburettor work?",
        "Which bank did Hanna Voss use?",  # nothing but her name is left to be found
    ],
)
def test_what_does_not_stand_there_is_declined_though_the_topic_does(question: str) -> None:
    assert not is_answered(question, context(question))


def test_a_year_is_no_quantity_and_a_number_of_the_question_no_answer() -> None:
    dated = "The mill at Orley had geese in 1871."
    assert not is_answered("How many geese did the mill have?", context("", dated))
    counted = "The 12 geese of the mill at Orley were grey."
    assert not is_answered("How many of the 12 geese were sold?", context("", counted))


def test_a_number_in_a_name_is_part_of_it() -> None:
    text = "Orley Mill 2 was released from its debts in 1871. Orley paid them."
    assert is_answered("When was Orley Mill 2 released from its debts?", context("", text))
    assert not is_answered("When was Orley Mill 3 released from its debts?", context("", text))


def test_words_that_begin_alike_are_not_the_same() -> None:
    text = "Hanna Voss kept the mill. Her nephew invested in its arch and archives."
    assert not is_answered("Who invented the mill?", context("", text))
    assert is_answered("Who made the investment in the mill?", context("", text))


def test_a_unit_says_what_is_measured() -> None:
    text = "The honey is kept cool at about 14 °C, and it costs €9 a jar."
    assert is_answered("At what temperature is the honey kept?", context("", text))
    assert is_answered("What is the price of a jar of honey?", context("", text))
    assert not is_answered("What is the weight of a jar of honey?", context("", text))


CHINESE = (
    "堰工每年冬天淘滩。宝瓶口是在玉垒山上凿出的引水口，宽约二十米。陵阳公样由窦师纶设计。因为泥沙少，蜀锦在检江漂洗。"
)


@pytest.mark.parametrize(
    ("question", "kinds"),
    [
        ("宝瓶口有多宽？", [NUMBER]),
        ("堰工在哪个月淘滩？", [DATE]),
        ("谁设计了陵阳公样？", [THING]),
        ("蜀锦为什么要在检江漂洗，检江今天是哪条河？", [REASON, THING]),
        ("堰工怎样淘滩？", [OPEN]),
        ("都江堰的历史", []),
    ],
)
def test_a_chinese_question_is_cut_into_what_it_asks_for(question: str, kinds: list[str]) -> None:
    assert [part.kind for part in chinese_parts(question)] == kinds


@pytest.mark.parametrize(
    ("question", "answered"),
    [
        ("宝瓶口大约有多宽？", True),
        ("谁设计了陵阳公样？", True),
        ("蜀锦为什么要在检江漂洗？", True),
        ("堰工怎样淘滩？", True),  # no form tells what answers "how"
        ("都江堰的历史", True),
        ("怎样修理汽车发动机？", False),
        ("鲸鱼会说法语吗？", False),
        ("鲸鱼会不会说法语？", False),
        ("鲸鱼能否说法语？", False),
        ("有没有会说法语的鲸鱼？", False),
        ("堰工是不是每年淘滩？", True),
        ("陵阳公样是谁的功劳，还有哪些发动机？", True),  # of things no form tells
        ("宝瓶口的门票多少钱？", False),
        ("窦师纶在哪一年出生？", False),
        ("堰工的第一任首领叫什么名字？", False),
        ("堰工淘滩用多少人？", False),
    ],
)
def test_a_chinese_question_is_declined_where_its_answer_is_not_there(question: str, answered: bool) -> None:
    assert is_answered(question, context(question, CHINESE)) is answered


def test_a_name_may_stand_a_few_sentences_before() -> None:
    text = "Hanna Voss came to Orley. She was young. The river was wide. Nobody helped her. She owned 40 sheep."
    assert is_answered("How many sheep did Hanna Voss own?", context("", text))


def test_a_share_is_answered_in_percent() -> None:
    assert is_answered("What share of the mill does Hanna Voss own?", context("", "Hanna Voss owns 65% of the mill."))
    assert not is_answered("What share of the mill does Hanna Voss own?", context("", "Hanna Voss owns 65 mills."))


def test_one_part_that_is_answered_is_enough() -> None:
    assert is_answered("Who built the mill at Orley, and what did the architect earn?", context(""))


def test_questions_about_the_whole_collection_are_not_judged() -> None:
    assert is_answered("Which harbours do the documents name?", context(""))
    assert is_answered("Which harbours do the mill's letters and toll documents name?", context(""))


def test_another_setting_splits_no_passage_again_that_it_brings_again(monkeypatch: pytest.MonkeyPatch) -> None:
    split: list[str] = []

    def counted(text: str) -> list[str]:
        split.append(text)
        return split_sentences(text)

    monkeypatch.setattr(standing, "split_sentences", counted)
    kept, new = "The barn at Lund was built in 1702. It was red.", "The barn at Lund has two doors. They are green."
    question = "When was the barn at Lund built?"
    assert is_answered(question, context(question, kept))
    n_before = len(split)
    assert is_answered(question, context(question, kept, new))
    assert split[n_before:] == [new]
