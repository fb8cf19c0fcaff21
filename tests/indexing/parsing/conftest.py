"""Files made in memory, as a user would upload them."""

from collections.abc import Callable

import pytest

from leanrag_core.indexing.parsing import parse_upload
from leanrag_core.messages.catalog import sentence
from leanrag_core.types.corpus import Document

Read = Callable[[str, str | bytes], Document]


@pytest.fixture
def read() -> Read:
    """Return a function that reads the one document in a file of that name and content."""

    def read_file(name: str, content: str | bytes) -> Document:
        upload = parse_upload(name, content.encode() if isinstance(content, str) else content)
        assert upload.refusals == ()
        [document] = upload.documents
        return document

    return read_file


@pytest.fixture
def refused() -> Callable[[str, str | bytes], str]:
    """Return a function that gives the reason for which a file of that name and content is refused as a whole."""

    def reason(name: str, content: str | bytes) -> str:
        upload = parse_upload(name, content.encode() if isinstance(content, str) else content)
        assert upload.documents == ()
        [refusal] = upload.refusals
        return sentence(refusal.reason)

    return reason
