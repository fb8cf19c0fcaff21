"""The built-in model as it is, without the memory that the other tests give it."""

import pytest

from leanrag_core.models.minilm import MiniLM


@pytest.fixture(autouse=True)
def nothing_is_remembered(texts_embedded_once: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MiniLM, "embed", MiniLM.embed.__wrapped__)  # type: ignore[attr-defined]
