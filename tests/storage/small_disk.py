"""Every write of the program on a disk that is full, or read-only, or neither.

It is a small file system in a namespace of its own, so that neither root's rights nor the machine's disk play a part.

unshare -rm python -m tests.storage.small_disk FOLDER   prints what each write came to in each state, as JSON
"""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

from leanrag_core.errors import LeanRAGError
from leanrag_core.jobs import events, runner
from leanrag_core.jobs.store import JobStore
from leanrag_core.storage import layout, staging
from leanrag_core.storage.calls import CallStore
from leanrag_core.storage.corpora import CorpusStore
from leanrag_core.storage.indexes import IndexStore
from leanrag_core.storage.search_connection import SearchPlace
from leanrag_core.storage.search_writer import write_search_index, write_search_index_apart
from leanrag_core.storage.settings import write_settings
from leanrag_core.system.environment import PACKAGES
from leanrag_core.types.calls import CallRecord
from leanrag_core.types.corpus import Document
from leanrag_core.types.job import Progress
from leanrag_core.types.settings import Settings
from tests.small_index import small_index

DISK_BYTES = 12 << 20
SPEC = events.JobSpec("job-1", "bees", "c", {}, {}, "2026-11-22T00:00:00+00:00")


def document(number: int) -> Document:
    return Document(f"doc-{number}", f"{number}.txt", f"{number}", "text", f"Bees number {number}. " * 400)


def text_of(calls: CallStore, key: str) -> dict[str, str | None]:
    """Return the stored reply of that key, as JSON values."""
    record = calls.get(key)
    return {"text": record.text if record else None}


class Home:
    """A home on the small disk, with something of each kind in it."""

    def __init__(self, root: Path) -> None:
        self.index = small_index()
        self.move(root)
        self.corpus = self.corpora.create("mine", corpus_id="mine")
        self.corpora.add(self.corpus, (document(0),))
        write_settings(root / "settings.json", Settings(concurrency=3))
        self.calls.put("paid", CallRecord(text="an answer", index="one"))
        events.create_job(self.job, SPEC)
        events.JobLog(self.job).write("started")
        self.build()

    def move(self, root: Path) -> None:
        """Move to the home at that place."""
        self.root, self.job = root, root / "jobs" / "job-1"
        self.corpora, self.indexes = CorpusStore(root / "corpora"), IndexStore(root / "indexes")
        self.calls, self.job_store = CallStore(root / "calls"), JobStore(root / "jobs", PACKAGES)

    def build(self) -> None:
        with staging.staged(self.root / "indexes" / "one", in_store=True) as beside:
            layout.write_index(beside, self.index)
            write_search_index(SearchPlace(beside, beside / "chroma"), self.index, lambda done, total: None)

    def search_index(self) -> None:
        write_search_index(self.search_place(), self.index, lambda done, total: None)

    def search_index_apart(self) -> None:
        write_search_index_apart(self.search_place(), lambda done, total: None, recall=0.99)

    def search_place(self) -> SearchPlace:
        index = self.root / "indexes" / "one"
        return SearchPlace(index, index / "chroma")

    def put_in_a_new_process(self) -> None:
        CallStore(self.root / "calls").put("new", CallRecord(text="x" * 100_000))

    def upload_anew(self) -> None:
        self.corpora.create_with("new", tuple(document(n) for n in range(1, 40)))

    def upload(self) -> None:
        self.corpora.add(self.corpus, tuple(document(n) for n in range(1, 40)))

    def progress(self) -> None:
        events.JobLog(self.job).progress(Progress("extract", 0, 10, "chunks", "x" * 20_000))

    def writes(self) -> dict[str, Callable[[], Any]]:
        """Return every write path by name; those that free space come last."""
        return {
            "upload into a new corpus": self.upload_anew,
            "upload into a corpus": self.upload,
            "new corpus": lambda: self.corpora.create("x" * 5000),
            "settings": lambda: write_settings(
                self.root / "settings.json", Settings(concurrency=4, base_url="http://127.0.0.1/" + "x" * 9000)
            ),
            "answer": lambda: self.calls.put("other", CallRecord(text="x" * 100_000)),
            "answer of a new process": self.put_in_a_new_process,
            "answers of an index": lambda: self.calls.put_many(
                {f"k{n}": CallRecord(text="x" * 9000) for n in range(9)}
            ),
            "export of answers": lambda: self.calls.export(self.root / "export.jsonl"),
            "new job": lambda: self.job_store.begin("bees", "c", {"x": "x" * 9000}, {}),
            "wish to stop a job": lambda: runner.ask_to_cancel(self.job),
            "event of a job": lambda: events.JobLog(self.job).write("done", result="x" * 9000),
            "progress of a job": self.progress,
            "build": self.build,
            "rename an index": lambda: self.indexes.rename("one", "x" * 400),
            "search index": self.search_index,
            "search index by a process apart": self.search_index_apart,
            "remove a document": lambda: self.corpora.remove(self.corpus, "doc-0"),
            "delete a corpus": lambda: self.corpora.delete(self.corpus),
            "delete an index": lambda: self.indexes.delete("one"),
        }


def listing(root: Path) -> dict[str, int]:
    """Return files and their sizes, but for those that SQLite keeps beside its database while it is open."""
    paths = [path for path in sorted(root.rglob("*")) if path.is_file() and not path.name.startswith("cache.db-")]
    return {str(path.relative_to(root)): path.stat().st_size for path in paths}


def fill(path: Path) -> None:
    """Fill the disk until not a byte is left."""
    with path.open("ab", buffering=0) as file:
        for size in (1 << 16, 1 << 12, 1):
            try:
                while file.write(b"\0" * size):
                    pass
            except OSError:
                continue


def outcomes_on(disk: Path, state: str) -> dict[str, Any]:
    """Return what each write came to on a disk in that state, mounted there."""
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", str(disk)], check=True)
    home = Home(disk / "home")
    if state == "read-only":  # through another door, since files are open behind the first one
        (disk / "door").mkdir()
        subprocess.run(["mount", "--bind", str(disk / "home"), str(disk / "door")], check=True)
        subprocess.run(["mount", "-o", "remount,bind,ro", str(disk / "door")], check=True)
        home.move(disk / "door")
    outcomes: dict[str, Any] = {}
    for name, write in home.writes().items():
        if state == "full":
            fill(disk / "filler")
        before = listing(home.root)
        try:
            write()
            error_text = kind = ""
        except LeanRAGError as error:
            kind, error_text = type(error).__name__, str(error)
        except BaseException as error:  # what the caller looks for: an error that is not in our words
            kind, error_text = f"bare {type(error).__name__}", str(error)
        after = listing(home.root)
        if state == "full":
            (disk / "filler").unlink()
        new, gone = sorted(set(after) - set(before)), sorted(set(before) - set(after))
        outcomes[name] = {"kind": kind, "said": error_text, "new": new, "gone": gone}
    if state == "full":  # there is space again: no paid answer is lost, and all writes work
        outcomes["afterwards"] = {
            "paid": text_of(home.calls, "paid"),
            "put": home.calls.put("later", CallRecord(text="y")),
            "got": text_of(home.calls, "later"),
            "fresh": text_of(CallStore(home.root / "calls"), "paid"),
        }
    return outcomes


def main() -> None:
    """Do every write on a disk in each state, and tell."""
    launched: list[Path] = []
    with patch.object(runner, "launch", lambda folder, package_root: launched.append(folder)):
        outcomes = {state: outcomes_on(Path(sys.argv[1]) / state, state) for state in ("room", "full", "read-only")}
    assert len(launched) == 1, "the new job where there is room, and no other"
    print(json.dumps(outcomes))


if __name__ == "__main__":
    main()
