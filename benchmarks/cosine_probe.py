"""Measuring what the cosines of an embedding model mean, by questions and passages (types/cosines.py).

The texts are our own (probe_texts.jsonl): 24 subjects, each with a question, a passage that answers it, and the
same said otherwise, and in another language.
"""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from leanrag_core.models.base import EmbeddingModel, embed_queries
from leanrag_core.types.cosines import Cosines, Medians

_FILE = Path(__file__).parent / "probe_texts.jsonl"
_DECIMALS = 4  # the next ones are not the same on every processor


@dataclass(frozen=True)
class ProbeText:
    """A question, a passage that answers it, the same in other words, and the passage in German or Chinese."""

    question: str
    passage: str
    same: str
    translated: str


@cache
def probe_texts() -> tuple[ProbeText, ...]:
    """Return the texts, each about a subject of its own."""
    return tuple(ProbeText(**json.loads(line)) for line in _FILE.read_text(encoding="utf-8").splitlines())


def measured_cosines(model: EmbeddingModel) -> Cosines:
    """Return the medians of the model's cosines over the texts."""
    texts = probe_texts()
    questions = embed_queries(model, [text.question for text in texts])
    first, second, third = (
        model.embed([getattr(text, kind) for text in texts]) for kind in ("passage", "same", "translated")
    )
    answered = _medians(np.stack([_products(questions, first), _products(questions, second)]))
    across = _medians(_products(questions, third)[None])
    return Cosines(answered, _medians(_products(first, second)[None]), across)


def _products(rows: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return (n, m) cosines. rows: (n, d), others: (m, d), unit rows."""
    return np.asarray(np.einsum("id,jd->ij", rows.astype(np.float64), others.astype(np.float64)))


def _medians(cosines: np.ndarray) -> Medians:
    """Return both medians. cosines: (k, n, n), those of related texts on the diagonals."""
    related = np.broadcast_to(np.eye(cosines.shape[1], dtype=bool), cosines.shape)
    unrelated, same = np.median(cosines[~related]), np.median(cosines[related])
    return Medians(round(float(unrelated), _DECIMALS), round(float(same), _DECIMALS))
