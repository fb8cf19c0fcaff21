"""What all parts of the facade share: stores, models, settings."""

import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leanrag_core.indexing.parsing.confined import ConfinedParser
from leanrag_core.indexing.parsing.limits import parse_limits
from leanrag_core.jobs.store import JobStore
from leanrag_core.models.registry import Models, require_models
from leanrag_core.models.request_form import LearntForms
from leanrag_core.presenting.storing import PresentationStore
from leanrag_core.program_files import PACKAGES
from leanrag_core.services.builds import Builds
from leanrag_core.services.imports import Imports
from leanrag_core.services.index_parts import IndexParts
from leanrag_core.services.question_sets import QuestionSets
from leanrag_core.services.questions import Questions
from leanrag_core.services.references import References
from leanrag_core.services.samples import SAMPLES, Samples
from leanrag_core.services.updates import Updates
from leanrag_core.storage.calls import CallStore
from leanrag_core.storage.chroma_server import ChromaSeen
from leanrag_core.storage.corpora import CorpusStore
from leanrag_core.storage.experiments import ExperimentStore
from leanrag_core.storage.fresh_distances import FreshDistances
from leanrag_core.storage.history import QuestionHistory
from leanrag_core.storage.import_uploads import ImportUploads
from leanrag_core.storage.indexes import IndexStore
from leanrag_core.storage.question_sets import QuestionSetStore
from leanrag_core.storage.search_store import SearchStore
from leanrag_core.storage.settings import OwnPresets, read_settings, write_settings
from leanrag_core.storage.stages import StageStore
from leanrag_core.storage.sweeps import SweepStore
from leanrag_core.types.config import IndexConfig
from leanrag_core.types.index import Index
from leanrag_core.types.settings import Settings
from leanrag_core.types.spending import Budget

if TYPE_CHECKING:
    from leanrag_core.execution.cluster_status import ClusterStatus
    from leanrag_core.indexing.model_check import ModelCheck
    from leanrag_core.models.listing import ModelList
    from leanrag_core.models.probing import Probe


class Services:
    """What all parts of the facade share: stores, models, settings. See Workbench."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.corpus_store = CorpusStore(root / "corpora")
        self.index_store = IndexStore(root / "indexes")
        self.job_store = JobStore(root / "jobs", PACKAGES)
        self.calls = CallStore(root / "calls")
        self.stages = StageStore(root / "stages")
        self.experiment_store = ExperimentStore(root / "experiments", SAMPLES / "experiments")
        self.preset_store = OwnPresets(root / "presets.json")
        self.sweep_store = SweepStore(root / "sweeps", SAMPLES / "sweeps")
        self.question_history = QuestionHistory(root / "history")
        self.presentation_store = PresentationStore(root / "presentations", SAMPLES / "presentations")
        self.searches = SearchStore()
        self._samples = Samples(self.corpus_store, self.parser)
        self._question_sets = QuestionSets(QuestionSetStore(root / "question_sets"), self._samples)
        self._references = References(SAMPLES)
        self._builds = Builds(
            self.corpus_store, self.index_store, self.stages, self.models, self.job_store.all, self._references
        )
        self._fresh_distances = FreshDistances(root / "fresh_distances")
        self._updates = Updates(self.corpus_store, self.index_store.root, self._builds, self.models)
        self._imports = Imports(self.index_store, self.stages, ImportUploads(root / "imports"), self.models)
        self._questions = Questions(self.settings, self.models, self.searches, self._read_part)
        self._parts = IndexParts(self.models, self._questions.embedding, self.searches)
        self._parser: ConfinedParser | None = None
        self._forms = LearntForms()
        self._changing_settings = threading.Lock()
        self._choosing_parser = threading.Lock()

    def _read_part(self, index: Index, name: str) -> Any:
        return self._parts.read(index, name)

    def settings(self) -> Settings:
        """The settings file, an address that it leaves open being OPENAI_BASE_URL."""
        settings = read_settings(self.root / "settings.json")
        return settings if settings.base_url else replace(settings, base_url=os.environ.get("OPENAI_BASE_URL", ""))

    def save_settings(self, settings: Settings) -> None:
        """The settings hold from the next model call on, for jobs from their start."""
        write_settings(self.root / "settings.json", settings)
        self._forms = LearntForms()
        self._questions.forget_models()

    def change_settings(self, change: Callable[[Settings], Settings]) -> None:
        """The settings are what `change` makes of those in the file, which leave open what the environment names.

        One change at a time: a page that is drawn again runs beside its former run until that one notices. Raises
        InvalidConfig for a damaged file or a setting out of its bounds, StorageFailed.
        """
        with self._changing_settings:
            self.save_settings(change(read_settings(self.root / "settings.json")))

    def models(self, *, budget: Budget | None = None, index: str = "", needed_by: IndexConfig | None = None) -> Models:
        """The models of one piece of work. index: for which index its calls are kept. needed_by: settings of a build
        that is to follow; InvalidConfig or ModelUnavailable where it would meet a model that it cannot use."""
        models = Models(self.settings(), self.calls, budget or Budget(), index, self._forms)
        if needed_by is not None:
            require_models(models, needed_by)
            models.language(needed_by.model)
            models.embedding(needed_by.embedding)
        return models

    def parser(self, settings: Settings | None = None) -> ConfinedParser:
        """Reads files under the limits of the settings, in processes that all sessions share."""
        limits = parse_limits(settings or self.settings())
        with self._choosing_parser:
            if self._parser is None or self._parser.limits != limits:
                self._parser = ConfinedParser(limits)
            return self._parser

    def check_model(self, model: str, passage: str, config: IndexConfig | None = None) -> "ModelCheck":
        """What the endpoint's model of that name makes of one passage. Raises EndpointError, InvalidConfig."""
        from leanrag_core.indexing.model_check import check_model

        return check_model(self.models(), model, passage, config or IndexConfig())

    def probe_concurrency(self, model: str) -> "Probe":
        """How many calls in flight the endpoint can use. Raises EndpointError."""
        from leanrag_core.models.probing import probe_concurrency

        return probe_concurrency(self.models().endpoint, model)

    def list_models(self, settings: Settings) -> "ModelList":
        """The models of the server that these settings name, or why they could not be listed."""
        from leanrag_core.models.listing import list_models

        return list_models(Models(settings, self.calls).endpoint)

    def context_windows(self, settings: Settings, names: Sequence[str]) -> dict[str, int | None]:
        """Tokens that each of these models of the server reads, None where it does not tell."""
        from leanrag_core.models.listing import context_windows

        return context_windows(Models(settings, self.calls).endpoint, names)

    def cluster_status(self, scheduler: str) -> "ClusterStatus":
        """The workers of that Dask scheduler. Raises ClusterUnavailable, InvalidConfig."""
        from leanrag_core.execution.cluster_status import read_cluster_status

        return read_cluster_status(scheduler)

    def look_at_chroma(self, url: str) -> ChromaSeen:
        """What the Chroma server at that address says of itself. Raises SearchIndexFailed, InvalidConfig."""
        return self.searches.servers.look_at(url)
