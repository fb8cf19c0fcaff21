"""An update, an experiment and some parts on a disk that becomes full while they run, and again when there is room.

It is a small file system in a namespace of its own, as that of small_disk.

unshare -rm python -m tests.storage.filled_midway FOLDER   prints what each came to, a JSON object a line
"""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from leanrag_core import IndexConfig, Workbench
from leanrag_core.checking.check import check_index
from leanrag_core.errors import LeanRAGError
from leanrag_core.indexing.part_base import parts
from leanrag_core.storage.layout import read_index
from leanrag_core.types.experiment import ExperimentSpec, RunSpec
from leanrag_core.types.job import Progress, Report
from tests.contract.indexes import stored
from tests.contract.test_parts import TOOLS, make
from tests.evaluation.experiments import BEES, HIVES, QUESTIONS
from tests.storage.small_disk import fill

DISK_BYTES = 24 << 20
PARTS = ("chroma", "lexical")  # a database of its own, and files
CONFIG = IndexConfig(cluster_size=3, chunk_tokens=32, overlap_tokens=0)
NEW = b"The Ural Owl hunts voles in the Carpathian Forest. Milena Dvorak counted the Ural Owl near Poloniny."
# Measured anew each time, or named at random by Chroma, whose rows `check` compares.
_CHANGING = re.compile(r"/costs\.jsonl$|/part\.json$|/parts/chroma/|/\.")


@dataclass(frozen=True)
class Outcome:
    """What came of the work when the disk became full at that stage. kept: whether all that was there is as it was.

    repeated: whether the work, done again, gave what it gives on a disk with room. sound: whether `check` says so after
    the failure.
    """

    work: str
    stage: str
    kind: str
    said: str
    kept: bool
    sound: bool
    repeated: bool


def prepare(root: Path) -> None:
    """Write a home with an index and one document that the index does not have, and the tiny index beside it."""
    bench = Workbench(root / "home")
    corpus = bench.add_documents("Bees", [("bees.txt", BEES), ("hives.txt", HIVES)]).corpus_id
    bench.build(corpus, CONFIG, name="Bees")
    bench.add_documents(corpus, [("owls.txt", NEW)])
    bench.question_sets.add("Bees", QUESTIONS)
    stored("tiny", root / "tiny")


def update(root: Path, report: Report) -> None:
    bench = Workbench(root / "home")
    [summary] = bench.indexes.all()
    changes = bench.updates.corpus_changes(bench.indexes.open(summary.id))
    bench.updates.update(summary.path, changes, bench.models.context(report=report))


def experiment(root: Path, report: Report) -> None:
    bench = Workbench(root / "home")
    [index], [questions] = bench.indexes.all(), [each for each in bench.question_sets.all() if each.title == "Bees"]
    runs = tuple(RunSpec(name, index.id, name, {"top_c": 2}) for name in ("leanrag", "vector", "bm25"))
    bench.experiments.run(ExperimentSpec("Bees", questions.id, runs, baseline="vector"), report)


def part(name: str) -> Callable[[Path, Report], None]:
    return lambda root, report: (
        make(parts().named(name), read_index(root / "tiny"), replace(TOOLS, report=report)) and None
    )


WORKS: dict[str, Callable[[Path, Report], None]] = {
    "update": update,
    "experiment": experiment,
    **{f"part {name}": part(name) for name in PARTS},
}


def content(root: Path) -> dict[str, bytes]:
    """Return the files of corpora, indexes, experiments and parts; what is hidden is no state of anything."""
    folders = [root / "home" / name for name in ("corpora", "indexes", "experiments", "questions")] + [root / "tiny"]
    paths = [path for folder in folders for path in sorted(folder.rglob("*")) if path.is_file()]
    return {
        below: path.read_bytes()
        for path in paths
        if not _CHANGING.search(below := f"/{path.relative_to(root).as_posix()}")
    }


def is_sound(root: Path, name: str) -> bool:
    """Return whether `check` finds nothing that the failed work could have broken."""
    if name.startswith("part"):
        checked = {result.name: result.ok for result in check_index(read_index(root / "tiny"))}
        return checked["file hashes"] and checked["index parts"] and checked["search index"]
    [folder] = [path.parent for path in (root / "home" / "indexes").glob("[!.]*/manifest.json")]
    return all(result.ok for result in check_index(read_index(folder)))


def outcome_at(prepared: Path, disk: Path, name: str, stage: str, expected: dict[str, bytes]) -> Outcome:
    """Do the work in a fresh copy of the home, on a disk that is filled at its first report of that stage."""
    root, filler = disk / "root", disk / "filler"
    shutil.copytree(prepared, root)
    before, is_full = content(root), False

    def report(progress: Progress) -> None:
        nonlocal is_full
        is_full |= progress.stage == stage
        if is_full:  # what was freed since the last report, such as a journal, is taken again
            fill(filler)

    kind, said = "", ""
    try:
        WORKS[name](root, report)
    except LeanRAGError as error:
        kind, said = type(error).__name__, str(error)
    except Exception as error:  # what the caller looks for: an error that is not in our words
        kind, said = f"bare {type(error).__name__}", str(error)
    filler.unlink(missing_ok=True)
    after = content(root)
    kept, sound = before.items() <= after.items(), is_sound(root, name)
    if kind:
        WORKS[name](root, lambda progress: None)
    repeated = content(root) == expected and is_sound(root, name)
    outcome = Outcome(name, stage, kind, said, kept, sound, repeated)
    shutil.rmtree(root)
    return outcome


def main() -> None:
    """Mount the disk, do each work on it with room, then with a disk that fills in its middle; an update at its start
    too."""
    prepared, disk = Path(sys.argv[1]) / "prepared", Path(sys.argv[1]) / "disk"
    prepare(prepared)
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", str(disk)], check=True)
    for name, work in WORKS.items():
        root, stages = disk / "root", dict[str, None]()
        shutil.copytree(prepared, root)
        work(root, lambda progress, stages=stages: stages.setdefault(progress.stage))
        expected = content(root)
        shutil.rmtree(root)
        listed = list(stages)
        middle = listed[-(-len(listed) // 2) :][:1] or listed
        for stage in [*listed[:1], *middle] if name == "update" else middle:
            print(json.dumps(asdict(outcome_at(prepared, disk, name, stage, expected))), flush=True)


if __name__ == "__main__":
    main()
