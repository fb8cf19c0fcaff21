"""The model files of a workbench: those in its models folder, and those that were chosen by their path. An index, a log
and a link name a file without its folder; where it is stands in a file of the home that belongs to its owner alone."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from leanrag_core.errors import ModelUnavailable, RecordDamaged
from leanrag_core.files import private
from leanrag_core.files.atomic import write_json, writing
from leanrag_core.files.records import from_json
from leanrag_core.files.written_paths import written_path
from leanrag_core.messages.message import Message, message
from leanrag_core.models.gguf import SUFFIX, ModelFile, is_later_part, read_model_file
from leanrag_core.models.model_server import ModelServers
from leanrag_core.system.threads import BoundedCache

_MOST_LISTED = 200


@dataclass(frozen=True)
class ListedFile:
    """A model file that can be chosen, or why it cannot. by_path: it was chosen by its path."""

    name: str
    n_bytes: int = 0
    file: ModelFile | None = None
    fault: Message | None = None
    by_path: bool = False


class ModelFiles:
    """Lists model files and finds them by their names. home: of the workbench; folder: reads where models are kept,
    "" for the folder models in the home. For several threads."""

    def __init__(self, home: Path, folder: Callable[[], str]) -> None:
        self._home, self._folder = home, folder
        self._paths = home / "model_files.json"
        self._changing = threading.Lock()
        self._read: BoundedCache[tuple[str, int, int], ModelFile] = BoundedCache(64)
        self.servers = ModelServers(home / "model_servers")

    @property
    def default_folder(self) -> Path:
        """Where models are kept unless a folder is chosen."""
        return self._home / "models"

    @property
    def folder(self) -> Path:
        """Where models are kept."""
        chosen = self._folder()
        return written_path(chosen) if chosen else self.default_folder

    def add(self, path: str | Path) -> ModelFile:
        """Choose the file at that path; from now on it is known by its name. Raises ModelUnavailable for one that is
        missing, is not a model or does not write text; StorageFailed."""
        path = written_path(str(path)).resolve()
        file = self._writer(self._file(path))
        with self._changing, writing(message("what.model_files")):
            private.make_folder(self._home)
            write_json(self._paths, {**self._chosen(), path.name: str(path)}, private=True)
        return file

    def forget(self, name: str) -> None:
        """Take the file of that name off the list; the file itself stays. Raises StorageFailed."""
        with self._changing, writing(message("what.model_files")):
            chosen = {known: path for known, path in self._chosen().items() if known != name}
            write_json(self._paths, chosen, private=True)

    def all(self) -> tuple[ListedFile, ...]:
        """List the files of the models folder and those that were chosen by their paths, by their names."""
        chosen = self._chosen()
        try:
            in_folder = {path.name: path for path in sorted(self.folder.glob("*" + SUFFIX)) if not is_later_part(path)}
        except OSError:  # a folder that cannot be read has none
            in_folder = {}
        paths = {**in_folder, **{name: Path(path) for name, path in chosen.items()}}
        return tuple(self._listed(name, paths[name], name in chosen) for name in sorted(paths)[:_MOST_LISTED])

    def named(self, name: str) -> ModelFile:
        """Return the file of that name. Raises ModelUnavailable where there is none, or where it does not write
        text."""
        chosen = self._chosen().get(name)
        path = Path(chosen) if chosen else self.folder / name
        if Path(name).name != name or not path.is_file():
            raise ModelUnavailable("model_file.not_here", name=Path(name).name)
        return self._writer(self._file(path))

    def _listed(self, name: str, path: Path, by_path: bool) -> ListedFile:
        try:
            file = self._writer(self._file(path))
        except ModelUnavailable as error:
            return ListedFile(name, fault=error.message, by_path=by_path)
        return ListedFile(name, file.n_bytes, file, by_path=by_path)

    def _file(self, path: Path) -> ModelFile:
        try:
            file_stat = path.stat()
        except OSError:
            return read_model_file(path)  # which says what is wrong
        key = str(path), file_stat.st_size, file_stat.st_mtime_ns
        return self._read.get_or_make(key, lambda: read_model_file(path))

    def _writer(self, file: ModelFile) -> ModelFile:
        if not file.writes:
            raise ModelUnavailable("model_file.writes_nothing", name=file.name)
        return file

    def _chosen(self) -> dict[str, str]:
        try:
            return from_json(dict[str, str], self._paths.read_bytes(), name=self._paths.name)
        except (FileNotFoundError, RecordDamaged):  # damaged: files are chosen again
            return {}
