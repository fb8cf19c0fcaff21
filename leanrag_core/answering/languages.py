"""Whether a question is in another language than the text that it is asked of."""

import re

from leanrag_core.indexing.parsing.language import detect_language
from leanrag_core.messages.message import Message, message
from leanrag_core.text.words import FUNCTION_WORDS
from leanrag_core.types.trace import Trace

OTHER_LANGUAGE, NEAREST_ACROSS = "answer.other_language", "answer.other_language.nearest"
_UNKNOWN = "und"
_WORD = re.compile(r"[^\W\d_]+")
_ENGLISH = re.compile(r"\b(?:the|of|is|are|does|did|who|what|which|how|where|when|why)\b", re.I)
_TEXT = 2_000  # characters of the context
_SHARED = 0.5  # of the question's words, which stand in the text too: names, and a language that was not told


def other_language(trace: Trace, *, knows_languages: bool = False) -> Message | None:
    """Say that the question is in another language than the context, and in which; None where it is not, or cannot
    be told. knows_languages: whether the embedding finds passages across languages.

    A question is short, so a detector may err: where half of its words stand in the text, it is in the text's language.
    """
    passages = [item.text for item in trace.passages] or [item.text for item in trace.items if item.text]
    text = " ".join(passages)[:_TEXT]
    question_words = {word.lower() for word in _WORD.findall(trace.question)}
    context_words = {word.lower() for word in _WORD.findall(" ".join(passages))}
    if not question_words or not context_words or len(question_words & context_words) >= _SHARED * len(question_words):
        return None
    of_text, of_question = detect_language(text), _of_question(trace.question)
    if _UNKNOWN in (of_text, of_question) or of_text == of_question:
        return None
    return message(
        NEAREST_ACROSS if knows_languages else OTHER_LANGUAGE,
        question=message(f"language.{of_question}"),
        documents=message(f"language.{of_text}"),
    )


def _of_question(question: str) -> str:
    words = _WORD.findall(question.lower())
    telling = sum(word in FUNCTION_WORDS for word in words)
    return "en" if len(_ENGLISH.findall(question)) and 4 * telling >= len(words) else detect_language(question)
