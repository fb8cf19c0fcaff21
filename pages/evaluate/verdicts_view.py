"""Verdicts of people: two anonymous answers to one question, judged by keyboard; the results with the agreement to
judges."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import streamlit as st

from leanrag_core.errors import LeanRAGError
from leanrag_core.evaluation.audit.comparisons import by_judge
from leanrag_core.evaluation.audit.judges import agreements
from leanrag_core.evaluation.judging.people import EACH, WHOLE, Step, Voting, voting
from leanrag_core.evaluation.judging.tables import WinRate, win_rates
from leanrag_core.evaluation.run_titles import titled
from leanrag_core.figures import numbers
from leanrag_core.figures.interval_marks import CellScale
from leanrag_core.messages.catalog import joined_sentences
from leanrag_core.types.experiment import (
    HUMAN,
    PAIRWISE,
    ExperimentResult,
    ExperimentSummary,
    Judgement,
    human_judge,
    is_human,
)
from leanrag_core.types.visible import visible_values
from pages.common import buttons, choices, markup, run_titles, session, state, widgets
from pages.common.component import component
from pages.common.html import draw, html
from pages.common.messages import message, say, words
from pages.evaluate import experiments, figure_view, title_view
from pages.evaluate.audit_charts import criterion_title, judge_title, same_words
from pages.evaluate.judged_view import interval_cell, interval_table

_SCRIPT = Path(__file__).with_name("ballot.js")
_FRAME = '<div class="lr-ballot"></div>'
_KEY = "lr_ballot_events"
_AHEAD = 8  # pending verdicts, and given ones to go back to, that the browser holds before it asks for more
_MOST_RUNS = 4
_MOST_NAME = 40
_SEPARATOR = " | "
_EVERYBODY = f"{HUMAN}:"  # all persons together; no name is empty


@dataclass(frozen=True)
class Vote:
    """What is voted on, and by whom. runs: keys of the compared runs."""

    summary: ExperimentSummary
    result: ExperimentResult
    runs: tuple[str, ...]
    titles: Mapping[str, str]
    voter: str
    criteria: tuple[str, ...]

    @property
    def key(self) -> str:
        """Return the key by which the browser tells one vote from another."""
        return repr((self.result.id, self.runs, self.voter, self.criteria))

    def voting(self) -> Voting:
        """Return the pairs and the stored votes."""
        votes = session.workbench().verdicts.standing(self.result.id)
        questions = experiments.questions_of(self.result.id)
        result = replace(self.result, judgements=votes)
        return voting(result, questions, self.runs, human_judge(self.voter), self.criteria)


@dataclass
class Heard:
    """What a session has received from the browser. seq: number of the last action; failed: why the last action did
    nothing."""

    voting: str = ""
    seq: int = 0
    failed: str = ""


def show(summaries: Sequence[ExperimentSummary], shown: ExperimentSummary | None) -> None:
    """Draw the choice of runs and voter, the ballot, and the results once they are revealed."""
    answered = {each.id: each for each in summaries if each.has_answers and len(each.runs) > 1}
    if not answered:
        message(say("verdicts.no_answers"))
        return
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom", key="verdicts_controls"):
        titles = {id_: each.title for id_, each in answered.items()}
        of_its_questions = [each for each in answered.values() if shown and each.question_set == shown.question_set]
        default = (
            shown.id if shown is not None and shown.id in answered else [*of_its_questions, *answered.values()][0].id
        )
        if state.recall(experiments.EXPERIMENT) not in answered:
            state.forget(experiments.EXPERIMENT)
        forgets = (experiments.VOTE_RUNS, experiments.REVEALED)
        label = say("evaluate.experiment")
        id_ = choices.dropdown(experiments.EXPERIMENT, label, titles, default=default, forgets=forgets, width=300)
        result = experiments.opened(answered[id_])
        titles_of_runs = run_titles.titles(result.spec.runs)
        runs = _runs(result, titles_of_runs)
        voter = _voter()
        criteria = _criteria()
    if len(runs) < 2:
        message(say("verdicts.two_runs"))
        return
    if not title_view.fits(voter, _MOST_NAME):
        return
    vote = Vote(answered[id_], result, runs, titles_of_runs, voter, criteria)
    st.fragment(_vote)(vote)


def _runs(result: ExperimentResult, titles: Mapping[str, str]) -> tuple[str, ...]:
    """Draw the choice of the runs whose answers are compared and return them, two by default."""
    default = list(experiments.compared(result.spec.runs, result.spec.baseline))
    chosen: list[str] = widgets.remembered(
        experiments.VOTE_RUNS,
        default,
        lambda mount: choices.multiselect(
            say("verdicts.runs"), titles, mount.value, **mount.wired, max_selections=_MOST_RUNS, width=340
        ),
        widgets.Values(
            parse=lambda text: text.split(_SEPARATOR),
            allowed=lambda value: set(value) <= set(titles),
            write=_SEPARATOR.join,
            form=widgets.labels(titles),
        ),
    )
    return tuple(key for key in titles if key in chosen)


def _voter() -> str:
    """Ask for the name under which the verdicts are stored, and return it."""
    label, placeholder = say("verdicts.voter"), say("verdicts.voter_hint")
    return " ".join(choices.text(experiments.VOTER, label, placeholder=placeholder, width=170).split())


def _criteria() -> tuple[str, ...]:
    titles = {"whole": say("verdicts.whole"), "each": say("verdicts.each")}
    return EACH if choices.segments(experiments.VOTE_BY, say("verdicts.by"), titles) == "each" else WHOLE


def _vote(vote: Vote) -> None:
    """Draw the ballot, and below it the results."""
    heard = state.in_session("lr_ballot", Heard)
    if heard.voting != vote.key:
        heard.voting, heard.failed = vote.key, ""
    now = vote.voting()
    if not now.ballots:
        message(say("verdicts.nothing", n=now.same) if now.same else say("verdicts.not_answered"))
        return
    component(_SCRIPT, _FRAME)(
        data=visible_values(_data(vote, now, heard)), key=_KEY, on_event_change=lambda: _do_all(vote, heard)
    )
    notes = [say("verdicts.hidden")]
    if now.same:
        notes.append(say("verdicts.left_out", n=now.same))
    draw(markup.muted(joined_sentences(notes)))
    is_over = now.n_done == len(now.ballots)
    is_revealed = state.recall(experiments.REVEALED) == "1"
    if not is_over:
        label, icon, other = say("verdicts.reveal"), "visibility", "1"
        if is_revealed:
            label, icon, other = say("verdicts.hide"), "visibility_off", ""
        buttons.tertiary(label, icon, "verdicts_reveal", state.remember, experiments.REVEALED, other)
    if is_over or is_revealed:
        with st.container(key="verdicts_results"):
            _results(vote)
    state.publish_again()


def _data(vote: Vote, now: Voting, heard: Heard) -> dict[str, Any]:
    """Return what the browser shows: the next ballots and the progress. Nothing in it names a run."""
    open_steps = now.open_steps()
    places = list(dict.fromkeys(step.place for step in open_steps))
    done = len(now.ballots) - len(places)
    place_of = {(each.question, each.left, each.right): place for place, each in enumerate(now.ballots)}

    def shown(step: Step, done: int) -> dict[str, Any]:
        ballot = now.ballots[step.place]
        return {
            "place": step.place,
            "criterion": step.criterion,
            "asks": say(f"verdicts.asks.{step.criterion}"),
            "question": ballot.text,
            "answers": [list(answer) for answer in ballot.answers],
            "done": done,
        }

    verdicts, reopened = list[dict[str, Any]](), set(places)
    for last in session.workbench().verdicts.last(vote.result.id, vote.runs, voter=vote.voter, n=_AHEAD):
        place, criterion = place_of.get((last.question, last.first, last.second)), next(iter(last.verdicts))
        if place is None or criterion not in vote.criteria:
            break
        reopened.add(place)
        verdicts.insert(0, shown(Step(place, criterion), len(now.ballots) - len(reopened)))
    return {
        "voting": vote.key,
        "voter": vote.voter,
        "seq": heard.seq,
        "failed": heard.failed,
        "steps": [shown(step, done + places.index(step.place)) for step in open_steps[:_AHEAD]],
        "given": verdicts,
        "done": done,
        "total": len(now.ballots),
        "undo": bool(now.votes),
        "criteria": [[name, criterion_title(name)] for name in vote.criteria],
        "words": {
            **{name: say(f"verdicts.{name}") for name in ("first", "second", "tie", "undo", "undone", "wait")},
            "progress": say("verdicts.progress"),
            "count": say("verdicts.count", done="{done}", total="{total}"),
            "over": say("verdicts.over", n=len(now.ballots)),
            "voted": [say(f"verdicts.voted.{name}") for name in ("tie", "first", "second")],
            "answers": [say("verdicts.answer", n=n) for n in (1, 2)],
        },
    }


def _do_all(vote: Vote, heard: Heard) -> None:
    """Carry out the browser's actions, each once and in order. For callbacks."""
    heard.failed = ""
    state.remember(experiments.REVEALED, None)  # results that change with a vote would reveal whose answer it was
    actions = (st.session_state[_KEY].get("event") or {}).get("actions") or []
    verdicts = session.workbench().verdicts
    try:
        now = vote.voting()
        for action in actions:
            if int(action["seq"]) <= heard.seq:
                continue
            if action["kind"] == "undo":
                verdicts.undo(vote.result.id, vote.runs, voter=vote.voter)
            elif 0 <= int(action["place"]) < len(now.ballots):
                ballot, verdict = now.ballots[int(action["place"])], float(action["verdict"])
                verdicts.vote(vote.result.id, ballot, verdict, voter=vote.voter, criterion=str(action["criterion"]))
            heard.seq = int(action["seq"])
    except LeanRAGError as error:
        heard.failed = words(error)
    heard.seq = max([heard.seq, *(int(action["seq"]) for action in actions)])


def _results(vote: Vote) -> None:
    """Draw the persons' win rates beside the judges', and how far they agree."""
    votes = session.workbench().verdicts.standing(vote.result.id)
    judged = [each for each in vote.result.judgements if not is_human(each.judge)]
    shown = [each for each in titled((*votes, *judged), vote.titles) if each.kind == PAIRWISE and _is_of(vote, each)]
    people = [judge for judge in by_judge(shown) if is_human(judge)]
    if not people:
        draw(markup.muted(say("verdicts.none_yet")))
        return
    figure_view.title(say("verdicts.results"), say("verdicts.results_note", n=sum(is_human(j.judge) for j in shown)))
    pooled = [replace(each, judge=_EVERYBODY) for each in shown if is_human(each.judge)] if len(people) > 1 else []
    order = [vote.titles[key] for key in vote.result.spec.order]
    _rates(win_rates((*shown, *pooled), vote.result.spec.seed, order))
    draw(markup.muted(say("verdicts.rates_note")))
    _agreement(shown)


def _is_of(vote: Vote, judgement: Judgement) -> bool:
    return {judgement.first, judgement.second} <= {vote.titles[run] for run in vote.runs}


def _rates(rates: Sequence[WinRate]) -> None:
    """Draw a table of the first run's win rates: one row per pair and voter or judge, one column per criterion."""
    criteria = list(dict.fromkeys(each.criterion for each in rates))
    by_key = {(each.a, each.b, each.judge, each.criterion): each for each in rates}
    scale, lines = CellScale(0.0, 1.0), []
    for a, b, judge in dict.fromkeys((each.a, each.b, each.judge) for each in rates):
        rates_of_judge = [by_key.get((a, b, judge, name)) for name in criteria]
        n = max((len(each.by_question) for each in rates_of_judge if each is not None), default=0)
        who = say("verdicts.everybody") if judge == _EVERYBODY else judge_title(judge)
        name = html(
            '<td>{}<span class="set">{}</span></td>', say("audit.pair", a=a, b=b), say("verdicts.by_whom", who=who, n=n)
        )
        cells = [
            interval_cell(
                None if each is None else each.win_rate,
                "" if each is None or len(criteria) > 1 else _beside(each),
                scale,
                "",
                numbers.share,
            )
            for each in rates_of_judge
        ]
        lines.append(html("<tr>{}{}</tr>", name, html("{}" * len(cells), *cells)))
    head = [say("evaluate.judged_wins"), *map(criterion_title, criteria)]
    draw(interval_table(say("evaluate.judged_wins"), head, lines))


def _beside(rate: WinRate) -> str:
    """Return the interval of a win rate, and its p-value."""
    interval, p = rate.win_rate, numbers.p_value(rate.p_holm)
    if interval is None or interval.low is None or interval.high is None:
        return f"p {p}"
    return say("verdicts.beside", low=numbers.share(interval.low), high=numbers.share(interval.high), p=p)


def _agreement(judgements: Sequence[Judgement]) -> None:
    """Draw how far each person agrees with each judge and each other person."""
    rows = [
        (
            judge_title(each.judge),
            judge_title(each.other),
            same_words(each),
            "–" if each.kappa is None else numbers.score(each.kappa),
            f"{each.n:,}",
        )
        for each in agreements(by_judge(judgements))
        if each.judge != each.other and (is_human(each.judge) or is_human(each.other)) and each.n
    ]
    if not rows:
        draw(markup.muted(say("verdicts.no_judge")))
        return
    head = tuple(say(f"evaluate.audit.agreement_head.{name}") for name in ("judge", "other", "same", "kappa", "n"))
    draw(
        markup.label(say("evaluate.audit.agreement")), markup.facts_table(head, rows, caption=say("verdicts.agreement"))
    )
