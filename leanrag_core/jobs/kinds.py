"""The kinds of jobs: each is one entry here; the workbench says what work a kind has."""

from dataclasses import replace

from leanrag_core.messages.message import message
from leanrag_core.types.job import CHUNKS, ENTITIES, UNITS, Figure, JobKind, Stage, SummaryLine, Wording

# Which stage counts the entities and relations of the base graph, and what its count means.
_BASE_GRAPH = (("merge", message("job.build.in_layer_0")), ("extract", message("job.build.before_merging")))

# Share of a build with the built-in models that each stage takes, measured on the sample corpora.
BUILD = JobKind(
    "build",
    makes="index",
    stages=(
        Stage("parse", message("stage.parse"), message("stage.parse.doing"), 0.02),
        Stage("chunk", message("stage.chunk"), message("stage.chunk.doing"), 0.02),
        Stage(
            "extract",
            message("stage.extract"),
            message("stage.extract.doing"),
            0.25,
            writes=message("stage.extract.writes"),
            calls=CHUNKS,
            ended_by=("merge", "embed", "index"),
        ),
        Stage(
            "merge",
            message("stage.merge"),
            message("stage.merge.doing"),
            0.02,
            writes=message("stage.merge.writes"),
            ended_by=("embed", "index"),
        ),
        # The stages of the hierarchy take turns, layer by layer, until the index is written.
        Stage("embed", message("stage.embed"), message("stage.embed.doing"), 0.55, calls=ENTITIES, ended_by=("index",)),
        Stage("cluster", message("stage.cluster"), message("stage.cluster.doing"), 0.05, ended_by=("index",)),
        Stage(
            "aggregate entities",
            message("stage.aggregate_entities"),
            message("stage.aggregate_entities.doing"),
            0.05,
            writes=message("stage.aggregate_entities.writes"),
            calls=UNITS,
            ended_by=("index",),
        ),
        Stage(
            "aggregate relations",
            message("stage.aggregate_relations"),
            message("stage.aggregate_relations.doing"),
            0.02,
            writes=message("stage.aggregate_relations.writes"),
            calls=UNITS,
            ended_by=("index",),
        ),
        Stage("index", message("stage.index"), message("stage.index.doing"), 0.02),
    ),
    figures=(
        Figure(message("job.build.chunks_read"), "done", (("extract", None),)),
        Figure(
            message("job.build.entities"),
            "found",
            _BASE_GRAPH,
        ),
        Figure(
            message("job.build.relations"),
            "relations",
            _BASE_GRAPH,
        ),
        Figure(message("job.build.aggregated"), "done", (("aggregate entities", message("job.build.entities_above")),)),
        Figure(
            message("job.build.inter_cluster"), "done", (("aggregate relations", message("job.build.relations_above")),)
        ),
    ),
    wording=Wording(
        subject="job.build.subject",
        starting="job.build.starting",
        queued="job.build.queued",
        running="job.build.running",
        done="job.build.done",
        failed="job.build.failed",
        goes_on="job.build.goes_on",
        process_ended="job.build.process_ended",
    ),
    some_have=(Stage("map", message("stage.map"), message("stage.map.doing")),),  # large indexes alone
)

PART = JobKind(
    "part",
    makes="part",
    stages=(
        Stage("open", message("stage.open"), message("stage.open.doing"), 0.05),
        Stage("make", message("stage.make"), message("stage.make.doing"), 0.9, calls=UNITS),
        Stage("store", message("stage.store"), message("stage.store.doing"), 0.05),
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
        Stage("read", message("stage.read"), message("stage.read.doing"), 0.1, ended_by=("merge",)),
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
        Stage("open", message("stage.open"), message("stage.open_experiment.doing"), 0.02),
        Stage("parts", message("stage.parts"), message("stage.parts.doing"), 0.08, calls=UNITS),
        Stage("questions", message("stage.questions"), message("stage.questions.doing"), 0.58, calls=UNITS),
        Stage("judge", message("stage.judge"), message("stage.judge.doing"), 0.3, calls=UNITS, needs="judges"),
        Stage("store", message("stage.store"), message("stage.store_experiment.doing"), 0.02),
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
    wording=Wording(
        subject=BUILD.wording.subject,
        starting="job.update.starting",
        queued="job.update.queued",
        running="job.update.running",
        done="job.update.done",
        failed="job.update.failed",
        goes_on="job.update.goes_on",
        process_ended="job.update.process_ended",
    ),
)

# The layers are written one after another, so that each of these stages takes its turn until the index is written.
REWRITE = JobKind(
    "rewrite",
    makes="index",
    stages=tuple(
        replace(BUILD.stage(name), share=share)
        for name, share in (
            ("aggregate entities", 0.6),
            ("aggregate relations", 0.25),
            ("embed", 0.1),
            ("index", 0.05),
        )
    ),
    figures=BUILD.figures[3:],
    wording=Wording(
        subject=BUILD.wording.subject,
        starting="job.rewrite.starting",
        queued="job.rewrite.queued",
        running="job.rewrite.running",
        done="job.rewrite.done",
        failed="job.rewrite.failed",
        goes_on="job.rewrite.goes_on",
        process_ended="job.rewrite.process_ended",
    ),
)

SWEEP = JobKind(
    "sweep",
    makes="sweep",
    stages=(
        Stage("open", message("stage.open"), message("stage.open_experiment.doing"), 0.02),
        Stage("build", message("stage.build"), message("stage.build.doing"), 0.5, calls=UNITS, needs="corpus"),
        Stage("parts", message("stage.parts"), message("stage.parts.doing"), 0.02, calls=UNITS),
        Stage("questions", message("stage.questions"), message("stage.questions.doing"), 0.44, calls=UNITS),
        Stage("store", message("stage.store"), message("stage.store_experiment.doing"), 0.02),
    ),
    summary=(
        SummaryLine("points", message("job.sweep.points")),
        SummaryLine("indexes", message("job.sweep.indexes")),
        SummaryLine("errors", message("job.experiment.errors")),
    ),
)

COMPARE_FRESH = JobKind("compare-fresh", stages=BUILD.stages, figures=BUILD.figures)

KINDS = (BUILD, PART, IMPORT, EXPERIMENT, UPDATE, REWRITE, SWEEP)
