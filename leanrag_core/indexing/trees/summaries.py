"""Summaries of texts that belong together: by a language model, or of the texts' own sentences."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from leanrag_core.errors import ReplyError
from leanrag_core.execution.executors import ThreadMap
from leanrag_core.indexing.part_base import PartTools
from leanrag_core.models.asking import ask
from leanrag_core.models.base import Completion
from leanrag_core.text.sentences import split_sentences, up_to_last_sentence
from leanrag_core.text.tokens import count_tokens, trim_to_tokens
from leanrag_core.types.job import Progress

TASK = "summarise_passages"
CALLS_AT_ONCE = 8  # the pace of the settings decides how many of them the endpoint gets
_READ_TOKENS = 6000  # of the texts in a prompt


@dataclass(frozen=True)
class Summary:
    """text: at most so many tokens as were asked for. by_model: whether a language model wrote it."""

    text: str
    by_model: bool


def summaries(
    groups: Sequence[Sequence[str]], vectors: Sequence[np.ndarray], tools: PartTools, *, max_tokens: int, done: int
) -> list[Summary]:
    """Return a summary of each group of texts. vectors: of each group (k, d), its texts' unit rows. done: nodes made
    before.

    Raises BudgetSpent, Cancelled.
    """
    language = tools.language

    def write(place: int) -> Summary:
        if language is not None:
            tools.meter.require_budget()
            prompt = tools.prompts.of(TASK)
            texts = trim_to_tokens("\n\n".join(groups[place]), _READ_TOKENS)
            messages = [{"role": "user", "content": prompt.fill(passages=texts, max_tokens=max_tokens)}]
            try:
                text = ask(language, messages, _text, task=prompt.fingerprint).value
                return Summary(_cut(text, max_tokens), by_model=True)
            except ReplyError as error:
                tools.meter.add_fault(str(error))
        return Summary(extracted(groups[place], vectors[place], max_tokens), by_model=False)

    made: list[Summary] = []
    for summary in ThreadMap(CALLS_AT_ONCE if language is not None else 1)(write, range(len(groups))):
        tools.report(Progress("make", done + len(made), done + len(groups), "summaries", current=summary.text[:80]))
        made.append(summary)
    return made


def extracted(texts: Sequence[str], vectors: np.ndarray, max_tokens: int) -> str:
    """Choose sentences of the texts as a summary, as many as fit, in the order in which the texts come.

    First comes the first sentence of each, the most central text first, then the second of each. vectors: (n, d) unit
    rows of the texts.
    """
    if not texts:
        return ""
    centroid = vectors.mean(axis=0)
    order = np.argsort(-np.round(vectors @ centroid, 5), kind="stable").tolist()
    sentences = [split_sentences(text) for text in texts]
    chosen: list[tuple[int, int]] = []
    room = max_tokens
    for turn in range(max(map(len, sentences), default=0)):
        for place in order:
            if turn < len(sentences[place]):
                tokens = count_tokens(f" {sentences[place][turn]}")
                if tokens <= room:
                    chosen.append((place, turn))
                    room -= tokens
        if room < max_tokens // 10:
            break
    if not chosen:
        return _cut(" ".join(texts[order[0]].split()), max_tokens)
    return _cut(" ".join(sentences[place][turn] for place, turn in sorted(chosen)), max_tokens)


def _cut(text: str, max_tokens: int) -> str:
    return text if count_tokens(text) <= max_tokens else up_to_last_sentence(trim_to_tokens(text, max_tokens))


def _text(completion: Completion) -> str:
    text = " ".join(completion.text.split())
    if not text:
        raise ReplyError("reply.none")
    return text
