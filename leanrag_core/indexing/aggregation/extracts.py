"""Descriptions and findings made of the members' own sentences."""

from collections.abc import Iterable, Sequence
from itertools import chain, tee

import numpy as np

from leanrag_core.indexing.aggregation.phrases import BREAK, CONTENT, LEANING, PERSON, Lexicon, sentences
from leanrag_core.indexing.aggregation.writer import ClusterView, InsideRelation
from leanrag_core.text.chinese import is_chinese
from leanrag_core.text.tokens import count_tokens, trim_to_tokens
from leanrag_core.types.graph import Finding

_RELEVANCE = 0.7  # share of relevance against redundancy in the choice of sentences
_SHORT, _LONG = 5, 45  # words; shorter sentences say little alone, longer ones crowd out others
_ODD_LENGTH = 0.6
_DANGLING = 0.75
_ONE = 0.7
_OPENING = 5  # words
_FEWEST_FINDINGS, _MOST_FINDINGS = 5, 7
_RELATION_FINDINGS = 3
_EXPLANATION_TOKENS, _TOKENS_OF_END = 80, 4
_CLOSING = {"“": "”", "「": "」", "『": "』", "《": "》"}
_BEFORE_ELLIPSIS = " ,;:，、；：—-"
_CHINESE_STOPS = ("。", "！", "？")
_LONGEST_HEAD = 120  # characters of "A weakens B" before a colon


def choose_sentences(
    descriptions: Sequence[str],
    vectors: np.ndarray,
    lexicon: Lexicon,
    word_weight: np.ndarray,
    *,
    names: Sequence[str] = (),
    n_sentences: int,
    max_tokens: int,
) -> str:
    """Choose the sentences that are most relevant to the whole and least like one another (maximal marginal relevance).

    vectors: (members, d) unit rows. word_weight: of the lexicon's folded words; those beyond its end weigh 1. Relevance
    is half the cosine of a sentence's weighted words to those of all sentences, half that of its best member's vector
    to the centroid. names: of the entities that the text is to connect; a sentence with two of them counts in full,
    with one by _ONE, and one without any is chosen only where no sentence has a name. At most n_sentences and
    max_tokens; where every sentence is too long, one is cut, with an ellipsis.
    """
    centroid = vectors.mean(axis=0, dtype=np.float64)
    nearness = (vectors @ (centroid / max(float(np.linalg.norm(centroid)), 1e-12))).tolist()
    best_owner: dict[str, float] = {}
    for description, near in zip(descriptions, nearness, strict=True):
        for sentence in sentences(description):
            best_owner[sentence] = max(best_owner.get(sentence, -np.inf), near)
    if not best_owner:
        return ""
    texts = list(best_owner)
    sentence_words = _Read(lexicon, texts)
    matrix = sentence_words.word_matrix(word_weight)
    theme = matrix.sum(axis=0)
    relevance = 0.5 * matrix @ (theme / max(float(np.linalg.norm(theme)), 1e-12)) + 0.5 * np.array(
        list(best_owner.values())
    )
    relevance *= np.where((sentence_words.n_words < _SHORT) | (sentence_words.n_words > _LONG), _ODD_LENGTH, 1.0)
    relevance *= np.where(sentence_words.leans, _DANGLING, 1.0)
    n_named = sentence_words.count_names(names)
    relevance *= np.where(n_named > 1, 1.0, _ONE)
    likeness = np.zeros(len(texts))
    available = n_named > 0 if n_named.any() else np.ones(len(texts), dtype=bool)
    chosen: list[str] = []
    room = max_tokens
    while len(chosen) < n_sentences and available.any():
        marginal = np.where(available, np.round(_RELEVANCE * relevance - (1 - _RELEVANCE) * likeness, 9), -np.inf)
        for best in np.argsort(-marginal, kind="stable")[: available.sum()].tolist():
            available[best] = False
            sentence = _ended(texts[best])
            fits = sentence_words.n_words[best] <= room  # a word is a token or more
            cost = count_tokens(f" {sentence}") if fits else max_tokens + 1
            if cost <= room:
                chosen.append(sentence)
                room -= cost
                likeness = np.maximum(likeness, matrix @ matrix[best])
                break
            if not chosen and not available.any():
                chosen.append(_cut(sentence, max_tokens))
    return joined_sentences(chosen)


def joined_sentences(texts: Iterable[str]) -> str:
    """Join sentences with a space, but none behind a Chinese stop."""
    joined = ""
    for text in filter(None, texts):
        joined += text if not joined or joined.endswith(_CHINESE_STOPS) else f" {text}"
    return joined


class _Read:
    """The words of some sentences.

    n_words: (sentences,) int. leans: (sentences,) bool, whether a sentence needs its neighbours to be understood: it
    begins with a connective, or a pronoun is among its first words.
    """

    def __init__(self, lexicon: Lexicon, texts: Sequence[str]) -> None:
        flat, lengths = lexicon.tokens(lexicon.read(texts))
        self._lexicon = lexicon
        self.n_texts = len(texts)
        traits, fold = lexicon.traits, lexicon.fold
        n_words, leans = [], []
        self.rows: list[int] = []
        self.forms: list[int] = []
        start = 0
        for row, length in enumerate(lengths):
            word_numbers = [word for word in flat[start : start + length] if word != BREAK]
            start += length
            n_words.append(len(word_numbers))
            opening = [traits[word] for word in word_numbers[:_OPENING]]
            leans.append(bool(opening) and bool(opening[0] & LEANING or any(flags & PERSON for flags in opening)))
            content = [fold[word] for word in word_numbers if traits[word] & CONTENT]
            self.forms += content
            self.rows += [row] * len(content)
        self.n_words, self.leans = np.array(n_words), np.array(leans)

    def count_names(self, names: Sequence[str]) -> np.ndarray:
        """Count for each sentence the names whose content words all occur in it, (sentences,) int64."""
        lexicon = self._lexicon
        names_by_form: dict[int, list[frozenset[int]]] = {}
        flat, lengths = lexicon.tokens(lexicon.read(dict.fromkeys(names)))
        start = 0
        for length in lengths:
            word_numbers = [word for word in flat[start : start + length] if word != BREAK]
            start += length
            forms = frozenset(lexicon.fold[word] for word in word_numbers if lexicon.traits[word] & CONTENT)
            if forms:
                names_by_form.setdefault(min(forms), []).append(forms)
        forms_by_sentence: list[set[int]] = [set() for _ in range(self.n_texts)]
        for row, form in zip(self.rows, self.forms, strict=True):
            forms_by_sentence[row].add(form)
        return np.array(
            [
                sum(forms <= sentence_forms for form in sentence_forms for forms in names_by_form.get(form, ()))
                for sentence_forms in forms_by_sentence
            ],
            dtype=np.int64,
        )

    def word_matrix(self, word_weight: np.ndarray) -> np.ndarray:
        """Return rows of weighted word counts, of length 1 or 0; (sentences, distinct content words) float64.

        word_weight: (forms,) of the lexicon's folded words.
        """
        forms, column = np.unique(np.array(self.forms, dtype=np.int64), return_inverse=True)
        n = max(len(forms), 1)
        counts = np.bincount(np.array(self.rows, dtype=np.int64) * n + column, minlength=self.n_texts * n)
        has_weight = forms < len(word_weight)
        weight = np.ones(n)
        weight[: len(forms)][has_weight] = word_weight[forms[has_weight]]
        matrix = counts.reshape(self.n_texts, n) * weight
        lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
        return np.asarray(matrix / np.maximum(lengths, 1e-12))


def _ended(sentence: str) -> str:
    if sentence[-1:] in ".!?…。！？\"”’')":
        return sentence
    return f"{sentence}。" if is_chinese(sentence) else f"{sentence}."


def findings_of(members: ClusterView, order: Sequence[int]) -> tuple[Finding, ...]:
    """Write at least five findings where members and inside relations allow, each about one of them.

    order: positions of members, the most central first. Relations with sentences of their own come first, then members;
    explanations are not repeated as long as there are others.
    """
    strongest = _strongest(members.relations)
    # Findings are made when they are first needed, and kept for the loops after.
    relations = tee((_relation_finding(members, relation) for relation in strongest), 3)
    partners: list[list[int]] = [[] for _ in members.names]
    for relation in strongest:
        partners[relation.source].append(relation.target)
        partners[relation.target].append(relation.source)
    about_members = tee((_member_finding(members, place, partners[place]) for place in order), 2)
    chosen: list[Finding] = []
    used_explanations: set[str] = set()
    for offered, limit in (
        (relations[0], _RELATION_FINDINGS),
        (about_members[0], _MOST_FINDINGS),
        (relations[1], _MOST_FINDINGS),
    ):
        if len(chosen) >= limit:
            continue
        for finding in offered:
            if finding.explanation and finding.explanation not in used_explanations:
                chosen.append(finding)
                used_explanations.add(finding.explanation)
                if len(chosen) >= limit:
                    break
    if len(chosen) < _FEWEST_FINDINGS:
        for finding in chain(about_members[1], relations[2]):
            if len(chosen) < _FEWEST_FINDINGS and finding not in chosen:
                chosen.append(finding)
    return tuple(chosen)


def _strongest(relations: Sequence[InsideRelation]) -> list[InsideRelation]:
    """Sort stated relations before bare co-occurrence, then by strength and weight."""
    return sorted(
        relations,
        key=lambda relation: (
            relation.kind == "co-occurrence",
            -relation.strength,
            -relation.weight,
            relation.source,
            relation.target,
        ),
    )


def _relation_finding(members: ClusterView, relation: InsideRelation) -> Finding:
    left, right = members.names[relation.source], members.names[relation.target]
    head, colon, rest = relation.description.partition(": ")
    names_both = all(name.casefold() in head.casefold() for name in (left, right))
    is_of_base = relation.kind not in ("summarised", "concatenated")
    if is_of_base and colon and len(head) <= _LONGEST_HEAD and names_both:
        return Finding(_capital(head), _first_sentences(rest))  # "A weakens B: the sentence that says so"
    summary = _relation_in_chinese if is_chinese(relation.description or left + right) else _relation_in_english
    return Finding(_capital(summary(left, right, relation)), _first_sentences(relation.description))


def _relation_in_english(left: str, right: str, relation: InsideRelation) -> str:
    if relation.kind in ("summarised", "concatenated"):
        count = "one relation joins" if relation.strength == 1 else f"{relation.strength:,} relations join"
        return f"{count} “{left}” and “{right}”"
    if relation.kind == "co-occurrence":
        return f"{left} and {right} are mentioned together"
    if relation.keywords:
        return f"{left} and {right}: {', '.join(relation.keywords[:3])}"
    return f"{left} is related to {right}"


def _relation_in_chinese(left: str, right: str, relation: InsideRelation) -> str:
    if relation.kind in ("summarised", "concatenated"):
        return f"“{left}”与“{right}”之间有{relation.strength:,}条关系"
    if relation.kind == "co-occurrence":
        return f"{left}与{right}一同提到"
    if relation.keywords:
        return f"{left}与{right}：{'、'.join(relation.keywords[:3])}"
    return f"{left}与{right}有关"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _member_finding(members: ClusterView, place: int, linked: Sequence[int]) -> Finding:
    def shown(member: int) -> str:
        return f"“{members.names[member]}”" if members.layer > 1 else members.names[member]

    name, type_ = shown(place), members.types[place]
    partners = [shown(member) for member in linked[:2]]
    label = name if type_ in ("", "unknown", "aggregated") else f"{name} ({type_})"
    explanation = _first_sentences(members.descriptions[place])
    # A name may be Latin in a Chinese text; who is not described is spoken of in the language of the others.
    if is_chinese(explanation or "".join(members.descriptions) or name):
        others = f"等{len(linked):,}个实体" if len(linked) > 2 else ""
        summary = f"{name}与{'、'.join(partners)}{others}相连" if partners else f"{name}属于这一组"
        return Finding(summary, explanation or f"文档提到{name}，但没有说明。")
    if not partners:
        summary = f"{label} is part of this group"
    elif len(linked) <= 2:
        summary = f"{label} is linked to {' and '.join(partners)}"
    else:
        others = f"{len(linked) - 2:,} other{'s' if len(linked) > 3 else ''}"
        summary = f"{label} is linked to {partners[0]}, {partners[1]} and {others}"
    return Finding(summary, explanation or f"The documents name {name} without describing it.")


def _first_sentences(text: str) -> str:
    """Return the first sentence, or its beginning with an ellipsis when it is long; quotations that it opens are
    closed."""
    first = next(iter(sentences(text)), "")
    if not first:
        return ""
    ended = _ended(first)
    if len(ended.encode()) > _EXPLANATION_TOKENS and count_tokens(ended) > _EXPLANATION_TOKENS:
        return _cut(ended, _EXPLANATION_TOKENS)
    return _with_closed_quotations(ended)


def _cut(sentence: str, max_tokens: int) -> str:
    """Return the beginning of the sentence with an ellipsis; quotations that it opens are closed. Empty where there is
    no room for it."""
    beginning = trim_to_tokens(sentence, max(max_tokens - _TOKENS_OF_END, 0))
    whole_words = beginning if is_chinese(beginning) else beginning.rpartition(" ")[0] or beginning
    kept = whole_words.rstrip(_BEFORE_ELLIPSIS)
    return _with_closed_quotations(f"{kept}…") if kept else ""


def _with_closed_quotations(text: str) -> str:
    open_marks: list[str] = []
    for letter in text:
        if letter in _CLOSING:
            open_marks.append(_CLOSING[letter])
        elif open_marks and letter == open_marks[-1]:
            open_marks.pop()
    return text + "".join(reversed(open_marks))
