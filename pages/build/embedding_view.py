"""The local embedding model of a build: the English or the multilingual one."""

import streamlit as st

from leanrag_core.errors import ModelUnavailable
from leanrag_core.models import e5
from leanrag_core.types.config import BUILTIN, MULTILINGUAL
from pages.common import choices, markup, session, state
from pages.common.frame import plain_errors
from pages.common.html import draw
from pages.common.messages import say, words

NAME = "b_local"  # name of the choice in links
SHORT = {BUILTIN: "MiniLM", MULTILINGUAL: "e5"}
TITLES = {BUILTIN: "build.embedding.english", MULTILINGUAL: "build.embedding.every"}


def choose(corpus_id: str) -> tuple[str, str]:
    """Draw the choice; return the model's name, and what a build with it lacks, empty for nothing. The multilingual
    model is proposed, if installed, for a corpus in a language that the English one was not trained for."""
    foreign = ""
    with plain_errors():
        foreign = session.workbench().builds.foreign_language(corpus_id)
    with st.container(gap="xsmall"):
        titles = {name: say(code) for name, code in TITLES.items()}
        proposed = MULTILINGUAL if foreign and e5.is_installed() else BUILTIN
        chosen = choices.segments(NAME, say("build.engine.embedding"), titles, default=proposed, width="stretch")
        lacking = _lacking() if chosen == MULTILINGUAL else ""
        draw(markup.hint(lacking or say(_hint(chosen, foreign), **_language(foreign))))
    return chosen, lacking


def take(embedding: str) -> None:
    """Set the choice to an index's local embedding; reset it to the proposal for an endpoint's embedding. For
    callbacks."""
    state.remember(NAME, embedding if embedding in TITLES else None)


def _lacking() -> str:
    try:
        e5.model_file()
    except ModelUnavailable as error:
        return words(error)
    return ""


def _hint(chosen: str, foreign: str) -> str:
    if chosen == MULTILINGUAL:
        return "build.embedding.every.foreign" if foreign else "build.embedding.every.hint"
    return "build.embedding.english.foreign" if foreign else "build.embedding.english.hint"


def _language(foreign: str) -> dict[str, str]:
    return {"language": say(f"language.{foreign}")} if foreign else {}
