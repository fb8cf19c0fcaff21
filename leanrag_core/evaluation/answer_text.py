"""What an answer says, without its citation marks."""

from leanrag_core.text.sentences import split_sentences
from leanrag_core.types.trace import Answer


def plain_text(answer: Answer) -> str:
    """Return the answer's sentences without marks; its whole text where it has no parts, as a refusal has none."""
    return " ".join(part.text for part in answer.parts) if answer.parts else answer.text


def sentences_of(answer: Answer) -> tuple[str, ...]:
    """Return the answer's sentences without marks."""
    texts = [part.text for part in answer.parts] or [answer.text]
    return tuple(sentence for text in texts for sentence in split_sentences(text))
