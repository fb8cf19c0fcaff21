"""What a build that is under way has found and written so far."""

from dataclasses import dataclass

from leanrag_core.types.summary import JobState, StageState


@dataclass(frozen=True)
class Count:
    """A number on screen. note: of what, or out of how many."""

    title: str
    value: int
    note: str


def counts_so_far(job: JobState) -> tuple[Count, ...]:
    """Chunks read, entities, relations, and what was aggregated; entities and relations before merging until it is
    done."""
    stages = {stage.name: stage for stage in job.stages}

    def stage(name: str) -> StageState:
        return stages.get(name, StageState(name, "waiting"))

    extract, merge = stage("extract"), stage("merge")
    merged = bool(merge.found)
    counted, note = (merge, "in layer 0") if merged else (extract, "before merging")
    return (
        Count("Chunks read", extract.done, f"of {extract.total:,}" if extract.total else "not counted yet"),
        Count("Entities", counted.found, note),
        Count("Relations", counted.relations, note),
        Count("Aggregated", stage("aggregate entities").done, "entities above layer 0"),
        Count("Inter-cluster", stage("aggregate relations").done, "relations above layer 0"),
    )
