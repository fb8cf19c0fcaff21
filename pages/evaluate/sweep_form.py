"""The form of a sweep: the varied settings, the corpus, the questions, and what the sweep will take."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import Field, replace
from typing import Any

import streamlit as st

from leanrag_core.comparing.multiples import parts_of
from leanrag_core.errors import InvalidConfig, LeanRAGError
from leanrag_core.figures import numbers
from leanrag_core.messages.message import message as message_of
from leanrag_core.retrieval.base import StrategyInfo
from leanrag_core.retrieval.base import strategies as all_strategies
from leanrag_core.retrieval.settings import option_title
from leanrag_core.types.calls import Budget
from leanrag_core.types.config import REFERENCE, IndexConfig
from leanrag_core.types.experiment import Parameter
from leanrag_core.types.summary import CorpusSummary, IndexSummary
from leanrag_core.types.sweep import GRID, INDEX, RETRIEVAL, SAMPLERS, Axis, SweepForecast, SweepSpec
from pages.common import buttons, choices, dialogs, forms, markup, session, state
from pages.common.frame import plain_errors
from pages.common.html import draw, html
from pages.common.messages import kept_fault, message, say, span, words
from pages.evaluate import experiments, measure_words, run_forecast, title_view

_USUAL: Mapping[str, str] = {  # values that a person sees first
    "cluster_size": "5, 10, 20, 30, 50",
    "tau": "1, 2, 3, 5, 8",
    "chunk_tokens": "256, 512, 1024",
    "top_n": "5, 10, 20, 30",
    "top_c": "3, 5, 8, 12",
}
_MOST_AXES = 4


def button() -> None:
    """Draw the button that opens the form."""
    label, look = say("evaluate.run_sweep"), {"icon": ":material/play_arrow:", "type": "primary"}
    dialogs.form(label, label, _form, key="primary_sweep", width="large", **look)


def _form() -> None:
    bench = session.workbench()
    corpora = {corpus.id: corpus for corpus in bench.corpora.all() if corpus.documents}
    sets = {each.id: each for each in bench.question_sets.all()}
    if not corpora or not sets:
        message(say("evaluate.form.nothing"))
        return
    left, right = st.columns(2, gap="medium")
    with left:
        corpus = _corpus(corpora)
        ids = sorted(sets, key=lambda id_: sets[id_].corpus_id != corpus.id)
        titles = {id_: say("evaluate.form.set", title=sets[id_].title, n=sets[id_].n) for id_ in ids}
        question_set = choices.selectbox(say("evaluate.sets.set"), titles, key="sweep_set")
        config, index = _settings(corpus)
        strategies = all_strategies().by_name()
        strategy = _strategy(strategies)
    with right:
        axes = _axes(strategies[strategy])
        sampler, n_points, seed = _sampler(axes)
    changes_index = any(axis.level == INDEX for axis in axes)
    if not changes_index and index is None:
        message(say("evaluate.sweep.form.needs_index"))
        return
    default = say(
        "evaluate.sweep.form.title",
        axes=" × ".join(measure_words.axis_title(axis.name) for axis in axes),
        corpus=corpus.name,
    )
    title = title_view.field(default, key="sweep_title")
    if not title:
        return
    spec = SweepSpec(
        title=title,
        axes=axes,
        question_set=question_set,
        corpus=corpus.id if changes_index else "",
        config=config,
        index="" if changes_index or index is None else index.id,
        strategy=strategy,
        sampler=sampler,
        n_points=n_points,
        seed=seed,
    )
    _start_button(spec)


def _start_button(spec: SweepSpec) -> None:
    """Draw the forecast and the button, or the reason why the specification cannot be run."""
    if not spec.axes:
        draw(markup.muted(say("evaluate.sweep.form.no_axes")))
        return
    if not all(axis.values for axis in spec.axes):
        draw(markup.muted(say("evaluate.sweep.form.no_values")))
        return
    try:
        expected = session.workbench().sweeps.forecast(spec)
    except LeanRAGError as error:
        message(error, kind="error")
        return
    budget = _forecast(expected)
    if buttons.primary(say("evaluate.form.start"), "play_arrow", "primary_sweep_start", _start, spec, budget):
        st.rerun()


def _start(spec: SweepSpec, budget: Budget | None) -> None:
    """Start a job that runs the sweep, and show it on the page. For callbacks."""
    dialogs.close()
    with kept_fault(experiments.FAULT):
        state.remember(experiments.JOB, session.workbench().sweeps.start(spec, budget=budget))


def _corpus(corpora: Mapping[str, CorpusSummary]) -> CorpusSummary:
    first = experiments.corpus_of_index()
    ids = sorted(corpora, key=lambda id_: id_ != first)
    titles = {id_: corpora[id_].name for id_ in ids}
    return corpora[choices.selectbox(say("evaluate.sweep.form.corpus"), titles, key="sweep_corpus")]


def _settings(corpus: CorpusSummary) -> tuple[IndexConfig, IndexSummary | None]:
    """Draw the choice of the settings that stay fixed and return them: those of an index of the corpus, first the one
    that is chosen on the page, of the built-in engine, or of the corpus's reference graph."""
    corpus_indexes = {each.id: each for each in session.index_list().indexes if each.corpus_id == corpus.id}
    ids = sorted(corpus_indexes, key=lambda id_: id_ != state.recall("index"))
    titles = {id_: say("evaluate.sweep.form.as_index", index=corpus_indexes[id_].title) for id_ in ids}
    titles[""] = say("evaluate.sweep.form.builtin")
    with plain_errors():
        if session.workbench().builds.has_reference(corpus.id):
            titles[REFERENCE] = say("evaluate.sweep.form.reference")
    chosen = choices.selectbox(say("evaluate.sweep.form.settings"), titles, key="sweep_settings_of")
    if chosen == REFERENCE:
        return IndexConfig(model=REFERENCE), None
    if chosen not in corpus_indexes:
        return IndexConfig(), None
    known = {name: getattr(corpus_indexes[chosen].config, name) for name in forms.option_fields(IndexConfig)}
    return replace(IndexConfig(), **known), corpus_indexes[chosen]


def _strategy(strategies: Mapping[str, StrategyInfo]) -> str:
    names = sorted(strategies, key=lambda name: name != "leanrag")
    titles = {name: words(strategies[name].title) for name in names}
    return str(choices.selectbox(say("ask.strategy"), titles, key="sweep_strategy"))


def _axes(info: StrategyInfo) -> tuple[Axis, ...]:
    """Draw the choice of the varied settings and their values. A field with a value of another type has no values and
    says why; the others stay, since a field that is not drawn forgets what is written in it."""
    index_fields = {
        name: spec
        for name, spec in forms.option_fields(IndexConfig).items()
        if isinstance(spec.default, int) or not spec.metadata["of_engine"]  # models are chosen above
    }
    own_fields = {name: spec for name, spec in forms.option_fields(info.config).items() if name not in index_fields}
    titles = {name: say("evaluate.sweep.form.of_index", name=measure_words.axis_title(name)) for name in index_fields}
    titles |= {name: say("evaluate.sweep.form.of_asking", name=forms.title_of(name)) for name in own_fields}
    label, usual = say("evaluate.sweep.form.axes"), ["cluster_size", "tau"]
    names = choices.multiselect(label, titles, usual, max_selections=_MOST_AXES, key="sweep_axes")
    axes: list[Axis] = []
    faults: list[InvalidConfig] = []
    with st.grid(2, min_column_width=220, gap="small"):
        for name in names:
            spec = index_fields.get(name) or own_fields[name]
            text = st.text_input(
                say("evaluate.sweep.form.values", name=titles[name]),
                _USUAL.get(name) or _values_of(spec),
                key=f"sweep_values_{name}",
            )
            values: tuple[Parameter, ...] = ()
            try:
                values = values_of(text, spec)
            except InvalidConfig as error:
                faults.append(error)
            axes.append(Axis(name, values, INDEX if name in index_fields else RETRIEVAL))
    for fault in faults:
        message(fault, kind="error")
    return tuple(axes)


def _values_of(spec: Field[Any]) -> str:
    if spec.metadata.get("choices"):
        return ", ".join(map(str, spec.metadata["choices"]))
    return "0, 1" if isinstance(spec.default, bool) else str(spec.default if spec.default is not None else "")


def values_of(text: str, spec: Field[Any]) -> tuple[Parameter, ...]:
    """Read the distinct values of a setting, separated by commas. Raises InvalidConfig for a value of another type."""
    parts = parts_of(text)
    readers: dict[type, Callable[[str], Parameter]] = {bool: state.as_flag, int: int, float: float}
    try:
        return tuple(map(readers.get(type(spec.default), str), parts))
    except ValueError as error:
        kind = "evaluate.sweep.form.whole_numbers" if isinstance(spec.default, int) else "evaluate.sweep.form.numbers"
        name = option_title(spec.name)
        raise InvalidConfig(
            "evaluate.sweep.form.bad_value", name=name, kind=message_of(kind), text=text[:80]
        ) from error


def _sampler(axes: Sequence[Axis]) -> tuple[str, int, int]:
    """Ask whether to run every combination or a sample; return the sampler, the number of points and the seed."""
    titles = {name: say(f"evaluate.sweep.form.sampler.{name}") for name in SAMPLERS}
    n_grid = math.prod(len(axis.values) for axis in axes)
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom"):
        sampler = choices.segmented_control(say("evaluate.sweep.form.sampler"), titles, GRID, key="sweep_sampler")
        if not sampler or sampler == GRID:
            draw(markup.muted(say("evaluate.sweep.form.n_grid", n=n_grid)))
            return GRID, 0, 0
        n_points = st.number_input(say("evaluate.sweep.form.n_points"), 2, 1000, 20, key="sweep_n", width=130)
        seed = st.number_input(say("evaluate.sets.seed"), 0, 2**31, 0, key="sweep_seed", width=130)
    return str(sampler), int(n_points), int(seed)


def _forecast(expected: SweepForecast) -> Budget | None:
    """Draw the forecast of the sweep; return the budget if models are called."""
    calls, seconds = expected.calls, expected.seconds
    paid = calls.high > 0 or expected.asks_model
    cost = numbers.money(expected.dollars.expected) if expected.dollars.high else say("evaluate.form.no_cost")
    time = span(numbers.duration(seconds.low), numbers.duration(seconds.high))
    draw(markup.label(say("evaluate.form.forecast")))
    template = '<div class="lr-big"><b>{}</b><span>{}</span></div>'
    draw(html(template, "" if paid and not expected.dollars.high else cost, time))
    kept = next((build for build in expected.builds if build.kept), None)
    rows = [
        (say("evaluate.sweep.form.points"), f"{expected.points:,}"),
        (say("evaluate.sweep.form.indexes"), f"{len(expected.builds):,}"),
        (say("evaluate.form.retrievals"), f"{expected.questions:,}"),
    ]
    if paid:
        rows.append((say("evaluate.sweep.form.calls"), span(f"{calls.low:,.0f}", f"{calls.high:,.0f}")))
        rows.append((say("evaluate.sweep.form.saved"), f"{expected.saved.expected:,.0f}"))
    draw(markup.facts_table(("", ""), rows, caption=say("evaluate.form.forecast")))
    if kept is not None:
        stages = say("ask.comma").join(say(f"stage.{stage.replace(' ', '_')}") for stage in kept.rebuilt)
        draw(markup.muted(say("evaluate.sweep.form.kept", stages=stages)))
    return run_forecast.budget_fields("sweep") if paid else None
