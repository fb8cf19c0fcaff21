"""The answer beside a retrieval: shown at once where it costs nothing, streamed when somebody asks, offered else."""

import re
import time
from dataclasses import dataclass
from html import escape

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from leanrag_core.errors import LeanRAGError
from leanrag_core.types.index import Index
from leanrag_core.types.summary import IndexSummary
from leanrag_core.types.trace import Answer, Trace
from pages._shared import answer_view, markup, session
from pages._shared.frame import message

_WANTED = "lr_wanted"
_MARK = re.compile(r"\[([EARC]\d+)\]")
_REDRAWN = 0.08  # seconds between two drawings of a reply that is being written


@dataclass(frozen=True)
class Ask:
    """A question to an index with a strategy and its options."""

    summary: IndexSummary
    question: str
    strategy: str
    options: session.Options

    @property
    def topic(self) -> tuple[object, ...]:
        """What makes it the same question again."""
        return self.summary.id, self.summary.created, self.question, self.strategy, self.options


def want(question: str) -> None:
    """Somebody asks: the next run may call a model for it. For callbacks."""
    st.session_state[_WANTED] = question


def _is_wanted(ask: Ask) -> bool:
    """Whether somebody asked for this very answer; a setting that moved since is another one."""
    wanted = st.session_state.get(_WANTED)
    if wanted == ask.question:
        st.session_state[_WANTED] = ask.topic
        return True
    return bool(wanted == ask.topic)


def show(index: Index, ask: Ask, trace: Trace) -> None:
    """The answer; a skeleton and then its words while it is written; a way to try again when the endpoint fails."""
    slot = st.empty()
    with slot.container():
        st.skeleton(110)
    try:
        found = session.kept_answer(ask.summary, ask.question, ask.strategy, ask.options)
        if found is None and _is_wanted(ask):
            found = _streamed(slot, index, ask, trace)
    except LeanRAGError as error:
        st.session_state.pop(_WANTED, None)
        with slot.container():
            _failed(error, ask)
        return
    with slot.container():
        if found is None:
            _offer(ask)
        else:
            answer_view.show(index, found)


def _streamed(slot: DeltaGenerator, index: Index, ask: Ask, trace: Trace) -> Answer:
    name = _model(ask)
    with slot.container():
        st.html(markup.label("Answer", f"waiting for {name}"))
        st.skeleton(110)
    pieces: list[str] = []
    drawn = 0.0

    def on_text(piece: str) -> None:
        nonlocal drawn
        pieces.append(piece)
        if time.monotonic() - drawn > _REDRAWN:
            drawn = time.monotonic()
            slot.html(_written("".join(pieces), name))

    found = session.workbench().stream_answer(index, trace, on_text)
    st.session_state.pop(_WANTED, None)
    return found


def _written(text: str, model: str) -> str:
    """A reply that is being written, its marks already drawn as marks."""
    body = _MARK.sub(lambda found: markup.mark(found[1]), escape(text))
    head = markup.label("Answer", f"{model} is writing")
    return f'{head}<div class="lr-read lr-writing" aria-busy="true">{body}</div>'


def _model(ask: Ask) -> str:
    settings = session.workbench().settings()
    return (settings.answer_model or str(ask.summary.config.get("model", ""))).removeprefix("openai:")


def _failed(error: LeanRAGError, ask: Ask) -> None:
    st.html(markup.label("Answer"))
    message(str(error), kind="error", title="No answer was written.")
    st.html('<div class="lr-small lr-muted">Retrieval is complete; everything beside this still holds.</div>')
    st.button("Try again", icon=":material/replay:", key="retry_answer", on_click=want, args=(ask.question,))


def _offer(ask: Ask) -> None:
    """Nobody has asked with these settings yet: a call costs something, so it is not made unasked."""
    st.html(
        markup.label("Answer")
        + '<div class="lr-small">Not asked with these settings yet. Retrieval needs no call; the answer takes one of '
        f"{escape(_model(ask))}.</div>"
    )
    st.button("Write the answer", icon=":material/edit:", key="write_answer", on_click=want, args=(ask.question,))
