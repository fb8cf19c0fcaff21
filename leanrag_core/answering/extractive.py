"""An answer made of the context's own sentences, chosen by their likeness to the question and to each of its parts.

Sentences are whole: what a chunk begins with in the middle of a sentence is left out. A sentence that points back ("In
1973 he shared ...") brings those that it points to, or the name of the entity that it describes.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from leanrag_core.answering.antecedents import ENDS, antecedents, points_back
from leanrag_core.answering.asked import OPEN, key, plain_words
from leanrag_core.answering.languages import NEAREST_ACROSS, OtherLanguage, other_language
from leanrag_core.answering.standing import COUNTED, holds_value, is_answered, parts_asked
from leanrag_core.messages.catalog import sentence as sentence_of
from leanrag_core.retrieval.budgets import TRIMMED
from leanrag_core.retrieval.marks import cited_answer
from leanrag_core.text.chinese import han_runs
from leanrag_core.text.sentences import sentences_with_quotations
from leanrag_core.text.words import FUNCTION_WORDS, lexical_tokens
from leanrag_core.types.cosines import BUILTIN_COSINES, Cosines, CosineScale, passage_scale, query_scale
from leanrag_core.types.trace import Answer, AnswerPart, Trace

_WORD = re.compile(r"[^\W_]+", re.UNICODE)
_COLON = re.compile(r": ")
MAX_SENTENCES = 4
# Sentences that are embedded, of passages and of other items; chosen by the words they share with the question.
_CANDIDATES, _OTHER_CANDIDATES = 40, 24
# Below it the nearest sentence is about something else: 95 % of the answerable questions of the sample corpora have one
# above .5. It cannot tell a related question that the documents leave open; standing.py does.
_MIN_COSINE = 0.42
# How much more a sentence of another item must score than a further one of the passages.
_PASSAGES_FIRST = 0.03
_COVERAGE = 0.8  # of a score; the rest is the cosine
# Weight of a question's word that stands only in the sentences before, or in the title. Together they weigh at most as
# much as the words of the sentence itself, which would otherwise be chosen for its neighbours.
_AROUND = 0.5
_NEAR_BEST = 0.72  # further sentences must score this share of the best one
# Where no passage holds this share of the question's words that a description holds, descriptions answer too.
_LITTLE = 0.4
_VALUE = 0.6  # what a sentence gains for a part of the question that asks for the kind of value it holds
_NEAREST = 3  # passages that are shown where nothing answers
_BEFORE = 2  # sentences that a sentence goes on from
_SHORTEST = 25  # characters of a sentence that can answer
_QUOTED_END = re.compile("[。！？][”’」』）]$")
_DIGITS = 6  # to which scores are rounded, so that every processor chooses alike
# The end of a quotation that nothing opens, and a sentence that goes on behind it.
_WITHIN_QUOTATION = re.compile(r"""(?:[^"'“‘’]|(?<=\w)['’](?=\w))*[.,!?;:—]["'’”]\s+[a-z]""")
NOTHING_FITS = "Nothing in the context answers this."


@dataclass(frozen=True)
class _Sentence:
    text: str
    mark: str
    section: str  # of the context
    of_passage: bool
    name: str  # of the item, where that is an entity
    item: Sequence[str]  # all sentences of the item
    place: int  # in the item
    read: str  # with the sentence that it points back to, or the name of the item
    around: str  # title of the item, and the sentences before it
    coverage: float = 0.0  # share of the question's content words, weighted by rarity

    @property
    def window(self) -> str:
        """The sentence after what stands around it."""
        return f"{self.around} {self.text}"


def extractive_answer(
    trace: Trace,
    embed: Callable[[list[str]], np.ndarray],
    question_vector: np.ndarray,
    cosines: Cosines = BUILTIN_COSINES,
    *,
    knows_languages: bool = False,
    languages: Callable[[], Mapping[str, int]] = dict,
) -> Answer:
    """Answer with the context's sentences that answer best, each with its citation mark and its section.

    Those of passages come first; sentences of other items join them where they add something.

    embed: returns (n, d) float32 unit rows. question_vector: (d,) float32, unit. cosines: what those of the model mean.
    knows_languages: whether it finds passages in another language than the question's. languages: returns how much
    text of the documents is in each. When no sentence is close enough the answer says so and is not grounded.
    """
    pool = _sentences(trace, _content_words(trace.question))
    language = other_language(trace, languages, knows_languages=knows_languages)
    if not pool:
        return _refusal(trace, (), language)
    ranked = sorted(range(len(pool)), key=lambda i: (-pool[i].coverage, i))
    kept = [i for i in ranked if pool[i].of_passage][:_CANDIDATES]
    kept += [i for i in ranked if not pool[i].of_passage][: _OTHER_CANDIDATES if kept else _CANDIDATES]
    parts = [part for part in parts_asked(trace.question) if part.kind != OPEN]
    embedded = embed([*(pool[i].read for i in kept), *(part.text for part in parts)])
    vectors = embedded[: len(kept)]
    cosine = np.round(query_scale(cosines).plain((vectors @ question_vector).astype(float)), _DIGITS)
    scores = np.array(
        [round((1 - _COVERAGE) * cosine[k] + _COVERAGE * pool[i].coverage, _DIGITS) for k, i in enumerate(kept)]
    )
    of_passages = [k for k, i in enumerate(kept) if pool[i].of_passage]
    of_others = [k for k, i in enumerate(kept) if not pool[i].of_passage]
    nearest = [pool[kept[k]] for k in sorted(of_passages or of_others, key=lambda k: (-scores[k], k))]
    if max((float(cosine[k]) for k in of_passages), default=0.0) < _MIN_COSINE:
        of_passages = []
        if max((float(cosine[k]) for k in of_others), default=0.0) < _MIN_COSINE:
            return _refusal(trace, nearest, language)
    if language is not None or not is_answered(trace.question, trace):
        return _refusal(trace, nearest, language)
    # Passages say a thing in full and in its place, so their sentences come first; what other items add must score as
    # high as one of theirs, and a little more.
    scores[of_others] -= _PASSAGES_FIRST * bool(of_passages)
    alike = passage_scale(cosines)
    asked_words = frozenset(plain_words(trace.question))
    in_passages, in_others = (
        max((pool[kept[k]].coverage for k in rows), default=0.0) for rows in (of_passages, of_others)
    )
    among = of_passages if in_passages >= _LITTLE * in_others else sorted(of_passages + of_others)
    chosen = []
    for part, vector in zip(parts, embedded[len(kept) :], strict=True):
        # Half by the part and half by the whole question; a value of the kind that is asked for decides between equals.
        likeness = alike.plain((vectors @ vector).astype(float)) + scores
        likeness += [_VALUE * holds_value(part, pool[i].text, pool[i].window, asked_words) for i in kept]
        chosen.append(among[int(np.argmax(np.round(likeness[among], _DIGITS)))])  # of equals the first
    chosen = list(dict.fromkeys(chosen))[:MAX_SENTENCES]
    chosen = [*chosen, *_diverse(scores, vectors, of_passages, chosen, alike)]
    chosen = [*chosen, *_diverse(scores, vectors, of_others, chosen, alike)]
    names = _ranked_names(trace)
    answer_parts = tuple(
        AnswerPart(text, (each.mark, *_named_in(text, each.mark, names)), each.section)
        for each, text in _in_reading_order([pool[kept[k]] for k in chosen], trace)
    )
    return cited_answer(trace, answer_parts, "builtin", extractive=True)


def _last_names(trace: Trace) -> frozenset[str]:
    """Return the last names of the persons that were found."""
    names = [item.name.split() for item in trace.items if item.type.casefold() == "person"]
    return frozenset(words[-1] for words in names if words)


def _in_reading_order(chosen: Sequence[_Sentence], trace: Trace) -> list[tuple[_Sentence, str]]:
    """Order the sentences, those of one item together and as they stand there; a sentence that points back brings those
    that it points to."""
    persons = _last_names(trace)
    marks = list(dict.fromkeys(each.mark for each in chosen))
    ordered = sorted(chosen, key=lambda each: (marks.index(each.mark), each.place))
    if chosen and not points_back(chosen[0].text):
        ordered = [chosen[0], *(each for each in ordered if each is not chosen[0])]
    used: set[str] = set()
    sentences = []
    for each in ordered:
        if each.text in used:
            continue
        if each.of_passage:
            brought = antecedents(each.item, each.place, persons, trace.question)
            sentences += [(each, text) for text in brought if text not in used]
            used.update(brought)
        # A description speaks of its entity, which it need not name.
        named = each.name.lower() in each.text.lower() or (each.place and not points_back(each.text))
        sentences.append((each, each.text if named else f"{each.name}: {each.text}"))
        used.add(each.text)
    return sentences


@lru_cache(maxsize=4_096)  # a moved slider asks again for most of the context
def _content_words(text: str) -> frozenset[str]:
    runs = (word.lower() for word in _WORD.findall(text))
    words = (word for run in runs for word in (lexical_tokens(run) if han_runs(run) else (run,)))
    return frozenset(
        key(word) for word in words if word not in FUNCTION_WORDS and (len(word) > 1 or not word.isascii())
    )


def _sentences(trace: Trace, question: frozenset[str]) -> list[_Sentence]:
    """Return the sentences of the context, each text once: those of sections that hold passages, then the others'."""
    passages = {passage.id for passage in trace.passages}
    holds_passages = {
        section.name: bool(section.items) and all(item.ref in passages for item in section.items)
        for section in trace.context.sections
    }
    sentences: dict[str, _Sentence] = {}
    items = {item.id: item for item in trace.items}
    for section in sorted(trace.context.sections, key=lambda section: not holds_passages[section.name]):
        of_passage = holds_passages[section.name]
        for item in section.items:
            source = items[item.ref].source if item.ref in items else None
            pieces = sentences_with_quotations(item.text[item.lead :].removesuffix(TRIMMED))
            if source is not None and source.start and pieces and not _begins(pieces[0]):
                pieces[0] = ""  # the end of a sentence that begins in another chunk
            name = "" if of_passage or item.ref not in items else items[item.ref].name
            for place, sentence in enumerate(pieces):
                sentence = sentence.removeprefix("- ")
                ended = _width(sentence) >= _SHORTEST and (
                    sentence[-1] in ENDS or _QUOTED_END.search(sentence) is not None
                )
                before = pieces[place - 1] if place and pieces[place - 1][-1:] in tuple(ENDS) else ""
                lost = of_passage and not before and points_back(sentence)  # what it points to is not there
                # "A weakens B: the sentence that says so" adds nothing to the sentence.
                quotes = any(sentence[colon.end() :] in sentences for colon in _COLON.finditer(sentence))
                if ended and not lost and not quotes and not COUNTED.match(sentence):
                    read = f"{before} {sentence}" if before and points_back(sentence) else sentence
                    if name and name.lower() not in sentence.lower():
                        read = f"{name}: {sentence}"
                    around = " ".join([item.text[: item.lead], *pieces[max(0, place - _BEFORE) : place]])
                    candidate = _Sentence(
                        sentence, item.mark, section.name, of_passage, name, pieces, place, read, around
                    )
                    sentences.setdefault(sentence, candidate)
    words_of = {sentence: _content_words(sentence) for sentence in sentences}
    # A word is as rare as it is in the passages; descriptions repeat their sentences.
    counted = [text for text, each in sentences.items() if each.of_passage] or list(sentences)
    frequency = Counter(word for sentence in counted for word in words_of[sentence] & question)
    weight = {word: math.log(1 + len(counted) / (1 + frequency[word])) for word in question}
    total = math.fsum(weight.values()) or 1.0

    def coverage(each: _Sentence) -> float:
        in_sentence = words_of[each.text] & question
        in_surroundings = (_content_words(each.around) & question) - in_sentence
        own = math.fsum(weight[word] for word in in_sentence)
        return (own + min(own, _AROUND * math.fsum(weight[word] for word in in_surroundings))) / total

    return [replace(each, coverage=coverage(each)) for each in sentences.values()]


def _width(sentence: str) -> int:
    """Return the number of characters, those of Chinese counted twice."""
    return len(sentence) + sum(map(len, han_runs(sentence)))


def _begins(piece: str) -> bool:
    """Return whether the piece can begin a sentence: it starts with no small letter, no mark from within a sentence,
    and no end of a quotation that the sentence goes on from."""
    return not piece[:1].islower() and piece[:1] not in ",;:.)]}…-–—、，；：" and _WITHIN_QUOTATION.match(piece) is None


def _diverse(
    scores: np.ndarray, vectors: np.ndarray, among: Sequence[int], before: Sequence[int], alike: CosineScale
) -> list[int]:
    """Choose the best of those sentences by maximal marginal relevance beside the ones chosen before, near repeats
    left out. scores: (n,) float64. vectors: (n, d) float32, unit rows."""
    chosen = list(before)
    floor = _NEAR_BEST * max((float(scores[k]) for k in (*before, *among)), default=0.0)
    while len(chosen) < MAX_SENTENCES:
        best, best_value = -1, -math.inf
        for k in among:
            if k in chosen or scores[k] < floor:
                continue
            overlap = max((round(alike.plain(float(vectors[k] @ vectors[c])), _DIGITS) for c in chosen), default=0.0)
            value = round(float(scores[k]) - 0.3 * overlap, _DIGITS)
            if overlap < 0.92 and value > best_value:
                best, best_value = k, value
        if best < 0:
            break
        chosen.append(best)
    return chosen[len(before) :]


def _ranked_names(trace: Trace) -> list[tuple[str, str]]:
    """Return lower-case name and mark of the ranked items of the context that are no passages, best first."""
    mark_of = {item.ref: item.mark for item in reversed(trace.context.items)}  # of several the first
    ranked = sorted((node for node in trace.nodes if node.rank is not None), key=lambda node: node.rank or 0)
    return [(node.name.lower(), mark_of[node.id]) for node in ranked if node.id in mark_of]


def _named_in(text: str, mark: str, names: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """Return the marks of up to two ranked items that the text names."""
    lowered = text.lower()
    named = [known for name, known in names if name in lowered]
    return tuple(known for known in named[:2] if known != mark)


def _refusal(trace: Trace, nearest: Sequence[_Sentence], language: OtherLanguage | None) -> Answer:
    """Return a refusal with its reason, and with the best sentence of each of the nearest items."""
    because = language.reason if language else None
    best = {each.mark: each for each in reversed(nearest)}  # of each item the first
    near = [each for each in nearest if best[each.mark] is each][:_NEAREST]
    sentences = [] if because and because.code == NEAREST_ACROSS else [NOTHING_FITS]
    sentences += [sentence_of(because)] if because else []
    sentences += [f"Nearest: {near[0].text}"] if near else []
    text = " ".join(sentences)
    parts = tuple(AnswerPart(each.text, (each.mark,), each.section) for each in near)
    nearest_text, said = near[0].text if near else "", (AnswerPart(text, ()),)
    refused = Answer(text, said, (), grounded=False, extractive=True, model="builtin", trace=trace, because=because)
    return replace(refused, nearest=nearest_text, nearest_parts=parts)
