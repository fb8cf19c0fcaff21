"""What is said of a job: its title, how fast it goes, with which settings, and what happens next."""

from collections.abc import Sequence

from leanrag_core.figures import numbers
from leanrag_core.types.job import JobState, StageState
from leanrag_core.types.model_names import model_title
from pages._shared.common import frame, session
from pages._shared.common.messages import say, words

STARTS_WITHIN = 4.0  # seconds; a job that is queued for longer waits for others
_PLACES = ("first", "second", "third")
_ENDED = {"cancelled": "job.cancelled", "stopped": "job.stopped", "interrupted": "job.interrupted"}


def of_job(job: JobState, code: str) -> str:
    """The sentence of that code about the job."""
    return say(code, title=job.title, share=numbers.share(job.share))


def ended(job: JobState) -> str:
    """How the job ended, in a sentence."""
    wording = job.kind.wording
    return of_job(job, {"done": wording.done, "failed": wording.failed, **_ENDED}[job.status])


def title(job: JobState, running: StageState | None) -> str:
    """What the job does at the moment, or how it ended."""
    if job.status == "queued" and job.waits_for_index:
        return f"{job.title} waits for another build of the same index"
    if job.status == "queued" and job.seconds > STARTS_WITHIN:
        place = _place(job.id, _waiting(session.running_jobs()))
        return f"{job.title} waits for its turn{', ' if place else ''}{place}"
    if job.status == "queued":
        return of_job(job, job.kind.wording.starting)
    if job.status == "running":
        doing = words(job.kind.stage(running.name).doing) if running else "Starting"
        return f"{doing}, {numbers.share(job.share)}"
    return ended(job)


def _place(job_id: str, waiting: list[str]) -> str:
    """The place of the job among those that wait: "second of 3"; empty for the only one."""
    if job_id not in waiting or len(waiting) < 2:
        return ""
    number = waiting.index(job_id)
    place = _PLACES[number] if number < len(_PLACES) else f"number {number + 1:,}"
    return f"{place} of {len(waiting):,}"


def _waiting(jobs: Sequence[JobState]) -> list[str]:
    """Ids of the jobs that wait, in the order in which they will begin."""
    return sorted(job.id for job in jobs if job.status == "queued")


def other_title(job: JobState, live: Sequence[JobState]) -> str:
    """A line on another job that is under way, with its place when it waits."""
    if job.status == "running":
        return f"Also running: {job.title}, {numbers.share(job.share)}"
    place = _place(job.id, _waiting(live))
    return f"Waiting: {job.title}{', ' if place else ''}{place}"


def pace(job: JobState, running: StageState | None) -> str:
    """How much of the stage is done, how fast, and the time left; of an ended job how long it took."""
    if job.status == "done":
        return numbers.duration(job.seconds)
    if not job.live:
        last = next((stage for stage in reversed(job.stages) if stage.status != "waiting"), None)
        return f"after {numbers.duration(job.seconds)}, during {last.name}" if last else ""
    if running is None or job.status == "queued":
        return ""
    parts = []
    if running.total:
        parts.append(f"{running.done:,} of {running.total:,} {running.unit}".strip())
        parts.append(numbers.rate(running.done, running.seconds))
    parts.append(numbers.time_left(job.seconds_left))
    return ", ".join(part for part in parts if part)


def about(job: JobState) -> str:
    """The job's settings, when it began, and what to know about its end."""
    remote = frame.uses_endpoint(job.config)
    again = "asks only for what is missing" if remote else "starts it from the beginning, with the same settings"
    slots = " Two jobs run at a time." if job.seconds > STARTS_WITHIN else ""
    if job.builds_index:
        slots = slots.replace("jobs", "builds")
    wording = job.kind.wording
    next_steps = {
        "done": "",
        "queued": "" if job.waits_for_index else slots,
        "stopped": " Every answer is kept.",
        "failed": " Nothing half-finished is left behind.",
        "cancelled": f" Nothing half-finished is left behind. Resuming {again}.",
        "interrupted": f" {of_job(job, wording.process_ended)} Resuming {again}.",
        "running": f" {of_job(job, wording.goes_on)}",
    }
    facts = [*_settings(job), f"Started {numbers.day(job.started)}"]
    return f"{'. '.join(facts)}.{next_steps[job.status]}"


def _number(value: object) -> str:
    """The number of a record, which need not be one in that of another version."""
    return f"{value:,}" if isinstance(value, int) else "?"


def _settings(job: JobState) -> list[str]:
    """The settings in one piece of text; empty for a job that has none."""
    config = job.config
    if not job.builds_index:
        plain = [f"{name} {value}" for name, value in config.items() if isinstance(value, str | int | float)]
        return [", ".join(plain)] if plain else []
    size, overlap = _number(config.get("chunk_tokens")), _number(config.get("overlap_tokens"))
    facts = [
        f"clustersize {config.get('cluster_size')}",
        f"tau {config.get('tau') or 'chosen from the data'}",
    ]
    if job.corpus_id:  # the chunks of an import are those of its files
        facts.append(f"chunks of {size} tokens with {overlap} of overlap")
    if frame.uses_endpoint(config):
        facts.insert(0, model_title(str(config.get("model", ""))))
    return [", ".join(facts)]
