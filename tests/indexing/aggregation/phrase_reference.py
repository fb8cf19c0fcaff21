"""Phrases and sentences found plainly, one text at a time: what the passes over whole corpora must agree with."""

import re
from collections import Counter

from leanrag_core.indexing.aggregation.phrases import LONGEST_NAME, folded, is_content

WORD = re.compile(r"[^\W_]+(?:['’\-][^\W_]+)*")
SENTENCE_END = re.compile(r"(?<=[.!?])[\"”’)\]]*\s+(?=[\"“‘(\[]?[^\Wa-z_])|(?<=[。！？])|\s*\n+\s*|\s+\|\s+")
ABBREVIATION = re.compile(
    r"(?:\b[A-Z]|\b(?:Mr|Mrs|Ms|Dr|Prof|St|Jr|Sr|vs|etc|No|Nos|Inc|Ltd|Co|Corp|Gen|Col|Lt|Capt|Rev|Fig|ca|cf|e\.g|i\.e))\.$"
)


def sentences(text):
    sentence_texts = []
    for piece in SENTENCE_END.split(text):
        piece = piece.strip()
        if sentence_texts and ABBREVIATION.search(sentence_texts[-1]):
            sentence_texts[-1] = f"{sentence_texts[-1]} {piece}"
        elif piece:
            sentence_texts.append(piece)
    return sentence_texts


def runs(text):
    run, end = [], -1
    for match in WORD.finditer(text):
        if run and text[end : match.start()].strip():
            yield run
            run = []
        run.append(match.group())
        end = match.end()
    if run:
        yield run


def phrases(text, names):
    """Return (folded words, as written) in order of appearance. names: folded names of two or more words."""
    for run in runs(text):
        keys = [folded(word) for word in run]
        start = open_from = 0
        while start < len(run):
            length = longest_name(keys, start, names)
            if length:
                yield from outside(run, keys, open_from, start)
                yield tuple(keys[start : start + length]), " ".join(run[start : start + length])
                for shorter in range(2, length):
                    for at in range(start, start + length - shorter + 1):
                        if tuple(keys[at : at + shorter]) in names:
                            yield tuple(keys[at : at + shorter]), " ".join(run[at : at + shorter])
                open_from = start + length
            start += length or 1
        yield from outside(run, keys, open_from, len(run))


def longest_name(keys, start, names):
    for length in range(min(LONGEST_NAME, len(keys) - start), 1, -1):
        if tuple(keys[start : start + length]) in names:
            return length
    return 0


def outside(run, keys, start, stop):
    for place in range(start, stop):
        if is_content(run[place]):
            yield (keys[place],), run[place]
            if place + 1 < stop and is_content(run[place + 1]) and keys[place] != keys[place + 1]:
                yield (keys[place], keys[place + 1]), f"{run[place]} {run[place + 1]}"


def numbered(texts, names, own_names):
    """Return the phrases by first appearance, each with its most frequent form, and the phrases of each text and each
    name."""
    number, forms, phrases_of_text = {}, {}, []
    for text, known in [*((text, names) for text in texts), *((name, frozenset()) for name in own_names)]:
        rows = []
        for phrase, written in phrases(text, known):
            rows.append(number.setdefault(phrase, len(number)))
            forms.setdefault(phrase, Counter())[written] += 1
        phrases_of_text.append(rows)
    chosen = [min(forms[phrase], key=lambda form: (-forms[phrase][form], form)) for phrase in number]
    return list(number), chosen, phrases_of_text
