"""A sweep: settings that are varied, the points that follow from them, and what came out at each point.

spec/evaluation.md, "Sweeps". Everything here but PointCost is the same whenever a sweep is repeated.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from leanrag_core.types.config import IndexConfig
from leanrag_core.types.experiment import ASKED, Parameter
from leanrag_core.types.forecast import Forecast, Range

INDEX, RETRIEVAL = "index", "retrieval"  # levels: what an axis changes
LEVELS = (INDEX, RETRIEVAL)
GRID, RANDOM, LATIN = "grid", "random", "latin-hypercube"
SAMPLERS = (GRID, RANDOM, LATIN)
RECALL, TOKENS = "evidence-recall", "context-tokens"


@dataclass(frozen=True)
class Axis:
    """A setting that is varied: a field of IndexConfig, or an option of the strategy.

    values: in the order of figures; every combination of a grid, or what a sampler draws from. low, high: without
    values, the range that a sampler draws from; whole numbers where both are.
    """

    name: str
    values: tuple[Parameter, ...] = ()
    level: str = INDEX
    low: int | float | None = None
    high: int | float | None = None


@dataclass(frozen=True)
class SweepSpec:
    """What is swept. corpus: its id; the points' indexes are built from it with config and the values of the axes.

    index: in place of a corpus, the index that is asked, where no axis changes an index. options: of the strategy, the
    same at every point. sampler: of SAMPLERS; n_points: that a sampler draws. measure, cost: of the best point and of
    the front. answers: whether answers are written and measured, too.
    """

    title: str
    axes: tuple[Axis, ...]
    question_set: str
    corpus: str = ""
    config: IndexConfig = field(default_factory=IndexConfig)
    index: str = ""
    strategy: str = "leanrag"
    options: Mapping[str, Parameter] = field(default_factory=dict)
    sampler: str = GRID
    n_points: int = 0
    seed: int = 0
    measure: str = RECALL
    cost: str = TOKENS
    answers: bool = False
    mode: str = ASKED


@dataclass(frozen=True)
class SweepSource:
    """What a person names to be swept. index: its id or the path of its folder, "" for a corpus. corpus: that of the
    index, "" where it is gone. config: of the index."""

    name: str
    corpus: str = ""
    index: str = ""
    config: IndexConfig | None = None


@dataclass(frozen=True)
class SweepPoint:
    """A setting of every axis. name: such as "cluster_size 20, tau 3". settings: by name of the axis."""

    name: str
    settings: Mapping[str, Parameter]


@dataclass(frozen=True)
class PointIndex:
    """The index of points. folder: its name below the sweep's indexes, or its id in the store. id: in its manifest.

    entities, relations: by layer, the base first.
    """

    folder: str
    id: str
    chunks: int
    entities: tuple[int, ...]
    relations: tuple[int, ...]

    @property
    def layers(self) -> int:
        """How many layers the hierarchy has, the base among them."""
        return len(self.entities)


@dataclass(frozen=True)
class PointCost:
    """What the build of an index took. is_first: nothing of it was built by an earlier point."""

    folder: str
    seconds: float
    is_first: bool = False
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = None


@dataclass(frozen=True)
class PointResult:
    """What came out at a point. index, build: None until it is built. scores: by measure, in the order of the
    questions. errors: questions that failed."""

    point: SweepPoint
    index: PointIndex | None = None
    build: PointCost | None = None
    scores: Mapping[str, tuple[float | None, ...]] = field(default_factory=dict)
    errors: int = 0


@dataclass(frozen=True)
class SweepResult:
    """A sweep with what it has so far. questions, kinds: ids of the questions and the kind of each."""

    id: str
    spec: SweepSpec
    points: tuple[PointResult, ...] = ()
    questions: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    is_complete: bool = False
    is_shipped: bool = False
    versions: Mapping[str, str] = field(default_factory=dict)

    def at(self, name: str) -> PointResult | None:
        """Return the point of that name."""
        return next((result for result in self.points if result.point.name == name), None)


@dataclass(frozen=True)
class SweepSummary:
    """A sweep as a list shows it. built: of so many indexes; rows: questions that are done, of all. changed: ISO 8601,
    UTC."""

    id: str
    title: str
    corpus: str
    question_set: str
    axes: tuple[str, ...]
    points: int
    built: int
    rows: int
    all: int
    is_complete: bool
    is_shipped: bool
    changed: str


@dataclass(frozen=True)
class OpenedPoint:
    """The index of a point in the person's store. job: of the build that makes it, "" where the index is there."""

    index: str
    job: str = ""


@dataclass(frozen=True)
class PointForecast:
    """What the index of points takes. points: their names. rebuilt, kept: stages of the build that are computed, and
    that are taken from an earlier point. calls, saved: of models at an endpoint, to be made and spared."""

    points: tuple[str, ...]
    rebuilt: tuple[str, ...]
    kept: tuple[str, ...]
    calls: Range
    saved: Range
    dollars: Range
    seconds: Range


@dataclass(frozen=True)
class SweepForecast:
    """What a sweep takes. builds: of each index that is to be built. questions: retrievals, over all points. first:
    the build that computes everything; None where nothing is built. asks_model: whether retrieval calls a model."""

    points: int
    builds: tuple[PointForecast, ...]
    questions: int
    question_seconds: Range
    asks_model: bool = False
    first: Forecast | None = None

    @property
    def seconds(self) -> Range:
        """Seconds of the whole sweep."""
        return sum((build.seconds for build in self.builds), self.question_seconds)

    @property
    def calls(self) -> Range:
        """Calls of models at an endpoint that the builds make."""
        return sum((build.calls for build in self.builds), Range())

    @property
    def saved(self) -> Range:
        """Calls that the builds need not make, since their replies are stored or will be."""
        return sum((build.saved for build in self.builds), Range())

    @property
    def dollars(self) -> Range:
        """US dollars of those calls, by the price table."""
        return sum((build.dollars for build in self.builds), Range())
