"""Numbers on a job: what it has done so far, and what it made."""

from dataclasses import dataclass

from leanrag_core.figures import numbers
from leanrag_core.messages.message import Message, message
from leanrag_core.types.job import Figure, JobState, StageState


@dataclass(frozen=True)
class Count:
    """A number on screen. note: of what, or out of how many."""

    title: Message
    value: int
    note: Message


@dataclass(frozen=True)
class Fact:
    """A line of a table: what, and how much."""

    title: Message
    value: str


def figures_of(job: JobState) -> tuple[Count, ...]:
    """Return the numbers that the job's kind shows while a job runs."""
    states = {state.name: state for state in job.stages}
    return tuple(_count(figure, states) for figure in job.kind.figures)


def _count(figure: Figure, states: dict[str, StageState]) -> Count:
    sources = [(states.get(name, StageState(name, "waiting")), note) for name, note in figure.sources]
    state, note = next((source for source in sources if source[0].found), sources[-1])
    return Count(figure.title, getattr(state, figure.field), note or _of_total(state.total))


def _of_total(total: int) -> Message:
    return message("job.figure.of_total", n=total) if total else message("job.figure.not_counted")


def summary_of(job: JobState) -> tuple[Fact, ...]:
    """Return what an ended job made, by the lines that its kind lists; those that its report lacks are left out."""
    facts = []
    for line in job.kind.summary:
        n = job.report.counts.get(line.name)
        if isinstance(n, int):
            facts.append(Fact(line.title, numbers.size(n) if line.unit == "bytes" else f"{n:,}"))
    return tuple(facts)
