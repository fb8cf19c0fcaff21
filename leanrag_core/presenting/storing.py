"""Presentations as files: JSON of a bounded size, read strictly, since such files are passed from person to person."""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from leanrag_core.errors import (
    InvalidConfig,
    LeanRAGError,
    PresentationChanged,
    PresentationNotFound,
    PresentationTooNew,
    RecordDamaged,
)
from leanrag_core.files import private
from leanrag_core.files.atomic import write_bytes, writing
from leanrag_core.files.records import from_json, to_json, values_of
from leanrag_core.messages.message import message
from leanrag_core.presenting.edits import MAX_SLIDES, Edits
from leanrag_core.presenting.slides import deck_of
from leanrag_core.presenting.story import (
    FORMAT,
    VERSION,
    AddedBoard,
    AddedComparison,
    AddedSlide,
    Presentation,
    PresentationSummary,
    Side,
)
from leanrag_core.storage.calls import KeyLocks
from leanrag_core.storage.history import from_record, require_sentences
from leanrag_core.types.summary import Damaged

MAX_BYTES = 24_000_000
MAX_ADDED = 20  # slides of other pages
_LOCK = "presentations"
_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,99}")
_NO_LETTER = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True)
class PresentationList:
    """The presentations that read, a person's own first, the newest of them first, and the others."""

    presentations: tuple[PresentationSummary, ...]
    damaged: tuple[Damaged, ...]


def content_of(presentation: Presentation) -> bytes:
    """Return the presentation as the content of its file. Raises InvalidConfig where it is too large to be read
    again."""
    content = to_json(presentation, indent=1)
    if len(content) > MAX_BYTES:
        raise InvalidConfig("present.too_large", n=len(content), limit=MAX_BYTES)
    return content


def presentation_of(content: bytes, *, name: str) -> Presentation:
    """Return the presentation of a file's content, such as an upload. name: of the file, for errors.

    Raises PresentationNotFound for another kind of file, PresentationTooNew, RecordDamaged.
    """
    values = values_of(content, name=name, max_bytes=MAX_BYTES)
    if not isinstance(values, dict) or values.get("format") != FORMAT:
        raise PresentationNotFound("present.other_file", file=name)
    version = values.get("version")
    if isinstance(version, int) and version > VERSION:
        raise PresentationTooNew("present.too_new", file=name, version=version, known=VERSION)
    presentation = from_json(Presentation, content, name=name, max_bytes=MAX_BYTES)
    for side in _sides(presentation):
        from_record(side.run, name=name)  # refuses messages that have no sentence
    for added in presentation.added.values():
        if isinstance(added, AddedBoard):
            messages = (added.system, added.settings, added.measure, *(point.name for point in added.points))
            require_sentences(messages, name)
    for field, is_whole in _wholeness(presentation):
        if not is_whole:
            reason = message(
                "record.wrong_value", field=message("plain", text=field), reason=message("present.no_such")
            )
            raise RecordDamaged("record.damaged", name=name, reason=reason, field=field)
    return presentation


def _sides(presentation: Presentation) -> Iterator[Side]:
    for question in presentation.questions:
        yield from question.sides
    for added in presentation.added.values():
        if isinstance(added, AddedComparison):
            yield from added.sides


def _wholeness(presentation: Presentation) -> Iterator[tuple[str, bool]]:
    """Yield of each field that names places of another list, whether they are there."""
    islands, graph = presentation.islands, presentation.graph
    if islands is not None:
        n_spots, n_groups = len(islands.spots), len(islands.groups)
        yield "islands.bridges", all(max(each.source, each.target) < n_spots for each in islands.bridges)
        yield "islands.spots", all(spot.group < n_groups for spot in islands.spots)
    if graph is not None:
        n_spots = len(islands.spots) if islands else 0
        yield "graph.links", all(max(link) < len(graph.dots) for link in graph.links)
        yield "graph.dots", all(dot.spot < n_spots for dot in graph.dots)
    n_sides = len(presentation.strategies)
    yield "questions", all(len(question.sides) == n_sides for question in presentation.questions)
    yield "measured", all(0 < each.beside < n_sides for each in presentation.measured)
    boards = [each for each in presentation.added.values() if isinstance(each, AddedBoard)]
    yield "added", all(max(each.pinned, each.now) < len(each.points) for each in boards)
    yield "index.layers", len(presentation.index.layers) == len(presentation.index.relations)


@dataclass(frozen=True)
class AddedTo:
    """Where a slide was added. place: counted from 1."""

    id: str
    key: str
    place: int


def revision_of(presentation: Presentation) -> str:
    """Return a digest of all that editing changes."""
    return hashlib.sha256(to_json(presentation.edits) + " ".join(sorted(presentation.added)).encode()).hexdigest()[:16]


class PresentationStore:
    """Lists, reads, writes and deletes presentations, a file each. shipped: the folder of those of the program."""

    def __init__(self, root: Path, shipped: Path) -> None:
        self.root, self._shipped = root, shipped
        self._locks = KeyLocks(root / "locks")
        self._summaries: dict[Path, tuple[int, PresentationSummary]] = {}

    def all(self) -> PresentationList:
        """Return all presentations."""
        own_summaries: list[tuple[int, PresentationSummary]] = []
        shipped: list[tuple[int, PresentationSummary]] = []
        damaged: list[Damaged] = []
        for folder, listed in ((self.root, own_summaries), (self._shipped, shipped)):
            for path in sorted(folder.glob("*.json")):
                if _ID.fullmatch(path.stem):
                    try:
                        listed.append((path.stat().st_mtime_ns, self._summary(path)))
                    except LeanRAGError as error:
                        damaged.append(Damaged(path.stem, str(error)))
        newest_first = [summary for _, summary in sorted(own_summaries, key=lambda pair: -pair[0])]
        return PresentationList((*newest_first, *(summary for _, summary in shipped)), tuple(damaged))

    def read(self, id_: str) -> Presentation:
        """Return the presentation. Raises PresentationNotFound, PresentationTooNew, RecordDamaged."""
        return read_presentation(self.path(id_))

    def path(self, id_: str) -> Path:
        """Return where the presentation is: a person's own before that of the program. Raises PresentationNotFound."""
        if _ID.fullmatch(id_):
            for folder in (self.root, self._shipped):
                if (folder / f"{id_}.json").is_file():
                    return folder / f"{id_}.json"
        raise PresentationNotFound("present.not_found", presentation=id_)

    def add(self, presentation: Presentation) -> str:
        """Store the presentation and return its id, the same for the same content while nobody edits it. Raises
        InvalidConfig for one that is too large, StorageFailed."""
        content = content_of(presentation)
        first = id_ = _id_of(presentation, content)
        copies = 1
        while (path := self.root / f"{id_}.json").is_file() and path.read_bytes() != content:
            copies += 1  # the first was edited since
            id_ = f"{first}-{copies}"
        with writing(message("what.presentation", title=presentation.title)):
            private.make_folder(self.root)
            write_bytes(self.root / f"{id_}.json", content)
        return id_

    def edit(self, id_: str, edits: Edits, *, revision: str) -> str:
        """Store the edits; return the id, that of a copy where the presentation comes with the program. revision: of
        the presentation that was edited. Raises PresentationChanged where it is another one by now, and as read() and
        add() do."""
        with self._locks.locked(_LOCK):
            presentation = self.read(id_)
            if revision_of(presentation) != revision:
                raise PresentationChanged("present.changed", title=presentation.title)
            return self._write(id_, replace(presentation, edits=edits))

    def add_slide(self, id_: str, kind: str, slide: AddedSlide, *, after: str = "") -> AddedTo:
        """Store a slide of another page: behind the one of that key, else as the last. kind: begins its key. Return
        where it is. Raises as edit() does, and InvalidConfig where there are too many."""
        with self._locks.locked(_LOCK):
            presentation = self.read(id_)
            keys = [each.key for each in deck_of(presentation, whole=True).slides]
            kept = {key: each for key, each in presentation.added.items() if key in keys}
            if len(kept) >= MAX_ADDED or len(keys) >= MAX_SLIDES:
                raise InvalidConfig("present.too_many_slides", n=MAX_ADDED)
            numbers = [int(key.partition("-")[2]) for key in kept if key.startswith(f"{kind}-")]
            key = f"{kind}-{max(numbers, default=0) + 1}"
            keys.insert(keys.index(after) + 1 if after in keys else len(keys), key)
            edits = replace(presentation.edits, order=tuple(keys))
            stored_id = self._write(id_, replace(presentation, edits=edits, added={**kept, key: slide}))
            return AddedTo(stored_id, key, keys.index(key) + 1)

    def _write(self, id_: str, presentation: Presentation) -> str:
        """Put the presentation where it was; one of the program stays, and a copy is made."""
        if self.path(id_).parent != self.root:
            return self.add(presentation)
        content = content_of(presentation)
        with writing(message("what.presentation", title=presentation.title)):
            write_bytes(self.root / f"{id_}.json", content)
        return id_

    def delete(self, id_: str) -> None:
        """Delete the presentation, a damaged one too. Raises PresentationNotFound, InvalidConfig for one of the
        program, StorageFailed."""
        path = self.path(id_)
        if path.parent == self._shipped:
            raise InvalidConfig("present.shipped_stays")
        with writing(message("what.presentation", title=id_)):
            path.unlink()

    def _summary(self, path: Path) -> PresentationSummary:
        changed = path.stat().st_mtime_ns
        kept = self._summaries.get(path)
        if kept is None or kept[0] != changed:
            presentation = read_presentation(path)
            sides = presentation.questions[0].sides
            summary = PresentationSummary(
                id=path.stem,
                title=presentation.edits.title or presentation.title,
                made=presentation.made,
                index_id=presentation.index.id,
                index=presentation.index.name,
                questions=tuple(question.question for question in presentation.questions),
                strategies=tuple(side.run.trace.strategy for side in sides),
                size_bytes=path.stat().st_size,
                is_shipped=path.parent == self._shipped,
                edited=datetime.fromtimestamp(changed / 1e9, UTC).isoformat(timespec="seconds"),
            )
            kept = self._summaries[path] = changed, summary
        return kept[1]


def read_presentation(path: Path) -> Presentation:
    """Return the presentation in the file. Raises as presentation_of() does."""
    if not path.is_file():
        raise PresentationNotFound("present.not_found", presentation=str(path))
    with path.open("rb") as file:
        return presentation_of(file.read(MAX_BYTES + 1), name=path.name)


def _id_of(presentation: Presentation, content: bytes) -> str:
    words = _NO_LETTER.sub("-", presentation.title.lower()).strip("-")[:40].strip("-")
    digest = hashlib.sha256(content).hexdigest()[:8]
    return f"{words}-{digest}" if words else digest
