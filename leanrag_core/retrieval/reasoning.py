"""A chain of thought that guides retrieval: its next sentence, by a model or by the passages themselves."""

import re
from collections.abc import Sequence

from leanrag_core.messages.message import message
from leanrag_core.retrieval.model_replies import ask_text, reply_or_note
from leanrag_core.retrieval.tracing import Retrieval
from leanrag_core.retrieval.vector_search import cosines
from leanrag_core.text.sentences import split_sentences

_ANSWERED = re.compile(r"\bthe answer is\b", re.IGNORECASE)
_SHORTEST = 30  # characters of a sentence that may stand in for the reasoning


def is_answered(thought: str) -> bool:
    """Return whether the sentence gives the answer, so that nothing is searched for any more."""
    return bool(_ANSWERED.search(thought))


def next_thought(
    run: Retrieval, searched: Sequence[str], rows: Sequence[int], last: Sequence[int], near: dict[str, float]
) -> str:
    """Return the next sentence of the reasoning, "" for none: the model's, or the sentence of the last passages that is
    nearest to the question.

    searched: the question, then the sentences so far. rows: of the chunks that the model sees. last: of those that the
    last search came upon. near: see _nearest_sentence().
    """
    reply = reply_or_note(
        run.tools,
        lambda: ask_text(
            run.tools,
            "reason_step",
            question=run.query.text,
            passages="\n\n".join(run.index.chunk(row).text.strip() for row in rows),
            reasoning="\n".join(searched[1:]) or "(none)",
        ),
        step=message("ircot.step.reasoning"),
        instead=message("ircot.built_in"),
    )
    run.note(reply.note)
    if reply.value is None:
        return "" if reply.budget_spent else _nearest_sentence(run, searched, last, near)
    sentences = split_sentences(reply.value)
    return sentences[0] if sentences else ""


def _nearest_sentence(run: Retrieval, searched: Sequence[str], last: Sequence[int], near: dict[str, float]) -> str:
    """Return, of the chunks of the last search, the sentence nearest to the question that no search has used; "" for
    none.

    near: cosines of the sentences of earlier searches, which share chunks with this one; new ones are added.
    """
    used = set(searched)
    sentences = [each for row in last for each in split_sentences(run.index.chunk(row).text)]
    fresh = [each for each in dict.fromkeys(sentences) if len(each) >= _SHORTEST and each not in used]
    if not fresh:
        return ""
    unknown = [each for each in fresh if each not in near]
    if unknown:
        near.update(zip(unknown, cosines(run.tools.embed_passages(unknown), run.query.vector).tolist(), strict=True))
    return max(fresh, key=near.__getitem__)
