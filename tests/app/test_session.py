from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from leanrag_core import Workbench
from leanrag_core.errors import SearchIndexFailed
from leanrag_core.execution.background import ReadAhead
from leanrag_core.types.index import Index
from leanrag_core.workbench.questions import Questions
from pages.common import session


def test_ask_reads_ahead_while_there_is_no_question_and_again_after_a_failure(
    home: Workbench, visit: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    read, ahead = [], ReadAhead(lambda: 61.0 * len(read))

    def fail(bench: Workbench, index: Index) -> None:
        read.append(index.manifest.name)
        raise SearchIndexFailed("nobody there")

    monkeypatch.setattr(Questions, "read_ahead", fail)
    monkeypatch.setattr(session, "_read_ahead", lambda: ahead)

    visit("ask", home, q="What do beekeepers use?")
    ahead.wait()
    assert read == []
    app = visit("ask", home)
    ahead.wait()
    app.run()
    ahead.wait()
    assert read == ["Bees", "Bees"]
    assert not app.exception
