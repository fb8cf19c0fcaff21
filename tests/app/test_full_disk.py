"""What pages say when the disk takes no more, or holds what is not ours."""

import errno
import os
from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from leanrag_core import Workbench
from tests.app import drawn

Visit = Callable[..., AppTest]


@pytest.fixture
def full_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)


@pytest.mark.usefixtures("full_disk")
@pytest.mark.parametrize("page", ["library", "build", "explore", "ask", "compare", "evaluate", "settings"])
def test_a_first_start_on_a_full_disk_is_reported_in_words(page: str, empty_home: Workbench, visit: Visit) -> None:
    app = visit(page, empty_home)
    assert not app.exception
    assert "could not be written: the disk is full. Free some space" in drawn.text(app)


@pytest.mark.usefixtures("full_disk")
def test_what_is_there_is_still_shown(home: Workbench, visit: Visit) -> None:
    for page in ("library", "build", "ask", "settings"):
        app = visit(page, home)
        assert not app.exception
        assert "disk is full" not in drawn.text(app)


def test_why_a_folder_is_not_deleted_stays_on_the_page(home: Workbench, visit: Visit) -> None:
    folder = home.root / "indexes" / "broken"
    folder.mkdir()
    (folder / "manifest.json").write_text("damaged")
    (folder / "thesis.docx").touch()
    app = visit("library", home)
    app.button("delete_damaged_broken").click().run()
    assert "'thesis.docx'" in drawn.text(app)
    assert (folder / "thesis.docx").exists()
