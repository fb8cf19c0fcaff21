"""Files of a person to documents of a corpus."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from leanrag_core.errors import CorpusNotFound
from leanrag_core.indexing.parsing.confined import ConfinedParser
from leanrag_core.indexing.reading import FileRead, each_file, each_upload, repeated
from leanrag_core.storage.corpora import CorpusStore
from leanrag_core.types.corpus import Document, Refusal
from leanrag_core.types.summary import UploadReport

File = Path | str | tuple[str, bytes]  # a path, or name and content of an upload
OnFile = Callable[[FileRead], None]


def add_files(
    store: CorpusStore, parser: ConfinedParser, corpus: str, files: Iterable[File], on_file: OnFile | None = None
) -> UploadReport:
    """Adds the readable files to the corpus; reports the others with their reasons. corpus: an id, or the name of a
    corpus to make. files: taken one after another, so that few are in memory. on_file: hears of each when it was read.
    """
    reading = _Reading(files, parser, on_file or (lambda file: None))
    try:
        corpus_id = store.summary(corpus).id
    except CorpusNotFound:
        corpus_id, (added, duplicates) = store.create_with(corpus, reading.documents(), refused=reading.refused)
    else:
        added, duplicates = store.add(corpus_id, reading.documents(), refused=reading.refused)
    return UploadReport(corpus_id, tuple(added), (*duplicates, *reading.repeated), tuple(reading.refused))


class _Reading:
    """The files on their way into a corpus. refused, repeated: grow while the documents are taken."""

    def __init__(self, files: Iterable[File], parser: ConfinedParser, on_file: OnFile) -> None:
        self.files, self.parser, self.on_file = files, parser, on_file
        self.refused: list[Refusal] = []
        self.repeated: list[Refusal] = []

    def documents(self) -> Iterator[Document]:
        """The documents, each content once."""
        first_of: dict[str, str] = {}
        for file in self._read():
            self.refused += file.parsed.refusals
            for document in file.parsed.documents:
                if document.id in first_of:
                    self.repeated.append(repeated(document, first_of[document.id]))
                else:
                    first_of[document.id] = document.name
                    yield document
            self.on_file(file)

    def _read(self) -> Iterator[FileRead]:
        paths: list[Path] = []

        def uploads() -> Iterator[tuple[str, bytes]]:
            for file in self.files:
                if isinstance(file, tuple):
                    yield file
                else:
                    paths.append(Path(file))

        yield from each_upload(uploads(), self.parser)
        if paths:
            yield from each_file(paths, self.parser)
