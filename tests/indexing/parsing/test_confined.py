import gc
import math
import os
import signal
import subprocess
import sys
import threading
import zipfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from itertools import count
from types import SimpleNamespace

import psutil
import pytest

from leanrag_core import Workbench
from leanrag_core.errors import InvalidConfig
from leanrag_core.indexing.parsing import confined, parse_upload
from leanrag_core.indexing.parsing.confined import ConfinedParser
from leanrag_core.indexing.parsing.limits import ParseLimits
from leanrag_core.indexing.parsing.worker import FrameTooLarge, packed, read_frame, unpacked, write_frame
from leanrag_core.messages.catalog import sentence
from leanrag_core.types.settings import Settings
from tests import waiting
from tests.indexing.parsing import bombs
from tests.reading import read_uploads
from tests.refusals import as_read

pytestmark = pytest.mark.slow

GOOD = ("good.txt", b"Bees dance in the hive.")
SMALL = ParseLimits(seconds=60.0, memory_mb=256, output_mb=4)
SHORT = ParseLimits(seconds=3.0, memory_mb=256, output_mb=4)  # but long enough for good files on a busy machine
TOO_LONG = "took more than 3 s to read, so it was skipped: split it, or raise the limit"
TOO_MUCH = "needs more than 256 MB of memory, so it was skipped: split it, or raise the limit"


@pytest.fixture
def parser() -> Iterator[ConfinedParser]:
    with ConfinedParser(SMALL) as made:
        yield made


@pytest.fixture
def hasty() -> Iterator[ConfinedParser]:
    with ConfinedParser(SHORT) as made:
        yield made


def children() -> list[psutil.Process]:
    return psutil.Process().children(recursive=True)


def reader_memory(process: psutil.Process) -> int:
    """Return the resident bytes; 0 before the process has begun as a reader, when it still holds the memory of this
    one."""
    return process.memory_info().rss if "leanrag_core.indexing.parsing.worker" in process.cmdline() else 0


@pytest.mark.parametrize(
    ("name", "bomb", "reasons"),
    [
        ("forms.pdf", bombs.nested_forms, {TOO_LONG}),
        ("inflates.pdf", bombs.inflating_pdf, {TOO_LONG, TOO_MUCH}),
        ("wide.csv", lambda: bombs.wide_csv(rows=9), {TOO_LONG, TOO_MUCH}),
        ("large.docx", lambda: bombs.large_docx(60), {TOO_LONG, TOO_MUCH}),
    ],
)
def test_a_bomb_is_reported_and_the_good_files_beside_it_get_in(
    hasty: ConfinedParser, name: str, bomb: Callable[[], bytes], reasons: set[str]
) -> None:
    known = {process.pid for process in children()}
    highest, ended = [0], threading.Event()

    def watch() -> None:
        looks, readers = count(), list[psutil.Process]()
        while not ended.wait(0.005):
            if next(looks) % 20 == 0:  # a reader takes longer to start; to look for it costs more than to look at it
                readers = [process for process in children() if process.pid not in known]
            for process in readers:
                try:
                    highest[0] = max(highest[0], reader_memory(process))
                except psutil.Error:
                    continue  # it has just ended

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        upload = read_uploads([GOOD, (name, bomb()), ("also.md", b"# Ants\n\nThey walk.")], hasty)
    finally:
        ended.set()
        watcher.join()
    assert [document.name for document in upload.documents] == ["good.txt", "also.md"]
    [refusal] = upload.refusals
    assert refusal.name == name
    assert sentence(refusal.reason) in reasons
    # The system's own limit lies below 256 MB, but does not count the libraries' files.
    assert 0 < highest[0] < 300 * 1024 * 1024


def test_a_text_longer_than_the_limit_is_reported(parser: ConfinedParser) -> None:
    upload = read_uploads([("long.txt", b"Bees dance. " * 500_000), GOOD], parser)
    assert [document.name for document in upload.documents] == ["good.txt"]
    [refusal] = upload.refusals
    assert as_read([refusal])[0] == (
        "long.txt",
        "holds more than 4 MB of text, so it was skipped: split it and add the parts",
    )


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.md", b"# Bees\n\nThey dance.\n\n## How\n\nround"),
        ("a.html", "<h1>Bëes</h1><nav>menu</nav><p>蜂 dance.".encode()),
        ("a.jsonl", b'{"id": 1, "text": "Bees."}\n{"id": 2, "text": "Ants."}\nnonsense'),
        ("../x/a.exe", b"MZ"),
        ("a.pdf", b"%PDF-1.4 nothing"),
        ("", b""),
    ],
)
def test_what_comes_back_is_what_the_reader_gives(parser: ConfinedParser, name: str, content: bytes) -> None:
    assert parser.parse(name, content) == parse_upload(name, content)


def test_one_process_reads_many_files(parser: ConfinedParser) -> None:
    before = set(children())
    for number in range(20):
        assert parser.parse(f"{number}.txt", b"Bees dance.").documents
    assert len(set(children()) - before) == 1
    parser.close()
    assert not set(children()) - before


def test_a_process_that_ended_while_it_waited_is_replaced(parser: ConfinedParser) -> None:
    before = set(children())
    assert parser.parse(*GOOD).documents
    [process] = set(children()) - before
    process.send_signal(signal.SIGKILL)
    process.wait(5)
    assert parser.parse(*GOOD).documents


def test_a_reader_that_breaks_down_is_reported(parser: ConfinedParser) -> None:
    before = set(children())
    assert parser.parse(*GOOD).documents
    [process] = set(children()) - before
    threading.Timer(0.4, process.send_signal, [signal.SIGSEGV]).start()
    [refusal] = parser.parse("forms.pdf", bombs.nested_forms()).refusals
    assert sentence(refusal.reason).startswith("made the program that reads it crash, so it was skipped")


def test_many_threads_may_ask_at_once(parser: ConfinedParser) -> None:
    with ThreadPoolExecutor(6) as pool:
        uploads = list(pool.map(lambda number: parser.parse(f"{number}.txt", b"Bees %d" % number), range(40)))
    assert [upload.documents[0].text for upload in uploads] == [f"Bees {number}" for number in range(40)]


def test_what_interrupts_a_reading_ends_its_process(parser: ConfinedParser, monkeypatch: pytest.MonkeyPatch) -> None:
    class Interrupted(Exception):
        pass

    def interrupt(*arguments: object) -> None:
        raise Interrupted

    before = set(children())
    monkeypatch.setattr(confined._Process, "answer", interrupt)
    with pytest.raises(Interrupted):
        parser.parse(*GOOD)
    assert not set(children()) - before


def test_processes_end_with_their_parser() -> None:
    before = set(children())
    parser = ConfinedParser(SMALL)
    assert parser.parse(*GOOD).documents
    assert len(set(children()) - before) == 1
    del parser
    gc.collect()
    assert not set(children()) - before


def test_a_process_at_work_ends_when_the_one_who_asked_was_killed() -> None:
    script = (
        "from leanrag_core.indexing.parsing.confined import ConfinedParser\n"
        "from tests.indexing.parsing.bombs import nested_forms\n"
        "ConfinedParser().parse('forms.pdf', nested_forms())"
    )
    asking = subprocess.Popen([sys.executable, "-c", script])
    asked = psutil.Process(asking.pid)
    reading = waiting.until(asked.children)
    asking.kill()
    asking.wait()
    _, alive = psutil.wait_procs(reading, timeout=10)
    assert not alive


def test_a_process_that_the_system_does_not_limit_is_watched() -> None:
    process = confined._Process()
    unlimited = {"seconds": 60.0, "memory_mb": 1_000_000}
    process.ask({"name": "a.docx", "done": 0, "broken": [], "limits": unlimited}, bombs.large_docx(60), SMALL)
    assert process.answer(SMALL, math.inf)[0] == {"begun": "a.docx"}
    with pytest.raises(confined._Ended, match="needs_too_much_memory"):
        process.answer(SMALL, math.inf)
    assert not psutil.pid_exists(process._popen.pid)


def test_a_bomb_in_an_archive_costs_only_itself(hasty: ConfinedParser) -> None:
    inner, outer = BytesIO(), BytesIO()
    with zipfile.ZipFile(inner, "w") as archive:
        archive.writestr("ants.txt", "Ants walk.")
        archive.writestr("forms.pdf", bombs.nested_forms())
        archive.writestr("wasps.txt", "Wasps fly.")
    with zipfile.ZipFile(outer, "w") as archive:
        archive.writestr("bees.txt", "Bees dance.")
        archive.writestr("in/inner.zip", inner.getvalue())
        archive.writestr("none.exe", "MZ")
        archive.writestr("flies.txt", "Flies eat.")
    upload = hasty.parse("a.zip", outer.getvalue())
    assert [document.name for document in upload.documents] == ["bees.txt", "ants.txt", "wasps.txt", "flies.txt"]
    assert [refusal.name for refusal in upload.refusals] == ["a.zip, in/inner.zip, forms.pdf", "a.zip, none.exe"]
    assert sentence(upload.refusals[0].reason) == TOO_LONG


def test_an_archive_of_bombs_has_a_limit_of_its_own() -> None:
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("bees.txt", "Bees dance.")
        for number in range(40):
            archive.writestr(f"{number}.pdf", bombs.nested_forms())
    limits = ParseLimits(archive_seconds=3.0)
    with ConfinedParser(limits) as parser:
        upload = parser.parse("a.zip", buffer.getvalue())
    assert [document.name for document in upload.documents] == ["bees.txt"]
    assert as_read(upload.refusals) == [("a.zip", sentence(limits.archive_too_long()))]


class Scripted(confined._Process):
    """A process that answers with these headers, two seconds after it was asked, and notes by when it had to."""

    def __init__(self, headers: list[dict[str, object]], clock: list[float]) -> None:
        self.is_new, self.is_waiting = True, False
        self.headers, self.clock, self.deadlines = headers, clock, list[float]()

    def ask(self, header: dict[str, object], content: bytes, limits: ParseLimits) -> None:
        """Take any request."""

    def answer(self, limits: ParseLimits, deadline: float) -> tuple[dict[str, object], bytes]:
        self.deadlines.append(deadline)
        self.clock.append(self.clock[-1] + 2)
        return self.headers[len(self.deadlines) - 1], b""


def test_each_portion_of_a_large_file_has_the_time_of_an_archive(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr(confined, "time", SimpleNamespace(monotonic=lambda: clock[-1]))
    begun = [{"begun": "a.jsonl"}, {"begun": "a.jsonl", "portion": True}, {"begun": "b.txt"}]
    process = Scripted([*begun, {"end": True}], clock)
    reading = confined._Reading("a.jsonl", b"", ParseLimits(archive_seconds=3.0))
    assert list(reading.go_on(process)) == []
    assert process.deadlines == [math.inf, 2 + 3, 4 + 3, 4 + 3]


def test_an_upload_survives_its_way_between_processes() -> None:
    upload = parse_upload("a.jsonl", '{"text": "Bëes."}\nnonsense\n{"text": "蜂"}'.encode())
    buffer = BytesIO()
    write_frame(buffer, *packed(upload))
    buffer.seek(0)
    frame = read_frame(buffer, 10_000)
    assert frame is not None
    assert unpacked(*frame) == upload
    assert read_frame(buffer, 10_000) is None
    buffer.seek(0)
    with pytest.raises(FrameTooLarge):
        read_frame(buffer, 10)


def test_the_limits_of_the_settings_hold_for_uploads(tmp_path: os.PathLike[str]) -> None:
    bench = Workbench.default(str(tmp_path))
    bench.settings.save(Settings(parse_seconds=50.0, parse_memory_mb=256, parse_output_mb=1))
    assert bench.parser().limits == ParseLimits(seconds=50.0, archive_seconds=500.0, memory_mb=256, output_mb=1)
    report = bench.add_documents("Mixed", [("long.txt", b"Bees dance. " * 100_000), GOOD])
    assert [document.name for document in report.added] == ["good.txt"]
    [refusal] = report.refusals
    assert sentence(refusal.reason).startswith("holds more than 1 MB of text, so it was skipped")
    with pytest.raises(InvalidConfig, match="parse_seconds"):
        Settings(parse_seconds=0.0)
