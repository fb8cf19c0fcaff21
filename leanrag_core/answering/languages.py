"""Whether a question is in another language than the text that it is asked of."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from leanrag_core.indexing.parsing.language import UNKNOWN, detect_language
from leanrag_core.messages.catalog import codes
from leanrag_core.messages.message import Message, message
from leanrag_core.text.words import FUNCTION_WORDS
from leanrag_core.types.trace import Trace

OTHER_LANGUAGE, NEAREST_ACROSS = "answer.other_language", "answer.other_language.nearest"
_WORD = re.compile(r"[^\W\d_]+")
_ENGLISH = re.compile(r"\b(?:the|of|is|are|does|did|who|what|which|how|where|when|why)\b", re.I)
_TEXT = 2_000  # characters of the context
_NAMED = 0.1  # of the text in the language that has the most; one with less is not named
_SHARED = 0.5  # of the question's words, which stand in the text too: names, and a language that was not told


@dataclass(frozen=True)
class OtherLanguage:
    """A question in another language than the context. reason: in which languages the question and the documents are;
    None where some of the documents are in the question's."""

    reason: Message | None


def other_language(
    trace: Trace, documents: Callable[[], Mapping[str, int]], *, knows_languages: bool = False
) -> OtherLanguage | None:
    """Tell whether the question is in another language than the context; None where it is not, or cannot be told.

    documents: returns how much text is in each language, of all documents that are asked; without any known one the
    context's language is named. knows_languages: whether the embedding finds passages across languages.

    A question is short, so a detector may err: where half of its words stand in the text, it is in the text's language.
    """
    passages = [item.text for item in trace.passages] or [item.text for item in trace.items if item.text]
    text = " ".join(passages)[:_TEXT]
    question_words = {word.lower() for word in _WORD.findall(trace.question)}
    context_words = {word.lower() for word in _WORD.findall(" ".join(passages))}
    if not question_words or not context_words or len(question_words & context_words) >= _SHARED * len(question_words):
        return None
    of_text, of_question = detect_language(text), _of_question(trace.question)
    if UNKNOWN in (of_text, of_question) or of_text == of_question:
        return None
    named = _named(documents()) or (of_text,)
    if of_question in named and not knows_languages:
        return OtherLanguage(None)
    if named == (of_question,):
        named = (of_question, of_text)
    titles = tuple(message(f"language.{each}") for each in named)
    return OtherLanguage(
        message(
            NEAREST_ACROSS if knows_languages else OTHER_LANGUAGE,
            question=message(f"language.{of_question}"),
            documents=titles if len(titles) > 1 else titles[0],
        )
    )


def _named(amounts: Mapping[str, int]) -> tuple[str, ...]:
    """Return the known languages that enough of the text is in, the one with the most first."""
    known = {language: n for language, n in amounts.items() if f"language.{language}" in codes()}
    ranked = sorted(known, key=lambda language: (-known[language], language))
    return tuple(language for language in ranked if known[language] >= _NAMED * known[ranked[0]])


def _of_question(question: str) -> str:
    words = _WORD.findall(question.lower())
    telling = sum(word in FUNCTION_WORDS for word in words)
    return "en" if len(_ENGLISH.findall(question)) and 4 * telling >= len(words) else detect_language(question)
