"""Sentences about a job: its title, speed, settings, and what happens next."""

from collections.abc import Mapping, Sequence
from contextlib import suppress

from leanrag_core.errors import InvalidConfig, RecordDamaged
from leanrag_core.evaluation.experiments.running import STAGE as QUESTIONS_STAGE
from leanrag_core.evaluation.sweeps.points import points
from leanrag_core.figures import numbers
from leanrag_core.files.records import from_values
from leanrag_core.indexing.part_base import parts
from leanrag_core.jobs.kinds import BUILD, EXPERIMENT, SWEEP
from leanrag_core.messages.catalog import joined_sentences
from leanrag_core.types.config import BUILTIN, HERE, model_title
from leanrag_core.types.experiment import ExperimentSpec
from leanrag_core.types.job import JobState, StageState, Written
from leanrag_core.types.sweep import SweepSpec
from leanrag_core.workbench.experiments import PARTS_STAGE
from pages.common import forms, frame, messages, run_titles, session
from pages.common.messages import known, language, say, say_or, words
from pages.evaluate import measure_words

STARTS_WITHIN = 4.0  # seconds; a job that is queued for longer is waiting for others
_NAMED_PLACES = 3
_ENDED = {"cancelled": "job.cancelled", "stopped": "job.stopped", "interrupted": "job.interrupted"}


def of_job(job: JobState, code: str) -> str:
    """Return the sentence of that code about the job."""
    return say(code, title=job.title, share=numbers.share(job.share))


def ended(job: JobState) -> str:
    """Return in a sentence how the job ended."""
    wording, coverage = job.kind.wording, job.report.coverage
    if job.status == "done" and coverage is not None and job.kind.name == BUILD.name:
        each = numbers.decimal(coverage.relations_each, 1)
        relations = say("job.build.relations_each", each=each)
        if job.config.get("model", BUILTIN) not in HERE:  # co-occurrences are far more numerous
            low, high = coverage.usual_relations(int(job.config.get("chunk_tokens", 512)))
            relations = say("job.build.relations_each_of_usual", each=each, low=round(low), high=round(high))
        return say(
            "job.build.gaps" if coverage.has_gaps else "job.build.covered",
            title=job.title,
            covered=coverage.covered,
            chunks=coverage.chunks,
            relations=relations,
        )
    if job.stopped_by_server:
        return of_job(job, "job.stopped_by_server")
    return of_job(job, {"done": wording.done, "failed": wording.failed, **_ENDED}[job.status])


def title(job: JobState, running: StageState | None) -> str:
    """Return what the job is doing, or how it ended."""
    if job.status == "queued" and job.waits_for_index:
        return say("job.waits_for_index", title=job.title)
    if job.status == "queued" and job.seconds > STARTS_WITHIN:
        place = _place(job.id, _waiting(session.running_jobs()))
        return say("ask.comma").join(filter(None, (say("job.waits", title=job.title), place)))
    if job.status == "queued":
        return of_job(job, job.kind.wording.starting)
    if job.status == "running":
        return words(job.kind.stage(running.name).doing) if running else say("job.starting_up")
    return ended(job)


def _place(job_id: str, waiting: list[str]) -> str:
    """Return the job's place in the queue, such as "second of 3"; empty if it is the only one."""
    if job_id not in waiting or len(waiting) < 2:
        return ""
    number = waiting.index(job_id)
    code = f"job.place.{number + 1}" if number < _NAMED_PLACES else "job.place.later"
    return say(code, number=number + 1, n=len(waiting))


def _waiting(jobs: Sequence[JobState]) -> list[str]:
    """Return the ids of the queued jobs, in order."""
    return sorted(job.id for job in jobs if job.status == "queued")


def other_title(job: JobState, live: Sequence[JobState]) -> str:
    """Return a line about another running or queued job."""
    if job.status == "running":
        return say("job.also_running", title=job.title, share=numbers.share(job.share))
    place = _place(job.id, _waiting(live))
    return say("ask.comma").join(filter(None, (say("job.also_waiting", title=job.title), place)))


def pace(job: JobState, running: StageState | None) -> str:
    """Return how much of the stage is done and how fast, how much of the job, and the time left; for an ended job its
    duration."""
    if job.status == "done":
        return numbers.duration(job.seconds)
    if not job.live:
        last = next((stage for stage in reversed(job.stages) if stage.status != "waiting"), None)
        if last is None:
            return ""
        return say("job.ended_during", time=numbers.duration(job.seconds), stage=_lower(stage_title(job, last.name)))
    if running is None or job.status == "queued":
        return ""
    if job.batch is not None:
        return say("job.batch.pace", answered=job.batch.answered, calls=job.batch.calls)
    parts = []
    if running.total:
        parts.append(say("job.done_of", done=f"{running.done:,}", total=_of_unit(running.total, running.unit)))
        parts.append(messages.rate(running.done, running.seconds))
    whole = "job.whole.build" if job.builds_index else "job.whole.other"
    parts += [say(whole, share=numbers.share(job.share)), messages.time_left(job.seconds_left)]
    return say("ask.comma").join(part for part in parts if part)


def about(job: JobState) -> str:
    """Return the job's settings, its start, and a note on its end."""
    remote = frame.uses_endpoint(job.config)
    again = say("job.resuming.remote" if remote else "job.resuming.builtin")
    left = say("job.nothing_left" if job.builds_index else "job.finished_kept")
    slots = say("job.slots.builds" if job.builds_index else "job.slots.jobs") if job.seconds > STARTS_WITHIN else ""
    wording = job.kind.wording
    next_steps = {
        "done": "",
        "queued": "" if job.waits_for_index else slots,
        "stopped": say("job.answers_kept"),
        "failed": left,
        "cancelled": joined_sentences([left, again]),
        "interrupted": joined_sentences([of_job(job, wording.process_ended), again]),
        "running": of_job(job, wording.goes_on),
    }
    facts = [*_settings(job), say("job.started_at", time=numbers.day(job.started, language()))]
    sentences = [f"{fact}{say('text.stop')}" for fact in facts]
    return joined_sentences(filter(None, [*sentences, next_steps[job.status]]))


def _number(value: object) -> str:
    """Return a stored number as text; "?" if another version stored something else."""
    return f"{value:,}" if isinstance(value, int) else "?"


def _settings(job: JobState) -> list[str]:
    """Return a list with the settings in one text; empty if the job has none."""
    config = job.config
    if not job.builds_index:
        titled = [
            f"{forms.title_of(name)} {forms.shown(name, value)}"
            for name, value in config.items()
            if (type(value) is int and value) or known(f"option.choice.{name}.{value}")
        ]
        return [say("ask.comma").join(titled)] if titled else []
    size, overlap = _number(config.get("chunk_tokens")), _number(config.get("overlap_tokens"))
    facts = [
        say("ask.cluster_size", n=config.get("cluster_size")),
        f"tau {config.get('tau') or say('setting.from_data')}",
    ]
    if job.corpus_id:  # an import takes its chunks from the files
        facts.append(say("job.chunks_of", size=size, overlap=overlap))
    if frame.uses_endpoint(config):
        facts.insert(0, model_title(str(config.get("model", ""))))
    return [say("ask.comma").join(facts)]


def stage_title(job: JobState, name: str) -> str:
    """Return the title of the stage; the name of a stage of another version."""
    return words(job.kind.stage(name).title)


def written(job: JobState, text: Written) -> str:
    """Return what the job wrote; an index part, a run and a point of a sweep by their titles, since a job notes their
    names."""
    titles: Mapping[str, str] = {}
    if text.stage == PARTS_STAGE:
        titles = {part.name: words(part.part.title) for part in parts().parts}
    elif text.stage == QUESTIONS_STAGE and job.kind.name == EXPERIMENT.name:
        with suppress(RecordDamaged, InvalidConfig):  # of another version, whose keys are shown as they are
            titles = run_titles.titles(from_values(ExperimentSpec, job.config).runs)
    elif job.kind.name == SWEEP.name:
        with suppress(RecordDamaged, InvalidConfig):
            listed = points(from_values(SweepSpec, job.config))
            titles = {point.name: measure_words.point_title(point) for point in listed}
    return titles.get(text.text, text.text)


def amount(stage: StageState) -> str:
    """Return how much of the stage is done, with its unit; empty while that is unknown."""
    if not stage.total:
        return ""
    whole = _of_unit(stage.total, stage.unit)
    return whole if stage.done == stage.total else say("job.done_of", done=f"{stage.done:,}", total=whole)


def _of_unit(n: int, unit: str) -> str:
    """Return a count such as "1 entity" or "3 entities", with the catalog's words for the unit if it has any."""
    if not unit:
        return f"{n:,}"
    return say_or(numbers.of_unit(n, unit).strip(), f"unit.{unit.replace(' ', '_')}", n=n)


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]
