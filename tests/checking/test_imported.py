"""What `check` finds in the files that an import adds to an index."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from leanrag_core.checking.problem import Subject
from leanrag_core.checking.stored import imported_kept
from leanrag_core.storage.layout import write_imported, write_index
from leanrag_core.types.imported import ForeignId, ImportedClaim, ImportedCommunity, ImportedExtras
from leanrag_core.types.index import Index

BEE = "id-honey"
SOUND = ImportedExtras(
    "graphrag",
    (ImportedCommunity("0", 0, "", "All", (BEE,)), ImportedCommunity("1", 1, "0", "Part", (BEE,))),
    (ImportedClaim(BEE, "", "HARM", "TRUE", "Mites harm bees."),),
    (ForeignId("entity", BEE, "e1"),),
)


def problems(index: Index, folder: Path, extras: ImportedExtras) -> list[str]:
    folder.mkdir(exist_ok=True)
    write_index(folder, index, SOUND)
    write_imported(folder, extras)
    return [str(problem) for problem in imported_kept(Subject(replace(index, path=folder)))]


def test_sound_files_have_no_problem(index: Index, tmp_path: Path) -> None:
    assert problems(index, tmp_path, SOUND) == []
    everything = tuple(index.layers[0].entities["id"].to_pylist())
    whole = replace(SOUND.communities[0], entities=everything)
    assert problems(index, tmp_path / "whole", replace(SOUND, communities=(whole,))) == []


@pytest.mark.parametrize(
    ("change", "expected_text"),
    [
        ({"communities": (replace(SOUND.communities[0], entities=("gone",)),)}, "names an entity that is not there"),
        ({"communities": (replace(SOUND.communities[1], parent="9"),)}, "the parent of the community is not there"),
        ({"communities": (replace(SOUND.communities[1], parent="1"),)}, "of no coarser level"),
        ({"communities": (SOUND.communities[0],) * 2}, "two communities have one id"),
        ({"claims": (replace(SOUND.claims[0], subject="gone"),)}, "the subject of the claim is no entity"),
        ({"claims": (replace(SOUND.claims[0], chunk="gone"),)}, "the chunk of the claim is not there"),
        ({"foreign_ids": (ForeignId("chunk", BEE, "x"),)}, "of nothing that the index has"),
    ],
)
def test_each_damage_is_found(index: Index, tmp_path: Path, change: dict[str, object], expected_text: str) -> None:
    [problem] = problems(index, tmp_path, replace(SOUND, **change))
    assert expected_text in problem


def test_a_file_of_another_form_is_named(index: Index, tmp_path: Path) -> None:
    write_index(tmp_path, index, SOUND)
    (tmp_path / "imported.json").write_text(json.dumps({"format": 3}))
    [problem] = [str(problem) for problem in imported_kept(Subject(replace(index, path=tmp_path)))]
    assert problem.startswith("imported.json: ")
