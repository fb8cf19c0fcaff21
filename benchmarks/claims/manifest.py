"""The manifest: files.csv says where recorded outputs lie and how they are known, claims.csv what is claimed of them.

A file is found by its name below the user's folder, in whatever way it was fetched, and known by its SHA-256. Nothing
is downloaded. Of some files the manifest has no hash, since they were not at hand when it was written: these count as
unverified, and the results name the hash that was found.
"""

import csv
import hashlib
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent
VERIFIED, UNVERIFIED, OTHER, MISSING = "verified", "unverified", "another version", "missing"
_MOST_BYTES = 50_000_000
_PIECE = 1 << 20


@dataclass(frozen=True)
class SourceFile:
    """A recorded output. folder: in the repository; sha256: "" where it is not known."""

    name: str
    repository: str
    commit: str
    folder: str
    licence: str
    sha256: str


@dataclass(frozen=True)
class Claim:
    """A published claim. subject: what the number measures. measure, arguments: how it is made from the files, the
    first of which is the one that it is about. relation: how published and found are compared, see verdicts.py.
    published: as printed. stands_in: where it is claimed."""

    id: str
    group: str
    subject: str
    measure: str
    arguments: Mapping[str, str]
    files: tuple[str, ...]
    relation: str
    published: str
    stands_in: str
    note: str


@dataclass(frozen=True)
class FoundFile:
    """What the user's folder has of a file. status: VERIFIED, UNVERIFIED, OTHER or MISSING; path: None if missing."""

    source: SourceFile
    status: str
    path: Path | None = None
    sha256: str = ""

    @property
    def is_usable(self) -> bool:
        """Whether claims may be checked with it."""
        return self.status in (VERIFIED, UNVERIFIED)


def source_files(path: Path = FOLDER / "files.csv") -> tuple[SourceFile, ...]:
    """Read the files of the manifest."""
    with path.open(encoding="utf-8", newline="") as file:
        return tuple(SourceFile(**row) for row in csv.DictReader(file))


def claims(path: Path = FOLDER / "claims.csv") -> tuple[Claim, ...]:
    """Read the claims of the manifest. Raises ValueError for two of the same id."""
    with path.open(encoding="utf-8", newline="") as file:
        read = tuple(_claim(row) for row in csv.DictReader(file))
    if len({claim.id for claim in read}) < len(read):
        raise ValueError(f"{path.name} has two claims of the same id")
    return read


def _claim(row: Mapping[str, str]) -> Claim:
    arguments = dict(part.split("=", 1) for part in row["arguments"].split())
    return Claim(
        row["id"],
        row["group"],
        row["subject"],
        row["measure"],
        arguments,
        tuple(row["files"].split()),
        row["relation"],
        row["published"],
        row["stands_in"],
        row["note"],
    )


def find_files(sources: Iterable[SourceFile], folder: Path | None) -> Mapping[str, FoundFile]:
    """Look for the files anywhere below the folder, and return what was found of each, by its name.

    A file with the right hash comes before one of the same name without. Links are not followed.
    """
    wanted = {source.name: source for source in sources}
    places: dict[str, list[Path]] = {name: [] for name in wanted}
    for root, folders, names in os.walk(folder) if folder is not None else ():
        folders.sort()
        for name in sorted(wanted.keys() & set(names)):
            path = Path(root, name)
            if path.is_file() and not path.is_symlink() and path.stat().st_size <= _MOST_BYTES:
                places[name].append(path)
    return {name: _found(source, places[name]) for name, source in wanted.items()}


def _found(source: SourceFile, places: Iterable[Path]) -> FoundFile:
    hashes = [(path, _sha256(path)) for path in places]
    if not hashes:
        return FoundFile(source, MISSING)
    for path, digest in hashes:
        if digest == source.sha256:
            return FoundFile(source, VERIFIED, path, digest)
    path, digest = hashes[0]
    return FoundFile(source, OTHER if source.sha256 else UNVERIFIED, path, digest)


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(_PIECE):
            digest.update(piece)
    return digest.hexdigest()
