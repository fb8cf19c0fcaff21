"""Every judgement, to be read: who was asked what, and what was replied."""

from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from leanrag_core.types.config import model_title
from leanrag_core.types.experiment import Judgement
from pages.common import forms, markup, state
from pages.common.html import draw
from pages.common.messages import say
from pages.evaluate import audit_charts

ROW = "jrow"
_HEIGHT = 360
_TABLE = "judgements_table"


def fold(judgements: Sequence[Judgement], questions: Mapping[str, str], judge: str, criterion: str) -> None:
    """The judgements of a judge in a fold; the row that is clicked is shown whole. questions: their words by id."""
    own = [judgement for judgement in judgements if judgement.judge == judge]
    opened = st.expander(
        say("evaluate.audit.all", n=len(own)), icon=":material/list:", key="audit_judgements", on_change="rerun"
    )
    if not opened.open:
        return
    with opened:
        _table(own, questions, criterion)
        place = state.fitting(ROW, -1, int, lambda value: 0 <= value < len(own))
        if place < 0:
            draw(markup.muted(say("evaluate.audit.click")))
        else:
            _read(own[place])


def _table(judgements: Sequence[Judgement], questions: Mapping[str, str], criterion: str) -> None:
    head = {name: say(f"evaluate.audit.all.{name}") for name in ("question", "kind", "first", "second", "repeat")}
    verdict = audit_charts.criterion_title(criterion) if criterion else say("evaluate.audit.head.verdict")
    table = pd.DataFrame(
        {
            head["question"]: [questions.get(each.question, each.question) for each in judgements],
            head["kind"]: [say(f"evaluate.judgement.{each.kind}") for each in judgements],
            head["first"]: [each.first for each in judgements],
            head["second"]: [each.second or "–" for each in judgements],
            head["repeat"]: [each.repeat + 1 for each in judgements],
            verdict: [verdict_words(each, criterion) for each in judgements],
        }
    )

    def clicked() -> None:
        cells = st.session_state[_TABLE]["selection"]["cells"]
        if cells:
            state.remember(ROW, int(cells[0][0]))

    st.dataframe(
        forms.visible_cells(table),
        hide_index=True,
        key=_TABLE,
        on_select=clicked,
        selection_mode="single-cell",
        height=forms.table_height(len(judgements), _HEIGHT),
        column_config={head["question"]: st.column_config.TextColumn(width=360)},
    )


def verdict_words(judgement: Judgement, criterion: str) -> str:
    """What the judgement says by that criterion: a winner, a tie, a score; a dash where it could not be read."""
    verdict = judgement.verdicts.get(criterion)
    if verdict is None:
        return "–"
    if not judgement.second:
        return f"{verdict:g}"
    return {1.0: judgement.first, 2.0: judgement.second}.get(verdict, say("evaluate.audit.tied"))


def _read(judgement: Judgement) -> None:
    """Prompt and reply of a judgement."""
    draw(markup.label(model_title(judgement.judge), f"{judgement.first} / {judgement.second or '–'}"))
    for title, text in (
        (say("evaluate.audit.prompt"), judgement.prompt or say("evaluate.audit.no_prompt")),
        (say("evaluate.audit.reply"), judgement.reply),
    ):
        draw(markup.label(title))
        markup.code(text, height=180)
