"""An index over a graph that another program made, on the pages."""

from collections.abc import Callable
from pathlib import Path

from streamlit.testing.v1 import AppTest

from leanrag_core import Workbench
from tests.app import drawn
from tests.importing.test_plain import CHUNKS, ENTITIES, RELATIONS, tables

Visit = Callable[..., AppTest]


def test_an_imported_index_is_listed_explored_and_asked(home: Workbench, visit: Visit, tmp_path: Path) -> None:
    folder = tables(tmp_path / "<b>bees", entities=ENTITIES, relations=RELATIONS, chunks=CHUNKS)
    index = home.import_graph(folder)
    assert index.path is not None
    for page in ("build", "explore", "ask"):
        app = visit(page, home, index=index.path.name)
        drawn.assert_sound(app)
    assert "Imported graph" in drawn.text(app)
