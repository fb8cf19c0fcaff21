"""When what a sentence says held or happened."""

import pytest

from leanrag_core.text.dates import ENDED, LATER, time_spans

SAID = """
She joined the board in 1998. | 1998
He was keeper from March 2001 to 2004. | 2001-03/2004
The ferry has run since 2019. | 2019/..
The permit was valid until 3 May 2020. | ../2020-05-03
The bridge opened on May 3, 2020. | 2020-05-03
The bridge opened on the 3rd of May 2020. | 2020-05-03
It was signed on 2020-05-03. | 2020-05-03
The mill burned down in Sept. 1911. | 1911-09
The office was open between 1998 and 2001. | 1998/2001
Ada Lunn (1901–1965) kept the light. | 1901/1965
The school stood here 1998-2004. | 1998/2004
She led the company from 2001 to the present. | 2001/..
From 2019 onwards the fee is 12 euros. | 2019/..
Not until 1954 was the road paved. | 1954/..
Before 1990 the river was the border. | ../1990
After June 1945 the harbour belonged to the town. | 1945-06/..
Founded in the early 1990s, the club grew. | 1990/1999
The fair was held in 1998, 2001 and 2004. | 1998 2001 2004
The works ran from March to May 2001. | 2001-03/2001-05
Wages rose in the summer of 1974. | 1974
By the end of 1998 all were sold. | 1998
The war lasted 1914–18. | 1914/1918
He moved in 1998 and stayed until 2003. | 1998 ../2003
The firm was founded in 1998 and has been listed since May 2010. | 1998 2010-05/..
Smith was mayor from 3 January 2001 until 31 December 2004. | 2001-01-03/2004-12-31
Through 2008, rents were fixed. | ../2008
In February 2021 the board met. | 2021-02
公司成立于2019年3月。 | 2019-03
他从2001年3月到2004年任馆长。 | 2001-03/2004
自2019年起，票价为十二元。 | 2019/..
该许可有效至2020年5月3日。 | ../2020-05-03
2001年至2004年，她是校长。 | 2001/2004
2001年至今，总部设在北京。 | 2001/..
1990年代，工厂关闭。 | 1990/1999
二〇一九年三月以前，这里是港口。 | ../2019-03
2019年3月至5月施工。 | 2019-03/2019-05
二〇二〇年十一月二十三日会议结束。 | 2020-11-23
2020年以前，河流是边界。 | ../2020
会议于1998年举行。 | 1998
"""
NO_DATE = """
The town has about 2000 inhabitants.
They walked in 2000 steps.
The price was $1998 at first.
Room 1998 is on the left.
It weighs 1998.5 kg.
Version 2019 of the program is old.
It was signed on 3/4/2020.
The keeper may march in.
The meeting is in March.
We spoke last year, and again three years ago.
去年他们搬走了。
There were 1,998 votes.
"""


def _cases() -> list[tuple[str, str]]:
    return [(text.strip(), spans.strip()) for text, spans in (row.split("|") for row in SAID.strip().splitlines())]


@pytest.mark.parametrize(("sentence", "expected"), _cases())
def test_the_dates_of_a_sentence_are_read_in_the_precision_that_was_said(sentence: str, expected: str) -> None:
    assert " ".join(span.written() for span in time_spans(sentence)) == expected


@pytest.mark.parametrize("sentence", NO_DATE.strip().splitlines())
def test_numbers_and_relative_dates_are_no_dates(sentence: str) -> None:
    assert time_spans(sentence) == ()


@pytest.mark.parametrize(
    ("sentence", "said_on", "expected"),
    [
        ("The harbour froze last year.", "2021", "2020"),
        ("She left three years ago.", "2021-05", "2018"),
        ("They met yesterday.", "2021-03-01", "2021-02-28"),
        ("They met yesterday.", "2021-03", ""),  # of which day is not known
        ("Rents rise next month.", "2021-12-05", "2022-01"),
        ("去年他们搬走了。", "2021-05-01", "2020"),
        ("上个月开工。", "2021-01", "2020-12"),
    ],
)
def test_relative_dates_count_from_the_date_of_the_text(sentence: str, said_on: str, expected: str) -> None:
    assert " ".join(span.written() for span in time_spans(sentence, said_on)) == expected


@pytest.mark.parametrize(
    ("sentence", "day", "why"),
    [
        ("He was keeper from March 2001 to 2004.", "2001-02", LATER),
        ("He was keeper from March 2001 to 2004.", "2001", ""),  # of which a part is inside
        ("He was keeper from March 2001 to 2004.", "2004-12-31", ""),
        ("He was keeper from March 2001 to 2004.", "2005", ENDED),
        ("She joined the board in 1998.", "1997-12", LATER),
        ("She joined the board in 1998.", "2015", ""),  # it happened, and is not over
        ("The permit was valid until 3 May 2020.", "1900", ""),
        ("The permit was valid until 3 May 2020.", "2020-05-04", ENDED),
        ("The ferry has run since 2019.", "2018", LATER),
    ],
)
def test_what_is_not_valid_on_a_day_says_why(sentence: str, day: str, why: str) -> None:
    [span] = time_spans(sentence)
    assert span.outside(day) == why


def test_the_words_of_a_date_are_where_it_says() -> None:
    text = "The ferry has run since 2019 without a break."
    [span] = time_spans(text)
    assert text[span.start : span.end] == "since 2019"
