"""The selected runs and questions of an experiment: selected in one chart, marked in all others and in tables."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial

import streamlit as st

from leanrag_core.evaluation.experiments.selection import chosen_ids, of_questions, written_places
from leanrag_core.evaluation.gold import GoldQuestion
from leanrag_core.evaluation.tables import questions_of
from leanrag_core.types.experiment import ExperimentResult
from pages.common import buttons, choices, state, widgets
from pages.common.html import draw, html
from pages.common.messages import say
from pages.evaluate.experiments import BRUSHED

RUNS, QUESTIONS = BRUSHED  # in links: the positions of the selected ones
_KIND = "kind:"


def ids_of(result: ExperimentResult, what: str) -> tuple[str, ...]:
    """Return the keys of the runs, or the ids of the questions."""
    return tuple(run.key for run in result.spec.runs) if what == RUNS else questions_of(result)


def selected(result: ExperimentResult, what: str) -> tuple[str, ...]:
    """Return the selected runs or questions; empty where nothing is selected, so that all are shown."""
    ids = ids_of(result, what)
    chosen: tuple[str, ...] = state.fitting(what, (), lambda written: chosen_ids(written, ids), bool)
    return chosen


def select(result: ExperimentResult, what: str, chosen: Sequence[str]) -> None:
    """Select exactly these runs or questions. For callbacks."""
    state.remember(what, written_places(chosen, ids_of(result, what)))


def toggle(result: ExperimentResult, what: str, id_: str) -> None:
    """Select the run or question, or deselect it where it is selected. For callbacks."""
    selection = selected(result, what)
    select(result, what, [each for each in selection if each != id_] if id_ in selection else [*selection, id_])


def kind_pick(kind: str) -> str:
    """Return the value that a figure reports for a kind of questions; empty for all kinds."""
    return f"{_KIND}{kind}" if kind else ""


def toggle_kind(result: ExperimentResult, pick: str) -> None:
    """Add a kind to those selected as a whole, or remove it, and select exactly their questions. For callbacks."""
    selection = kinds_selected(result)
    select_kinds(result, [each for each in selection if each != pick] if pick in selection else [*selection, pick])


def select_kinds(result: ExperimentResult, picks: Sequence[str]) -> None:
    """Select exactly the questions of these kinds. For callbacks."""
    kinds = {pick.removeprefix(_KIND) for pick in picks}
    select(result, QUESTIONS, [row.question for row in result.rows if row.kind in kinds])


def kinds_selected(result: ExperimentResult) -> tuple[str, ...]:
    """Return the values that figures report for the kinds whose questions are all selected."""
    selection = set(selected(result, QUESTIONS))
    kinds = dict.fromkeys(row.kind for row in result.rows if row.kind)
    return tuple(kind_pick(kind) for kind in kinds if selection and selection >= set(questions_of(result, kind)))


def clear() -> None:
    """Clear the selection. For callbacks."""
    state.forget(RUNS, QUESTIONS)


def restricted(result: ExperimentResult) -> ExperimentResult:
    """Return the experiment over its selected questions; over all where none is selected."""
    questions = selected(result, QUESTIONS)
    return of_questions(result, set(questions)) if questions else result


def bar(result: ExperimentResult, titles: Mapping[str, str], questions: Mapping[str, GoldQuestion]) -> None:
    """Draw how much is selected, a button that clears it, and lists that select without a mouse."""
    runs, questions_selected = selected(result, RUNS), selected(result, QUESTIONS)
    parts = [say("evaluate.brush.runs", n=len(runs), of=len(titles))] if runs else []
    if questions_selected:
        parts.append(say("evaluate.brush.questions", n=len(questions_selected), of=len(ids_of(result, QUESTIONS))))
    texts = {id_: questions[id_].question if id_ in questions else id_ for id_ in ids_of(result, QUESTIONS)}
    with bar_of(say("ask.comma").join(parts), say("evaluate.brush.hint"), clear=clear):
        by_name(RUNS, titles, runs, partial(select, result, RUNS))
        by_name(QUESTIONS, texts, questions_selected, partial(select, result, QUESTIONS))


@contextmanager
def bar_of(what: str, hint: str, *, clear: Callable[[], None]) -> Iterator[None]:
    """Draw the line that names the selection, with a button that clears it; the body of the with block draws the lists
    behind it. what: empty where nothing is selected; then the hint says how to select."""
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key="brush_bar"):
        with st.container(width="content", gap=None):
            line = html('<span class="lr-small lr-muted">{}</span>', hint)
            if what:
                line = html('<span class="lr-brush" role="status">{}</span>', say("evaluate.brush.selected", what=what))
            draw(line)
        if what:
            buttons.tertiary(say("evaluate.brush.clear"), "close", "brush_clear", clear)
        with st.popover(say("evaluate.brush.list"), type="tertiary", icon=":material/checklist:", key="brush_list"):
            yield


def by_name(
    what: str, titles: Mapping[str, str], selection: Sequence[str], choose: Callable[[Sequence[str]], None]
) -> None:
    """Draw a list in which everything that can be selected is chosen by name."""

    def in_order(chosen: Sequence[str]) -> list[str]:
        return [id_ for id_ in titles if id_ in chosen]

    widgets.show(
        f"lr_{what}",
        list(selection),
        lambda mount: choices.multiselect(
            say(f"evaluate.brush.{what}"), titles, mount.value, placeholder=say("evaluate.brush.list"), **mount.wired
        ),
        choose,
        read=in_order,
        form=widgets.labels(titles),
    )
