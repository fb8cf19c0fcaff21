"""The workbench: one object that composes stores, models and jobs; pages and the command line go through it."""

import os
import string
import threading
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from leanrag_core.checking.check import CheckResult, check_directory
from leanrag_core.comparing.sharing import Comparison
from leanrag_core.errors import ModelUnavailable
from leanrag_core.evaluation.gold import GoldQuestion
from leanrag_core.exporting.base import ForReaders, export_index, exporter
from leanrag_core.indexing.parsing.confined import ConfinedParser
from leanrag_core.indexing.parsing.limits import parse_limits
from leanrag_core.jobs import runner
from leanrag_core.jobs.kinds import BUILD, COMPARE_FRESH, EXPERIMENT, IMPORT, PART, REWRITE, SWEEP, UPDATE
from leanrag_core.jobs.runner import Work
from leanrag_core.jobs.store import JobStore
from leanrag_core.messages.catalog import ENGLISH
from leanrag_core.models.base import EmbeddingModel
from leanrag_core.models.model_files import ModelFiles
from leanrag_core.models.registry import Models
from leanrag_core.models.speeds import Speeds
from leanrag_core.notebook import html_of
from leanrag_core.storage import layout
from leanrag_core.storage.batches import BatchStore
from leanrag_core.storage.calls import CallStore
from leanrag_core.storage.earlier_states import FreshDistances
from leanrag_core.storage.experiments import ExperimentStore, SweepStore
from leanrag_core.storage.history import QuestionHistory
from leanrag_core.storage.import_uploads import ImportUploads
from leanrag_core.storage.question_sets import QuestionSetStore
from leanrag_core.storage.search_store import SearchStore
from leanrag_core.storage.stages import StageStore
from leanrag_core.suggesting import SECONDS, suggest
from leanrag_core.system.environment import PACKAGES, default_home
from leanrag_core.types.calls import Budget
from leanrag_core.types.config import IndexConfig, is_remote
from leanrag_core.types.imported import Exported
from leanrag_core.types.index import Index
from leanrag_core.types.job import Report, silent
from leanrag_core.types.scope import Scope
from leanrag_core.types.settings import Execution
from leanrag_core.types.suggestion import Suggestions
from leanrag_core.types.summary import UploadReport
from leanrag_core.types.trace import Answer, RecordedRun, Trace, TraceStep
from leanrag_core.types.visible import ShownInNotebooks
from leanrag_core.workbench.builds import Builds, BuildWork
from leanrag_core.workbench.corpora import Corpora, File, OnFile, add_files
from leanrag_core.workbench.experiment_asking import RunIndexes
from leanrag_core.workbench.experiments import Experiments, Verdicts, batch_done
from leanrag_core.workbench.explanations import Explanations
from leanrag_core.workbench.fresh_builds import FreshBuilds
from leanrag_core.workbench.imports import Imports
from leanrag_core.workbench.indexes import EARLIER, TRIAL, Indexes
from leanrag_core.workbench.models import ModelAccess
from leanrag_core.workbench.parts import Parts
from leanrag_core.workbench.presentations import Presentations
from leanrag_core.workbench.question_sets import QuestionSets
from leanrag_core.workbench.questions import AskRequest, Questions
from leanrag_core.workbench.recommendations import Recommendations
from leanrag_core.workbench.references import References
from leanrag_core.workbench.rewrites import Rewrites
from leanrag_core.workbench.role_checks import RoleChecks
from leanrag_core.workbench.samples import SAMPLES
from leanrag_core.workbench.scopes import Scopes
from leanrag_core.workbench.settings import IndexDefaults, Presets, SettingsFile
from leanrag_core.workbench.snapshots import Snapshots
from leanrag_core.workbench.sweeps import Sweeps
from leanrag_core.workbench.trials import Trials
from leanrag_core.workbench.updates import Updates

__all__ = ["Workbench", "open_index"]

ShownInNotebooks.draw_with(html_of)


def open_index(path: str | Path) -> Index:
    """Open the index in that directory, read-only; no workbench is needed.

    Raises IndexNotFound, IndexDamaged or IndexTooNew, each with what to do.
    """
    return layout.read_index(Path(path))


class Workbench:
    """Corpora, indexes and jobs below one folder, and the models that work on them.

    Each subject is a member, with a file of its own beside this one; the methods here are the daily ones. They take an
    index, its id or the path of its folder; those of members take an opened index.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.settings = SettingsFile(root / "settings.json")
        self.presets = Presets(root / "presets.json")
        self.defaults = IndexDefaults(root / "defaults.json")
        self.calls = CallStore(root / "calls")
        self.stages = StageStore(root / "stages")
        self.searches = SearchStore()
        self.jobs = JobStore(root / "jobs", PACKAGES)
        self.history = QuestionHistory(root / "history")
        self.model_files = ModelFiles(root, lambda: self.settings.read().models_folder)
        self.models = ModelAccess(self.settings, self.calls, self.model_files, Speeds(root / "speeds.json"))
        self.corpora = Corpora(root / "corpora", self.parser)
        self.references = References(SAMPLES, self.models)
        self.role_checks = RoleChecks(self.models, self.references)
        self.indexes = Indexes(root / "indexes", self.settings, self.searches, self.stages)
        self.scopes = Scopes(self.corpora, self.models)
        self.parts = Parts(self.indexes, self.models, self.searches, self.jobs)
        self.batches = BatchStore(root / "batches")
        self.builds = Builds(
            self.corpora, self.indexes, self.references, self.models, self.stages, self.jobs, self.batches
        )
        self.imports = Imports(self.indexes, ImportUploads(root / "imports"), self.models, self.stages, self.jobs)
        self.trials = Trials(self.indexes, self.builds, self.imports, self.models)
        self.updates = Updates(self.corpora, self.indexes, self.builds, self.parts, self.models, self.jobs)
        self.rewrites = Rewrites(self.indexes, self.parts, self.models, self.stages, self.jobs)
        self.questions = Questions(self.models, self.searches, self.parts, self.scopes)
        self.snapshots = Snapshots(self.indexes, self.questions)
        self.explanations = Explanations(self.questions)
        self.question_sets = QuestionSets(QuestionSetStore(root / "question_sets"), self.corpora, self.models)
        self.fresh_builds = FreshBuilds(
            FreshDistances(root / "fresh_distances"),
            self.indexes,
            self.updates,
            self.builds,
            self.questions,
            self.question_sets,
            self.models,
        )
        run_indexes = RunIndexes(self.indexes, self.models, self.searches, self.parts, self.scopes)
        experiments = ExperimentStore(root / "experiments", SAMPLES / "experiments")
        apart = partial(batch_done, str(root))
        self.experiments = Experiments(experiments, run_indexes, self.question_sets, self.jobs, apart)
        self.verdicts = Verdicts(experiments)
        self.recommendations = Recommendations(experiments, self.indexes, self.question_sets)
        sweeps = SweepStore(root / "sweeps", SAMPLES / "sweeps")
        self.sweeps = Sweeps(sweeps, self.corpora, run_indexes, self.builds, self.question_sets, self.jobs, root)
        shipped_presentations = SAMPLES / "presentations"
        self.presentations = Presentations(root / "presentations", shipped_presentations, self.questions, experiments)
        self._parser: ConfinedParser | None = None
        self._choosing_parser = threading.Lock()

    @classmethod
    def default(cls, root: str | Path | None = None) -> "Workbench":
        """Open the workbench in `root`, else in the folder that LEANRAG_HOME names, else in cache/ beside the app, or
        in the user's data folder where the program is installed."""
        return cls(Path(root or os.environ.get("LEANRAG_HOME") or default_home()).resolve())

    def parser(self) -> ConfinedParser:
        """Return the parser of files under the limits of the settings, in processes that all sessions share."""
        limits = parse_limits(self.settings.read())
        with self._choosing_parser:
            if self._parser is None or self._parser.limits != limits:
                self._parser = ConfinedParser(limits)
            return self._parser

    def open(self, index: Index | str | Path) -> Index:
        """Return the index itself, that of an id, or that in a folder. Raises IndexNotFound, IndexDamaged, IndexTooNew,
        TypeError for anything else."""
        if isinstance(index, Index):
            return index
        if not isinstance(index, str | Path):
            raise TypeError(f"an index, its id or the path of its folder is needed, not {type(index).__name__}")
        is_id = isinstance(index, str) and (
            index in {known.id for known in self.indexes.all()} or index.startswith((EARLIER, TRIAL))
        )
        return self.indexes.open(str(index)) if is_id else layout.read_index(Path(index))

    def add_documents(self, corpus: str, files: Iterable[File], *, on_file: OnFile | None = None) -> UploadReport:
        """Add the readable files to the corpus; report the others with their reasons.

        corpus: an id, or the name of a corpus to make. files: paths, or (name, content) of an upload; taken one after
        another, so that few are in memory at one time. on_file: called for each file once it is read.
        """
        return add_files(self.corpora, self.parser(), corpus, files, on_file)

    def rename_corpus(self, corpus_id: str, name: str) -> None:
        """Rename the corpus, also where its indexes name it. Raises CorpusNotFound, InvalidConfig for a sample corpus
        and for an empty or very long name, StorageFailed."""
        self.corpora.rename(corpus_id, name)
        self.indexes.rename_corpus(corpus_id, name.strip())

    def build(
        self,
        corpus_id: str,
        config: IndexConfig | None = None,
        *,
        name: str = "",
        report: Report = silent,
        models: Models | None = None,
        execution: Execution | None = None,
    ) -> Index:
        """Build an index of the corpus in this process. An index of the same corpus and settings is replaced.

        execution: where the work runs, by default as the settings say; the index is the same.
        """
        request = self.builds.of_corpus(corpus_id, config or IndexConfig(), name)
        return self.builds.run(request, self.models.context(models, execution, report, index=request.out.name))

    def import_graph(
        self,
        path: str | Path,
        format_name: str = "",
        config: IndexConfig | None = None,
        *,
        out: Path | None = None,
        name: str = "",
        report: Report = silent,
        models: Models | None = None,
    ) -> Index:
        """Build an index over the graph at that path, which another program made, in this process.

        format_name: of an importer; empty: the one that recognises the path. out: a folder of the person's own, else
        the index store. Raises ImportFailed for files that cannot be read, InvalidConfig for an unknown format.
        """
        path = Path(path)
        request = self.imports.request(path, format_name, config or IndexConfig(), out=out, name=name)
        context = self.models.context(models, report=report, index=path.resolve().name)
        return self.imports.run(path, format_name, request, context)

    def retrieve(
        self,
        index: Index | str | Path,
        /,
        question: str,
        strategy_name: str = "leanrag",
        *,
        budget: Budget | None = None,
        report: Report = silent,
        on_step: Callable[[TraceStep], None] | None = None,
        scope: Scope | None = None,
        **options: Any,
    ) -> Trace:
        """Return what the strategy retrieves for the question. on_step: called after each step of a strategy of several
        calls. scope: the documents that are asked; rows in the trace are then those of scopes.index().

        Raises InvalidConfig, ModelMismatch, PartMissing, and for strategies that call a model BudgetSpent and what
        `report` raises. For a question that can be cancelled, call questions.retrieve().
        """
        request = AskRequest(question, strategy_name, options, budget, report, on_step=on_step, scope=scope)
        return self.questions.retrieve(self.open(index), request)

    def answer(self, index: Index | str | Path, trace: Trace) -> Answer:
        """Return the answer to a trace's question: the strategy's own, else from the context alone."""
        return self.questions.answer(self.open(index), trace)

    def ask(
        self,
        index: Index | str | Path,
        /,
        question: str,
        strategy_name: str = "leanrag",
        *,
        scope: Scope | None = None,
        **options: Any,
    ) -> Answer:
        """Retrieve and answer. scope: the documents that are asked."""
        opened = self.scopes.index(self.open(index), scope)
        return self.answer(opened, self.retrieve(opened, question, strategy_name, **options))

    def compare(
        self,
        index: Index | str | Path,
        question: str,
        *strategy_names: str,
        answers: bool = False,
        scope: Scope | None = None,
    ) -> Comparison:
        """Run the strategies on one question; return them side by side, as columns A, B, ... answers: whether they
        answer, too. scope: the documents that are asked."""
        opened = self.scopes.index(self.open(index), scope)
        letters = string.ascii_uppercase[: len(strategy_names)]
        traces = {
            letter: self.retrieve(opened, question, name) for letter, name in zip(letters, strategy_names, strict=True)
        }
        answered = {letter: self.answer(opened, trace) for letter, trace in traces.items()} if answers else {}
        return Comparison(traces, answered)

    def suggest(
        self,
        index: Index | str | Path,
        questions: Sequence[GoldQuestion] | None = None,
        *,
        seconds: float | None = None,
    ) -> Suggestions:
        """Return clustersize, tau, top-N and top-C that the index's data suggest, each with its evidence; change
        nothing.

        questions: about its documents; by default those of a question set of its corpus, those with gold evidence
        first. Where an endpoint made the index's vectors, it embeds the questions, too. seconds: after them no new step
        begins; 30 by default. Raises ModelMismatch, EndpointError.
        """
        opened = self.open(index)

        def retrieve(question: str, top_n: int, top_c: int) -> Trace:
            return self.retrieve(opened, question, "leanrag", top_n=top_n, top_c=top_c)

        return suggest(
            opened,
            self.question_sets.about(opened.manifest.corpus.id) if questions is None else questions,
            retrieve=retrieve,
            seconds=SECONDS if seconds is None else seconds,
        )

    def check(self, path: str | Path) -> list[CheckResult]:
        """Verify every invariant of the index in that directory. No endpoint is called. Raises IndexNotFound,
        IndexTooNew."""

        def embedding(name: str, fingerprint: str) -> EmbeddingModel:
            if is_remote(name):
                raise ModelUnavailable("check.texts_would_be_sent")
            return self.models.embedding(name, fingerprint)

        return check_directory(Path(path), embedding)

    def export(
        self,
        index: Index | str | Path,
        format_name: str,
        out: str | Path,
        *,
        language: str = ENGLISH,
        runs: Sequence[RecordedRun] | None = None,
    ) -> Exported:
        """Write the index to the file `out` in that format (exporting.base), completely or not at all.

        language, runs: of a format for readers, such as a site; None for the runs of presentations of that index.
        Raises InvalidConfig for an unknown format, FolderRefused, StorageFailed.
        """
        opened = self.open(index)
        if runs is None:
            is_for_readers = isinstance(exporter(format_name), ForReaders)
            runs = self.presentations.runs_of(opened.id) if is_for_readers else ()
        return export_index(opened, format_name, Path(out), language=language, runs=runs)

    def works(self) -> dict[str, Work]:
        """Return the work of each kind of job, by the kind's name."""
        building = BuildWork(self.builds, self.indexes, self.parts, self.models)
        return {
            BUILD.name: Work(building.run, building.clean_up),
            PART.name: Work(self.parts.run_job),
            IMPORT.name: Work(self.imports.run_job, self.imports.clean_up),
            EXPERIMENT.name: Work(self.experiments.run_job),
            UPDATE.name: Work(self.updates.run_job, self.updates.clean_up),
            REWRITE.name: Work(self.rewrites.run_job, self.rewrites.clean_up),
            COMPARE_FRESH.name: Work(self.fresh_builds.run_job),
            SWEEP.name: Work(self.sweeps.run_job, lambda spec: self.sweeps.give_up_builds()),
        }

    def run_job(self, folder: Path) -> int:
        """Do the job of that folder in this process; return the exit code."""
        return runner.run(folder, self.works())

    def resume(self, job_id: str, *, budget: Budget | None = None) -> str:
        """Start a job that does the work of an ended one again, with the same result; answers that are stored are
        reused. budget: what the new job may spend, as much as the ended one by default."""
        spec = self.jobs.spec(job_id)
        if spec.kind == BUILD.name:  # whose models may have changed
            return self.builds.start_again(spec, budget)
        return self.jobs.repeat(job_id, budget)
