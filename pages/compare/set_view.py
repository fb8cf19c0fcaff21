"""The columns over a question set: measures, the result of each question, and where the set loses its gold."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import streamlit as st
from markupsafe import Markup

from leanrag_core.comparing.over_questions import SetResult
from leanrag_core.evaluation.gold import GoldQuestion
from leanrag_core.evaluation.measuring import written
from leanrag_core.evaluation.tables import less_is_better
from leanrag_core.figures import numbers
from pages.common import buttons, forms, markup, state
from pages.common.html import NOTHING, draw, html, joined
from pages.common.messages import say, words
from pages.compare import columns, fragments, gold_view, loss_view, set_results
from pages.compare.columns import Column


def show(chosen: Sequence[Column]) -> None:
    """Draw the table of measures, the result of each question, and the losses."""
    questions = gold_view.questions_of(chosen[0].summary)
    if not questions:
        gold_view.offer_questions("set_make_questions")
        return
    draw(markup.muted(say("set.facts", n=len(questions), corpus=chosen[0].summary.corpus_name)))
    results = set_results.results_of(chosen, questions)
    if not results:
        return
    by_letter = {column.letter: column for column in chosen}
    draw(html('<div class="lr-h3">{}</div>', say("set.measures")), measures_table(by_letter, results))
    loss_view.panel(by_letter, results, questions)
    draw(html('<div class="lr-h3">{}</div>', say("set.by_question")))
    _questions_table(results, questions)


def losses(chosen: Sequence[Column]) -> None:
    """Draw where the set loses its gold, below one question's lanes; only for columns without model calls."""
    questions = gold_view.questions_of(chosen[0].summary)
    results = set_results.results_of(chosen, questions, quiet=True) if questions else {}
    if results:
        loss_view.panel({column.letter: column for column in chosen}, results, questions)


def measures_table(by_letter: Mapping[str, Column], results: Mapping[str, SetResult]) -> Markup:
    """Return the measures of each column, the best of each in bold."""
    letters = list(results)
    head = joined(html("<th>{} {}</th>", fragments.square(letter), by_letter[letter].title) for letter in letters)
    rows = []
    names = [mean.measure for mean in results[letters[0]].means]
    for place, name in enumerate(names):
        means = [results[letter].means[place] for letter in letters]
        values = [mean.value for mean in means]
        rows.append(_row(words(means[0].title), values, partial(written, name), most=not less_is_better(name)))
    seconds = [results[letter].median_ms / 1000 for letter in letters]
    rows.append(_row(say("set.median_time"), seconds, numbers.duration, most=False))
    template = '<div class="lr-scroll"><table class="lr-facts" aria-label="{}"><tr><th></th>{}</tr>{}</table></div>'
    return html(template, say("set.measures"), head, joined(rows))


def _row(title: str, values: Sequence[float | None], written_as: Callable[[float], str], *, most: bool) -> Markup:
    """Return a measure's values, the best in bold and marked in words. most: whether higher is better."""
    known = [value for value in values if value is not None]
    best = (max(known) if most else min(known)) if known else None
    cells = []
    for value in values:
        if value is None:
            cells.append(html("<td>–</td>"))
            continue
        shown = written_as(value)
        is_best = value == best and len({round(each, 6) for each in known}) > 1
        cells.append(html("<td><b>{}</b> {}</td>", shown, say("set.best")) if is_best else html("<td>{}</td>", shown))
    return html("<tr><td>{}</td>{}</tr>", title, joined(cells))


def _questions_table(results: Mapping[str, SetResult], questions: Sequence[GoldQuestion]) -> None:
    """Draw each question with what every column found; a click opens the question."""
    letters = list(results)
    only = state.recall("differ") == "1"
    lines = []
    for place, question in enumerate(questions):
        each = {letter: results[letter].questions[place] for letter in letters}
        if only and len({item.n_found for item in each.values()}) == 1:
            continue
        lines.append((place, question, each))
    for place, question, each in lines:
        with st.container(
            horizontal=True, wrap=False, gap="small", vertical_alignment="center", key=f"set_row_{place}"
        ):
            with st.container(width="stretch"):
                label, key = forms.plain(question.question), f"set_question_{place}"
                buttons.tertiary(label, "", key, _open, question.question, help=question.kind or None)
            with st.container(width="content"):
                draw(_found_cells(each))


def _found_cells(each: Mapping[str, Any]) -> Markup:
    cells = []
    for letter, result in each.items():
        n_gold = len(result.evidence)
        text = f"{result.n_found}/{n_gold}" if n_gold else "–"
        cells.append(
            html('<span class="lr-cell" style="{}"><b>{}</b> {}</span>', fragments.colour(letter), letter, text)
        )
    return html('<span class="lr-cells">{}</span>', joined(cells)) if cells else NOTHING


def _open(question: str) -> None:
    state.remember("q", question)
    state.forget("piece")
    state.remember("cview", columns.MISSED)
