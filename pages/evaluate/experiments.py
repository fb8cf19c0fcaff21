"""The stored experiments, the chosen one, and its two compared runs."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from operator import attrgetter
from typing import Any

import streamlit as st

from leanrag_core.errors import LeanRAGError
from leanrag_core.evaluation.gold import Evidence, GoldQuestion, missing_evidence
from leanrag_core.evaluation.run_titles import experiment_title
from leanrag_core.evaluation.tables import kinds_of
from leanrag_core.evaluation.tables import questions_of as of_kind
from leanrag_core.retrieval.base import MAX_TOKENS
from leanrag_core.retrieval.base import strategies as all_strategies
from leanrag_core.retrieval.settings import official_settings
from leanrag_core.types.config import SETTINGS
from leanrag_core.types.experiment import ExperimentResult, ExperimentSpec, ExperimentSummary, RunSpec
from leanrag_core.types.summary import IndexSummary
from pages.ask import presets
from pages.common import buttons, choices, dialogs, forms, markup, run_titles, session, state
from pages.common.html import draw, html
from pages.common.messages import say, words
from pages.common.scope import Scope
from pages.compare import columns
from pages.evaluate import measure_words

RESULTS, QUESTIONS, SETS, SWEEPS = "results", "questions", "sets", "sweeps"
CHOICE, VERDICTS, AUDIT, EXTRACTION, HISTORY = "choice", "verdicts", "audit", "extraction", "history"
TABS = (RESULTS, QUESTIONS, CHOICE, VERDICTS, AUDIT, SETS, SWEEPS, EXTRACTION, HISTORY)

TAB, EXPERIMENT, JOB = "tab", "exp", "job"
KIND, SORT, RUN, AGAINST = "kind", "sort", "run", "against"
BRUSHED = ("bruns", "bquestions")  # the selection in its charts
OTHER, MEASURE, SET, COLUMNS, MORE = "exp2", "measure", "set", "columns", "more"
VOTE_RUNS, VOTER, VOTE_BY, REVEALED = "vruns", "voter", "vby", "vshown"
WISH_SET, WISH_RECALL, WISH_TOKENS, WISH_CALLS, WISH_TIME = "wset", "wrecall", "wtokens", "wcalls", "wms"
URL = (
    *(
        TAB,
        "index",
        EXPERIMENT,
        KIND,
        SORT,
        RUN,
        AGAINST,
        OTHER,
        MEASURE,
        SET,
        COLUMNS,
        JOB,
        "question",
        *BRUSHED,
        MORE,
    ),
    *(WISH_SET, WISH_RECALL, WISH_TOKENS, WISH_CALLS, WISH_TIME, VOTE_RUNS, VOTER, VOTE_BY, REVEALED, "row", "sweep"),
    *(
        "colour",
        "point",
        "spoints",
        "keep",
        "skind",
        "smeasure",
        "audit",
        "criterion",
        "pair",
        "judge",
        "ptable",
        "pset",
    ),
    *("pcriterion", "flip", "jrow", "xindex", "xmatch", "xlist"),
)


FAULT = "lr_evaluate_fault"  # in the session: the error of the last callback
_EVERY = 5.0  # seconds between two looks for more results of what is under way


_STARTER, _BASELINE = "leanrag", "vector"  # strategies that are compared while nobody has chosen


@st.cache_resource(show_spinner=False, max_entries=8)
def _opened(experiment: str, changed: str) -> ExperimentResult:
    return session.workbench().experiments.store.read(experiment)


def opened(summary: ExperimentSummary) -> ExperimentResult:
    """Return the experiment with its rows; it is read again only after a change."""
    return _opened(summary.id, summary.changed)


@st.cache_resource(show_spinner=False, max_entries=8)
def questions_of(experiment: str) -> tuple[GoldQuestion, ...]:
    """Return the questions as they were when the experiment began; none where they cannot be read."""
    try:
        return session.workbench().experiments.questions(experiment)
    except LeanRAGError:  # the ids of the questions stand in for their words
        return ()


# For hash_funcs of a cached function that takes an experiment: what changes with its results is another argument.
BY_ID: dict[str | type, Callable[[Any], Any]] = {ExperimentResult: attrgetter("id")}


def missing_gold(result: ExperimentResult) -> tuple[Evidence, ...]:
    """Return the gold evidence that the index of the first run cannot hold; none if that index no longer exists."""
    with suppress(LeanRAGError):  # deleted, or damaged, which the page of the index says
        return _missing_evidence(session.workbench().indexes.summary(result.spec.runs[0].index), result.id)
    return ()


@st.cache_data(show_spinner=False, max_entries=32, hash_funcs=session.BY_INDEX)
def _missing_evidence(summary: IndexSummary, experiment: str) -> tuple[Evidence, ...]:
    with session.reading(summary) as index:
        return missing_evidence(index, questions_of(experiment))


def listed() -> tuple[ExperimentSummary, ...]:
    """Return all experiments, with titles in the reader's language where the program has written them."""
    summaries = session.workbench().experiments.store.all()
    return tuple(replace(each, title=words(experiment_title(each.title))) for each in summaries)


def corpus_of_index() -> str:
    """Return the corpus of the index that is chosen on the page, "" where it has none."""
    index = state.recall("index")
    return next((each.corpus_id for each in session.index_list().indexes if each.id == index), "")


def chosen(summaries: Sequence[ExperimentSummary], corpus_id: str) -> ExperimentSummary | None:
    """Return the experiment that the link names; without one the person's own last one, else the first shipped one of
    the corpus, else the first of all."""
    by_id = {each.id: each for each in summaries}
    wanted = state.recall(EXPERIMENT)
    if wanted:
        return by_id.get(wanted)
    own = [each for each in summaries if not each.is_shipped]
    of_corpus = [each for each in summaries if each.question_set == corpus_id]
    return next(iter([*own, *of_corpus, *summaries]), None)


def facts(summary: ExperimentSummary) -> str:
    """Return in words how much was run, and how far the experiment is."""
    size_text = say("evaluate.facts", n=len(summary.runs), questions=summary.all // max(1, len(summary.runs)))
    if summary.is_shipped:
        return say("evaluate.facts_shipped", facts=size_text)
    if summary.is_complete:
        return say("evaluate.facts_done", facts=size_text)
    return say("evaluate.facts_so_far", facts=size_text, n=summary.rows, all=summary.all)


def rows_to_choose(rows: Mapping[str, tuple[str, str]], shown: str, choose: Callable[[str], None], *, key: str) -> None:
    """Draw a row for each id: a button with its title that chooses it, and a note. shown: the id of the chosen one."""
    with st.container(key="evaluate_list", gap=None):
        for id_, (title, note) in rows.items():
            with st.container(key=f"experiment_row_{'chosen_' if id_ == shown else ''}{id_}", gap=None):
                buttons.tertiary(forms.plain(title), "", f"{key}_{id_}", choose, id_)
                draw(markup.muted(note))


def listing(summaries: Sequence[ExperimentSummary], shown: ExperimentSummary) -> None:
    """Draw all experiments, each with a button that shows it."""
    rows_to_choose({each.id: (each.title, facts(each)) for each in summaries}, shown.id, show, key="experiment")
    draw(html('<div class="lr-small lr-muted" style="padding:.4rem .6rem">{}</div>', say("evaluate.list_hint")))


def pick(summaries: Sequence[ExperimentSummary], shown: ExperimentSummary) -> None:
    """Draw the choice that replaces the list on a phone."""
    titles = {each.id: each.title for each in summaries}
    with st.container(key="evaluate_pick"):
        label = say("evaluate.experiment")
        choices.dropdown(EXPERIMENT, label, titles, default=shown.id, forgets=(RUN, AGAINST, KIND, *BRUSHED))


def show(experiment: str) -> None:
    """Show that experiment, and forget the choices made in another one. For callbacks."""
    state.remember(EXPERIMENT, experiment)
    state.forget(RUN, AGAINST, KIND, OTHER, *BRUSHED)


def budget_of(spec: ExperimentSpec) -> int:
    """Return the context budget in tokens that all runs share; 0 where runs have budgets of their own."""
    limits = {run.options.get(MAX_TOKENS) for run in spec.runs}
    known = all_strategies().by_name()
    is_official = all(
        run.options.get(MAX_TOKENS) == official_settings(known[run.strategy]).get(MAX_TOKENS)
        for run in spec.runs
        if run.strategy in known and MAX_TOKENS in run.options
    )
    limit = limits.pop() if len(limits) == 1 else None
    return limit if isinstance(limit, int) and not is_official else 0


def other_budgets(summaries: Sequence[ExperimentSummary], shown: ExperimentSummary) -> dict[int, ExperimentSummary]:
    """Return by token budget one experiment of the same runs and questions; for its own budget the shown one."""
    alike = [
        each
        for each in summaries
        if (each.question_set, set(each.runs), each.is_shipped)
        == (shown.question_set, set(shown.runs), shown.is_shipped)
    ]
    by_budget = {}
    for each in reversed(alike) if len(alike) > 1 else ():
        spec = opened(each).spec
        if set(run_titles.titles(spec.runs).values()) == set(run_titles.titles(opened(shown).spec.runs).values()):
            by_budget[budget_of(spec)] = each
    return dict(sorted((by_budget | {budget_of(opened(shown).spec): shown}).items()))


def kind_choice(result: ExperimentResult) -> str:
    """Draw the choice of the kind of question and return it, "" for all."""
    kinds = kinds_of(result)
    if len(kinds) < 2:
        return ""
    counts = {kind: len(of_kind(result, kind)) for kind in kinds}
    kind_titles = {"": say("evaluate.all_kinds", n=len(of_kind(result)))}
    kind_titles |= {kind: f"{forms.plain(measure_words.kind_title(kind))} {n:,}" for kind, n in counts.items()}
    return choices.pills(KIND, say("evaluate.kind"), kind_titles, label_visibility="collapsed", wrap=True)


def compared(runs: Sequence[RunSpec], baseline: str) -> tuple[str, str]:
    """Return the keys of the two compared runs: the chosen ones, else LeanRAG and the baseline."""
    keys = [run.key for run in runs]
    of_strategy: Mapping[str, str] = {run.strategy: run.key for run in reversed(runs)}
    run = of_strategy.get(_STARTER, keys[0])
    others = [key for key in keys if key != run] or keys
    candidates = [baseline, of_strategy.get(_BASELINE, ""), others[-1]]
    against = next(key for key in candidates if key in others)
    chosen_run = str(state.fitting(RUN, run, str, lambda value: value in keys))
    return chosen_run, str(state.fitting(AGAINST, against, str, lambda value: value in keys))


def follow(drawn: object, look: Callable[[], object], *, kind: str = "experiment") -> None:
    """Redraw the page as results come, while a job of that kind runs. drawn: what look() gave for what is drawn."""
    if any(job.kind.name == kind for job in session.running_jobs()):
        st.fragment(redraw_if_changed, run_every=_EVERY)(drawn, look)


def redraw_if_changed(drawn: object, look: Callable[[], object]) -> None:
    """Redraw the page if look() does not give what is drawn."""
    with suppress(LeanRAGError):  # deleted meanwhile, which the page says when it is redrawn
        if look() == drawn:
            return
    dialogs.refresh()


def progress(summaries: Sequence[ExperimentSummary], corpus_id: str) -> tuple[str, int]:
    """Return which experiment the page shows, and how many results it has."""
    shown = chosen(summaries, corpus_id)
    return (shown.id, shown.rows) if shown is not None else ("", 0)


def run_choice(name: str, label: str, runs: Sequence[RunSpec], default: str) -> str:
    """Draw the choice of a run of the experiment, and return its key."""
    return choices.dropdown(name, label, run_titles.titles(runs), default=default, width=210)


def take_settings(prefix: str, run: RunSpec) -> None:
    """Set the controls with that prefix ("" on Ask, a letter on Compare) to the run's strategy and options. For
    callbacks."""
    scope = Scope(prefix)
    info = all_strategies().by_name().get(run.strategy)
    if info is not None:
        state.remember(scope.name("strategy"), run.strategy)
        presets.set_options(scope, info, run.options, reset=True)


def take_columns(runs: Sequence[tuple[RunSpec, str]]) -> None:
    """Give Compare a column for each of these runs, with the index that is named beside it. For callbacks."""
    state.remember("index", runs[0][1])
    state.remember("cols", "abcd"[: max(columns.LEAST, len(runs))])
    state.forget("cview", "budget", "base")
    for (run, index), prefix in zip(runs, "abcd", strict=False):
        scope = Scope(prefix)
        state.remember(scope.name("index"), None if index == runs[0][1] else index)
        for setting in SETTINGS:  # of an index that the column had instead
            state.forget(scope.name(columns.index_name(setting)))
        take_settings(prefix, run)
