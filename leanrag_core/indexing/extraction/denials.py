"""Relations whose description says that there is none: a model that is asked for pairs also writes down those that it
does not find."""

import re
from collections.abc import Sequence

from leanrag_core.errors import ReplyError

_TIES = re.compile(
    r"\b(?:un)?(?:related|relat(?:es?|ing)|connect(?:s|ed|ing)?|link(?:s|ed|ing)?|associat(?:ed?|es|ing)|tied|interacts?|"
    r"correlate[sd]?)\b|\b(?:(?:inter)?relation(?:ship)?|connection|association|interaction|correlation|tie|overlap)s?\b",
    re.IGNORECASE,
)
_NEGATES = re.compile(
    r"\b(?:no|not|never|neither|nor|none|nothing|without|cannot|lack(?:s|ing)?|fail(?:s|ed)?|absent|absence|missing|"
    r"insufficient|unable|impossible|silent|hardly|barely|scarcely|"
    r"un(?:clear|known|specified|defined|stated|determined|explained|mentioned|related|connected|linked))\b|n['’]t\b",
    re.IGNORECASE,
)
_SAID = (
    r"(?:applicable|mentioned|specified|stated|given|provided|described|available|known|clear|found|explained|defined)"
)
_NAMED = r"(?:mention(?:s|ed)?|discuss(?:es|ed)?|list(?:s|ed)?|name[sd]?|appear(?:s|ed)?|occurs?|treat(?:s|ed)?)"
_ALONE = re.compile(
    rf"\W*(?:none|n/?a|unknown|nothing|not\s+{_SAID})\W*|"
    rf"\W*(?:relation(?:ship)?|connection|link|association|tie)s?\s*[:：=]\s*(?:none|no|n/?a|nothing|unknown|unclear|not\s+{_SAID})\b.*|"
    r".*\b(?:nothing\s+to\s+do\s+with|independent(?:ly)?\s+of\s+(?:each\s+other|one\s+another))\b.*|"
    rf".*\b(?:merely|only|just|simply)\s+{_NAMED}\s+(?:together|side\s+by\s+side|in\s+the\s+same)\b.*|"
    rf".*\b{_NAMED}\b.*\b(?:separately|independently)\W*|.*\b{_NAMED}\s+independently\s+of\b.*|"
    r".*\b(?:shares?\s+(?:nothing|no\s+common)|nothing\s+in\s+common|no\s+bearing\s+on)\b.*|.*\bnothing\s+about\b.*\btogether\W*|"
    rf".*\bnever\s+{_NAMED}\b.*\bin\s+the\s+same\b.*|.*\b{_NAMED}\s+as\s+separate\b.*|.*\bonly\s+thing\b.*\bin\s+common\b.*|"
    r".*\bleaves?\b.*\b(?:relation(?:ship)?|connection|link|association)\b.*\bopen\W*|"
    r"\W*(?:无|没有|未知|不详|未提及|未说明|不适用|没有提到)\W*|\W*(?:关系|联系|关联)\s*[:：]\s*(?:无|没有|未知|不明|不详|未).*",
    re.IGNORECASE,
)
_TIE_IN_CHINESE = "(?:关系|关联|联系|相关性)"
_CHINESE = re.compile(
    rf"(?:没|未|无(?![创线菌痛人论数])|不存在|缺乏|缺少|看不出)[^，,；;]{{0,12}}?{_TIE_IN_CHINESE}|"
    rf"(?:没有?|未(?:曾|能|明确)?|无法|不能|难以|无从|不足以|不够|看不出|不清楚)[^，,；;]{{0,30}}?(?:的|之间|存在|有|任何|何种|什么|如何|是否){_TIE_IN_CHINESE}|"
    r"(?:没有?|无)[^，,；;]{0,4}?(?:信息|证据|迹象|资料|内容)[^，,；;]{0,30}?(?:关系|关联|联系|相关|有关)|看不出[^，,；;]{0,20}?(?:有关|相关)|"
    r"没有?(?:提到|提及|说明|描述)[^，,；;]{0,20}?如何(?:关联|联系|相关)|"
    r"(?:不|毫不|并不|互不)(?:直接|明显)?相[关干]|无关|不[与和同跟][^，,；;]{1,20}?(?:相关|有关|关联)|不(?:沾|搭)边|(?:相互|彼此|各自)独立|"
    rf"{_TIE_IN_CHINESE}[^，,；;]{{0,8}}?(?:不明|不清楚|不明确|不详|未知|不得而知|"
    r"(?:无法|不能|难以|无从)(?:被)?(?:判断|确定|得知|确认|推断|推知)|"
    r"(?:没有?|未)(?:在[^，,；;]{1,4}?中)?(?:被|作|予|明确)?(?:说明|提到|提及|描述|给出|指出|介绍))"
)
_CLAUSE = re.compile(
    r"[;；:]|,\s+(?:but|yet|although|though|while|whereas|which|who|and)\b|\b(?:but|although|whereas)\b|，(?:但|不过)"
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n")
_PAIR_BETWEEN = re.compile(
    r"\W*(?:\w+\s+){0,3}?(?:not\b|never\b|no\b|\w+n['’]t\b|un(?:related|connected|linked)\b|nothing\b).{0,40}?"
    r"\b(?:to|with|from|by)\s+(?:the\s+|an?\s+)?",
    re.IGNORECASE,
)
_PAIR_BEFORE = re.compile(
    r"\bno\b[^,;:]{0,30}\b(?:relation(?:ship)?|connection|link|association|interaction|tie)s?\b[^,;:]{0,20}\b(?:between|of|among)"
    r"\s+(?:the\s+|an?\s+)?$",
    re.IGNORECASE,
)
_PAIR_AFTER = re.compile(
    r"(?:之间|二者|两者)?(?:没有|并无|无|不存在)[^，,；;。]{0,6}?(?:关系|关联|联系)|(?:并?不|互不)相[关干]|无关"
)
_AND = re.compile(r"\s*(?:and|with|or)\s+(?:the\s+|an?\s+)?|\s*[和与同跟及]\s*", re.IGNORECASE)
DENIALS = "1"  # version of denies_pair(); raise it when it takes other sentences for denials
_SHOWN = 120  # characters of a denial that an error shows
_LONGEST = 25  # words of a clause that only denies a tie


def denies(description: str) -> bool:
    """Return whether a relation's description says that the two are not related, or that nothing is said of it.

    Every sentence must say so: in a longer description a denial stands beside something that ties the two.
    """
    sentences = [each.strip() for each in _SENTENCE.split(description) if each.strip()]
    return bool(sentences) and all(_denied(each) for each in sentences)


def denies_pair(sentence: str, names: Sequence[str]) -> bool:
    """Return whether a sentence of a document says of these two themselves that they are not related.

    Narrower than denies(): a sentence that people wrote may deny something of one of two that it names.
    """
    lowered = sentence.casefold()
    ends = sorted((place, place + len(name)) for name in names if (place := lowered.find(name.casefold())) >= 0)
    if len(ends) < 2:
        return False
    before, between, after = lowered[: ends[0][0]], lowered[ends[0][1] : ends[1][0]], lowered[ends[1][1] :]
    if _AND.fullmatch(between):
        return _PAIR_BEFORE.search(before) is not None or _PAIR_AFTER.match(after) is not None
    return _PAIR_BETWEEN.fullmatch(between) is not None and _TIES.search(between) is not None


def require_tie(description: str) -> None:
    """Raise ReplyError where the description denies a relation."""
    if denies(description):
        raise ReplyError("reply.relation_denied", description=description[:_SHOWN])


def _denied(sentence: str) -> bool:
    """Return whether some clause of the sentence negates a tie."""
    return _ALONE.fullmatch(sentence) is not None or any(
        len(clause.split()) <= _LONGEST
        and ((_TIES.search(clause) and _NEGATES.search(clause)) or _CHINESE.search(clause))
        for clause in _CLAUSE.split(sentence)
    )
