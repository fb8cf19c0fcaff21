"""What an experiment will take: retrievals, model calls, tokens and money, and the parts that are made first."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from leanrag_core.errors import LeanRAGError
from leanrag_core.evaluation.judging.tasks import pairs_of
from leanrag_core.figures import numbers
from leanrag_core.retrieval.base import StrategyInfo
from leanrag_core.types.calls import Budget
from leanrag_core.types.config import model_title
from leanrag_core.types.experiment import PAIRWISE, ExperimentSpec, MissingPart
from leanrag_core.types.roles import ANSWERS, JUDGING
from leanrag_core.types.settings import Price, Settings
from leanrag_core.types.summary import IndexSummary
from pages.common import markup, session
from pages.common.frame import plain_errors
from pages.common.html import draw, html
from pages.common.messages import message, say
from pages.evaluate import experiments

# Tokens of a usual call: a context of some 5,000 with its prompt, two answers of some 400 words with the judge's.
_ANSWER_TOKENS, _JUDGE_TOKENS = (5_500, 300), (2_200, 400)


@dataclass(frozen=True)
class Load:
    """What an experiment will do. retrievals: questions times runs; answer_calls: the least number of calls of a
    language model; judge_calls: replies of judges."""

    retrievals: int
    answer_calls: int
    judge_calls: int


def models_of(indexes: Sequence[IndexSummary]) -> dict[str, str]:
    """Return the model that answers, for each index whose questions are answered by a language model."""
    bench = session.workbench()
    answering = ""
    with plain_errors():
        answering = bench.settings.read().answer_model
    return {
        each.id: answering or str(each.config.model)
        for each in indexes
        if bench.questions.asks_model(str(each.config.model))
    }


def tokens_of(load: Load) -> tuple[int, int]:
    """Estimate the tokens of the prompts and of the replies."""
    prompt, completion = (
        load.answer_calls * _ANSWER_TOKENS[place] + load.judge_calls * _JUDGE_TOKENS[place] for place in (0, 1)
    )
    return prompt, completion


def dollars_of(spec: ExperimentSpec, load: Load, model_of: Mapping[str, str], settings: Settings) -> float | None:
    """Estimate the cost in dollars by the price table; None if it lacks the price of a model that does not run on this
    machine."""
    answering = [model_of[run.index] for run in spec.runs if run.index in model_of]
    judging = [judge.model for judge in spec.judges]
    shares = [
        (settings.of_role(ANSWERS), answering, load.answer_calls, _ANSWER_TOKENS),
        (settings.of_role(JUDGING), judging, load.judge_calls, _JUDGE_TOKENS),
    ]
    paid = [(server_settings, models) for server_settings, models, _, _ in shares if not server_settings.local]
    if any(model_title(name) not in server_settings.prices for server_settings, models in paid for name in models):
        return None
    dollars = 0.0
    for server_settings, models, calls, (prompt, completion) in shares:
        prices: list[Price] = [server_settings.price(model_title(name)) for name in models]
        dollars += sum(price.of(prompt, completion) for price in prices) * calls / max(1, len(prices))
    return dollars


def _spending(spec: ExperimentSpec, load: Load, model_of: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return rows on tokens and money."""
    rows = [(say("evaluate.form.about_tokens"), numbers.tokens(sum(tokens_of(load))))]
    with plain_errors():
        dollars = dollars_of(spec, load, model_of, session.workbench().settings.read())
        if dollars is None:
            cost = say("evaluate.form.no_price")
        else:
            cost = numbers.money(dollars) if dollars else say("evaluate.form.no_cost")
        rows.append((say("evaluate.form.about_cost"), cost))
    return rows


def load_of(
    spec: ExperimentSpec, questions: int, strategies: Mapping[str, StrategyInfo], model_of: Mapping[str, str]
) -> Load:
    """Count what the experiment will do over its questions. model_of: see models_of()."""
    asking = [run for run in spec.runs if run.index in model_of]
    own_calls = sum(strategies[run.strategy].calls_model for run in asking if run.strategy in strategies)
    answer_calls = questions * (len(asking) * spec.answers + own_calls)
    judge_calls = 0
    for judge in spec.judges:
        for kind in judge.kinds:
            of_question = 2 * len(pairs_of(spec, judge)) if kind == PAIRWISE else len(spec.runs)
            judge_calls += judge.repeats * questions * of_question
    return Load(questions * len(spec.runs), answer_calls, judge_calls)


def show(
    spec: ExperimentSpec, questions: int, strategies: Mapping[str, StrategyInfo], model_of: Mapping[str, str]
) -> Budget | None:
    """Draw the forecast of the experiment; return the budget if models are called. Without runs, which the form tells,
    there is nothing to forecast."""
    if not spec.runs:
        return None
    load = load_of(spec, questions, strategies, model_of)
    draw(markup.label(say("evaluate.form.forecast")))
    rows = [
        (say("evaluate.form.runs"), f"{len(spec.runs):,}"),
        (say("evaluate.form.retrievals"), f"{load.retrievals:,}"),
    ]
    if load.answer_calls:
        rows.append((say("evaluate.form.answer_calls"), say("evaluate.form.at_least", n=load.answer_calls)))
    if load.judge_calls:
        rows.append((say("evaluate.form.judge_calls"), f"{load.judge_calls:,}"))
    if load.answer_calls or load.judge_calls:
        rows += _spending(spec, load, model_of)
    missing = _missing(spec)
    if missing:
        titles = (say(f"part.{part}.title") for part in sorted({each.part for each in missing}))
        rows.append((say("evaluate.form.parts"), say("ask.comma").join(titles)))
    if not load.answer_calls and not load.judge_calls:
        draw(
            html('<div class="lr-big"><b>{}</b><span>{}</span></div>', say("evaluate.form.no_cost"), _time(spec, load))
        )
    draw(markup.facts_table(("", ""), rows, caption=say("evaluate.form.forecast")))
    if missing:
        draw(markup.muted(say("evaluate.form.parts_hint", n=len(missing))))
    if not load.answer_calls and not load.judge_calls:
        return None
    return budget_fields("experiment")


def budget_fields(key: str) -> Budget:
    """Ask for the most dollars and tokens to spend and return them. key: begins the fields' keys."""
    left, right = st.columns(2, gap="small")
    with left:
        dollars = st.number_input(
            say("evaluate.form.dollars"), min_value=0.0, value=0.0, step=1.0, format="%.2f", key=f"{key}_dollars"
        )
    with right:
        tokens = st.number_input(say("evaluate.form.tokens"), min_value=0, value=0, step=100_000, key=f"{key}_tokens")
    draw(markup.muted(say("evaluate.form.budget_hint")))
    return Budget(float(dollars), int(tokens))


def _missing(spec: ExperimentSpec) -> tuple[MissingPart, ...]:
    """Return the index parts that have to be made; this opens every index."""
    key = tuple((run.index, run.strategy) for run in spec.runs)
    try:
        return _looked_up(key, spec) if key else ()
    except LeanRAGError as error:
        message(error, kind="error")
        return ()


@st.cache_resource(ttl=15, max_entries=16, show_spinner=False)
def _looked_up(key: tuple[tuple[str, str], ...], _spec: ExperimentSpec) -> tuple[MissingPart, ...]:
    return session.workbench().experiments.missing_parts(_spec)


def _time(spec: ExperimentSpec, load: Load) -> str:
    """Estimate the time of retrieval from an earlier experiment with the same strategies."""
    summaries = session.workbench().experiments.store.all()
    if not summaries:
        return ""
    times: dict[str, list[float]] = {}
    with plain_errors():
        result = experiments.opened(summaries[0])
        strategy_of = {run.key: run.strategy for run in result.spec.runs}
        for cost in result.costs:
            times.setdefault(strategy_of.get(cost.run, ""), []).append(cost.retrieval_ms)
    known = [sum(times[run.strategy]) / len(times[run.strategy]) for run in spec.runs if times.get(run.strategy)]
    if not known:
        return ""
    seconds = load.retrievals * sum(known) / len(known) / 1000
    about = "evaluate.form.about_with_answers" if spec.answers else "evaluate.form.about"
    return say(about, time=numbers.duration(max(1.0, seconds)))
