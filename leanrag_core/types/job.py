"""Progress of long work, kinds of jobs, and a job as its events describe it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from leanrag_core.messages.message import Message, message
from leanrag_core.types.batches import BatchProgress
from leanrag_core.types.calls import NO_BUDGET, NO_SPENDING, Budget, Spending
from leanrag_core.types.forecast import Forecast

if TYPE_CHECKING:  # named alone: a report holds what the work has made
    from leanrag_core.types.graph import Graph
    from leanrag_core.types.growth import Found


@dataclass(frozen=True)
class Progress:
    """How much of a stage is done. total 0: unknown. current: what is being written.

    waiting: nothing is done, since another job builds the same index. spent: a meter's reading, where models at an
    endpoint are used. found, relations: how many names of entities, and relations, have been found so far; before
    merging while chunks are read. made: what there is to be drawn of the graph since the last report: names that were
    found, the merged graph, or a layer with its clusters. batch: the work waits for batches of calls.
    """

    stage: str
    done: int
    total: int
    unit: str = ""
    current: str = ""
    spent: Spending | None = None
    found: int | None = None
    relations: int | None = None
    waiting: bool = False
    made: "Found | Graph | None" = None
    batch: BatchProgress | None = None

    def record(self) -> dict[str, Any]:
        """Return what a job's log holds of it: all but what was made."""
        return {name: value for name, value in vars(self).items() if name != "made"}


Report = Callable[[Progress], None]


def silent(progress: Progress) -> None:
    """Ignore the report; for callers that do not listen."""


def nothing(*_: object) -> None:
    """Do nothing: what is called where nobody listens."""


# What the calls of a stage grow with: chunks without a stored answer; entities; entities, then one call for each unit
# of the stage that is counted. Otherwise they are as many as the forecast says.
CHUNKS, ENTITIES, UNITS, AS_FORECAST = "chunks", "entities", "units", ""


@dataclass(frozen=True)
class Stage:
    """A stage of a kind of job.

    name: as progress names it. doing: what is shown while it runs. share: of the time of a usual job of the kind.
    writes: how one of the texts that it writes is labelled. calls: what its calls grow with. ended_by: stages that
    begin only when this one makes no more calls; the next ones by default. needs: the setting of a job without which
    it has no such stage.
    """

    name: str
    title: Message
    doing: Message
    share: float = 0.0
    writes: Message | None = None
    calls: str = AS_FORECAST
    ended_by: tuple[str, ...] = ()
    needs: str = ""


@dataclass(frozen=True)
class Figure:
    """A number that is shown while a job runs. field: "done", "found" or "relations" of a stage.

    sources: stages and the note on each; the first one that has found something counts, else the last one. A source
    without a note is noted with the stage's total.
    """

    title: Message
    field: str
    sources: tuple[tuple[str, Message | None], ...]


@dataclass(frozen=True)
class SummaryLine:
    """A line on what an ended job made. name: of the count in its report. unit: "bytes", or empty for a number."""

    name: str
    title: Message
    unit: str = ""


@dataclass(frozen=True)
class Wording:
    """Codes of the sentences about a job. Each may use {title}; `running` {share} as well."""

    subject: str = "job.subject"
    starting: str = "job.starting"
    queued: str = "job.queued"
    running: str = "job.running"
    done: str = "job.done"
    failed: str = "job.failed"
    goes_on: str = "job.goes_on"
    process_ended: str = "job.process_ended"


@dataclass(frozen=True)
class JobKind:
    """What jobs of one kind have in common. name: in the job's record. stages: in the order in which they begin.
    some_have: stages of some jobs, which follow the others and are shown from their beginning on.

    makes: what the result of a job is the id of, "index", "part", "experiment" or "sweep"; empty for anything else.
    figures: shown while a job runs; summary: shown of an ended one.
    """

    name: str
    stages: tuple[Stage, ...] = ()
    makes: str = ""
    figures: tuple[Figure, ...] = ()
    summary: tuple[SummaryLine, ...] = ()
    wording: Wording = Wording()
    some_have: tuple[Stage, ...] = ()

    def stage(self, name: str) -> Stage:
        """Return the stage of that name; one that the kind does not list is shown by its name."""
        title = message("plain", text=name.capitalize())
        known_stages = (*self.stages, *self.some_have)
        return next((stage for stage in known_stages if stage.name == name), Stage(name, title, title))


@dataclass(frozen=True)
class StageState:
    """How far a stage of a job is. status: waiting, running, done. total: 0 while unknown. found, relations: how many
    names of entities, and relations, the stage has found so far."""

    name: str
    status: str
    done: int = 0
    total: int = 0
    unit: str = ""
    seconds: float = 0.0
    found: int = 0
    relations: int = 0


@dataclass(frozen=True)
class Written:
    """What a job wrote: in which stage, and its text."""

    stage: str
    text: str


@dataclass(frozen=True)
class JobReport:
    """What a job made, in numbers. drops: how much was left out, by stage."""

    counts: Mapping[str, int | tuple[int, ...]] = field(default_factory=dict)
    drops: Mapping[str, int] = field(default_factory=dict)

    @property
    def coverage(self) -> "Coverage | None":
        """How much of the documents the graph covers; None where the job builds no graph of documents, or an earlier
        version did not count it."""
        empty, chunks, relations = (self.counts.get(name) for name in ("empty_chunks", "chunks", "relations"))
        if not (isinstance(empty, int) and isinstance(chunks, int) and isinstance(relations, tuple | list) and chunks):
            return None
        return Coverage(chunks, chunks - empty, relations[0] / chunks)


LEAST_COVERED = 0.6  # share of chunks with entities below which an index is built with gaps
_USUAL_RELATIONS = (5.0, 14.0)  # per 512 tokens: of graphs that large models and people made


@dataclass(frozen=True)
class Coverage:
    """How much of the documents a graph covers. covered: of the chunks, those in which entities were found.
    relations_each: relations of layer 0 over all chunks."""

    chunks: int
    covered: int
    relations_each: float

    @property
    def has_gaps(self) -> bool:
        """Tell whether too few chunks gave entities."""
        return self.covered < LEAST_COVERED * self.chunks

    @staticmethod
    def usual_relations(chunk_tokens: int) -> tuple[float, float]:
        """Return the least and the most relations that a chunk of so many tokens usually has."""
        low, high = _USUAL_RELATIONS
        return low * chunk_tokens / 512, high * chunk_tokens / 512


NO_REPORT = JobReport()


@dataclass(frozen=True)
class JobState:
    """A job as its events describe it.

    status: queued, running, done, failed, cancelled, stopped (its budget is spent, or the server takes no calls),
    interrupted (its process died), unknown (of another kind, or with a record that does not read; error says which,
    and nothing else is known).
    waits_for_index: it is queued until another job has built the same index. batch: what it waits for, where its calls
    go out in files. forecast: made when it began. heard: seconds since its last event. seconds_left: None while
    unknown. result: id of what was made. recent: what was written last, the newest first. details: of an error,
    technical.
    """

    id: str
    kind: JobKind
    title: str
    status: str
    stages: tuple[StageState, ...]
    started: str
    seconds: float
    share: float
    seconds_left: float | None
    current: str
    recent: tuple[Written, ...]
    corpus_id: str
    config: Mapping[str, Any]
    error: Message | None = None
    details: str = ""
    result: str | None = None
    report: JobReport = NO_REPORT
    forecast: Forecast | None = None
    spending: Spending = NO_SPENDING
    heard: float = 0.0
    budget: Budget = NO_BUDGET
    waits_for_index: bool = False
    batch: BatchProgress | None = None

    @property
    def live(self) -> bool:
        """Whether the job may still change by itself."""
        return self.status in ("queued", "running")

    @property
    def stopped_by_server(self) -> bool:
        """Whether it stopped since the server takes no calls for now, and not at its budget."""
        return self.status == "stopped" and self.error is not None and self.error.code.startswith("endpoint.")

    @property
    def builds_index(self) -> bool:
        """Whether an index comes of it."""
        return self.kind.makes == "index"
