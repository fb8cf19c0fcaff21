"""An archive that the export of that name made: the same index again."""

from pathlib import Path

from leanrag_core.errors import ImportFailed
from leanrag_core.messages.message import message
from leanrag_core.storage.archives import archived_manifest, is_archive, read_contents, restore_archive
from leanrag_core.types.config import IndexConfig
from leanrag_core.types.imported import CarriedSetting, ImportedGraph, ImportPreview, OwnPrompt
from leanrag_core.types.index import Index
from leanrag_core.types.summary import RecordedConfig


class Importer:
    """See importing.base; it restores an index and reads no graph."""

    name = "archive"
    title = message("import.archive.title")
    help = message("import.archive.help")

    def recognises(self, path: Path) -> bool:
        """Return whether the file lists its content as such an archive does."""
        return is_archive(path)

    def read(self, path: Path) -> ImportedGraph:
        """Raise ImportFailed: an archive holds a whole index."""
        read_contents(path)  # for the reason why it cannot be read
        raise ImportFailed("import.archive_no_graph")

    def preview(self, path: Path) -> ImportPreview:
        """Describe the counts of the index, its settings that are not as usual, and the prompts that it brings."""
        manifest = archived_manifest(path)
        counts = manifest.counts
        return ImportPreview(
            format=self.name,
            documents=counts.documents,
            chunks=counts.chunks,
            entities=counts.entities[0],
            relations=counts.relations[0],
            notes=(message("import.archive_is_whole"),),
            settings=_carried(manifest.config),
            prompts=tuple(OwnPrompt(task, text) for task, text in manifest.config.prompts),
        )

    def restore(self, path: Path, out: Path, *, in_store: bool) -> Index:
        """Restore the index of the archive into the folder `out`."""
        return restore_archive(path, out, in_store=in_store)


def _carried(config: RecordedConfig) -> tuple[CarriedSetting, ...]:
    """Return the settings that differ from the defaults, except prompts."""
    usual = RecordedConfig.of(IndexConfig()).by_name()
    return tuple(
        CarriedSetting(name, _shown(value), _shown(usual[name]) if name in usual else "")
        for name, value in sorted(config.by_name().items())
        if name != "prompts" and (name not in usual or value != usual[name])
    )


def _shown(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
