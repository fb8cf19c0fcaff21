"""Files of a person to documents of a corpus."""

from collections.abc import Iterable
from pathlib import Path

from leanrag_core.errors import CorpusNotFound
from leanrag_core.indexing.parsing.confined import ConfinedParser
from leanrag_core.indexing.reading import read_files, read_uploads
from leanrag_core.storage.corpora import CorpusStore
from leanrag_core.types.summary import UploadReport

File = Path | str | tuple[str, bytes]  # a path, or name and content of an upload
_REPEATED = "file.same_content"


def add_files(store: CorpusStore, parser: ConfinedParser, corpus: str, files: Iterable[File]) -> UploadReport:
    """Adds the readable files to the corpus; reports the others with their reasons. corpus: an id, or the name of a
    corpus to make."""
    listed = list(files)  # an iterator is walked once
    uploads = read_uploads([file for file in listed if isinstance(file, tuple)], parser)
    read = read_files([Path(file) for file in listed if not isinstance(file, tuple)], parser)
    documents, refusals = (*uploads.documents, *read.documents), (*uploads.refusals, *read.refusals)
    repeated = [refusal for refusal in refusals if refusal.reason.code == _REPEATED]
    others = [refusal for refusal in refusals if refusal.reason.code != _REPEATED]
    try:
        corpus_id = store.summary(corpus).id
    except CorpusNotFound:
        corpus_id, (added, duplicates) = store.create_with(corpus, documents, refused=others)
    else:
        added, duplicates = store.add(corpus_id, documents, refused=others)
    return UploadReport(corpus_id, tuple(added), (*duplicates, *repeated), tuple(others))
