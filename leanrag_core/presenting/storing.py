"""Presentations as files: JSON of a bounded size, read strictly, since such files are passed from person to person."""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from leanrag_core.errors import InvalidConfig, LeanRAGError, PresentationNotFound, PresentationTooNew, RecordDamaged
from leanrag_core.files import private
from leanrag_core.files.atomic import write_bytes, writing
from leanrag_core.files.records import from_json, to_json, values_of
from leanrag_core.messages.message import message
from leanrag_core.presenting.story import FORMAT, VERSION, Presentation, PresentationSummary
from leanrag_core.storage.history import from_record
from leanrag_core.types.summary import Damaged

MAX_BYTES = 12_000_000
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
    for question in presentation.questions:
        for side in question.sides:
            from_record(side.run, name=name)  # refuses messages that have no sentence
    for field, is_whole in _wholeness(presentation):
        if not is_whole:
            reason = message(
                "record.wrong_value", field=message("plain", text=field), reason=message("present.no_such")
            )
            raise RecordDamaged("record.damaged", name=name, reason=reason, field=field)
    return presentation


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
    yield "index.layers", len(presentation.index.layers) == len(presentation.index.relations)


class PresentationStore:
    """Lists, reads, writes and deletes presentations, a file each. shipped: the folder of those of the program."""

    def __init__(self, root: Path, shipped: Path) -> None:
        self.root, self._shipped = root, shipped
        self._summaries: dict[Path, tuple[int, PresentationSummary]] = {}

    def all(self) -> PresentationList:
        """Return all presentations."""
        own: list[tuple[int, PresentationSummary]] = []
        shipped: list[tuple[int, PresentationSummary]] = []
        damaged: list[Damaged] = []
        for folder, listed in ((self.root, own), (self._shipped, shipped)):
            for path in sorted(folder.glob("*.json")):
                if _ID.fullmatch(path.stem):
                    try:
                        listed.append((path.stat().st_mtime_ns, self._summary(path)))
                    except LeanRAGError as error:
                        damaged.append(Damaged(path.stem, str(error)))
        newest_first = [summary for _, summary in sorted(own, key=lambda pair: -pair[0])]
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
        """Stores the presentation; returns its id, which is the same for the same content. Raises InvalidConfig for one
        that is too large, StorageFailed."""
        content = content_of(presentation)
        id_ = _id_of(presentation, content)
        with writing(message("what.presentation", title=presentation.title)):
            private.make_folder(self.root)
            write_bytes(self.root / f"{id_}.json", content)
        return id_

    def delete(self, id_: str) -> None:
        """The presentation is gone, a damaged one too. Raises PresentationNotFound, InvalidConfig for one of the
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
                title=presentation.title,
                made=presentation.made,
                index_id=presentation.index.id,
                index=presentation.index.name,
                questions=tuple(question.question for question in presentation.questions),
                strategies=tuple(side.run.trace.strategy for side in sides),
                size_bytes=path.stat().st_size,
                is_shipped=path.parent == self._shipped,
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
