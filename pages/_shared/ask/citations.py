"""An answer with citation marks that can be clicked."""

from collections.abc import Callable, Collection
from pathlib import Path

import streamlit as st

from leanrag_core.figures.direction import isolated
from leanrag_core.figures.palette import known_colour
from leanrag_core.types.trace import Answer, Trace
from pages._shared.ask import roles
from pages._shared.common.component import component
from pages._shared.common.messages import words

_SCRIPT = Path(__file__).with_name("citations.js")
_FRAME = '<div class="lr-answer"></div>'


def titles(trace: Trace) -> dict[str, str]:
    """What each citation mark of the context stands for, in words."""
    relations = {relation.id: ", ".join(map(isolated, roles.ends(trace, relation))) for relation in trace.relations}
    shown = roles.names_of(trace) | relations
    return {
        item.mark: f"{words(section.noun or section.title)}, {isolated(shown.get(item.ref, item.text[:60]))}"
        for section in trace.context.sections
        for item in section.items
    }


def show(
    answer: Answer,
    *,
    open_mark: str,
    key: str,
    on_cite: Callable[[str], None],
    alone: Collection[int] = (),
    tint: str = "",
) -> None:
    """The answer is drawn; on_cite is called with the mark that was clicked. alone: places of the parts that no answer
    beside it says; they are tinted in that colour of the palette."""
    title_of = titles(answer.trace)
    marks = roles.marks_by_name(answer.trace.context)
    section_of = {item.mark: part.name for part in answer.trace.context.sections for item in part.items}
    section_titles = {section.name: words(section.noun or section.title) for section in answer.trace.context.sections}

    def cited_now() -> None:
        chosen = st.session_state[key].get("cited")
        if chosen:
            on_cite(str(chosen))

    parts = [
        {
            "text": part.text,
            "from": section_titles.get(part.section, ""),
            "alone": place in alone,
            "marks": [
                {
                    "name": name,
                    "title": title_of.get(name, ""),
                    "colour": marks[name].colour if name in marks else known_colour(""),
                    "section": section_of.get(name, ""),
                }
                for name in part.marks
            ],
        }
        for place, part in enumerate(answer.parts)
    ]
    component(_SCRIPT, _FRAME)(
        data={"parts": parts, "open": open_mark, "list": answer.extractive, "tint": tint},
        key=key,
        on_cited_change=cited_now,
    )
