"""Imports of graphs that other programs made."""

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from leanrag_core.facade.indexes import Indexes
from leanrag_core.jobs.kinds import IMPORT
from leanrag_core.models.registry import Models, require_models
from leanrag_core.storage.import_uploads import UploadedFile
from leanrag_core.types.config import IndexConfig
from leanrag_core.types.execution import Execution
from leanrag_core.types.imported import ImportPreview
from leanrag_core.types.index import Index
from leanrag_core.types.progress import Report, silent
from leanrag_core.types.spending import Budget

if TYPE_CHECKING:
    from leanrag_core.extensions import BrokenExtension
    from leanrag_core.importing.base import Importer


class Importing(Indexes):
    """Imports of graphs that other programs made. See Workbench."""

    def import_graph(
        self,
        path: str | Path,
        format_name: str = "",
        config: IndexConfig | None = None,
        *,
        out: Path | None = None,
        name: str = "",
        models: Models | None = None,
        report: Report = silent,
        execution: Execution | None = None,
    ) -> Index:
        """An index over the graph at that path, which another program made; built in this process.

        format_name: of an importer; empty: the one that recognises the path. out: a folder of the person's own, else
        the index store. Raises ImportFailed for files that cannot be read, InvalidConfig for an unknown format.
        """
        return self._imports.import_graph(
            path,
            format_name,
            config or IndexConfig(),
            out=out,
            name=name,
            models=models,
            report=report,
            execution=execution,
        )

    def importers(self) -> "tuple[Importer, ...]":
        """The formats that a graph can be imported from."""
        from leanrag_core.importing.base import importers

        return importers()

    def broken_importers(self) -> "tuple[BrokenExtension, ...]":
        """Files of importers that cannot be used, and why."""
        from leanrag_core.importing.base import broken_importers

        return broken_importers()

    def preview_import(self, path: str | Path, format_name: str = "") -> ImportPreview:
        """What an import of that path would make and leave out; nothing is embedded or written.

        Raises ImportFailed, InvalidConfig.
        """
        return self._imports.preview(Path(path), format_name)

    def add_import_upload(self, files: Iterable[UploadedFile]) -> Path:
        """The path to import of files that a person uploads: several files, or one ZIP file.

        Raises ImportFailed, StorageFailed.
        """
        return self._imports.add_upload(files)

    def discard_import_upload(self, path: Path) -> None:
        """Deletes uploaded files; any other path is left alone."""
        self._imports.uploads.discard(path)

    def start_import(
        self,
        path: str | Path,
        format_name: str,
        config: IndexConfig | None = None,
        name: str = "",
        *,
        budget: Budget | None = None,
        execution: Execution | None = None,
    ) -> str:
        """A job in a process of its own imports the path; returns the job's id. Raises InvalidConfig, StorageFailed."""
        config, path = config or IndexConfig(), Path(path).resolve()
        require_models(self.models(budget=budget), config)
        arguments = {
            "path": str(path),
            "format": format_name,
            "name": name,
            "budget": asdict(budget or Budget()),
            "execution": asdict(execution or self.settings().execution),
        }
        return self.job_store.begin(name or path.name, "", asdict(config), arguments, IMPORT)
