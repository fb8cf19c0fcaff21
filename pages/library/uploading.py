"""Files on their way into a corpus: a thread reads them, so that the page stays at hand and a rerun ends nothing."""

import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass, field

import streamlit as st

from leanrag_core.errors import LeanRAGError
from leanrag_core.indexing.reading import FileRead
from leanrag_core.types.summary import UploadReport
from leanrag_core.workbench import Workbench
from leanrag_core.workbench.corpora import File

_KEY = "lr_uploading"
_AT_ONCE = 1.5  # seconds; a few small files are in by then, and the page need not be drawn twice


@dataclass
class Uploading:
    """total: files, 0 where unknown. read, refused: so many so far. last: names read last. sizes: see upload_rows()."""

    total: int
    began: float = field(default_factory=time.monotonic)
    read: int = 0
    refused: int = 0
    last: list[str] = field(default_factory=list)
    sizes: dict[str, int] = field(default_factory=dict)
    report: UploadReport | None = None
    error: LeanRAGError | None = None
    ended: threading.Event = field(default_factory=threading.Event)

    def heard(self, file: FileRead) -> None:
        """Notes a file that was read."""
        documents = file.parsed.documents
        if file.size_bytes is not None and len(documents) + len(file.parsed.refusals) == 1:
            self.sizes[documents[0].id if documents else file.name] = file.size_bytes
        self.refused += not documents
        self.last = [file.name, *self.last[:3]]
        self.read += 1

    def run(self, bench: Workbench, corpus: str, files: Iterable[File]) -> None:
        """Adds the files. For a thread."""
        try:
            self.report = bench.add_documents(corpus, files, on_file=self.heard)
        except LeanRAGError as error:
            self.error = error
        finally:
            self.ended.set()

    @property
    def seconds_left(self) -> float | None:
        """None while unknown."""
        passed = time.monotonic() - self.began
        if not self.total or self.read < 5 or passed < 2:
            return None
        return passed / self.read * (self.total - self.read)


def begin(bench: Workbench, corpus: str, files: Iterable[File], total: int) -> None:
    """The files are being added to the corpus; with few files this returns when they are in."""
    uploading = Uploading(total)
    threading.Thread(target=uploading.run, args=(bench, corpus, files), daemon=True, name="adding files").start()
    st.session_state[_KEY] = uploading
    uploading.ended.wait(_AT_ONCE)


def under_way() -> Uploading | None:
    """The upload of this session that has begun and whose end was not taken yet."""
    uploading: Uploading | None = st.session_state.get(_KEY)
    return uploading


def take() -> None:
    """The end of the upload has been taken."""
    st.session_state.pop(_KEY, None)
