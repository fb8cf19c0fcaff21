import os
import socket
from pathlib import Path

import pytest

from leanrag_core.__main__ import main
from leanrag_core.indexing import reading
from leanrag_core.indexing.reading import read_files, sources_below
from tests.refusals import as_read

OUTSIDE = "is a link to outside of the given folders, so it was skipped: --follow-links reads it"
LATER = "not a file, so it was skipped: save what it gives into a file, then add that"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a file, beside another one with a secret."""
    (tmp_path / "given").mkdir()
    (tmp_path / "given" / "bees.txt").write_text("Bees dance.")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "secret.txt").write_text("Ants walk.")
    return tmp_path / "given"


def names(paths: tuple[Path, ...]) -> list[str]:
    return [path.name for path in paths]


def test_links_out_of_the_folder_are_passed_over_and_reported(folder: Path) -> None:
    (folder / "file.txt").symlink_to(folder.parent / "other" / "secret.txt")
    (folder / "more").symlink_to(folder.parent / "other", target_is_directory=True)
    read = sources_below([folder])
    assert names(read.files) == ["bees.txt"]
    assert as_read(read.refusals) == [("file.txt", OUTSIDE), ("more", OUTSIDE)]


def test_links_are_followed_when_that_is_asked_for(folder: Path) -> None:
    (folder / "file.txt").symlink_to(folder.parent / "other" / "secret.txt")
    (folder / "more").symlink_to(folder.parent / "other", target_is_directory=True)
    read = sources_below([folder], follow_links=True)
    assert (names(read.files), read.refusals) == (["bees.txt", "file.txt", "secret.txt"], ())


def test_a_link_into_another_given_folder_is_no_way_out(folder: Path) -> None:
    (folder / "file.txt").symlink_to(folder.parent / "other" / "secret.txt")
    read = sources_below([folder, folder.parent / "other"])
    assert (names(read.files), read.refusals) == (["bees.txt", "file.txt", "secret.txt"], ())


def test_a_path_that_is_given_may_be_a_link(folder: Path) -> None:
    (folder.parent / "link").symlink_to(folder, target_is_directory=True)
    (folder.parent / "link.txt").symlink_to(folder.parent / "other" / "secret.txt")
    read = sources_below([folder.parent / "link", folder.parent / "link.txt"])
    assert (names(read.files), read.refusals) == (["bees.txt", "link.txt"], ())


@pytest.mark.parametrize("follow_links", [True, False])
def test_links_that_lead_round_end(folder: Path, follow_links: bool) -> None:
    (folder / "again").symlink_to(folder, target_is_directory=True)
    (folder / "in").mkdir()
    (folder / "in" / "up").symlink_to(folder, target_is_directory=True)
    (folder / "self").symlink_to(folder / "self")
    read = sources_below([folder], follow_links=follow_links)
    assert names(read.files) == ["bees.txt"]
    assert [refusal.name for refusal in read.refusals] == ["self"]


def test_pipes_and_sockets_in_a_folder_are_reported(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(folder / "pipe.txt")
    monkeypatch.chdir(folder)  # the path of a socket is short
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind("socket.txt")
        read = sources_below([folder])
    assert names(read.files) == ["bees.txt"]
    assert as_read(read.refusals) == [("pipe.txt", f"is a pipe, {LATER}"), ("socket.txt", f"is a socket, {LATER}")]


def test_a_pipe_and_a_device_that_are_given_are_not_opened(folder: Path) -> None:
    os.mkfifo(folder.parent / "pipe.txt")
    read = read_files([folder.parent / "pipe.txt", Path("/dev/zero"), folder])
    assert [document.name for document in read.documents] == ["bees.txt"]
    assert as_read(read.refusals) == [("pipe.txt", f"is a pipe, {LATER}"), ("zero", f"is a device, {LATER}")]


def test_a_folder_that_may_not_be_read_is_reported(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "closed").mkdir()
    usual = os.scandir

    def refuse(path: Path) -> object:
        if path.name == "closed":
            raise PermissionError(13, "Permission denied")
        return usual(path)

    monkeypatch.setattr(reading.os, "scandir", refuse)
    read = sources_below([folder])
    assert names(read.files) == ["bees.txt"]
    assert as_read(read.refusals) == [("closed", "cannot be read (Permission denied): check its rights")]


def test_a_link_to_itself_that_is_given_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "self").symlink_to(tmp_path / "self")
    assert main(["build", str(tmp_path / "self"), "--out", str(tmp_path / "out")]) == 1
    assert "self: cannot be read (Too many levels of symbolic links)" in capsys.readouterr().err
