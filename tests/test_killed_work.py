"""Making a part in a process that is killed at any step: the index is sound, and the part can be made."""

from pathlib import Path

import pytest

from leanrag_core.checking.check import check_index
from leanrag_core.indexing.part_base import parts
from leanrag_core.indexing.part_building import read_part
from leanrag_core.storage.layout import read_index
from leanrag_core.storage.part_store import PartStore
from leanrag_core.types.manifest import FINISHED
from tests.contract.indexes import stored
from tests.contract.same import assert_same
from tests.contract.test_parts import make
from tests.killing import killed_copies

pytestmark = pytest.mark.slow
PARTS = ("chroma", "chunk_tree", "lexical", "synonyms")


def make_part(folder: Path) -> None:
    """Make the part that wanted.txt names, and what it needs."""
    make(parts().named((folder / "wanted.txt").read_text()), read_index(folder / "index"))


@pytest.fixture(scope="module")
def killed_at(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Path]]:
    """Return by part the copies of the tiny index in which its making was killed; whole is beside them."""
    return {name: _killed_at(name, tmp_path_factory.mktemp("killed")) for name in PARTS}


def _killed_at(name: str, folder: Path) -> list[Path]:
    stored("tiny", folder / "before" / "index")
    (folder / "before" / "wanted.txt").write_text(name)
    return killed_copies(f"{__name__}:make_part", folder / "before", folder / "copies", 3)


@pytest.mark.parametrize("name", PARTS)
def test_a_part_that_was_killed_at_any_step_is_made_later_and_is_the_same(
    name: str, killed_at: dict[str, list[Path]]
) -> None:
    killed = killed_at[name]
    assert len(killed) >= 3
    info = parts().named(name)
    whole = read_index(killed[0].with_name("whole") / "index")
    sound = [result.name for result in check_index(whole) if result.ok]
    assert {"index parts", "search index"} <= set(sound)
    for copy in killed:
        index = read_index(copy / "index")
        assert [result.name for result in check_index(index) if result.ok] == sound, copy
        make_part(copy)
        assert_same(read_part(index, info), read_part(whole, info))
        assert {part.status for part in PartStore(copy / "index").all()} == {FINISHED}, copy
        assert [result.name for result in check_index(index) if result.ok] == sound, copy
