"""The form that makes a presentation: its questions are asked once, in a thread that survives the page."""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import partial
from typing import Any

import streamlit as st

from leanrag_core.errors import LeanRAGError
from leanrag_core.evaluation.gold import GoldQuestion
from leanrag_core.execution.background import StreamedCall, StreamedCalls
from leanrag_core.presenting import story
from leanrag_core.presenting.edits import MAX_NOTES, MAX_TITLE
from leanrag_core.retrieval.base import strategies
from leanrag_core.retrieval.settings import official_settings, settings_line, shown_settings
from leanrag_core.types.job import Progress
from leanrag_core.types.summary import IndexSummary
from leanrag_core.types.visible import visible
from pages.common import buttons, choices, dialogs, markup, session, state
from pages.common.html import draw
from pages.common.messages import message, say, words

_CALL, _TRIED = "present_call", "present_tried"


_FIELDS = tuple(f"present_{name}" for name in ("title", "set_", "questions_", "own", "beside", "notes_"))


@dataclass
class _Tried:
    """The last presentation that was to be made. visit: of the page. fields: what the form held, by key, which
    Streamlit forgets while the progress is drawn instead. error: why it was not made."""

    visit: int = 0
    fields: Mapping[str, Any] = field(default_factory=dict)
    error: LeanRAGError | None = None


def show(summary: IndexSummary | None) -> None:
    """Draw the form for the sidebar's index, or the progress of a presentation that is being made."""
    if _CALL not in st.session_state:  # a reload begins another session, and the thread goes on
        st.session_state[_CALL] = summary and _calls().under_way(partial(_is_about, summary.id))
    if st.session_state[_CALL] is not None:
        _progress()
        return
    if summary is None:
        message(say("present.needs_index"))
        return
    tried = st.session_state.get(_TRIED, _Tried())
    if tried.visit != state.memory().visit:
        tried = _Tried()
    with st.expander(say("present.make"), icon=":material/add:", key="present_make", expanded=bool(tried.error)):
        if tried.error is not None:
            message(tried.error, kind="error", title=say("present.not_made"))
        draw(markup.muted(say("present.make_hint")))
        placeholder = say("present.title_placeholder")
        written = tried.fields.get("present_title", "")
        title = st.text_input(
            say("present.title"), written, max_chars=MAX_TITLE, key="present_title", placeholder=placeholder
        )
        questions = _questions(summary, tried.fields)
        beside = _beside(tried.fields)
        notes = _notes(tried.fields)
        with st.container(key="primary_present_make", width="content"):
            ready = bool(title.strip()) and 0 < len(questions) <= story.MAX_QUESTIONS
            pressed = buttons.primary(say("present.make_button"), "", "present_make_now", disabled=not ready)
        if not ready:
            draw(markup.muted(say("present.make_needs", n=story.MAX_QUESTIONS, chosen=len(questions))))
        if pressed:
            plan = story.PresentationPlan(
                title, questions, (story.PresentedStrategy(story.LEANRAG), *beside), date.today().isoformat(), notes
            )
            fields = {str(key): value for key, value in st.session_state.items() if str(key).startswith(_FIELDS)}
            st.session_state[_TRIED] = _Tried(state.memory().visit, fields)
            st.session_state[_CALL] = _begin(summary, plan)
            st.rerun()


def _questions(summary: IndexSummary, fields: Mapping[str, Any]) -> tuple[GoldQuestion, ...]:
    """Draw the choice of questions and return them: those of a question set, then the person's own, without
    repetitions. fields: what was chosen before."""
    bench = session.workbench()
    sets = sorted(bench.question_sets.all(), key=lambda info: info.corpus_id != summary.corpus_id)
    titles = {info.id: info.title for info in sets}
    set_before = fields.get(f"present_set_{summary.id}")
    chosen_set = st.selectbox(
        say("present.choose_set"),
        list(titles),
        index=list(titles).index(set_before) if set_before in titles else 0 if titles else None,
        format_func=lambda id_: visible(titles[id_]),
        placeholder=say("present.no_set"),
        key=f"present_set_{summary.id}",
    )
    known = {
        question.question: question for question in (bench.question_sets.questions(chosen_set) if chosen_set else ())
    }
    chosen = st.multiselect(
        say("present.choose_questions"),
        list(known),
        [text for text in fields.get(f"present_questions_{chosen_set}", ()) if text in known],
        max_selections=story.MAX_QUESTIONS,
        placeholder=say("present.choose_placeholder", n=story.MAX_QUESTIONS),
        key=f"present_questions_{chosen_set}",
        select_all=False,
    )
    written = fields.get("present_own", "")
    own_questions = st.text_area(say("present.own_questions"), written, key="present_own", height=90)
    texts = list(dict.fromkeys([*chosen, *(line.strip() for line in own_questions.splitlines() if line.strip())]))
    return tuple(known.get(text) or GoldQuestion(f"own-{n}", text) for n, text in enumerate(texts, start=1))


def _beside(fields: Mapping[str, Any]) -> list[story.PresentedStrategy]:
    """Draw the choice of strategies to compare with LeanRAG, with their official settings, and return them. fields:
    what was chosen before."""
    infos = {info.name: info for info in strategies().strategies if info.name != story.LEANRAG and not info.parts}
    titles = {name: words(info.title) for name, info in infos.items()}
    label, default = say("present.beside"), [story.NAIVE] if story.NAIVE in titles else []
    default = fields.get("present_beside", default)
    chosen = choices.multiselect(label, titles, default, max_selections=story.MAX_BESIDE, key="present_beside")
    for name in chosen:
        settings = settings_line(shown_settings(infos[name], official_settings(infos[name])))
        draw(markup.muted(say("present.asked_with", name=infos[name].title, settings=settings)))
    return [story.PresentedStrategy(name) for name in chosen]


def _notes(fields: Mapping[str, Any]) -> dict[str, str]:
    with st.popover(say("present.own_notes"), icon=":material/sticky_note_2:", type="tertiary", key="present_notes"):
        draw(markup.muted(say("present.own_notes_hint")))
        notes = {
            slide: st.text_area(say(f"present.slide.{slide}"), written, max_chars=MAX_NOTES, key=key, height=70)
            for slide in story.SLIDES
            for key in [f"present_notes_{slide}"]
            for written in [fields.get(key, "")]
        }
    return {slide: text for slide, text in notes.items() if text.strip()}


def _begin(summary: IndexSummary, plan: story.PresentationPlan) -> StreamedCall[str, str]:
    bench, index = session.workbench(), session.open_index(summary)

    def make(write: Callable[[str], None]) -> str:
        def report(progress: Progress) -> None:
            write(f"{min(progress.done + 1, progress.total)}/{progress.total} ")

        return bench.presentations.add(bench.presentations.make(index, plan, report=report))

    return _calls().begin((summary.id, plan.title, plan.questions), make)


def _is_about(index_id: str, key: Hashable) -> bool:
    """Tell whether the call of that key makes a presentation of that index."""
    return isinstance(key, tuple) and key[0] == index_id


@st.cache_resource(show_spinner=False)
def _calls() -> StreamedCalls[str, str]:
    return StreamedCalls()


@st.fragment(run_every=0.7)
def _progress() -> None:
    """Draw how many questions are asked; redraw the page when the presentation is ready."""
    call: StreamedCall[str, str] | None = st.session_state.get(_CALL)
    if call is None:
        return
    if call.wait(0):
        st.session_state[_CALL] = None
        try:
            call.result()
            st.session_state.pop(_TRIED, None)
        except LeanRAGError as error:  # drawn in the form, since this fragment is not drawn again
            tried = state.in_session(_TRIED, _Tried)
            tried.error, tried.visit = error, state.memory().visit
        dialogs.refresh()
    done, _, total = (call.pieces[-1].strip() if call.pieces else "0/1").partition("/")
    st.progress(int(done) / max(1, int(total)), text=say("present.making", n=int(done), total=int(total)))
