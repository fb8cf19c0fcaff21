"""Parts of the index are those that were made of it."""

from collections.abc import Iterator
from pathlib import Path

from leanrag_core.checking.problem import Note, Problem, Subject
from leanrag_core.messages.catalog import sentence
from leanrag_core.messages.message import message
from leanrag_core.storage.part_store import RECORD, PartStore, changed_files, fits
from leanrag_core.types.manifest import FINISHED, UNFINISHED


def stored(subject: Subject) -> Iterator[Problem | Note]:
    """Every finished part was made of this index, and its files are those that were written."""
    if subject.folder is None:
        yield Note("the index is in memory alone")
        return
    all_parts = PartStore(subject.folder).all()
    if not all_parts:
        yield Note("the index has no parts")
    finished = {part.name: part.fingerprint for part in all_parts if part.status == FINISHED}
    for part in all_parts:
        below = part.folder.relative_to(subject.folder).as_posix()
        if part.status == UNFINISHED:
            yield Note(f"the part {part.name} is not finished: make it again, which goes on where it stopped")
        elif part.problem is not None:
            file = Path(str(part.problem.values.get("path", part.folder / RECORD)))
            yield Problem(file.relative_to(subject.folder).as_posix(), None, sentence(part.problem))
        elif part.record is not None:
            for name, reason in changed_files(part.folder, part.record).items():
                yield Problem(f"{below}/{name}", None, sentence(reason))
            if not fits(part.record, subject.folder, finished):
                yield Problem(f"{below}/{RECORD}", None, sentence(message("part.of_another_index", part=part.name)))
