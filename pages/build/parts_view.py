"""The parts of an index: which exist, what each costs, and making and deleting one."""

from functools import partial

import streamlit as st

from leanrag_core.figures import numbers
from leanrag_core.indexing.part_base import parts
from leanrag_core.types.manifest import ABSENT, DAMAGED, UNFINISHED, PartState
from leanrag_core.types.summary import IndexSummary
from leanrag_core.types.visible import visible
from pages.common import buttons, choices, forms, markup, session, state
from pages.common.frame import lazy_fold
from pages.common.messages import message, say, words

_STATUS = {"finished": "made", ABSENT: "absent", UNFINISHED: "unfinished", DAMAGED: "damaged"}
_MAKE = {ABSENT: "make", UNFINISHED: "resume", DAMAGED: "make_again"}


def fold(index: IndexSummary) -> None:
    """Draw the parts in a fold; they are looked up when it is opened."""
    lazy_fold(say("build.parts"), partial(panel, index), key="index_parts", icon="extension")


def panel(index: IndexSummary) -> None:
    """Draw each part with its cost and its actions."""
    states = session.workbench().parts.all(session.open_index(index))
    jobs = [job for job in session.running_jobs() if job.kind.makes == "part" and job.config.get("index") == index.id]
    job_of = {str(job.config.get("part")): job.id for job in jobs}
    markup.note(say("build.parts.what"))
    table(states, tuple(job_of))
    for part in states:
        if part.problem is not None:
            message(words(part.problem), kind="error")
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            if part.name in job_of:
                label = say("build.parts.progress", part=forms.plain(words(part.title)))
                wanted = ("job", job_of[part.name])
                buttons.tertiary(label, "", f"part_job_{part.name}", state.remember, *wanted)
            else:
                _buttons(index, part)
    for name in dict.fromkeys(part.name for part in states if part.finished and part.name not in job_of):
        _proposals(index, name)
    for file in parts().broken:
        message(words(file.message), kind="error", title=say("build.parts.broken"))


def table(states: tuple[PartState, ...], being_made: tuple[str, ...] = ()) -> None:
    """Draw the cost of each part. being_made: names of the parts that running jobs make."""
    rows = [
        (
            words(part.title),
            say(f"build.parts.status.{'being_made' if part.name in being_made else _STATUS[part.status]}"),
            numbers.size(part.size_bytes) if part.size_bytes else "–",
            numbers.duration(part.seconds) if part.seconds else "–",
            f"{part.usage.calls:,}" if part.finished else "–",
        )
        for part in states
    ]
    head = tuple(say(f"build.parts.{name}") for name in ("part", "status", "size", "made_in", "calls"))
    markup.block(say("build.parts"), markup.facts_table(head, rows), say("build.parts.note"))


def _proposals(index: IndexSummary, name: str) -> None:
    """Draw the part's proposals, if any, and a button that accepts the chosen ones."""
    bench = session.workbench()
    proposals = bench.parts.proposals(bench.indexes.open(index.id), name)
    if not proposals:
        return
    texts = {proposal.value: visible(words(proposal.text)) for proposal in proposals}
    accepted = [proposal.value for proposal in proposals if proposal.accepted]
    with st.form(f"proposals_{name}"):
        label, hint = say("part.proposals", n=len(proposals)), say("part.proposals_hint")
        chosen = choices.multiselect(label, texts, accepted, help=hint, key=f"proposed_{name}")
        if st.form_submit_button(say("part.accept"), icon=":material/check:"):
            state.remember("job", bench.parts.start_accepting(index.id, name, chosen))
            st.rerun()


def _buttons(index: IndexSummary, part: PartState) -> None:
    key = f"{part.name}_{part.fingerprint}"
    title = forms.plain(words(part.title))
    if part.status in _MAKE:
        label = say(f"build.parts.{_MAKE[part.status]}", part=title)
        if buttons.secondary(label, "build", f"make_part_{key}", help=forms.plain(words(part.help))):
            state.remember("job", session.workbench().parts.start(index.id, part.name, part.config))
            st.rerun()
    if part.status != ABSENT and buttons.tertiary(
        say("build.parts.delete", part=title), "delete", f"delete_part_{key}"
    ):
        bench = session.workbench()
        bench.parts.delete(bench.indexes.open(index.id), part.name, part.fingerprint)
        st.rerun()
