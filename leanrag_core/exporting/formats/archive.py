"""The whole index in one file, which imports to the same bytes. See storage.archives."""

import tempfile
from pathlib import Path

from leanrag_core.messages.message import message
from leanrag_core.storage.archives import write_archive
from leanrag_core.storage.layout import write_index
from leanrag_core.types.index import Index


class Exporter:
    """See exporting.base."""

    name = "archive"
    title = message("export.archive.title")
    help = message("export.archive.help")
    suffix = ".leanrag.zip"
    media_type = "application/zip"

    def write(self, index: Index, path: Path) -> int:
        """Write the index's files as they are; an index in memory is written to a folder first."""
        if index.path is not None:
            write_archive(index.path, path)
            return 0
        with tempfile.TemporaryDirectory() as folder:
            write_index(Path(folder), index)
            write_archive(Path(folder), path)
        return 0
