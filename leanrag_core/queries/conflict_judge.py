"""A language model's judgement on contradictions that the rules found: it confirms or dismisses them."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from leanrag_core.models.base import LanguageModel
from leanrag_core.models.window import fill_within
from leanrag_core.prompts.catalog import load_prompt
from leanrag_core.text.tokens import count_tokens
from leanrag_core.types.calls import Usage
from leanrag_core.types.conflicts import Conflict

TASK = "judge_conflict"
CONTRADICTION, CHANGE, AGREEMENT, UNCLEAR = "contradiction", "change", "agreement", "unclear"
_WORD = re.compile(rf"\b({CONTRADICTION}|{CHANGE}|{AGREEMENT})\b", re.IGNORECASE)


@dataclass(frozen=True)
class ConflictVerdict:
    """What a model says of a contradiction: CONTRADICTION, CHANGE, AGREEMENT, or UNCLEAR for another reply."""

    verdict: str
    usage: Usage


def judge_cost(conflicts: Sequence[Conflict]) -> int:
    """Return the tokens of the prompts that ask about these contradictions, one call each."""
    prompt = load_prompt(TASK)
    return sum(count_tokens(prompt.fill(**_fields(conflict))) for conflict in conflicts)


def judge(conflict: Conflict, language: LanguageModel) -> ConflictVerdict:
    """Ask the model whether the two quotes contradict each other. Raises what the model's call raises."""
    prompt = load_prompt(TASK)
    content = fill_within(language, prompt, keep=("what", "names"), **_fields(conflict))
    reply = language.complete([{"role": "user", "content": content}], task=prompt.fingerprint)
    words = Counter(word.lower() for word in _WORD.findall(reply.text))
    return ConflictVerdict(next(iter(words)) if len(words) == 1 else UNCLEAR, reply.usage)


def _fields(conflict: Conflict) -> dict[str, str]:
    quotes = (conflict.first, conflict.second)
    first, second = (f"{each.text} (document of {each.date})" if each.date else each.text for each in quotes)
    return {"what": conflict.what, "names": " and ".join(conflict.names), "first": first, "second": second}
