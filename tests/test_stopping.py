"""The command line as a process: signals, and sources that are no files."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.workbench.test_workbench import BEES

pytestmark = pytest.mark.slow

SIGNALS = pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
STOPPED = "leanrag: stopped; nothing half-finished is left, and what models answered is kept for the next time\n"


def started(*arguments: str, home: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "LEANRAG_HOME": str(home)},
        start_new_session=True,
    )


# A terminal's signal reaches the processes of a build too; how threads end does not depend on the signal (see below).
@pytest.mark.parametrize(
    ("number", "execution"),
    [(signal.SIGINT, "threads"), (signal.SIGINT, "processes"), (signal.SIGTERM, "processes")],
)
def test_a_build_that_is_interrupted_ends_with_a_line_and_leaves_nothing(
    tmp_path: Path, number: signal.Signals, execution: str
) -> None:
    (tmp_path / "texts").mkdir()
    for place in range(20):
        text = BEES.decode().replace("Bees", f"Bees{place}").replace("May", f"Week {place}")
        (tmp_path / "texts" / f"{place}.md").write_text(text * 20)
    (tmp_path / "out").mkdir()
    build = ["-m", "leanrag_core", "build", str(tmp_path / "texts"), "--out", str(tmp_path / "out" / "index")]
    process = started(*build, "--execution", execution, "--workers", "2", home=tmp_path / "home")
    assert process.stderr is not None
    while not (line := process.stderr.readline()).startswith("extract"):
        assert line, "the build ended before it was interrupted"
    os.killpg(process.pid, number)  # as a terminal does
    _, stderr = process.communicate(timeout=30)
    assert stderr.count(STOPPED) == 1
    assert "Traceback" not in stderr
    assert process.returncode == 128 + number
    assert list((tmp_path / "out").iterdir()) == []


@SIGNALS
def test_a_process_whose_threads_wait_for_a_server_ends_all_the_same(tmp_path: Path, number: signal.Signals) -> None:
    script = (
        "import sys, time\n"
        "from concurrent.futures import ThreadPoolExecutor\n"
        "from pathlib import Path\n"
        "from leanrag_core.__main__ import Stop\n"
        "stop = Stop()\n"
        "stop.clean_up = Path(sys.argv[1]).unlink\n"
        "stop.listen()\n"
        "with ThreadPoolExecutor() as pool:\n"
        "    pool.submit(time.sleep, 600)\n"
        "    print('waits', flush=True)\n"
        "    time.sleep(600)\n"
    )
    (tmp_path / "half").touch()
    process = started("-c", script, str(tmp_path / "half"), home=tmp_path)
    assert process.stdout is not None
    assert process.stdout.readline() == "waits\n"
    process.send_signal(number)
    _, stderr = process.communicate(timeout=30)
    assert stderr == "leanrag: stopped\n"
    assert process.returncode == 128 + number
    assert not (tmp_path / "half").exists()


def test_a_device_and_a_pipe_are_refused_and_the_command_ends(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.txt")
    build = ["-m", "leanrag_core", "build", "/dev/zero", str(tmp_path / "pipe.txt"), "--out", str(tmp_path / "out")]
    _, stderr = (process := started(*build, home=tmp_path / "home")).communicate(timeout=60)
    lines = stderr.splitlines()
    assert lines[0].startswith("zero: is a device, not a file, so it was skipped")
    assert lines[1].startswith("pipe.txt: is a pipe, not a file, so it was skipped")
    assert lines[2].startswith("leanrag: there are no documents to index")
    assert (len(lines), process.returncode) == (3, 1)
    assert not (tmp_path / "out").exists()


def test_a_reader_that_has_enough_ends_the_command_without_a_word(tmp_path: Path) -> None:
    process = started("-m", "leanrag_core", "serve", "--api", "--describe", home=tmp_path / "home")
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()  # as head does
    assert process.stderr.read() == ""
    assert process.wait(30) == 128 + signal.SIGPIPE
    process.stderr.close()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no device that is always full")
def test_an_output_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(
            [sys.executable, "-m", "leanrag_core", "serve", "--api", "--describe"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "LEANRAG_HOME": str(tmp_path / "home")},
        )
    assert ended.returncode == 1
    assert ended.stderr == "leanrag: the system refused: No space left on device\n"
