"""Refusals as a person reads them."""

from collections.abc import Iterable

from leanrag_core.messages.catalog import sentence
from leanrag_core.types.corpus import Refusal


def as_read(refusals: Iterable[Refusal]) -> list[tuple[str, str]]:
    """Return each refusal's name and English sentence."""
    return [(refusal.name, sentence(refusal.reason)) for refusal in refusals]
