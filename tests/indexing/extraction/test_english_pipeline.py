"""The pipeline as it is loaded reads like spaCy's own components with the same weights and rules."""

from functools import cache
from importlib.util import find_spec
from typing import Any

import pytest

from leanrag_core.indexing.extraction.english import _PACKAGES, english_pipeline
from leanrag_core.indexing.extraction.english_attributes import WordAttributes

TEXTS = (
    "Marie Curie discovered radium with her husband Pierre in Paris. She won the Nobel Prize in 1903 and 1911.",
    "I'm gonna tell y'all: let's go, c'mon! They ain't wrong, and there's nothing that hasn't been tried.",
    "Bees",
    "Dr. Jane O'Neill-Smith of the University of Applied Sciences Upper Austria met   President Thomas Jefferson.",
    "It was the best of times, it was the worst of times: \"Who's there?\" asked the men's leaders on 12 May 2001.",
    "The dogs were running faster than the wolves ran; feet, geese and data are better off.",
    "Smith",
)


@cache
def _of_spacy() -> Any:

    import spacy

    return spacy.load(next(package for package in _PACKAGES if find_spec(package)), exclude=["senter"])


def _words(doc: Any) -> list[tuple[Any, ...]]:
    return [(w.text, w.tag_, w.pos_, str(w.morph), w.lemma_, w.dep_, w.head.i, w.is_sent_start) for w in doc]


def _names(doc: Any) -> list[tuple[int, int, str]]:
    return [(name.start, name.end, name.label_) for name in doc.ents]


@pytest.mark.parametrize("together", [True, False])
def test_words_and_names_are_those_of_spacys_own_components(together: bool):
    expected = list(_of_spacy().pipe(TEXTS))
    read = list(english_pipeline().pipe(TEXTS)) if together else [english_pipeline()(text) for text in TEXTS]
    assert [_words(doc) for doc in read] == [_words(doc) for doc in expected]
    assert [_names(doc) for doc in read] == [_names(doc) for doc in expected]
    assert sum(map(len, map(_names, read))) > 8


def test_a_text_without_words_is_read_beside_others():
    empty, full = english_pipeline().pipe(["", "Ada Lovelace lived in London."])
    assert len(empty) == 0
    assert [name.text for name in full.ents] == ["Ada Lovelace", "London"]


def test_rules_of_two_words_set_the_word_that_they_are_about():
    gon, na = english_pipeline()("gonna")
    assert (gon.lemma_, na.lemma_) == ("go", "to")


def test_a_rule_of_another_kind_is_named_when_the_pipeline_is_loaded():
    class Ruler:
        attrs: tuple[dict[int, Any], ...] = ()
        vocab = _of_spacy().vocab
        patterns = ({"patterns": [[{"SHAPE": "Xxx"}]], "index": 0},)

    with pytest.raises(ValueError, match=r"another kind than is known here: \{'SHAPE': 'Xxx'\}"):
        WordAttributes(Ruler(), _of_spacy().get_pipe("lemmatizer"))
