"""Files that a person uploads for an import: where they go, and what is refused."""

import io
import os
import time
import zipfile
from pathlib import Path

import pytest

from leanrag_core.errors import ImportFailed
from leanrag_core.storage import import_uploads
from leanrag_core.storage.import_uploads import ImportUploads, UploadedFile


def upload(**files: bytes) -> list[UploadedFile]:
    return [UploadedFile(name.replace("_", "."), io.BytesIO(content)) for name, content in files.items()]


def packed(files: dict[str, bytes]) -> list[UploadedFile]:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return [UploadedFile("my graph.zip", content)]


def names(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_several_files_are_in_one_folder_and_the_same_upload_in_the_same_place(tmp_path: Path) -> None:
    uploads = ImportUploads(tmp_path / "imports")
    path = uploads.add(upload(a_csv=b"1", b_csv=b"2"))
    assert names(path) == ["a.csv", "b.csv"]
    assert uploads.add(upload(a_csv=b"1", b_csv=b"2")) == path
    assert uploads.add(upload(a_csv=b"1", b_csv=b"3")) != path
    assert len(list((tmp_path / "imports").iterdir())) == 2


def test_a_zip_is_unpacked_without_its_outer_folder_and_litter(tmp_path: Path) -> None:
    files = {"out/run/entities.parquet": b"1", "out/run/deep/x": b"2", "__MACOSX/out/._x": b"3", "out/.DS_Store": b"4"}
    path = ImportUploads(tmp_path / "imports").add(packed(files))
    assert path.name == "run"
    assert names(path) == ["deep/x", "entities.parquet"]
    flat = ImportUploads(tmp_path / "imports").add(packed({"entities.csv": b"1"}))
    assert flat.name == "my-graph"


@pytest.mark.parametrize("name", ["../../evil", "a/../../b", "C:\\x\\..\\y", "a\x00b", "x" * 200, "a:b"])
def test_a_name_that_leads_elsewhere_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ImportFailed):
        ImportUploads(tmp_path / "imports").add([UploadedFile(name, io.BytesIO(b"x")), *upload(b=b"y")])
    assert names(tmp_path) == []


def test_an_absolute_name_stays_below_the_folder(tmp_path: Path) -> None:
    path = ImportUploads(tmp_path / "imports").add([UploadedFile("/etc/cron.d/job", io.BytesIO(b"x")), *upload(b=b"y")])
    assert path.is_relative_to(tmp_path / "imports")
    assert names(path) == ["b", "etc/cron.d/job"]


def test_too_much_is_refused_before_and_while_it_is_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    uploads = ImportUploads(tmp_path / "imports")
    monkeypatch.setattr(import_uploads, "_FREE_BYTES", 1000)
    with pytest.raises(ImportFailed, match="packed as no graph is"):
        uploads.add(packed({"zeros": b"\0" * 1_000_000}))
    monkeypatch.setattr(import_uploads, "MAX_BYTES", 10)
    for files in (upload(a=b"x" * 6, b=b"x" * 6), packed({"a": b"x" * 6, "b": b"x" * 6})):
        with pytest.raises(ImportFailed, match="more than 10 bytes"):
            uploads.add(files)
    monkeypatch.setattr(import_uploads, "MAX_FILES", 1)
    for files in (upload(a=b"1", b=b"2"), packed({"a": b"1", "b": b"2"}), []):
        with pytest.raises(ImportFailed, match="at most 1"):
            uploads.add(files)
    with pytest.raises(ImportFailed, match="holds no files"):
        uploads.add(packed({}))
    assert names(tmp_path) == []


def test_uploads_of_which_nothing_was_built_go_after_two_days(tmp_path: Path) -> None:
    uploads = ImportUploads(tmp_path / "imports")
    old, new = uploads.add(upload(a=b"1")), uploads.add(upload(a=b"2"))
    before = time.time() - 3 * 24 * 3600
    os.utime(old.parent, (before, before))
    uploads.add(upload(a=b"3"))
    assert (old.exists(), new.exists()) == (False, True)


def test_discarding_takes_an_upload_and_nothing_else(tmp_path: Path) -> None:
    uploads = ImportUploads(tmp_path / "imports")
    path = uploads.add(upload(a=b"1"))
    (tmp_path / "mine").mkdir()
    uploads.discard(tmp_path / "mine")
    uploads.discard(path)
    assert (tmp_path / "mine").is_dir()
    assert list((tmp_path / "imports").iterdir()) == []
