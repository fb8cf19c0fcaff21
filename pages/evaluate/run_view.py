"""The form of an experiment: indexes, strategies, questions, judges, and what the run will take."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import streamlit as st

from leanrag_core.errors import LeanRAGError
from leanrag_core.evaluation.experiments.running import usual_baseline
from leanrag_core.evaluation.measuring import broken_measures
from leanrag_core.evaluation.paper_tables import TABLES, TOKENS, paper_spec
from leanrag_core.retrieval.base import strategies as all_strategies
from leanrag_core.types.calls import Budget
from leanrag_core.types.experiment import ALL_JUDGEMENTS, ASKED, JUDGEMENTS, MODES, ExperimentSpec, JudgeSpec, RunSpec
from leanrag_core.types.question_set import QuestionSetInfo
from leanrag_core.types.summary import IndexSummary
from pages.common import buttons, choices, dialogs, markup, run_titles, session, state, widgets
from pages.common.html import draw
from pages.common.messages import kept_fault, message, say
from pages.evaluate import experiments, run_forecast, run_list, title_view
from pages.settings import endpoint_view

_OWN = "own"
_BASELINE = "lr_experiment_baseline"  # in the session: the key of the chosen run
_MOST_REPEATS = 20


def button() -> None:
    """Draw the button that opens the form."""
    label, look = say("evaluate.run_experiment"), {"icon": ":material/play_arrow:", "type": "primary"}
    dialogs.form(label, label, _form, key="primary_experiment", width="large", **look)


def _form() -> None:
    indexes = {each.id: each for each in session.index_list().indexes}
    sets = {each.id: each for each in session.workbench().question_sets.all()}
    if not indexes or not sets:
        message(say("evaluate.form.nothing"))
        return
    strategies = all_strategies().by_name()
    for broken in broken_measures():
        message(broken.message, title=say("evaluate.broken_measure"))
    left, right = st.columns(2, gap="large")
    with left:
        what = _what()
        chosen = _indexes(indexes)
        question_set = _question_set(sets, chosen)
    model_of = run_forecast.models_of(chosen)
    if what == _OWN:
        with right:
            drafts = run_list.show(strategies)
        runs = run_list.runs_of(drafts, chosen) if not run_list.repeated(drafts, strategies) else ()
        with left:
            spec = _own_spec(runs, question_set, asks_model=bool(model_of))
    else:
        with right:
            spec = _paper_spec(what, chosen, question_set)
    with left:
        budget = run_forecast.show(spec, question_set.n, strategies, model_of)
    label, key = say("evaluate.form.start"), "primary_experiment_start"
    if buttons.primary(label, "play_arrow", key, _start, spec, budget, disabled=not spec.runs or not spec.title):
        st.rerun()


def _start(spec: ExperimentSpec, budget: Budget | None) -> None:
    """Start a job that runs the experiment, and show it on the page. For callbacks."""
    dialogs.close()
    with kept_fault(experiments.FAULT):
        state.remember(experiments.JOB, session.workbench().experiments.start(spec, budget=budget))
        state.forget(experiments.TAB)


def _what() -> str:
    """Draw the choice between the person's own strategies and the paper's tables, and return it."""
    titles = {_OWN: say("evaluate.form.own")}
    titles |= {table: say("evaluate.form.paper", table=say(f"evaluate.paper.{table}")) for table in TABLES}
    return str(choices.selectbox(say("evaluate.form.what"), titles, key="experiment_what"))


def _own_spec(runs: tuple[RunSpec, ...], question_set: QuestionSetInfo, *, asks_model: bool) -> ExperimentSpec:
    """Draw title, baseline, answers and judges; return the experiment with these runs."""
    title = title_view.field(say("evaluate.form.title_default", set=question_set.title), key="experiment_title")
    baseline = _baseline(runs)
    answers, mode = _answers(asks_model)
    judges = _judges() if answers else ()
    return ExperimentSpec(title, question_set.id, runs, baseline, answers, mode, judges)


def _paper_spec(table: str, chosen: Sequence[IndexSummary], question_set: QuestionSetInfo) -> ExperimentSpec:
    """Draw title and judges; return the experiment that reproduces a table of the paper on the first index."""
    proposed = say("ask.comma").join((say(f"evaluate.paper.{table}"), question_set.title))
    title = title_view.field(proposed, key="experiment_title")
    judges = () if table == TOKENS else _judges(with_kinds=False)
    index = chosen[0].id if chosen else ""
    spec = replace(paper_spec(table, index, question_set.id, judges=judges), title=title)
    return spec if index else replace(spec, runs=())


def _indexes(indexes: Mapping[str, IndexSummary]) -> list[IndexSummary]:
    titles = {id_: each.title for id_, each in indexes.items()}
    current = state.recall("index")
    default = [current] if current in indexes else [next(iter(indexes))]
    ids = choices.multiselect(say("evaluate.form.indexes"), titles, default, key="experiment_indexes")
    return [indexes[id_] for id_ in ids]


def _question_set(sets: Mapping[str, QuestionSetInfo], chosen: Sequence[IndexSummary]) -> QuestionSetInfo:
    """Draw the choice of the set and return it. Order: the set that was shown last if it may ask about the indexes,
    then sets about their corpora, then sets that name no corpus."""
    corpora, looked_at = {each.corpus_id for each in chosen}, state.recall(experiments.SET)

    def rank(id_: str) -> int:
        about = sets[id_].corpus_id
        if about and about not in corpora:
            return 3
        return 0 if id_ == looked_at else 1 if about else 2

    ids = sorted(sets, key=rank)
    titles = {id_: say("evaluate.form.set", title=sets[id_].title, n=sets[id_].n) for id_ in ids}
    id_ = choices.selectbox(say("evaluate.sets.set"), titles, key="experiment_set")
    if rank(id_) == 3:
        message(say("evaluate.form.other_corpus"))
    return sets[id_]


def _baseline(runs: Sequence[RunSpec]) -> str:
    """Draw the choice of the run that others are compared with, and return its key."""
    if len(runs) < 2:
        return ""
    titles = run_titles.titles(runs)
    remembered, label = st.session_state.get(_BASELINE), say("evaluate.form.baseline")
    chosen: str = widgets.show(
        "experiment_baseline",
        remembered if remembered in titles else usual_baseline(runs),
        lambda mount: choices.selectbox(label, titles, mount.value, **mount.wired),
        partial(st.session_state.__setitem__, _BASELINE),
        form=widgets.labels(titles),
    )
    return chosen


def _answers(asks_model: bool) -> tuple[bool, str]:
    """Ask whether answers are written, and whether a question is declined when its context is insufficient."""
    hint = say("evaluate.form.answers_hint" if asks_model else "evaluate.form.answers_builtin")
    answers = st.toggle(say("evaluate.form.answers"), value=False, key="experiment_answers", help=hint)
    if not answers or not asks_model:
        return answers, ASKED
    titles = {mode: say(f"evaluate.mode.{mode}") for mode in MODES}
    mode = choices.segmented_control(say("evaluate.form.mode"), titles, ASKED, key="experiment_mode")
    return answers, mode or ASKED


def _judges(*, with_kinds: bool = True) -> tuple[JudgeSpec, ...]:
    """Draw the choice of the judges, their questions and the repetitions; return the judges."""
    try:
        settings = session.workbench().settings.read()
    except LeanRAGError as error:
        message(error, kind="error")
        return ()
    listed = endpoint_view.writers(settings)
    if not listed and not endpoint_view.is_set_up(settings):
        draw(markup.muted(say("evaluate.form.no_endpoint")))
        return ()
    label, placeholder, key = say("evaluate.form.judges"), say("evaluate.form.no_judge"), "experiment_judges"
    models = st.multiselect(
        label, list(listed), [], accept_new_options=True, placeholder=placeholder, key=key, select_all=False
    )
    if not models:
        return ()
    kinds = _kinds() if with_kinds else JUDGEMENTS
    repeats = st.number_input(
        say("evaluate.form.repeats"), min_value=1, max_value=_MOST_REPEATS, value=5, key="experiment_repeats", width=160
    )
    return tuple(JudgeSpec(endpoint_view.full_name(name), kinds, int(repeats)) for name in models) if kinds else ()


def _kinds() -> tuple[str, ...]:
    """Draw the choice of what is asked of a judge, and return it."""
    titles = {kind: say(f"evaluate.judgement.{kind}") for kind in ALL_JUDGEMENTS}
    chosen = choices.several_pills(say("evaluate.form.kinds"), titles, JUDGEMENTS, key="experiment_kinds", wrap=True)
    return tuple(kind for kind in ALL_JUDGEMENTS if kind in chosen)
