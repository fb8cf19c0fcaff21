"""Keys stay in the process that needs them."""

import psutil
import pytest

from leanrag_core.indexing.parsing.confined import ConfinedParser
from leanrag_core.indexing.parsing.limits import ParseLimits
from leanrag_core.system.environment import holds_secrets, without_secrets
from tests.reading import read_uploads

PLANTED = "sk-planted-0123456789abcdef"


def test_variables_named_like_keys_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_OWN_API_KEY", PLANTED)
    monkeypatch.setenv("LEANRAG_PLAIN", "stays")
    assert holds_secrets()
    assert without_secrets()["LEANRAG_PLAIN"] == "stays"
    assert PLANTED not in without_secrets().values()


def test_the_process_that_reads_documents_is_given_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_OWN_API_KEY", PLANTED)
    known = {process.pid for process in psutil.Process().children()}
    with ConfinedParser(ParseLimits()) as parser:
        upload = read_uploads([("bees.txt", b"Bees dance in the hive.")], parser)
        assert [document.name for document in upload.documents] == ["bees.txt"]
        readers = [process for process in psutil.Process().children() if process.pid not in known]
        assert readers
        assert all(PLANTED not in process.environ().values() for process in readers)
