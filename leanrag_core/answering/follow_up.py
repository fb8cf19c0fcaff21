"""A follow-up question that stands alone: rewritten by a language model, or by a rule without one.

The rule: a follow-up that names an entity of the index and has no word that points back is left as it is. Otherwise the
entities that the question before names are put behind it in brackets; where that names none, the whole question before
is put in front.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from leanrag_core.messages.message import Message, message
from leanrag_core.models.base import LanguageModel
from leanrag_core.models.window import fill_within
from leanrag_core.prompts.catalog import load_prompt
from leanrag_core.text.words import lexical_tokens, word_set
from leanrag_core.types.calls import NO_USAGE, Usage

RULE, MODEL, PERSON = "rule", "model", "person"  # who made it stand alone
TASK = "standalone_question"
_MOST_NAMES = 3
_MOST_EARLIER = 6
_LONGEST = 2_000  # characters
_INSTRUCTION = 40  # characters of a line of the prompt that no question repeats by chance
_ANSWER = 300  # characters of the last answer that the model reads
_POINTS_BACK = word_set("""
it its they them their theirs he him his she her hers this that these those there then one ones such same former latter
both others another
""")
_POINTS_BACK_CHINESE = re.compile("[它他她这那其该]")


@dataclass(frozen=True)
class Standalone:
    """A question that stands alone. way: rule or model. said: how it was made, in a sentence."""

    question: str
    way: str
    said: Message
    usage: Usage = NO_USAGE


def by_rule(follow_up: str, before: str, names: Sequence[str], own_names: Sequence[str]) -> Standalone:
    """Rewrite the follow-up by a rule. names: of entities in the question before; own_names: of those in the
    follow-up; the longest first."""
    if own_names and not _points_back(follow_up):
        return Standalone(follow_up, RULE, message("follow.stands_alone", name=own_names[0]))
    follow_up_names = {name.casefold() for name in own_names}
    carried = [name for name in names if name.casefold() not in follow_up_names][:_MOST_NAMES]
    if carried:
        listed = ", ".join(carried)
        return Standalone(f"{follow_up} ({listed})", RULE, message("follow.names", names=listed))
    if own_names or not before:
        return Standalone(follow_up, RULE, message("follow.nothing_to_add"))
    return Standalone(f"{before} {follow_up}", RULE, message("follow.question"))


def _points_back(text: str) -> bool:
    return bool(_POINTS_BACK & set(lexical_tokens(text)) or _POINTS_BACK_CHINESE.search(text))


def by_model(follow_up: str, earlier: Sequence[str], answer: str, language: LanguageModel) -> Standalone | None:
    """Ask the model to rewrite the follow-up. earlier: the questions of the thread, the oldest first.

    Returns None for a reply that is no question, or repeats what it was told. Raises what the model's call raises.
    """
    prompt = load_prompt(TASK)
    lines = [f"- {question}" for question in earlier[-_MOST_EARLIER:]]
    if answer:
        lines.append(f"(Answer: {answer[:_ANSWER]})")
    content = fill_within(language, prompt, keep=("question",), earlier="\n".join(lines), question=follow_up)
    reply = language.complete([{"role": "user", "content": content}], task=prompt.fingerprint)
    question = " ".join(reply.text.split()).strip("\"'“”„‚‘’ ")
    repeats = any(line in question for line in map(str.strip, prompt.text.splitlines()) if len(line) > _INSTRUCTION)
    if reply.cut or not question or len(question) > _LONGEST or repeats:
        return None
    return Standalone(question, MODEL, message("follow.by_model", model=language.name), reply.usage)
