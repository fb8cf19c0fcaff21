"""The kinds of jobs: each is one entry here; the workbench says what work a kind has."""

from dataclasses import fields, replace
from typing import Any

from leanrag_core.messages.message import message
from leanrag_core.types.job import AS_FORECAST, CHUNKS, ENTITIES, UNITS, Figure, JobKind, Stage, SummaryLine, Wording

# Which stage counts the entities and relations of the base graph, and what its count means.
_BASE_GRAPH = (("merge", message("job.build.in_layer_0")), ("extract", message("job.build.before_merging")))


def _stage(name: str, share: float = 0.0, *, doing: str = "", writes: bool = False, **more: Any) -> Stage:
    """Return a stage with the sentences under its own name. doing: the name of another sentence on what is done;
    writes: whether it writes texts; more: see Stage."""
    code = f"stage.{name.replace(' ', '_')}"
    said = message(f"{doing or code}.doing")
    return Stage(name, message(code), said, share, writes=message(f"{code}.writes") if writes else None, **more)


def _wording(kind: str) -> Wording:
    """Return the sentences about jobs of a kind that makes or changes an index."""
    codes = {each.name: f"job.{kind}.{each.name}" for each in fields(Wording)}
    return Wording(**{**codes, "subject": "job.build.subject"})


# Share of a build with the built-in models that each stage takes, measured on the sample corpora.
BUILD = JobKind(
    "build",
    makes="index",
    stages=(
        _stage("parse", 0.02),
        _stage("chunk", 0.02),
        _stage("extract", 0.25, writes=True, calls=CHUNKS, ended_by=("merge", "embed", "index")),
        _stage("merge", 0.02, writes=True, ended_by=("embed", "index")),
        # The stages of the hierarchy take turns, layer by layer, until the index is written.
        _stage("embed", 0.55, calls=ENTITIES, ended_by=("index",)),
        _stage("cluster", 0.05, ended_by=("index",)),
        _stage("aggregate entities", 0.05, writes=True, calls=UNITS, ended_by=("index",)),
        _stage("aggregate relations", 0.02, writes=True, calls=UNITS, ended_by=("index",)),
        _stage("index", 0.02),
    ),
    figures=(
        Figure(message("job.build.chunks_read"), "done", (("extract", None),)),
        Figure(message("job.build.entities"), "found", _BASE_GRAPH),
        Figure(message("job.build.relations"), "relations", _BASE_GRAPH),
        Figure(message("job.build.aggregated"), "done", (("aggregate entities", message("job.build.entities_above")),)),
        Figure(
            message("job.build.inter_cluster"), "done", (("aggregate relations", message("job.build.relations_above")),)
        ),
    ),
    wording=_wording("build"),
    some_have=(_stage("map"),),  # large indexes alone
)

PART = JobKind(
    "part",
    makes="part",
    stages=(
        _stage("open", 0.05),
        _stage("make", 0.9, calls=UNITS),
        _stage("store", 0.05),
    ),
    summary=(
        SummaryLine("files", message("job.part.files")),
        SummaryLine("bytes", message("job.part.size"), "bytes"),
        SummaryLine("calls", message("job.part.calls")),
    ),
)

IMPORT = JobKind(
    "import",
    makes="index",
    stages=(
        _stage("read", 0.1, ended_by=("merge",)),
        *(
            replace(stage, share=share)
            for stage, share in zip(BUILD.stages[3:], (0.02, 0.6, 0.1, 0.1, 0.04, 0.04), strict=True)
        ),
    ),
    figures=BUILD.figures[1:],
    wording=BUILD.wording,
)

EXPERIMENT = JobKind(
    "experiment",
    makes="experiment",
    stages=(
        _stage("open", 0.02, doing="stage.open_experiment"),
        _stage("parts", 0.08, calls=UNITS),
        _stage("questions", 0.58, calls=UNITS),
        _stage("judge", 0.3, calls=UNITS, needs="judges"),
        _stage("store", 0.02, doing="stage.store_experiment"),
    ),
    summary=(
        SummaryLine("rows", message("job.experiment.rows")),
        SummaryLine("errors", message("job.experiment.errors")),
        SummaryLine("judgements", message("job.experiment.judgements")),
    ),
)

UPDATE = replace(
    BUILD,
    name="update",
    wording=_wording("update"),
)

# The layers are written one after another, so that each of these stages takes its turn until the index is written. The
# calls are counted beforehand, from the prompts: most relations take none.
REWRITE = JobKind(
    "rewrite",
    makes="index",
    stages=tuple(
        replace(BUILD.stage(name), share=share, calls=AS_FORECAST)
        for name, share in (
            ("aggregate entities", 0.6),
            ("aggregate relations", 0.25),
            ("embed", 0.1),
            ("index", 0.05),
        )
    ),
    figures=BUILD.figures[3:],
    wording=_wording("rewrite"),
)

SWEEP = JobKind(
    "sweep",
    makes="sweep",
    stages=(
        _stage("open", 0.02, doing="stage.open_experiment"),
        _stage("build", 0.5, calls=UNITS, needs="corpus"),
        _stage("parts", 0.02, calls=UNITS),
        _stage("questions", 0.44, calls=UNITS),
        _stage("store", 0.02, doing="stage.store_experiment"),
    ),
    summary=(
        SummaryLine("points", message("job.sweep.points")),
        SummaryLine("indexes", message("job.sweep.indexes")),
        SummaryLine("errors", message("job.experiment.errors")),
    ),
)

COMPARE_FRESH = JobKind("compare-fresh", stages=BUILD.stages, figures=BUILD.figures)

KINDS = (BUILD, PART, IMPORT, EXPERIMENT, UPDATE, REWRITE, SWEEP)
