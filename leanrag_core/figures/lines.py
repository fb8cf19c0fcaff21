"""Lines of text that command line and pages share: of an import, of what made a text, of a job's figures."""

from dataclasses import dataclass

from leanrag_core.figures import numbers
from leanrag_core.messages.message import Message, Value, message
from leanrag_core.types.calls import CallRecord, MadeBy, RecordedCall
from leanrag_core.types.config import BUILTIN, model_title
from leanrag_core.types.imported import ImportPreview
from leanrag_core.types.job import Figure, JobState, StageState

# Fields of a preview, and of its counts of rows, in the order of their lines.
_USUAL = ("documents", "chunks", "entities", "relations")
_EXTRAS = ("communities", "reports", "claims")
_ROWS = (
    *("entity_rows", "relation_rows", "duplicate_entities", "other_spellings", "duplicate_relations"),
    *("empty_descriptions", "unknown_chunks", "left_out", "dangling", "self_loops"),
)


def import_lines(preview: ImportPreview) -> tuple[tuple[Message, int], ...]:
    """Return title and number of each line; what is usual at 0 is left out."""
    numbers_of = {name: getattr(preview, name) for name in (*_USUAL, *_EXTRAS)}
    numbers_of |= {name: getattr(preview.counts, name) for name in _ROWS}
    return tuple((message(f"import.line.{name}"), n) for name, n in numbers_of.items() if n or name in _USUAL)


def made_sentence(made: MadeBy) -> Message:
    """Return by which rule, or in whose words, a text was made."""
    engine = (
        message("made.builtin") if made.engine in ("", BUILTIN) else message("plain", text=model_title(made.engine))
    )
    counts = {"n": made.sources, "strength": made.strength}
    if made.how == "joined" and made.tau is not None:
        return message("made.joined", **counts, tau=f"{made.tau:g}")
    code = {
        "joined": "made.joined_without_tau",
        "imported": "made.imported" if made.engine else "made.imported_unnamed",
    }
    return message(code.get(made.how, f"made.{made.how}"), **counts, engine=engine, calls=len(made.calls))


def call_sentence(call: RecordedCall, record: CallRecord | None) -> Message:
    """Return number, model and cost of a call. record: what the store has of it, for its seconds."""
    cost = message("plain", text=numbers.money(call.cost)) if call.cost else message("made.no_price")
    values: dict[str, Value] = {
        "model": model_title(call.model),
        "number": call.number,
        "total": call.total,
        "prompt_tokens": call.prompt_tokens,
        "completion_tokens": call.completion_tokens,
        "cost": cost,
    }
    if record is None or record.seconds is None:
        return message("made.call_not_stored", **values)
    return message("made.call", **values, seconds=numbers.duration(record.seconds))


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
    of_total = message("job.figure.of_total", n=state.total) if state.total else message("job.figure.not_counted")
    return Count(figure.title, getattr(state, figure.field), note or of_total)


def summary_of(job: JobState) -> tuple[Fact, ...]:
    """Return what an ended job made, by the lines that its kind lists; those that its report lacks are left out."""
    facts = []
    for line in job.kind.summary:
        n = job.report.counts.get(line.name)
        if isinstance(n, int):
            facts.append(Fact(line.title, numbers.size(n) if line.unit == "bytes" else f"{n:,}"))
    return tuple(facts)
