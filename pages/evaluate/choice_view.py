"""Which system: what stored experiments support for a wish, how certain that is, and a button to Compare."""

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any

import streamlit as st
from markupsafe import Markup

from leanrag_core.evaluation.recommending import (
    CALLS,
    MEETS,
    MILLISECONDS,
    MISSES,
    TOO_FEW,
    Candidate,
    Recommendation,
    StoredExperiment,
    Wish,
    alike_words,
    figures_words,
    headline,
    missing_words,
    recommend,
)
from leanrag_core.evaluation.run_titles import experiment_title
from leanrag_core.evaluation.statistics import Interval
from leanrag_core.evaluation.tables import RECALL, TOKENS
from leanrag_core.figures import numbers
from leanrag_core.figures.interval_marks import CellScale, column_scale
from leanrag_core.messages.catalog import joined_sentences
from leanrag_core.messages.message import message as message_of
from leanrag_core.retrieval.base import strategies as all_strategies
from leanrag_core.retrieval.settings import settings_line, shown_settings
from leanrag_core.retrieval.variants import Setting
from leanrag_core.types.config import model_title
from leanrag_core.types.experiment import ExperimentSummary
from leanrag_core.types.summary import IndexSummary
from leanrag_core.workbench.recommendations import AskedQuestions
from pages.common import buttons, choices, markup, session, state, widgets
from pages.common.frame import page_button
from pages.common.html import NOTHING as EMPTY
from pages.common.html import draw, html, joined
from pages.common.messages import language, message, say, say_or, words
from pages.evaluate import experiments, figure_view, measure_words

_SHOWN = 10
_OPENED = 4  # columns of Compare
_INDEX_SETTINGS = ("cluster_size", "tau", "chunk_tokens")


def show(summaries: Sequence[ExperimentSummary], index: IndexSummary | None) -> None:
    """Draw the wish, the runs that fit it, and the evidence. index: of the page; questions about its documents are
    proposed first."""
    grounds = session.workbench().recommendations.grounds()
    if not grounds:
        message(say("choice.no_experiment"))
        return
    asked = _questions(grounds, index.corpus_id if index is not None else "")
    stamp = tuple((each.id, each.changed) for each in summaries if each.id in asked.experiments)
    stored = _stored(asked, stamp, tuple(each.id for each in session.index_list().indexes))
    wish = _wish(stored)
    recommendation = _made(asked.id, stamp, wish, stored)
    _said(recommendation)
    if not recommendation.candidates:
        return
    _open_button(recommendation, asked)
    whole = state.recall(experiments.MORE) == "1"
    shown = recommendation.candidates if whole else recommendation.candidates[:_SHOWN]
    draw(_table(recommendation, shown))
    if len(recommendation.candidates) > _SHOWN:
        label = say("choice.more", n=len(recommendation.candidates) - _SHOWN)
        buttons.show_all(experiments.MORE, label, "choice_more")
    notes = [say("choice.method")]
    if recommendation.left_out:
        notes.append(say("choice.left_out", names=recommendation.left_out))
    draw(markup.muted(joined_sentences(notes)))


@st.cache_resource(show_spinner=False, max_entries=4)
def _stored(
    asked: AskedQuestions, stamp: tuple[tuple[str, str], ...], indexes: tuple[str, ...]
) -> tuple[StoredExperiment, ...]:
    """Return the stored experiments over those questions. stamp, indexes: parts of the cache key, which change with
    them."""
    return session.workbench().recommendations.stored(asked)


@st.cache_resource(show_spinner=False, max_entries=64)
def _made(
    asked: str, stamp: tuple[tuple[str, str], ...], wish: Wish, _stored: tuple[StoredExperiment, ...]
) -> Recommendation:
    return recommend(wish, _stored)


def _questions(grounds: Sequence[AskedQuestions], corpus: str) -> AskedQuestions:
    """Draw the choice of the questions whose experiments count and return them; by default those about the corpus."""
    default = next((each for each in grounds if corpus and each.corpus_id == corpus), grounds[0])
    by_id = {each.id: each for each in grounds}
    titles = {each.id: say("choice.set_title", title=each.title, n=each.n) for each in grounds}
    name = experiments.WISH_SET
    chosen = choices.dropdown(
        name, say("choice.questions"), titles, default=default.id, forgets=(experiments.KIND,), width=420
    )
    return by_id[chosen]


def _wish(stored: Sequence[StoredExperiment]) -> Wish:
    """Draw the controls and return the wish that they express."""
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom", key="choice_wish"):
        recall = widgets.remembered(
            experiments.WISH_RECALL,
            90,
            lambda mount: st.slider(
                say("choice.recall"), 0, 100, mount.value, 5, format="%d %%", **mount.wired, width=230
            ),
            widgets.Values(parse=int, allowed=lambda value: 0 <= value <= 100),
        )
        tokens, calls, milliseconds = (
            choices.number(name, say(code), None, (0, None), step=step, placeholder=say("choice.any"), width=170)
            for name, code, step in (
                (experiments.WISH_TOKENS, "choice.tokens", 500),
                (experiments.WISH_CALLS, "choice.calls", 1),
                (experiments.WISH_TIME, "choice.milliseconds", 50),
            )
        )
    return Wish(recall / 100, tokens, calls, milliseconds, experiments.kind_choice(stored[0].result))


def _said(recommendation: Recommendation) -> None:
    """Draw the finding, what is missing, and what it rests on."""
    best = recommendation.best
    if best is None:
        message(headline(recommendation))
        return
    rest = [words(figures_words(best))]
    if best.chance is not None and recommendation.state != TOO_FEW:
        rest.append(say("choice.chance", chance=_chance(best.chance)))
    rest += map(words, missing_words(best))
    if best.caution is not None:
        rest.append(words(best.caution))
    draw(markup.lead(words(headline(recommendation)), joined_sentences(rest), "lr-finding"))
    alike = alike_words(recommendation)
    if alike is not None:
        draw(html('<div class="lr-choice-alike">{}</div>', words(alike)))
    draw(markup.muted(_rests_on(best)))


def _rests_on(candidate: Candidate) -> str:
    """Return what the finding rests on: experiment, questions, engine, index with its settings, and date."""
    source = candidate.source
    code, title = "choice.rests_shipped" if source.is_shipped else "choice.rests", words(experiment_title(source.title))
    parts = [say(code, title=title, n=source.questions)]
    if source.engine:
        engine = say_or(model_title(source.engine), f"choice.engine.{source.engine}")
        parts.append(say("choice.engine", model=engine))
    if source.index.is_here:
        settings = _index_settings(source.index.settings)
        parts.append(say("choice.index", index=source.index.name, settings=settings))
    else:
        parts.append(say("choice.index_gone", index=source.index.name))
    if source.changed:
        parts.append(say("choice.date", date=numbers.day(source.changed, language())))
    if source.failed:
        parts.append(say("evaluate.failed_questions", n=source.failed) + say("text.stop"))
    return joined_sentences(parts)


def _index_settings(settings: Mapping[str, Any]) -> str:
    parts = [Setting(name, of_index=True).words(settings[name]) for name in _INDEX_SETTINGS if name in settings]
    return words(reduce(lambda first, rest: message_of("setting.list", first=first, rest=rest), parts)) if parts else ""


def _chance(chance: float) -> str:
    """Return a chance in percent; never 0 or 100, which a sample cannot show."""
    if chance > 0.99:
        return "> 99 %"
    return "< 1 %" if chance < 0.01 else numbers.share(chance)


def _open_button(recommendation: Recommendation, asked: AskedQuestions) -> None:
    """Draw the button to Compare with the first candidates, or why there is none."""
    opened = _openable(recommendation, asked)
    if not opened:
        message(say("choice.no_index"))
        return
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key="choice_open_row"):
        label = say("choice.open", n=len(opened))
        page_button("compare", label, "view_column_2", "choice_open", _take, recommendation, opened)
        if any(index != each.run.index for each, index in opened):
            draw(markup.muted(say("choice.other_index")))


def _openable(recommendation: Recommendation, asked: AskedQuestions) -> list[tuple[Candidate, str]]:
    """Return the first candidates with the index to ask: the run's own, else another one of the same documents."""
    listed = session.index_list().indexes
    index_ids = {each.id for each in listed}
    of_corpus = next((each.id for each in listed if asked.corpus_id and each.corpus_id == asked.corpus_id), "")
    strategies = all_strategies().by_name()
    first = [
        recommendation.candidates[0],
        *recommendation.alike,
        *(each for each in recommendation.candidates[1:] if not each.is_alike),
    ]
    usable = [each for each in first if each.run.strategy in strategies]
    opened = [(each, each.run.index if each.run.index in index_ids else of_corpus) for each in usable]
    return [(each, index) for each, index in opened if index][:_OPENED]


def _take(recommendation: Recommendation, opened: Sequence[tuple[Candidate, str]]) -> None:
    """Make Compare show these systems with their settings, on the question that separates them most. For callbacks."""
    texts = {each.id: each.question for each in experiments.questions_of(opened[0][0].source.experiment)}
    if recommendation.telling in texts:
        state.remember("q", texts[recommendation.telling])
    experiments.take_columns([(each.run, index) for each, index in opened])


def _table(recommendation: Recommendation, shown: Sequence[Candidate]) -> Markup:
    scales = {name: _scale(shown, name) for name in (RECALL, TOKENS)}
    names = ("system", "chance", "recall", "tokens", "calls", "milliseconds", "source")
    head = joined(html("<th>{}</th>", say(f"choice.head.{name}")) for name in names)
    lines = [_line(recommendation, each, scales) for each in shown]
    return markup.wide_table("lr-ev lr-choice", say("choice.table"), head, lines)


def _scale(candidates: Sequence[Candidate], name: str) -> CellScale:
    return column_scale(each.figures.get(name) for each in candidates)


def _line(recommendation: Recommendation, candidate: Candidate, scales: Mapping[str, CellScale]) -> Markup:
    short = {each.measure for each in candidate.shortfalls}
    is_best = candidate is recommendation.best
    info = all_strategies().by_name().get(candidate.run.strategy)
    settings = words(settings_line(shown_settings(info, candidate.run.options)))
    codes = ["choice.alike"] if candidate.is_alike else []
    codes += ["choice.nearest"] if is_best and recommendation.state == MISSES else []
    tags = [html('<span class="lr-tag">{}</span>', say(code)) for code in codes]
    name = html(
        '<td><span class="n">{}</span> {}{}</td>',
        html("<b>{}</b>", words(recommendation.name(candidate))) if is_best else words(recommendation.name(candidate)),
        joined(tags),
        html('<span class="set">{}</span>', settings) if settings else EMPTY,
    )
    chance = "–" if candidate.chance is None else _chance(candidate.chance)
    time = "–" if candidate.milliseconds is None else numbers.duration(candidate.milliseconds / 1000)
    calls = candidate.figures.get(CALLS)
    cells = [
        html("<td>{}</td>", html("<b>{}</b>", chance) if candidate.state == MEETS else chance),
        _figure(candidate.figures.get(RECALL), RECALL, scales[RECALL], RECALL in short),
        _figure(candidate.figures.get(TOKENS), TOKENS, scales[TOKENS], TOKENS in short),
        html('<td class="{}">{}</td>', _short(CALLS in short), "–" if calls is None else numbers.decimal(calls.value)),
        html('<td class="{}">{}</td>', _short(MILLISECONDS in short), time),
        html('<td class="from">{}</td>', _from(candidate)),
    ]
    return html('<tr class="{}">{}{}</tr>', "marked" if is_best else "", name, joined(cells))


def _short(is_short: bool) -> str:
    return "short" if is_short else ""


def _figure(interval: Interval | None, measure: str, scale: CellScale, is_short: bool) -> Markup:
    if interval is None:
        return figure_view.not_measured()
    bar = figure_view.interval_bar(scale.mark(interval), figure_view.interval_words(interval, measure))
    value = measure_words.shown(measure, interval.value)
    return html('<td class="{}"><span class="v">{}</span>{}</td>', _short(is_short), value, bar)


def _from(candidate: Candidate) -> str:
    source = candidate.source
    title = words(experiment_title(source.title))
    title = say("choice.shipped", title=title) if source.is_shipped else title
    return say("choice.from", title=title, n=source.questions)
