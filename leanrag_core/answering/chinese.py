"""Whether a context answers a Chinese question, judged by the form of the question: `standing.py` for Chinese.

A part of a question asks for a number, a date, a reason, or for a thing of which no form tells. It is answered where a
sentence, with the two before it, holds a value of that kind and enough of the part's content words; of names that are
asked about one must stand in the same item. Words are cut by jieba's dictionary; a text holds a word wherever its
characters stand, since two sentences may be cut differently. A question of how, or of yes or no, needs .15 of its words
anywhere in the context.
"""

import math
import re
from collections.abc import Sequence
from functools import lru_cache

from leanrag_core.answering.asked import DATE, NUMBER, OPEN, REASON, THING, Asked, weighted_share
from leanrag_core.text.chinese import dictionary_segmenter
from leanrag_core.text.sentences import split_sentences
from leanrag_core.text.words import word_set
from leanrag_core.types.trace import Trace

_ENOUGH, _ENOUGH_OF_PARTS = 0.55, 0.4  # share of the content words of a part, by weight; where others stand elsewhere
_ENOUGH_ANYWHERE = 0.15  # less than in English: the dictionary cuts names that it does not know
_HOW_OR_WHETHER = r"怎|如何|[是能可会]否|(.)[不没]\1|[吗呢]$"  # "会不会": whether
_BEFORE = 2  # sentences that a sentence goes on from
_PARTS = re.compile(r"[，,；;。？?]+")
_ASKS = re.compile(
    "谁|什么|甚么|哪|何时|何处|何地|何人|为何|多少|几(?!乎)|多(?:高|长|宽|深|远|大|重|久|快|厚)|" + _HOW_OR_WHETHER
)
_KINDS = (
    (REASON, re.compile("为什么|为何|何以|什么原因|缘故")),
    (DATE, re.compile("何时|什么时候|什么时间|哪些?一?[年天日月]|哪个(?:朝代|年代|世纪|季节|月)|几[年月日]")),
    (NUMBER, re.compile("多少|几(?!乎)|多(?:高|长|宽|深|远|大|重|久|快|厚)|百分比|比例")),
    (OPEN, re.compile(f"{_HOW_OR_WHETHER}|哪些|有什么关系|有何")),
)
_DIGITS = "0-9０-９一二三四五六七八九十百千万亿两半数"
_VALUES = {
    NUMBER: re.compile(f"(?<!第)[{_DIGITS}]+[^{_DIGITS}，。；、]"),
    DATE: re.compile(f"[{_DIGITS}〇零]+[年月日]|世纪|年间|朝|代|[春夏秋冬]|清明|[初末]年|时期"),
    REASON: re.compile("因|由于|为了|所以|以便|以免|使|致|故|原因|才"),
}
_QUESTION_WORDS = word_set("""
什么 哪 哪个 哪些 哪里 哪儿 哪一年 哪年 哪位 谁 多少 几 何 何时 为什么 为何 怎样 怎么 如何 是否 有 是 多 大约 叫 名字
叫做 被 把 用来 用 由 说 说明 文中 提到
""")
# Of words that carry no content, as jieba tags them: particles, prepositions, conjunctions, pronouns, adverbs, marks.
_EMPTY_TAGS = ("u", "p", "c", "r", "d", "x", "y", "w", "o", "e", "z", "f")
_NAME_TAGS = ("nr", "ns", "nt", "nz")


def is_answered_in_chinese(question: str, trace: Trace) -> bool:
    """Return whether some part of the question is answered in the trace's context, as far as its form tells."""
    parts = chinese_parts(question)
    windows = [
        (sentence, window, item.text)
        for item in trace.context.items
        for sentence, window in _windows(item.text, item.lead)
    ]
    open_parts = [part for part in parts if part.kind == OPEN]
    if parts and not open_parts:
        enough = _ENOUGH_OF_PARTS if len(parts) > 1 else _ENOUGH
        return any(_share(part, windows) >= enough for part in parts)
    words = dict.fromkeys(word for part in parts for word in part.asked)
    n_with = {word: sum(word in window for _, window, _ in windows) for word in words}
    asks_how_or_whether = any(re.search(_HOW_OR_WHETHER, part.text) for part in open_parts)
    return not asks_how_or_whether or weighted_share(n_with, len(windows)) >= _ENOUGH_ANYWHERE


def holds_chinese_value(kind: str, sentence: str) -> bool:
    """Return whether the sentence holds something of the kind that a part of a question asks for."""
    return kind not in _VALUES or _VALUES[kind].search(sentence) is not None


@lru_cache(maxsize=256)
def chinese_parts(question: str) -> tuple[Asked, ...]:
    """Return the parts of a Chinese question in order, with the content words of each in `asked`; none where it asks in
    no form that is known."""
    pieces = [piece for piece in _PARTS.split(question) if _ASKS.search(piece)]
    return tuple(_part(piece, whole=question if len(pieces) == 1 else piece) for piece in pieces)


def _part(piece: str, whole: str) -> Asked:
    """Read a part of a question. whole: the text whose words count, which is the whole question where it asks one
    thing."""
    kind = next((kind for kind, form in _KINDS if form.search(piece)), THING)
    words = [word for word in dictionary_segmenter().words(whole) if not word.tag.startswith(_EMPTY_TAGS)]
    words = [word for word in words if word.text not in _QUESTION_WORDS and not _ASKS.search(word.text)]
    names = tuple(frozenset([word.text]) for word in words if word.tag.startswith(_NAME_TAGS))
    return Asked(piece, kind, whole, tuple(dict.fromkeys(word.text for word in words)), False, names)


@lru_cache(maxsize=512)  # a moved slider asks again for most of the context
def _windows(text: str, lead: int) -> tuple[tuple[str, str], ...]:
    sentences = split_sentences(text[lead:])
    return tuple(
        (sentence, "".join(sentences[max(0, place - _BEFORE) : place + 1])) for place, sentence in enumerate(sentences)
    )


def _share(part: Asked, windows: Sequence[tuple[str, str, str]]) -> float:
    """Return the largest share of the part's words, by weight, in a window that holds a value of its kind; rounded."""
    names = frozenset[str]().union(*part.names)

    def held(word: str, window: str, item: str) -> bool:
        return word in (item if word in names else window)

    weight = {
        word: math.log(1 + len(windows) / (1 + sum(held(word, window, item) for _, window, item in windows)))
        for word in part.asked
    }
    total = math.fsum(weight.values())
    if not total:
        return 1.0
    return max(
        (
            round(math.fsum(weight[word] for word in part.asked if held(word, window, item)) / total, 6)
            for sentence, window, item in windows
            if holds_chinese_value(part.kind, sentence) and (not names or any(name in item for name in names))
        ),
        default=0.0,
    )
