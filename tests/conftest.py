"""What tests share: small graphs and indexes written by hand."""

import pytest

from leanrag_core.types.index import Index
from tests.small_index import small_index


@pytest.fixture
def index() -> Index:
    """Six entities in four chunks of two documents, two clusters, one root."""
    return small_index()
