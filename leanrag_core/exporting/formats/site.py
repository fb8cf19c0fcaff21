"""The views of Explore as a folder of static files, which any browser opens from a disk, without a server and Python.

It is written as a ZIP file; where the name that is given does not end in .zip, the folder of that name takes its place.
"""

import zipfile
from collections.abc import Sequence
from pathlib import Path

from leanrag_core.errors import InvalidConfig
from leanrag_core.exporting.site.page import page
from leanrag_core.exporting.site.shards import SiteFiles
from leanrag_core.exporting.site.shown import write_runs, write_views
from leanrag_core.exporting.site.tables import with_short_ids, write_tables
from leanrag_core.messages.catalog import ENGLISH, saying
from leanrag_core.messages.message import message
from leanrag_core.types.index import Index
from leanrag_core.types.trace import RecordedRun


class Exporter:
    """See exporting.base. language: of its words. runs: recorded questions that are played in it."""

    name = "site"
    title = message("export.site.title")
    help = message("export.site.help")
    suffix = ".site.zip"
    media_type = "application/zip"

    def __init__(self, language: str = ENGLISH, runs: Sequence[RecordedRun] = ()) -> None:
        self._language, self._runs = language, runs

    def for_reader(self, language: str, runs: Sequence[RecordedRun]) -> "Exporter":
        """Return the exporter with that language and those runs."""
        return Exporter(language, runs)

    def write(self, index: Index, path: Path) -> int:
        """Write the site. Raises InvalidConfig for a run of another index."""
        for run in self._runs:
            if run.trace.index.id != index.id:
                raise InvalidConfig("export.other_index", question=run.trace.question, index=run.trace.index.name)
        shown = with_short_ids(index)
        with zipfile.ZipFile(path, "w") as archive:
            files = SiteFiles(archive)
            views = write_views(shown, files, saying(self._language))
            n_cut = write_tables(shown, files)
            questions = write_runs(self._runs, files, self._language)
            files.add_page(page(shown, self._language, views=views, questions=questions, n_cut=n_cut))
        return 0
