"""The graph of a running build: entities as they are found, then their clusters, layer by layer."""

from pathlib import Path

from leanrag_core.messages.catalog import joined_sentences
from leanrag_core.types.growth import Growth
from leanrag_core.types.job import JobState, StageState
from leanrag_core.types.visible import visible_values
from pages.common import markup, session
from pages.common.component import component
from pages.common.html import draw
from pages.common.messages import known, say

_SCRIPT = Path(__file__).with_name("growing.js")
_FRAME = '<div class="lr-growing"></div>'


def show(job: JobState) -> None:
    """Draw the growing graph and the counts of the whole; nothing before the first entity is found."""
    growth = session.workbench().jobs.growth(job.id) if job.builds_index else Growth()
    if not growth.names:
        return
    sentence = _sentence(job, growth)
    draw(markup.label(say("growing.title" if job.live else "growing.title_done")))
    data = {
        "job": job.id,
        "names": growth.names,
        "links": growth.links,
        "gone": growth.gone,
        "clusters": growth.clusters,
        "titles": growth.titles,
        "label": sentence,
    }
    component(_SCRIPT, _FRAME, parts=("growing_places",))(data=visible_values(data), key=f"growing_{job.id}")
    draw(markup.muted(sentence))


def _sentence(job: JobState, growth: Growth) -> str:
    counted, n_drawn = _counted(job), len(growth.names) - len(growth.gone)
    n_entities = max(counted.found, n_drawn)  # counts are written less often than the picture
    n_relations = max(counted.relations, len(growth.links))
    parts = [say("frame.count.entities", n=n_entities), say("frame.count.relations", n=n_relations)]
    if growth.n_clusters:
        parts.append(say("growing.clusters", n=growth.n_clusters[0]))
    if len(growth.n_clusters) > 1:
        parts.append(say("growing.above", counts=say("ask.comma").join(f"{n:,}" for n in growth.n_clusters[1:])))
    code = f"growing.{job.status}"
    sentence = say(code if known(code) else "growing.running", listed=say("ask.comma").join(parts))
    return sentence if n_drawn == n_entities else joined_sentences([sentence, say("growing.part", n=n_drawn)])


def _counted(job: JobState) -> StageState:
    """Return the stage that knows the size of the graph: merging, or before it extraction."""
    by_name = {stage.name: stage for stage in job.stages}
    stages = [by_name[name] for name in ("merge", "extract") if name in by_name]
    return next((stage for stage in stages if stage.found), StageState("extract", "waiting"))
