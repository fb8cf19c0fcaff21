"""Ask's line beside naive RAG: what it counts as a shared chunk."""

import re
from collections.abc import Callable

from streamlit.testing.v1 import AppTest

from leanrag_core import Workbench
from tests.app import drawn

QUESTION = "What do beekeepers use against Varroa destructor?"
Visit = Callable[..., AppTest]


def test_pieces_of_chunks_count_as_the_chunks_that_hold_them(home: Workbench, visit: Visit) -> None:
    """Find RAPTOR's leaves, which are shorter than chunks and have ids of their own, in the chunks that hold them."""
    index = home.indexes.open(home.indexes.all()[0].id)
    home.parts.build(index, "chunk_tree")
    index = home.indexes.open(home.indexes.all()[0].id)
    naive = {passage.row for passage in home.retrieve(index, QUESTION, "vector").passages}
    leaves = {passage.row for passage in home.retrieve(index, QUESTION, "raptor").passages}
    assert naive & leaves
    app = visit("ask", home, q=QUESTION, strategy="raptor")
    drawn.assert_sound(app)
    [counts] = re.findall(r"(\d+) of (\d+) chunks shared", drawn.text(app))
    assert counts == (str(len(naive & leaves)), str(len(leaves)))
