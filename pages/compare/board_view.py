"""The board: settings of a system are moved, and the whole question set says at once what they find and cost."""

from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import streamlit as st

from leanrag_core.comparing import board
from leanrag_core.comparing.as_code import Asked, Code, code_of_board
from leanrag_core.comparing.board import SetScores
from leanrag_core.comparing.board_controls import settings_link, settings_name, strategy_controls
from leanrag_core.errors import LeanRAGError, PartMissing
from leanrag_core.evaluation.gold import GoldQuestion
from leanrag_core.messages.message import message as message_of
from leanrag_core.presenting.making import known_estimate
from leanrag_core.presenting.story import BOARD, AddedBoard, BoardPoint
from leanrag_core.retrieval.base import StrategyInfo
from leanrag_core.retrieval.settings import own_settings, settings_words
from pages.common import choices, code_view, session, state, to_presentation
from pages.common.component import component
from pages.common.messages import message, say, words
from pages.compare import board_stages, board_state, board_use, gold_view
from pages.compare.board_data import board_data, move_time
from pages.compare.board_scores import Board, board_of, end_read_ahead
from pages.compare.board_state import Session
from pages.compare.columns import Column

_HERE = Path(__file__).parent
_FRAME = '<div class="lr-board"></div>'
_KEY = "lr_board_events"
_HEIGHT = 640  # pixels of the board, while the first scores are computed


def show(chosen: Sequence[Column], strategies: Mapping[str, StrategyInfo]) -> None:
    """Draw the board of the index of column A, on the question set of its corpus."""
    summary = chosen[0].base
    questions = gold_view.questions_of(summary)
    if not questions:
        gold_view.offer_questions("board_make_questions")
        return
    asks_model = session.workbench().questions.asks_model(str(summary.config.model))
    usable = {name: info for name, info in strategies.items() if _is_usable(info, asks_model=asks_model)}
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key="board_choices"):
        first = chosen[0].info.name if chosen[0].info.name in usable else next(iter(usable))
        titles = {name: words(info.title) for name, info in usable.items()}
        name = choices.dropdown(
            board_state.SYSTEM, say("ask.strategy"), titles, default=first, label_visibility="collapsed", width=230
        )
        has_gold = any(question.evidence for question in questions)
        measures = board.MEASURES if has_gold else board.WITHOUT_GOLD
        titles = {measure: say(f"board.measure.{measure}") for measure in measures}
        choices.dropdown(board_state.MEASURE, say("board.measure"), titles, label_visibility="collapsed", width=250)
    st.fragment(_board)(chosen, usable[name], questions, next(iter(measures)))


def _is_usable(info: StrategyInfo, *, asks_model: bool) -> bool:
    """Return whether the system has settings that a whole set can be asked with, without a call of a model."""
    return not (info.calls_model and asks_model) and any(
        control.first for control in strategy_controls(info.config, ())
    )


def _board(chosen: Sequence[Column], info: StrategyInfo, questions: tuple[GoldQuestion, ...], measure: str) -> None:
    measure = state.recall(board_state.MEASURE) or measure
    made = board_of(chosen, info, questions)
    held = board_state.session_of(made.key)
    if held.leave:
        held.leave = False
        st.rerun()
    end_read_ahead()
    waiting = st.empty()
    if not held.is_drawn:
        waiting.container().skeleton(_HEIGHT)
    try:
        data = board_data(made, held, chosen, measure)
    except PartMissing as error:
        message(error, title=say("board.part_missing"))
        return
    finally:
        waiting.empty()
    held.is_drawn = True
    slider = next((control for control in made.controls if control.of_index), None)
    if slider is not None:
        board_stages.show(made.summary, words(slider.title), move_time(made, slider))
    component(_HERE / "board.js", _FRAME, draws_svg=True, parts=("figure_tools",), library=_HERE / "board_chart.js")(
        data=data, key=_KEY, on_event_change=lambda: _heard(made, held)
    )
    code_view.button(lambda: _code(made, measure), key="board_code")
    _present_button(made, held, measure)
    state.publish_again()
    made.read_ahead(held)


def _code(made: Board, measure: str) -> Code:
    """Return what repeats the setting now, and the pinned one where that is another."""
    bench, settings, now = session.workbench(), {}, made.now()
    for name, values in (("now", now), ("pinned", made.pinned())):
        if name == "now" or values != now:
            folder = made.index_of(values).path or made.summary.path
            options, changed = own_settings(made.info, made.options(values)), made.of_index(values)
            settings[name] = Asked(made.summary.id, folder, made.info.name, options, changed)
    return code_of_board(bench.root, settings, bench.question_sets.best_about(made.summary.corpus_id), measure)


def _present_button(made: Board, held: Session, measure: str) -> None:
    """Add the pinned setting, the trail and the setting now to a presentation, where the set has what is measured."""
    now, pinned = made.now(), made.pinned()
    if made.scored(now)[0].interval(measure) is None:
        return
    order = [pinned, *held.trail, now]
    tried = [each for place, each in enumerate(order) if each not in order[:place]]

    def make() -> AddedBoard:
        pinned_scores, _ = made.scored(pinned)
        points = tuple(_stored_point(made, each, pinned, pinned_scores, measure) for each in tried)
        return AddedBoard(
            system=made.info.title,
            settings=settings_words(made.info.name, made.options(pinned)),
            measure=message_of(f"board.measure.{measure}"),
            index=made.summary.name,
            made=date.today().isoformat(),
            points=points,
            pinned=0,
            now=tried.index(now),
        )

    topic = (measure, tuple(settings_link(each, made.ground) for each in tried), tried.index(now))
    to_presentation.button(BOARD, make, key="board_present", topic=topic)


def _stored_point(
    made: Board, settings: Mapping[str, Any], pinned: Mapping[str, Any], pinned_scores: SetScores, measure: str
) -> BoardPoint:
    scores, _ = made.scored(settings)
    changes = board.changes(scores, pinned_scores)
    is_pinned = settings == pinned
    return BoardPoint(
        name=message_of("present.board.pinned") if is_pinned else settings_name(made.controls, settings, pinned),
        tokens=known_estimate(scores.token_interval()),
        value=known_estimate(scores.interval(measure)),
        won=len(changes.won),
        lost=len(changes.lost),
    )


def _heard(made: Board, held: Session) -> None:
    """Carry out what a person did on the board, and keep the message of what failed. For callbacks."""
    held.failed = ""
    try:
        _do(made, held, st.session_state[_KEY].get("event") or {})
    except LeanRAGError as error:
        held.failed = words(error)


def _do(made: Board, held: Session, event: Mapping[str, Any]) -> None:
    kind, now, pinned = event.get("kind"), made.now(), made.pinned()
    held.seq = int(event.get("seq", held.seq))
    if kind == "move":
        known = {control.key: control for control in made.controls}
        places = {key: known[key].place(value) for key, value in event["settings"].items() if key in known}
        after = {**now, **{key: known[key].stops[place] for key, place in places.items() if place is not None}}
        board_state.move(held, now, after, int(event["gesture"]))
        for key in [key for key in after if after[key] != now[key]]:
            stops = known[key].stops
            held.moved, held.towards = key, 1 if stops.index(after[key]) > stops.index(now[key]) else -1
        held.undo = None
        made.remember(board_state.NOW, after)
    elif kind == "go" and 0 <= int(event["place"]) < len(held.trail):
        after = held.trail[int(event["place"])]
        board_state.move(held, now, after, -1)
        made.remember(board_state.NOW, after)
    elif kind == "back" and held.trail:
        made.remember(board_state.NOW, held.trail.pop())
        held.gesture = -1
    elif kind == "clear":
        held.trail.clear()
        held.gesture = -1
    elif kind == "all":
        held.all_shown = bool(event.get("shown"))
    elif kind == "pin":
        made.remember(board_state.PINNED, now)
    elif kind == "scale":
        state.remember(board_state.SCALE, "near" if state.recall(board_state.SCALE) != "near" else None)
    elif kind == "use":
        used = board_use.use(made.summary.id, made.info, made.options(now), made.index_id(now))
        ground = {**made.ground, **{key: value for key, value in now.items() if key.startswith("index.")}}
        for name, settings in ((board_state.NOW, now), (board_state.PINNED, pinned)):
            state.remember(name, settings_link(settings, ground))
        held.undo, held.leave = used, True
    elif kind == "undo" and held.undo is not None:
        board_use.undo(held.undo)
        held.undo, held.leave = None, True
    elif kind == "column":
        board_use.open_as_column(made.info, made.options(now), made.of_index(now))
        held.leave = True
    elif kind == "question" and 0 <= int(event["place"]) < len(made.questions):
        pairs = [(made.options(each), made.of_index(each)) for each in (pinned, now)]
        board_use.open_question(made.questions[int(event["place"])].question, made.info, pairs)
        held.leave = True
