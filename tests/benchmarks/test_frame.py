"""The frame of the benchmarks: sections found, measures in processes of their own, tables, records, failures."""

import json
import os
import sys
from pathlib import Path

import pytest

from benchmarks.__main__ import main
from benchmarks.child import main as child
from benchmarks.frame import Section, answer_of, circumstances, command_line, keep, measured, sections, table
from benchmarks.memory import peak_gb, reset_peak

_SECTION = """
import os
TITLE = "Invented"
SIZES = (1, 20)

def measure(size):
    if size == 13:
        raise ValueError("thirteen is refused")
    if size == 99:
        os._exit(7)
    return {"process": os.getpid(), "double": 2 * size}
"""


@pytest.fixture
def invented(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Section:
    """Return a package with one section and one file that is none, importable by children too."""
    package = tmp_path / "invented_measures"
    package.mkdir()
    (package / "__init__.py").write_text("", encoding="utf-8")
    (package / "thing.py").write_text(_SECTION, encoding="utf-8")
    (package / "other.py").write_text("import nothing_of_this_name\nTITLE = 'no section'\n", encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.syspath_prepend(str(tmp_path))
    (section,) = sections("invented_measures")
    return section


def test_a_section_is_a_module_with_title_and_sizes(invented: Section) -> None:
    assert invented == Section("thing", "invented_measures.thing", "Invented", (1, 20))


def test_the_project_has_its_own_sections_and_older_scripts_are_none() -> None:
    named = {section.name for section in sections()}
    assert "relations" in named
    assert not named & {"builds", "gold_evidence", "recorded_extractions", "frame", "planted", "synthetic"}


def test_a_section_must_write_out_its_sizes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "reckoned_measures"
    package.mkdir()
    (package / "__init__.py").write_text("", encoding="utf-8")
    (package / "thing.py").write_text("TITLE = 'x'\nSIZES = tuple(range(3))\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ValueError, match=r"thing\.py: write out TITLE and SIZES"):
        sections("reckoned_measures")


def test_each_measure_runs_in_a_process_of_its_own(invented: Section) -> None:
    first, second = measured(invented, 5), measured(invented, 5)
    assert first.figures["double"] == 10
    assert len({first.figures["process"], second.figures["process"], os.getpid()}) == 3
    assert 0 < float(first.figures["peak_gb"]) < 0.2  # nothing but an interpreter, however large this one is
    assert float(first.figures["wall_seconds"]) >= 0


def test_a_measure_that_raises_is_reported_with_its_reason(invented: Section) -> None:
    failed = measured(invented, 13)
    assert failed.figures == {}
    assert failed.error == "ValueError: thirteen is refused"


def test_a_measure_that_dies_is_reported_with_its_exit_code(invented: Section) -> None:
    assert "exit code 7" in measured(invented, 99).error


def test_a_command_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "import time; time.sleep(60)"]
    answer = answer_of(command, tmp_path / "none.json", timeout_seconds=0.2)
    assert answer == {"error": "not done after 0.2 seconds; allow more with --timeout"}


def test_a_killed_command_names_the_signal(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "import os; os.kill(os.getpid(), 9)"]
    assert "SIGKILL, perhaps for want of memory" in answer_of(command, tmp_path / "none.json")["error"]


def test_a_section_may_give_its_own_peak(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own_peak.py").write_text("def measure(size):\n    return {'peak_gb': 0.5}\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert child("own_peak", 1, tmp_path / "out.json") == 0
    assert json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))["figures"]["peak_gb"] == 0.5


def test_the_table_keeps_columns_in_order_and_numbers_to_the_right() -> None:
    drawn = table([{"size": 1000, "ms": 0.12345, "note": "a"}, {"size": 7, "extra": 12345.6}])
    assert drawn.splitlines() == [
        "|  size |     ms | note |  extra |",
        "|------:|-------:|------|-------:|",
        "| 1,000 | 0.1235 | a    |        |",
        "|     7 |        |      | 12,346 |",
    ]


def test_new_results_replace_those_of_their_size_and_leave_the_others(tmp_path: Path) -> None:
    path = tmp_path / "results" / "thing.json"
    keep(path, {"section": "thing"}, [{"size": 20, "figures": {"ms": 2}}, {"size": 3, "figures": {"ms": 1}}], ("size",))
    keep(path, {"section": "thing"}, [{"size": 20, "figures": {"ms": 5}}], ("size",))
    stored = json.loads(path.read_text(encoding="utf-8"))
    assert [(entry["size"], entry["figures"]["ms"]) for entry in stored["results"]] == [(3, 1), (20, 5)]
    assert [entry.name for entry in path.parent.iterdir()] == ["thing.json"]


def test_a_file_of_something_else_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "thing.json"
    path.write_text("[1]", encoding="utf-8")
    with pytest.raises(SystemExit, match="choose --out"):
        keep(path, {}, [{"size": 1}], ("size",))
    assert path.read_text(encoding="utf-8") == "[1]"


def test_a_record_says_machine_versions_date_commit_and_command() -> None:
    record = circumstances(["python", "-m", "benchmarks", "a b"])
    assert record["command"] == "python -m benchmarks 'a b'"
    assert record["date"].endswith("+00:00")
    assert record["versions"]["python"] == ".".join(map(str, sys.version_info[:3]))
    assert "numpy" in record["versions"]
    assert record["machine"]["cores"] >= 1
    assert record["machine"]["processor"]
    assert record["commit"] is None or len(record["commit"].split()[0]) == 40


def test_a_recorded_command_names_no_folder_of_the_machine() -> None:
    given = ["retrieval", "--out", "a/b", "--peers", "--peers-env=c", "--sizes", "5000"]
    assert command_line(given) == ["python", "-m", "benchmarks", "retrieval", "--peers", "--sizes", "5000"]


def test_an_unknown_section_is_refused_with_those_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["nonsense"]) == 2
    assert "there is no section 'nonsense'; choose from " in capsys.readouterr().err


@pytest.mark.parametrize("sizes", ["ten", "0", "5,,6"])
def test_sizes_that_are_none_are_refused(sizes: str) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["relations", "--sizes", sizes])
    assert ended.value.code == 2


def test_a_run_prints_a_table_writes_json_and_goes_on_after_a_failure(
    invented: Section, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("benchmarks.__main__.sections", lambda: (invented,))
    assert main(["thing", "--sizes", "13,20", "--out", str(tmp_path / "out")]) == 1
    output = capsys.readouterr()
    assert "thing at 13 failed: ValueError: thirteen is refused" in output.err
    assert "| size | process | double | wall_seconds | peak_gb |" in output.out.replace("  ", " ").replace("  ", " ")
    stored = json.loads((tmp_path / "out" / "thing.json").read_text(encoding="utf-8"))
    assert stored["title"] == "Invented"
    (only,) = stored["results"]
    assert (only["size"], only["figures"]["double"]) == (20, 40)
    assert only["command"] == "python -m benchmarks thing --sizes 13,20"
    assert {"date", "commit", "machine", "versions"} <= only.keys()


def test_memory_counts_from_a_fresh_start() -> None:
    buffer = bytearray(60_000_000)
    buffer[::4096] = b"x" * len(buffer[::4096])
    before = peak_gb()
    del buffer
    if not reset_peak():
        pytest.skip("this system cannot reset the high-water mark")
    assert peak_gb() <= before
    assert before > 0.06
