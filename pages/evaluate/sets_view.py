"""Question sets: what there is, what each holds, and how to get another one."""

from collections.abc import Sequence
from functools import partial

import pandas as pd
import streamlit as st

from leanrag_core.evaluation.gold import GoldQuestion
from leanrag_core.types.question_set import QuestionSetInfo
from pages.common import choices, deletion, forms, markup, session, state
from pages.common.frame import plain_errors
from pages.common.html import draw, html
from pages.common.messages import message, say
from pages.evaluate import figure_view, measure_words, places, set_forms

_HEIGHT = 380
_ROW = "question"


def show() -> None:
    """The list of sets at the left, the chosen one beside it; above them the ways to get a new one."""
    infos = session.workbench().question_sets.all()
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key="set_actions"):
        set_forms.upload()
        set_forms.write()
        set_forms.generate()
    if not infos:
        draw(html('<div class="lr-empty">{}</div>', say("evaluate.sets.none")))
        return
    by_id = {info.id: info for info in infos}
    wanted = state.recall(places.SET)
    if wanted and wanted not in by_id:
        message(say("evaluate.sets.gone", set=wanted), kind="error")
    chosen = by_id.get(wanted, infos[0])
    _pick(infos, chosen)
    left, right = st.columns([2, 9], gap="medium")
    with left, st.container(key="evaluate_list_column", gap="xsmall"):
        figure_view.title(say("evaluate.tab.sets"))
        with st.container(key="evaluate_list", gap=None):
            for info in infos:
                is_chosen = info.id == chosen.id
                with st.container(key=f"experiment_row_{'chosen_' if is_chosen else ''}{info.id}", gap=None):
                    st.button(
                        forms.plain(info.title),
                        key=f"set_{info.id}",
                        type="tertiary",
                        on_click=choose,
                        args=(info.id,),
                    )
                    draw(markup.muted(_origin(info)))
    with right, plain_errors():
        _details(chosen)


def choose(set_id: str) -> None:
    """That set is shown. For callbacks."""
    state.remember(places.SET, set_id)
    state.remember(_ROW, None)


def _pick(infos: Sequence[QuestionSetInfo], chosen: QuestionSetInfo) -> None:
    titles = {info.id: info.title for info in infos}
    with st.container(key="evaluate_pick"):
        choices.dropdown(places.SET, say("evaluate.sets.set"), titles, default=chosen.id)


def _origin(info: QuestionSetInfo) -> str:
    return say("evaluate.sets.facts", n=info.n, origin=say(f"evaluate.sets.origin.{info.origin}"))


def kinds(info: QuestionSetInfo) -> str:
    """How many questions of each kind there are, in words."""
    parts = [
        f"{measure_words.kind_title(kind) if kind else say('evaluate.sets.no_kind')} {n:,}"
        for kind, n in info.kinds.items()
    ]
    return say("ask.comma").join(parts)


def _details(info: QuestionSetInfo) -> None:
    """What the set holds, and what can be done with it."""
    bench = session.workbench()
    questions = bench.question_sets.questions(info.id)
    figure_view.title(info.title, say("evaluate.sets.gold", n=info.n, evidence=info.n_evidence, answers=info.n_answers))
    draw(markup.muted(kinds(info)))
    if info.about:
        how = say("ask.comma").join(f"{name} {value}" for name, value in info.about.items())
        draw(markup.muted(say("evaluate.sets.about", how=how)))
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.download_button(
            say("evaluate.sets.download"),
            bench.question_sets.content(info.id),
            file_name=f"{info.id}.jsonl",
            mime="application/jsonl",
            icon=":material/download:",
            type="tertiary",
            key="set_download",
            on_click="ignore",
        )
        if not info.is_shipped:
            means = say("evaluate.sets.delete_hint")
            deletion.button(
                "set_delete",
                say("evaluate.sets.delete"),
                say("evaluate.sets.delete_title"),
                info.title,
                means,
                partial(_delete, info.id),
            )
    _table(questions)


def _table(questions: Sequence[GoldQuestion]) -> None:
    """The questions; a row that is clicked is read whole below."""
    head = {name: say(f"evaluate.sets.head.{name}") for name in ("question", "kind", "answer", "evidence")}
    table = pd.DataFrame(
        {
            head["question"]: [each.question for each in questions],
            head["kind"]: [measure_words.kind_title(each.kind) for each in questions],
            head["answer"]: [each.answer or " | ".join(each.answers) for each in questions],
            head["evidence"]: [len(each.evidence) for each in questions],
        }
    )

    def clicked() -> None:
        cells = st.session_state["set_table"]["selection"]["cells"]
        if cells:
            state.remember(_ROW, questions[int(cells[0][0])].id)

    st.dataframe(
        forms.visible_cells(table),
        hide_index=True,
        placeholder="–",
        key="set_table",
        on_select=clicked,
        selection_mode="single-cell",
        height=forms.table_height(len(questions), _HEIGHT),
        column_config={
            head["question"]: st.column_config.TextColumn(width=420),
            head["kind"]: st.column_config.TextColumn(width=100),
            head["answer"]: st.column_config.TextColumn(width=260),
            head["evidence"]: st.column_config.NumberColumn(width=80, format="localized"),
        },
    )
    chosen = next((each for each in questions if each.id == state.recall(_ROW)), None)
    if chosen is None:
        draw(markup.muted(say("evaluate.sets.click")))
    else:
        gold(chosen)


def gold(question: GoldQuestion) -> None:
    """A question with its gold answer and evidence, to be read."""
    draw(html('<div class="lr-read" dir="auto"><b>{}</b></div>', question.question))
    answer = question.answer or say("ask.comma").join(question.answers)
    draw(html('<div class="lr-read" dir="auto">{}</div>', answer or say("evaluate.sets.no_answer")))
    for piece in question.evidence:
        draw(
            html(
                '<div class="lr-gpass"><b>{}</b><div class="lr-read" dir="auto">{}</div></div>',
                piece.document,
                piece.quote or say("evaluate.sets.any_passage"),
            )
        )


def _delete(set_id: str) -> None:
    session.workbench().question_sets.delete(set_id)
    state.remember(places.SET, None)
