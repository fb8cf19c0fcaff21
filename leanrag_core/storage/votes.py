"""Verdicts of people on the answers of an experiment: a file of lines beside its others, to which any session appends.

A line is a Judgement with the criteria that were voted on; a later line on the same thing replaces what an earlier one
says, and a verdict of None takes it back. Nothing is rewritten, so a kill loses at most the line that it cuts.
"""

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from filelock import FileLock

from leanrag_core.files import private
from leanrag_core.files.atomic import writing
from leanrag_core.files.records import to_json
from leanrag_core.messages.message import message
from leanrag_core.storage.record_store import read_lines
from leanrag_core.types.experiment import Judgement

VOTES = "votes.jsonl"
_LOCK = ".votes.lock"
_WAIT_SECONDS = 20  # for another session, which holds the lock for the time of one line


def read_votes(folder: Path) -> tuple[Judgement, ...]:
    """Return all lines in their order; none where there is no file. Raises RecordDamaged."""
    return read_lines(Judgement, folder / VOTES)


def add_votes(folder: Path, votes: Sequence[Judgement]) -> None:
    """Put the votes on the disk, behind those of other sessions. Raises StorageFailed."""
    with writing(message("what.experiment", title=folder.name)):
        private.make_folder(folder.parent)
        private.make_folder(folder)
        with (
            FileLock(folder / _LOCK, timeout=_WAIT_SECONDS, mode=private.FILE),
            open(folder / VOTES, "a+b", opener=private.opener) as file,
        ):
            file.seek(0)
            content = file.read()
            file.truncate(content.rfind(b"\n") + 1)  # a line that the end of a process has cut
            file.write(b"".join(to_json(vote) + b"\n" for vote in votes))
            file.flush()
            os.fsync(file.fileno())


def standing_votes(votes: Iterable[Judgement]) -> tuple[Judgement, ...]:
    """Return what holds after all lines: a judgement for each voter, question and pair in the order shown, with the
    verdicts that nobody took back; in the order in which they were voted on first."""
    standing: dict[tuple[str, str, str, str], Judgement] = {}
    for vote in votes:
        key = vote.judge, vote.question, vote.first, vote.second
        earlier = standing[key].verdicts if key in standing else {}
        standing[key] = replace(vote, verdicts={**earlier, **vote.verdicts})
    kept = (
        replace(vote, verdicts={name: value for name, value in vote.verdicts.items() if value is not None})
        for vote in standing.values()
    )
    return tuple(vote for vote in kept if vote.verdicts)
