"""Parts of indexes: which there are, making one, reading one, what one costs."""

import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from leanrag_core.errors import InvalidConfig, PartMissing
from leanrag_core.messages.catalog import sentence
from leanrag_core.models.base import EmbeddingModel, LanguageModel
from leanrag_core.models.registry import Models
from leanrag_core.prompts.book import PromptBook
from leanrag_core.storage.part_store import RECORD, PartStore, read_record
from leanrag_core.storage.search_store import SearchStore
from leanrag_core.types.forecast import Forecast
from leanrag_core.types.index import Index
from leanrag_core.types.part import ABSENT, FINISHED, INDEX_NEEDS, LANGUAGE, UNFINISHED, PartRecord, PartState
from leanrag_core.types.progress import Progress, Report, silent

if TYPE_CHECKING:
    from leanrag_core.extensions import BrokenExtension
    from leanrag_core.indexing.part_base import PartModels, Proposal

_MAX_READ = 8  # parts that are kept in memory after they were read


class ModelsOf(Protocol):
    """Makes the models of one piece of work. index: for which index its calls are kept."""

    def __call__(self, *, index: str = "") -> Models: ...


class IndexParts:
    """Lists, makes, reads and deletes the parts of indexes, for all sessions.

    embedding: gives the model of that name and fingerprint. searches: closed before files of a search index go.
    """

    def __init__(
        self, models: ModelsOf, embedding: Callable[[str, str], EmbeddingModel], searches: SearchStore
    ) -> None:
        self._models, self._embedding, self._searches = models, embedding, searches
        self._lock = threading.Lock()  # guards the field below
        self._read: dict[
            tuple[str, int, int], Any
        ] = {}  # by folder and identity of the record, the last used at the end

    def broken(self) -> "tuple[BrokenExtension, ...]":
        """Files of parts that cannot be used."""
        from leanrag_core.indexing.part_base import parts

        return parts().broken

    def all(self, index: Index) -> tuple[PartState, ...]:
        """The parts that the index has or may have."""
        from leanrag_core.indexing.part_base import parts
        from leanrag_core.indexing.part_building import part_states

        return part_states(index, parts(), self._part_models(index, self._models(index=_folder_name(index))))

    def offered(self, index: Index) -> tuple[str, ...]:
        """Names of the parts that the index should have and does not."""
        states = self.all(index)
        finished = {state.name for state in states if state.status == FINISHED}
        return tuple(sorted({state.name for state in states if state.offered} - finished))

    def lacking(self, index: Index) -> tuple[PartState, ...]:
        """The parts that the index does not have and that can be made, each after those that it needs."""
        states = {state.name: state for state in self.all(index) if state.status in (ABSENT, UNFINISHED)}
        asks_model = self._language(index, self._models(index=_folder_name(index))) is not None
        ordered: dict[str, PartState] = {}
        for state in states.values():
            if asks_model or LANGUAGE not in state.needs:
                ordered |= {need: states[need] for need in state.needs if need in states} | {state.name: state}
        return tuple(ordered.values())

    def job_title(self, index: Index, name: str, options: Mapping[str, Any]) -> str:
        """What a job that makes the part is called. Raises InvalidConfig for an unknown part or option."""
        from leanrag_core.indexing.part_base import parts

        info = parts().named(name)
        info.configured(options)
        return f"{sentence(info.part.title)}, {index.manifest.name}"

    def forecast(self, index: Index, name: str, options: Mapping[str, Any] | None = None) -> Forecast:
        """What making the part takes. Raises InvalidConfig."""
        from leanrag_core.indexing.part_base import parts

        info = parts().named(name)
        models = self._part_models(index, self._models(index=_folder_name(index)))
        return info.part.forecast(index, info.configured(options or {}), models)

    def build(
        self,
        index: Index,
        name: str,
        options: Mapping[str, Any] | None = None,
        *,
        models: Models | None = None,
        report: Report = silent,
    ) -> PartRecord:
        """Makes the part in this process, and before it the parts that it needs, unless the index has them; returns its
        record. models: with the meter of a job.

        Raises InvalidConfig, PartMissing, StorageFailed, BudgetSpent, and errors of the part's own.
        """
        from leanrag_core.indexing.part_base import PartTools, parts
        from leanrag_core.indexing.part_building import build_part

        info = parts().named(name)
        models = models or self._models(index=_folder_name(index))
        finished = self._part_models(index, models).parts
        for need in info.part.needs:
            if need not in INDEX_NEEDS and need not in finished:
                self.build(index, need, models=models, report=report)
        recorded = index.manifest.embedding
        tools = PartTools(
            embed=lambda texts: self._embedding(recorded.name, recorded.fingerprint).embed(list(texts)),
            language=self._language(index, models),
            prompts=PromptBook(index.manifest.config.prompts),
            part=lambda other: self.read(index, other),
            meter=models.meter,
            connect=self._searches.for_writing(models.settings.chroma_url),
            report=report,
            cancelled=lambda: report(Progress("make", 0, 0)),
        )
        return build_part(index, info, info.configured(options or {}), self._part_models(index, models), tools)

    def read(self, index: Index, name: str) -> Any:
        """What strategies get of the part, read once for all questions. Raises PartMissing, PartDamaged."""
        from leanrag_core.indexing.part_base import parts
        from leanrag_core.indexing.part_building import read_part

        folder = PartStore(index.path).newest(name) if index.path is not None else None
        if folder is None:
            raise PartMissing("part.missing", part=name)
        key = _identity(folder)
        with self._lock:
            if key in self._read:
                self._read[key] = self._read.pop(key)
                return self._read[key]
        content = read_part(index, parts().named(name))
        with self._lock:
            self._read[key] = content
            while len(self._read) > _MAX_READ:
                del self._read[next(iter(self._read))]
        return content

    def proposals(self, index: Index, name: str) -> "tuple[Proposal, ...]":
        """What the part proposes to a person; nothing for a part that does not. Raises PartMissing, PartDamaged."""
        from leanrag_core.indexing.part_base import ProposingPart, parts

        part = parts().named(name).part
        return part.proposals(self.read(index, name)) if isinstance(part, ProposingPart) else ()

    def accepting(self, index: Index, name: str, accepted: Sequence[str]) -> dict[str, Any]:
        """Options of the part as it was made last, and those proposals accepted. Raises PartMissing, PartDamaged, and
        InvalidConfig for a part that proposes nothing."""
        from leanrag_core.indexing.part_base import ProposingPart, parts

        part = parts().named(name).part
        if not isinstance(part, ProposingPart):
            raise InvalidConfig("part.proposes_nothing", part=name)
        folder = PartStore(index.path).newest(name) if index.path is not None else None
        if folder is None:
            raise PartMissing("part.missing", part=name)
        return {**read_record(folder).config, part.accepts: ",".join(accepted)}

    def delete(self, index: Index, name: str, fingerprint: str) -> None:
        """Deletes that version of the part. Raises StorageFailed."""
        if index.path is not None:
            self._searches.close(index.path)
            PartStore(index.path).delete(name, fingerprint)

    def _part_models(self, index: Index, models: Models) -> "PartModels":
        from leanrag_core.indexing.part_base import PartModels

        stored = PartStore(index.path).all() if index.path is not None else ()
        finished = {part.name: part.fingerprint for part in stored if part.status == FINISHED}
        return PartModels(self._language(index, models), finished)

    def _language(self, index: Index, models: Models) -> LanguageModel | None:
        return models.language(index.manifest.config.model)


def _identity(folder: Path) -> tuple[str, int, int]:
    """Changes when the part is made again."""
    stat = (folder / RECORD).stat()
    return str(folder), stat.st_ino, stat.st_mtime_ns


def _folder_name(index: Index) -> str:
    """The name of the index's folder, under which builds keep their calls too."""
    return index.path.name if index.path else index.id
