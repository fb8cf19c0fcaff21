"""An answer with citation marks that can be clicked."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import streamlit as st

from leanrag_core.figures.direction import isolated
from leanrag_core.types.trace import Answer, Trace
from pages._shared.common.messages import words

_HERE = Path(__file__).resolve().parent


@st.cache_resource(show_spinner=False)
def _component() -> Callable[..., Any]:
    return st.components.v2.component(
        "lr_citations",
        html='<div class="lr-answer"></div>',
        css=(_HERE / "citations.css").read_text(encoding="utf-8"),
        js=(_HERE / "citations.js").read_text(encoding="utf-8"),
        isolate_styles=False,
    )


def titles(trace: Trace) -> dict[str, str]:
    """What each citation mark of the context stands for, in words."""
    names = {node.id: node.name for node in trace.nodes}
    relations = {
        relation.id: f"{isolated(names[relation.source])}, {isolated(names[relation.target])}"
        for relation in trace.relations
    }
    chunks = {passage.id: passage.name for passage in trace.passages}
    shown = names | relations | chunks
    return {
        item.mark: f"{words(section.noun or section.title)}, {isolated(shown.get(item.ref, item.text[:60]))}"
        for section in trace.context.sections
        for item in section.items
    }


def show(answer: Answer, *, open_mark: str, key: str, on_cite: Callable[[str], None]) -> None:
    """The answer is drawn; on_cite is called with the mark that was clicked."""
    title_of = titles(answer.trace)
    section_titles = {section.name: words(section.noun or section.title) for section in answer.trace.context.sections}

    def cited_now() -> None:
        chosen = st.session_state[key].get("cited")
        if chosen:
            on_cite(str(chosen))

    parts = [
        {
            "text": part.text,
            "from": section_titles.get(part.section, ""),
            "marks": [{"name": name, "title": title_of.get(name, "")} for name in part.marks],
        }
        for part in answer.parts
    ]
    _component()(
        data={"parts": parts, "open": open_mark, "list": answer.extractive}, key=key, on_cited_change=cited_now
    )
