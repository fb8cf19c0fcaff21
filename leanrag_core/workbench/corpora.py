"""The corpora of a workbench, and a person's files on their way into them."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from leanrag_core.errors import CorpusNotFound, InvalidConfig
from leanrag_core.indexing.parsing.asides import Aside, asides_of, toggled
from leanrag_core.indexing.parsing.confined import ConfinedParser
from leanrag_core.indexing.parsing.repeats import all_asides, repeated_in
from leanrag_core.indexing.parsing.running_heads import put_back
from leanrag_core.indexing.reading import FileRead, each_file, each_upload
from leanrag_core.storage.corpora import FILES, CorpusStore
from leanrag_core.types.corpus import Document, Refusal
from leanrag_core.types.summary import CorpusSummary, DocumentSummary, UploadReport
from leanrag_core.workbench.samples import Samples, sample_name

File = Path | str | tuple[str, bytes]  # a path, or name and content of an upload
_COMPARED_TOKENS = 2_000_000
OnFile = Callable[[FileRead], None]


class Corpora(CorpusStore):
    """The store of corpora, with those that come with the program."""

    def __init__(self, root: Path, parser: Callable[[], ConfinedParser]) -> None:
        super().__init__(root)
        self.samples = Samples(self, parser)

    def all(self) -> list[CorpusSummary]:
        """Return all corpora, a person's own ones first, the newest of them at the top."""
        self.samples.read_all()
        return self.summaries()

    def summary(self, corpus_id: str) -> CorpusSummary:
        """Return the corpus's card; a sample corpus is read into the store where it is not there yet. Raises
        CorpusNotFound or CorpusDamaged."""
        try:
            return super().summary(corpus_id)
        except CorpusNotFound:
            if corpus_id not in self.samples.ids():
                raise
            self.samples.read(sample_name(corpus_id))
            return super().summary(corpus_id)

    def namesakes(self, report: UploadReport) -> tuple[DocumentSummary, ...]:
        """Return the documents that the corpus already had under the file name of an added one, with another text; none
        of a corpus whose documents are not one file each (FILES). Raises CorpusNotFound."""
        rows = self.documents(report.corpus_id)
        if len(rows) > FILES:
            return ()
        names, added = {row.name for row in report.added}, {row.id for row in report.added}
        return tuple(row for row in rows if row.name in names and row.id not in added)

    def all_documents(self, corpus_id: str) -> list[Document]:
        """Return the corpus's documents with their texts, by name."""
        return list(self.each_document(corpus_id))

    def put_back(self, corpus_id: str, document_id: str, running_head: str) -> str:
        """Put that running head back into the document's text wherever its file has it, or leave it out again.

        Returns the document's id from now on. Indexes built with it stay as they are. Raises CorpusNotFound.
        """
        return self._keep(corpus_id, document_id, put_back(self.document(corpus_id, document_id), running_head))

    def asides(self, corpus_id: str, document_id: str) -> tuple[Aside, ...]:
        """Return the asides of the document: text that the built-in engine skips unless it is told to read it anyway.

        Text that documents share is looked for in corpora of up to two million tokens. Raises CorpusNotFound.
        """
        document = self.document(corpus_id, document_id)
        if self.summary(corpus_id).tokens > _COMPARED_TOKENS:
            return asides_of(document)
        documents = self.all_documents(corpus_id)
        return all_asides(document, repeated_in(documents)[[each.id for each in documents].index(document_id)])

    def read_anyway(self, corpus_id: str, document_id: str, keys: Iterable[str]) -> str:
        """Have the built-in engine read the asides of those keys from now on, or skip them again.

        Returns the document's id from now on. Indexes built with it stay as they are. Raises CorpusNotFound.
        """
        return self._keep(corpus_id, document_id, toggled(self.document(corpus_id, document_id), keys))

    def _keep(self, corpus_id: str, document_id: str, changed: Document) -> str:
        if changed.id != document_id:
            self.replace(corpus_id, document_id, changed)
        return changed.id

    def rename(self, corpus_id: str, name: str) -> None:
        """Rename the corpus; Workbench.rename_corpus() tells its indexes, too. Raises InvalidConfig for a sample
        corpus, and as the store does."""
        if self.summary(corpus_id).sample:
            raise InvalidConfig("corpus.sample_stays")
        super().rename(corpus_id, name)

    def delete(self, corpus_id: str) -> None:
        """Delete the corpus; its indexes stay. Raises InvalidConfig for a sample corpus."""
        if corpus_id not in {corpus.id for corpus in self.damaged()} and self.summary(corpus_id).sample:
            raise InvalidConfig("corpus.sample_stays")
        super().delete(corpus_id)


def add_files(
    store: CorpusStore, parser: ConfinedParser, corpus: str, files: Iterable[File], on_file: OnFile | None = None
) -> UploadReport:
    """Add the readable files to the corpus; report the others with their reasons. See Workbench.add_documents()."""
    reading = _Reading(files, parser, on_file or (lambda file: None))
    try:
        corpus_id = store.summary(corpus).id
    except CorpusNotFound:
        corpus_id, (added, duplicates) = store.create_with(corpus, reading.documents(), refused=reading.refused)
    else:
        added, duplicates = store.add(corpus_id, reading.documents(), refused=reading.refused)
    added = tuple(added) if isinstance(added, list) else added  # else its rows are read when they are looked at
    return UploadReport(corpus_id, added, tuple(duplicates), tuple(reading.refused))


class _Reading:
    """The files on their way into a corpus. refused: grows while the documents are taken."""

    def __init__(self, files: Iterable[File], parser: ConfinedParser, on_file: OnFile) -> None:
        self.files, self.parser, self.on_file = files, parser, on_file
        self.refused: list[Refusal] = []

    def documents(self) -> Iterator[Document]:
        """Yield the documents; the store takes each content once."""
        for file in self._read():
            self.refused += file.parsed.refusals
            yield from file.parsed.documents
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
