"""The reference graphs that come with the program, by the documents that they quote."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from leanrag_core.errors import ReferenceDamaged
from leanrag_core.indexing.reference.faults import faults, quoted_documents
from leanrag_core.indexing.reference.records import FILES, ReferenceGraph, is_reference, read_reference
from leanrag_core.types.corpus import Document


@dataclass(frozen=True)
class CorpusReference:
    """A reference graph and the folder that it was read from."""

    folder: Path
    graph: ReferenceGraph

    def usable(self) -> ReferenceGraph:
        """The graph. Raises ReferenceDamaged when it contradicts itself."""
        wrong = faults(self.graph)
        if wrong:
            raise ReferenceDamaged("reference.faulty", folder=self.folder.parent.name, n=len(wrong), first=wrong[0])
        return self.graph


class References:
    """Reads the reference graphs below a folder of corpora, each again when its files have changed."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._read: dict[Path, tuple[tuple[tuple[int, int], ...], ReferenceGraph]] = {}

    def all(self) -> tuple[CorpusReference, ...]:
        """Every reference graph, in order of its corpus's folder. Raises RecordDamaged, ReferenceDamaged."""
        folders = sorted(folder for folder in self._root.glob("*/reference") if is_reference(folder))
        return tuple(CorpusReference(folder, self._graph(folder)) for folder in folders)

    def _graph(self, folder: Path) -> ReferenceGraph:
        seen = [(folder / name).stat() for name in FILES if (folder / name).is_file()]
        here = tuple((file.st_mtime_ns, file.st_size) for file in seen)
        known = self._read.get(folder)
        if known is None or known[0] != here:
            known = self._read[folder] = here, read_reference(folder)
        return known[1]

    def covering(self, names: Iterable[str]) -> CorpusReference | None:
        """The reference graph that quotes most documents of these names; None where none quotes any."""
        wanted = set(names)
        quoted = [(len(wanted & set(reference.graph.document_names)), reference) for reference in self.all()]
        most = max((n for n, _ in quoted), default=0)
        return next(reference for n, reference in quoted if n == most) if most else None

    def is_complete(self, names: Sequence[str]) -> bool:
        """Whether one reference graph covers every document of these names well enough."""
        reference = self.covering(names)
        return reference is not None and all(row.enough for row in quoted_documents(reference.graph, names))

    def of(self, documents: Sequence[Document]) -> ReferenceGraph:
        """The reference graph of the documents. Raises ReferenceDamaged where there is none, or an unusable one."""
        reference = self.covering(document.name for document in documents)
        if reference is None:
            raise ReferenceDamaged("reference.none")
        return reference.usable()
