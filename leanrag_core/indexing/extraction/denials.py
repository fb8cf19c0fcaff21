"""Relations whose description says that there is none: a model that is asked for pairs also writes down those that it
does not find."""

import re

from leanrag_core.errors import ReplyError

_TIES = re.compile(
    r"\b(?:un)?(?:related|relates?|connect(?:s|ed)?|link(?:s|ed)?|associated?|tied|interacts?)\b|"
    r"\b(?:relation(?:ship)?|connection|association|interaction|tie)s?\b",
    re.IGNORECASE,
)
_NEGATES = re.compile(
    r"\b(?:no|not|never|neither|nor|none|nothing|without|cannot|lack(?:s|ing)?|fail(?:s|ed)?|"
    r"un(?:clear|known|specified|defined|stated|related|connected|linked))\b|n['’]t\b",
    re.IGNORECASE,
)
_ALONE = re.compile(
    r"\W*(?:none|n/?a|unknown|nothing)\W*|.*\b(?:nothing\s+to\s+do\s+with|independent\s+of\s+(?:each\s+other|one\s+another))\b.*",
    re.IGNORECASE,
)
_CHINESE = re.compile(
    r"(?:没|未|无|不存在|缺乏|看不出)[^，,；;]{0,12}?(?:关系|关联|联系|相关性)|(?:不|毫不|并不|互不)(?:直接|明显)?相关|无关|"
    r"(?:关系|关联|联系)[^，,；;]{0,6}?(?:不明|不清楚|不明确|未知|未说明)"
)
_CLAUSE = re.compile(
    r"[;；:]|,\s+(?:but|yet|although|though|while|whereas|which|who|and)\b|\b(?:but|although|whereas)\b|，(?:但|不过)"
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n")
_SHOWN = 120  # characters of it
_LONGEST = 25  # words of a clause that says no more than that


def denies(description: str) -> bool:
    """Return whether a relation's description says that the two are not related, or that nothing is said of it.

    Every sentence must say so: in a longer description a denial stands beside something that ties the two.
    """
    sentences = [each.strip() for each in _SENTENCE.split(description) if each.strip()]
    return bool(sentences) and all(_denied(each) for each in sentences)


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
