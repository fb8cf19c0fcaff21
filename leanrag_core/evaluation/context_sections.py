"""What a context is made of: tokens of its sections, and what it says twice."""

from leanrag_core.retrieval.repeats import RUN, WORD
from leanrag_core.text.tokens import count_tokens
from leanrag_core.types.trace import Context


def section_tokens(context: Context) -> dict[str, float]:
    """Return the tokens of each section, by its name; the names are the strategy's."""
    return {section.name: float(section.tokens) for section in context.sections}


def repeated_tokens(text: str) -> int:
    """Count the tokens of the words in runs of five words that occur earlier in the text.

    Words are compared in lower case without punctuation; a character of Chinese, Japanese or Korean is a word.
    """
    matches = list(WORD.finditer(text))
    words = [match.group().lower() for match in matches]
    seen: set[tuple[str, ...]] = set()
    spans: list[tuple[int, int]] = []  # of the repeated text, joined where runs overlap or touch
    for start in range(len(words) - RUN + 1):
        run = tuple(words[start : start + RUN])
        if run not in seen:
            seen.add(run)
            continue
        first, last = matches[start].start(), matches[start + RUN - 1].end()
        if spans and first <= spans[-1][1]:
            spans[-1] = (spans[-1][0], last)
        else:
            spans.append((first, last))
    return sum(count_tokens(text[first:last]) for first, last in spans)
