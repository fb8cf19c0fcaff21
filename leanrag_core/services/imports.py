"""Graphs of other programs to indexes, and files of them that a person uploads."""

from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

from leanrag_core.indexing.parsing.blocks import shown_name
from leanrag_core.indexing.parsing.limits import parse_limits
from leanrag_core.models.registry import Models, require_models
from leanrag_core.storage import layout
from leanrag_core.storage.import_uploads import ImportUploads, UploadedFile
from leanrag_core.storage.indexes import IndexStore, folder_name, import_id
from leanrag_core.storage.stages import StageStore
from leanrag_core.types.config import IndexConfig
from leanrag_core.types.execution import Execution
from leanrag_core.types.imported import ImportPreview
from leanrag_core.types.index import Index
from leanrag_core.types.progress import Progress, Report, silent

_MEGABYTE = 1_000_000


class ModelsOf(Protocol):
    """Makes the models of one piece of work. index: for which index its calls are kept."""

    def __call__(self, *, index: str = "") -> Models: ...


class Imports:
    """Previews and imports, with the stores of a workbench."""

    def __init__(self, indexes: IndexStore, stages: StageStore, uploads: ImportUploads, models: ModelsOf) -> None:
        self._indexes, self._stages, self._models = indexes, stages, models
        self.uploads = uploads

    def preview(self, path: Path, format_name: str) -> ImportPreview:
        """What an import of the path would make and leave out. Raises ImportFailed, InvalidConfig."""
        from leanrag_core.importing.confined import confined_preview

        return confined_preview(path, format_name, parse_limits(self._models().settings))

    def add_upload(self, files: Iterable[UploadedFile]) -> Path:
        """The files in a folder of the workbench; of an archive of an index, the file. Raises ImportFailed."""
        return self.uploads.add(files)

    def import_graph(
        self,
        path: str | Path,
        format_name: str,
        config: IndexConfig,
        *,
        out: Path | None = None,
        name: str = "",
        models: Models | None = None,
        report: Report = silent,
        execution: Execution | None = None,
    ) -> Index:
        """An index over the graph at that path, which another program made; built in this process.

        format_name: of an importer (importing.base); empty: the one that recognises the path. out: a folder of the
        person's own, else the index store. Raises ImportFailed for files that cannot be read, InvalidConfig for an
        unknown format.
        """
        from leanrag_core.execution.choice import opened
        from leanrag_core.importing.base import Restorer, importer_for
        from leanrag_core.indexing.build import build_from_graph

        path = Path(path)
        models = models or self._models(index=path.resolve().name)
        require_models(models, config)
        chosen = importer_for(path, format_name)
        target = out or self._indexes.path(folder_name(import_id(chosen.name, path), config))
        if isinstance(chosen, Restorer):
            report(Progress("read", 0, 0))
            return chosen.restore(path, target, in_store=out is None)
        report(Progress("read", 0, 0))
        imported = chosen.read(path)
        counts = imported.counts
        n_rows = counts.entity_rows + counts.relation_rows
        report(Progress("read", n_rows, n_rows, "rows"))
        with opened(execution or models.settings.execution) as executor:
            built = build_from_graph(
                imported,
                config,
                target,
                source=chosen.name,
                embedding=models.embedding(config.embedding),
                aggregation=models.language(config.aggregation_model or config.model),
                workers=models.settings.concurrency,
                executor=executor,
                stages=self._stages,
                in_store=out is None,
                name=name or shown_name(path.resolve().name),
                report=report,
            )
        self._stages.trim(models.settings.stages_mb * _MEGABYTE)
        return layout.read_index(built)
