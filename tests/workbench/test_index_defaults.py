"""How an index is asked, chosen by a person: kept in a file of the workbench, taken back again."""

from pathlib import Path

import pytest

from leanrag_core.errors import RecordDamaged
from leanrag_core.workbench.settings import AskedWith, IndexDefaults


def test_what_was_chosen_is_kept_for_each_index_and_can_be_taken_back(tmp_path: Path) -> None:
    path = tmp_path / "home" / "defaults.json"
    first, second = AskedWith("leanrag", {"top_n": 5, "findings": True}), AskedWith("vector", {"top_c": 8})
    assert IndexDefaults(path).chosen_for("a") is None
    assert IndexDefaults(path).use("a", first) is None
    assert IndexDefaults(path).use("a", second) == first
    IndexDefaults(path).use("b", first)
    assert (IndexDefaults(path).chosen_for("a"), IndexDefaults(path).chosen_for("b")) == (second, first)
    IndexDefaults(path).use("a", None)
    assert IndexDefaults(path).chosen_for("a") is None
    path.write_text("{")
    with pytest.raises(RecordDamaged):
        IndexDefaults(path).chosen_for("b")
