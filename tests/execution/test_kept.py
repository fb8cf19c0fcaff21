import os
from pathlib import Path

import numpy as np
import pytest

from leanrag_core.execution.kept import KeptMap
from tests.execution.work import Doubling, squared


def test_what_was_finished_before_the_work_was_cut_off_is_not_done_again(tmp_path: Path) -> None:
    first = Doubling()
    results = KeptMap(map, tmp_path)(first, [[1, 2], [3], [4]])
    assert [next(results).tolist(), next(results).tolist()] == [[2, 4], [6]]
    results.close()  # type: ignore[attr-defined]
    again, kept = Doubling(), KeptMap(map, tmp_path)
    assert [rows.tolist() for rows in kept(again, [[1, 2], [3], [4]])] == [[2, 4], [6], [8]]
    assert again.calls == [[4]]
    assert kept.n_found == 2


def test_kept_and_new_batches_come_in_the_items_order(tmp_path: Path) -> None:
    list(KeptMap(map, tmp_path)(Doubling(), [[2], [4]]))
    assert [int(rows[0]) for rows in KeptMap(map, tmp_path)(Doubling(), [[1], [2], [3], [4], [5]])] == [2, 4, 6, 8, 10]


def test_a_damaged_file_is_made_anew(tmp_path: Path) -> None:
    task = Doubling()
    list(KeptMap(map, tmp_path)(task, [[7]]))
    [path] = tmp_path.iterdir()
    path.write_bytes(b"\x80\x04 not what was written")
    assert next(KeptMap(map, tmp_path)(task, [[7]])).tolist() == [14]
    assert path.read_bytes() == b"14"


def test_finished_work_leaves_no_files_and_spares_those_of_others(tmp_path: Path) -> None:
    own, other = KeptMap(map, tmp_path), KeptMap(map, tmp_path)
    list(other(Doubling(), [[9]]))
    list(own(Doubling(), [[1], [2]]))
    own.forget()
    assert [path.name for path in tmp_path.iterdir()] == [f"{9:016x}"]


def test_only_batches_are_deleted_for_their_age(tmp_path: Path) -> None:
    batch, half, other = tmp_path / f"{9:016x}", tmp_path / f".{8:016x}.7.6", tmp_path / "thesis.txt"
    for path in (batch, half, other):
        path.touch()
        os.utime(path, (0, 0))
    KeptMap(map, tmp_path).forget()
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_functions_whose_results_cannot_be_kept_are_handed_on(tmp_path: Path) -> None:
    assert list(KeptMap(map, tmp_path / "none")(squared, [1, 2])) == [1, 4]
    assert not (tmp_path / "none").exists()


def test_a_key_that_could_leave_the_folder_is_refused(tmp_path: Path) -> None:
    task = Doubling()
    task.key = lambda batch: "../../etc/passwd"  # type: ignore[method-assign,assignment]
    with pytest.raises(ValueError, match="no hash"):
        list(KeptMap(map, tmp_path)(task, [[1]]))


def test_vectors_come_back_from_the_disk_with_every_bit() -> None:
    from leanrag_core.models.embed_task import EmbedTask

    task = EmbedTask("model", "runtime")
    rows = np.array([[0.1, -0.0, np.float32(1e-41)], [3, 4, 5]], dtype=np.float32)
    assert task.unpack(task.pack(rows)).tobytes() == rows.tobytes()
    pickled = np.array([{"a": 1}], dtype=object).dumps()
    for content in (b"", task.pack(rows)[:-4], pickled, task.pack(rows.astype(np.float64))):
        with pytest.raises(ValueError, match=r".+"):
            task.unpack(content)


def test_the_key_of_texts_tells_their_borders() -> None:
    from leanrag_core.models.embed_task import EmbedTask

    task = EmbedTask("model", "runtime")
    keys = {task.key(["a", "b"]), task.key(["ab"]), task.key(["b", "a"]), EmbedTask("other", "runtime").key(["a", "b"])}
    assert len(keys) == 4
