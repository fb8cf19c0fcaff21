"""An answer made of the context's own sentences, chosen by their likeness to the question."""

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from leanrag_core.function_words import FUNCTION_WORDS
from leanrag_core.retrieval.filling import TRIMMED
from leanrag_core.retrieval.marks import distinct, with_marks
from leanrag_core.sentences import split_sentences
from leanrag_core.types.trace import Answer, AnswerPart, Trace

_WORD = re.compile(r"[^\W_]+", re.UNICODE)
_COLON = re.compile(r": ")
_COUNT = re.compile(r"“.+” and “.+” are joined by \d")  # the built-in writer's: how many there are, not what they say
MAX_SENTENCES = 4
# Sentences that are embedded, of passages and of other items; chosen by the words they share with the question.
_CANDIDATES, _OTHER_CANDIDATES = 40, 24
# Below it the nearest sentence is about something else: 95 % of the answerable questions of the sample corpora have one
# above .5. It cannot tell a related question that the documents leave open; no threshold on these scores does.
_MIN_COSINE = 0.42
# What a sentence of another item must score more than a further one of the passages. Of 220 answers to the samples'
# answerable questions 128 hold the expected words, 123 with the passages alone; no first sentence changes.
_PASSAGES_FIRST = 0.03
_NEAR_BEST = 0.8  # further sentences must score this share of the best one
NOTHING_FITS = "Nothing in the context answers this."


@dataclass(frozen=True)
class _Sentence:
    text: str
    mark: str
    section: str  # of the context
    of_passage: bool
    coverage: float  # share of the question's content words, weighted by rarity


def extractive_answer(trace: Trace, embed: Callable[[list[str]], np.ndarray], question_vector: np.ndarray) -> Answer:
    """The context's sentences that answer best, each with its citation mark and its section.

    Those of passages come first; sentences of other items join them where they add something.

    embed: (n, d) unit rows. question_vector: (d,) unit. When no sentence is close enough the answer says so and is not
    grounded.
    """
    pool = _sentences(trace, _content_words(trace.question))
    if not pool:
        return _refusal(trace, "")
    ranked = sorted(range(len(pool)), key=lambda i: (-pool[i].coverage, i))
    kept = [i for i in ranked if pool[i].of_passage][:_CANDIDATES]
    kept += [i for i in ranked if not pool[i].of_passage][: _OTHER_CANDIDATES if kept else _CANDIDATES]
    vectors = embed([pool[i].text for i in kept])
    cosine = vectors @ question_vector
    scores = np.array([0.65 * float(cosine[k]) + 0.35 * pool[i].coverage for k, i in enumerate(kept)])
    own = [k for k, i in enumerate(kept) if pool[i].of_passage]
    others = [k for k, i in enumerate(kept) if not pool[i].of_passage]
    if max((float(cosine[k]) for k in own), default=0.0) < _MIN_COSINE:
        if max((float(cosine[k]) for k in others), default=0.0) < _MIN_COSINE:
            return _refusal(trace, pool[kept[max(own or others, key=lambda k: scores[k])]].text)
        own = []
    # Passages say a thing in full and in its place, so their sentences come first; what other items add must score as
    # high as one of theirs, and a little more.
    chosen = _diverse(scores, vectors, own, ())
    scores[others] -= _PASSAGES_FIRST * bool(own)
    added = _diverse(scores, vectors, others, chosen)
    chosen = [k for part in (chosen, added) for k in (*part[:1], *sorted(part[1:], key=lambda k: kept[k]))]
    names = _ranked_names(trace)
    sentences = [pool[kept[k]] for k in chosen]
    parts = tuple(
        AnswerPart(sentence.text, (sentence.mark, *_named_in(sentence, names)), sentence.section)
        for sentence in sentences
    )
    return Answer(
        text=" ".join(with_marks(part.text, part.marks) for part in parts),
        parts=parts,
        citations=distinct(mark for part in parts for mark in part.marks),
        grounded=True,
        extractive=True,
        model="builtin",
        trace=trace,
    )


def _content_words(text: str) -> set[str]:
    words = (word.lower() for word in _WORD.findall(text))
    return {stem(word) for word in words if word not in FUNCTION_WORDS and (len(word) > 1 or not word.isascii())}


def stem(word: str) -> str:
    """Plural, past and -ing endings off; enough to meet "treatments" with "treatment"."""
    for ending in ("ingly", "edly", "ing", "ies", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word[: -len(ending)] + ("y" if ending == "ies" else "")
    return word


def _sentences(trace: Trace, question: set[str]) -> list[_Sentence]:
    """Sentences of the context, each text once: those of sections that hold passages, then the others'."""
    passages = {passage.id for passage in trace.passages}
    holds_passages = {
        section.name: bool(section.items) and all(item.ref in passages for item in section.items)
        for section in trace.context.sections
    }
    place_of: dict[str, tuple[str, str]] = {}  # sentence -> mark and section
    for section in sorted(trace.context.sections, key=lambda section: not holds_passages[section.name]):
        for item in section.items:
            for sentence in split_sentences(item.text[item.lead :].removesuffix(TRIMMED)):
                sentence = sentence.removeprefix("- ")
                ended = len(sentence) >= 25 and sentence[-1] in ".!?。！？\"')]"
                # "A weakens B: the sentence that says so" adds nothing to the sentence.
                quotes = any(sentence[colon.end() :] in place_of for colon in _COLON.finditer(sentence))
                if ended and not quotes and not _COUNT.match(sentence):
                    place_of.setdefault(sentence, (item.mark, section.name))
    words_of = {sentence: _content_words(sentence) for sentence in place_of}
    # A word is as rare as it is in the passages; descriptions repeat their sentences.
    counted = [sentence for sentence, (_, name) in place_of.items() if holds_passages[name]] or list(place_of)
    frequency = Counter(word for sentence in counted for word in words_of[sentence] & question)
    weight = {word: math.log(1 + len(counted) / (1 + frequency[word])) for word in question}
    total = sum(weight.values()) or 1.0
    return [
        _Sentence(
            text=sentence,
            mark=mark,
            section=name,
            of_passage=holds_passages[name],
            coverage=sum(weight[word] for word in sorted(words_of[sentence] & question)) / total,
        )
        for sentence, (mark, name) in place_of.items()
    ]


def _diverse(scores: np.ndarray, vectors: np.ndarray, among: Sequence[int], before: Sequence[int]) -> list[int]:
    """The best of those sentences by maximal marginal relevance beside the ones chosen before, near repeats left
    out."""
    chosen = list(before)
    floor = _NEAR_BEST * max((float(scores[k]) for k in (*before, *among)), default=0.0)
    while len(chosen) < MAX_SENTENCES:
        best, best_value = -1, -math.inf
        for k in among:
            if k in chosen or scores[k] < floor:
                continue
            overlap = max((float(vectors[k] @ vectors[c]) for c in chosen), default=0.0)
            value = float(scores[k]) - 0.3 * overlap
            if overlap < 0.92 and value > best_value:
                best, best_value = k, value
        if best < 0:
            break
        chosen.append(best)
    return chosen[len(before) :]


def _ranked_names(trace: Trace) -> list[tuple[str, str]]:
    """Lower-case name and mark of the ranked items of the context that are no passages, best first."""
    mark_of: dict[str, str] = {}
    for section in trace.context.sections:
        for item in section.items:
            mark_of.setdefault(item.ref, item.mark)
    ranked = sorted((node for node in trace.nodes if node.rank is not None), key=lambda node: node.rank or 0)
    return [(node.name.lower(), mark_of[node.id]) for node in ranked if node.id in mark_of]


def _named_in(sentence: _Sentence, names: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """Marks of up to two ranked items that the sentence names."""
    lowered = sentence.text.lower()
    named = [mark for name, mark in names if name in lowered]
    return tuple(mark for mark in named[:2] if mark != sentence.mark)


def _refusal(trace: Trace, nearest: str) -> Answer:
    text = f"{NOTHING_FITS} Nearest: {nearest}" if nearest else NOTHING_FITS
    parts = (AnswerPart(text, ()),)
    return Answer(text, parts, (), grounded=False, extractive=True, model="builtin", trace=trace, nearest=nearest)
