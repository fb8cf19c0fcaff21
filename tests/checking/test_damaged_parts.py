"""Each file of each index part, deleted, emptied, cut and with a changed bit: `check` names it, and making mends it."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from leanrag_core.checking import places
from leanrag_core.checking import stored as part_checks
from leanrag_core.checking.problem import Problem, Subject
from leanrag_core.indexing.part_base import PartInfo, parts
from leanrag_core.storage.layout import read_index
from leanrag_core.storage.search_connection import DATABASE, SearchIndex, connect_to_files, place_in, recorded
from tests.contract.indexes import stored
from tests.contract.test_parts import make

pytestmark = pytest.mark.slow

PARTS = [pytest.param(info, id=info.name) for info in parts().parts]
LOST = {"deleted", "emptied", "cut"}
DAMAGES: dict[str, Callable[[bytes], bytes | None]] = {
    "deleted": lambda content: None,
    "emptied": lambda content: b"",
    "cut": lambda content: content[: len(content) // 2],
    "changed": lambda content: (
        content[: len(content) // 2]
        + bytes(byte ^ 16 for byte in content[len(content) // 2 :][:1])
        + content[len(content) // 2 + 1 :]
    ),
}


@pytest.fixture(scope="module")
def with_parts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Yield the tiny index with every part; nothing here is about a loss of power, so nothing is flushed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda file: None)
        directory = tmp_path_factory.mktemp("parts") / "index"
        index = stored("tiny", directory)
        for info in parts().parts:
            make(info, index)
        assert problems(directory) == []
        yield directory


def problems(directory: Path, part: str = "chroma") -> list[Problem]:
    """Return what the checks of parts report; the search index is read only where it is the part in question."""
    subject = Subject(read_index(directory))
    reported = [*part_checks.parts_stored(subject), *(places.rows(subject) if part == "chroma" else ())]
    return [problem for problem in reported if isinstance(problem, Problem)]


def damaged_copy(directory: Path, name: str, content: bytes | None, copy: Path) -> Path:
    """Return a copy of the index in which that file has the content, or is missing."""
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(directory, copy)
    if content is None:
        (copy / name).unlink()
    else:
        (copy / name).write_bytes(content)
    return copy


def damages_of(directory: Path, info: PartInfo) -> Iterator[tuple[str, str, bytes | None]]:
    """Yield a file of the part, a kind of damage, and what the file then holds."""
    for path in sorted((directory / "parts" / info.name).rglob("*")):
        content = path.read_bytes() if path.is_file() else b""
        for kind, damage in DAMAGES.items():
            if path.is_file() and (after := damage(content)) != content:
                yield path.relative_to(directory).as_posix(), kind, after


def answers(directory: Path) -> list[list[int]]:
    """Return the rows that a search finds with each vector of the index, by way of Chroma's files."""
    place, index = place_in(directory), read_index(directory)
    assert place is not None
    search = SearchIndex(place, connect_to_files)
    found = [search.candidates(layer, vector, 2).tolist() for layer in index.layers for vector in layer.vectors]
    search.close()
    return found


def is_rewritten_by_chroma(directory: Path, name: str) -> bool:
    """Return whether the file is one that Chroma may write again when it opens the folder, so that nothing rests on
    it."""
    place = place_in(directory)
    assert place is not None
    path = directory / name
    below = path.relative_to(place.folder).as_posix() if path.is_relative_to(place.folder) else ""
    return "/" in below and below not in (recorded(place.folder).files or {})


@pytest.mark.parametrize("info", PARTS)
def test_damage_to_any_file_of_a_part_is_reported_by_its_path(info: PartInfo, with_parts: Path, tmp_path: Path) -> None:
    n_damages = 0
    for name, kind, content in damages_of(with_parts, info):
        if is_rewritten_by_chroma(with_parts, name):
            continue  # of these is the next test
        n_damages += 1
        copy = damaged_copy(with_parts, name, content, tmp_path / "copy")
        reported = problems(copy, info.name)
        if name.endswith(DATABASE) and kind == "changed" and not reported:
            assert answers(copy) == answers(Path(shutil.copytree(with_parts, tmp_path / "sound")))
        else:
            assert name in {problem.file for problem in reported}, (kind, reported)
    assert n_damages >= 7  # the record, and one file of content


def test_damage_to_a_graph_that_chroma_writes_again_changes_no_answer(with_parts: Path, tmp_path: Path) -> None:
    expected = answers(Path(shutil.copytree(with_parts, tmp_path / "sound")))
    names = {name: kind for name, kind, _ in damages_of(with_parts, parts().named("chroma"))}
    assert any(is_rewritten_by_chroma(with_parts, name) for name in names)
    for name, kind, content in damages_of(with_parts, parts().named("chroma")):
        if is_rewritten_by_chroma(with_parts, name):
            assert answers(damaged_copy(with_parts, name, content, tmp_path / "copy")) == expected, (name, kind)


@pytest.mark.parametrize("kind", sorted(LOST))
def test_a_lost_database_is_named_with_a_remedy_which_mends_it(kind: str, with_parts: Path, tmp_path: Path) -> None:
    info = parts().named("chroma")
    [(name, content)] = [
        (name, content)
        for name, each, content in damages_of(with_parts, info)
        if name.endswith(DATABASE) and each == kind
    ]
    copy = damaged_copy(with_parts, name, content, tmp_path / "copy")
    [problem] = problems(copy)
    assert problem.file == name
    assert "make it again with 'python -m leanrag_core part DIR chroma'" in problem.text
    make(info, read_index(copy))
    assert problems(copy) == []
    assert answers(copy) == answers(Path(shutil.copytree(with_parts, tmp_path / "sound")))
