"""The board: a person moves the settings of a system and sees at once what they find and cost over the question set."""

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
from pages.ask import part_view
from pages.common import choices, code_view, session, state, to_presentation
from pages.common.component import component
from pages.common.messages import say, words
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
    """Return whether the system has settings and can answer a whole set without calling a model."""
    return not (info.calls_model and asks_model) and any(
        control.first for control in strategy_controls(info.config, ())
    )


def _board(chosen: Sequence[Column], info: StrategyInfo, questions: tuple[GoldQuestion, ...], measure: str) -> None:
    measure = state.recall(board_state.MEASURE) or measure
    this_board = board_of(chosen, info, questions)
    board_session = board_state.session_of(this_board.key)
    if board_session.leave:
        board_session.leave = False
        st.rerun()
    end_read_ahead()
    waiting = st.empty()
    if not board_session.is_drawn:
        waiting.container().skeleton(_HEIGHT)
    try:
        data = board_data(this_board, board_session, chosen, measure)
    except PartMissing as error:
        _offer_part(this_board, part_view.missing(error))
        return
    finally:
        waiting.empty()
    board_session.is_drawn = True
    part_view.made_line(board_state.PARTS, this_board.summary_of(this_board.now()), "")
    slider = next((control for control in this_board.controls if control.of_index), None)
    if slider is not None:
        board_stages.show(this_board.summary, words(slider.title), move_time(this_board, slider))
    component(_HERE / "board.js", _FRAME, parts=("board_chart", "figure_tools"))(
        data=data, key=_KEY, on_event_change=lambda: _heard(this_board, board_session)
    )
    code_view.button(lambda: _code(this_board, measure), key="board_code")
    _present_button(this_board, board_session, measure)
    state.publish_again()
    this_board.read_ahead(board_session)


def _offer_part(this_board: Board, part: str) -> None:
    """Draw the part that the system lacks, with a button that makes it: of the index of the current settings, or of the
    pinned ones."""
    for settings in (this_board.now(), this_board.pinned()):
        summary = this_board.summary_of(settings)
        lacking = session.workbench().parts.lacking(session.open_index(summary))
        if part in {each.name for each in lacking}:
            break
    part_view.offer(board_state.PARTS, summary, this_board.info, part)


def _code(this_board: Board, measure: str) -> Code:
    """Return code that repeats the current settings, and the pinned ones if they differ."""
    bench, settings, now = session.workbench(), {}, this_board.now()
    for name, values in (("now", now), ("pinned", this_board.pinned())):
        if name == "now" or values != now:
            folder = this_board.index_of(values).path or this_board.summary.path
            options, changed = own_settings(this_board.info, this_board.options(values)), this_board.of_index(values)
            settings[name] = Asked(this_board.summary.id, folder, this_board.info.name, options, changed)
    return code_of_board(bench.root, settings, bench.question_sets.best_about(this_board.summary.corpus_id), measure)


def _present_button(this_board: Board, board_session: Session, measure: str) -> None:
    """Add the pinned settings, the trail and the current settings to a presentation, if the set has the measure."""
    now, pinned = this_board.now(), this_board.pinned()
    if this_board.scored(now)[0].interval(measure) is None:
        return
    order = [pinned, *board_session.trail, now]
    tried = [each for place, each in enumerate(order) if each not in order[:place]]

    def make() -> AddedBoard:
        pinned_scores, _ = this_board.scored(pinned)
        points = tuple(_stored_point(this_board, each, pinned, pinned_scores, measure) for each in tried)
        return AddedBoard(
            system=this_board.info.title,
            settings=settings_words(this_board.info.name, this_board.options(pinned)),
            measure=message_of(f"board.measure.{measure}"),
            index=this_board.summary.name,
            made=date.today().isoformat(),
            points=points,
            pinned=0,
            now=tried.index(now),
        )

    topic = (measure, tuple(settings_link(each, this_board.ground) for each in tried), tried.index(now))
    to_presentation.button(BOARD, make, key="board_present", topic=topic)


def _stored_point(
    this_board: Board, settings: Mapping[str, Any], pinned: Mapping[str, Any], pinned_scores: SetScores, measure: str
) -> BoardPoint:
    scores, _ = this_board.scored(settings)
    changes = board.changes(scores, pinned_scores)
    is_pinned = settings == pinned
    return BoardPoint(
        name=message_of("present.board.pinned") if is_pinned else settings_name(this_board.controls, settings, pinned),
        tokens=known_estimate(scores.token_interval()),
        value=known_estimate(scores.interval(measure)),
        won=len(changes.won),
        lost=len(changes.lost),
    )


def _heard(this_board: Board, board_session: Session) -> None:
    """Carry out what a person did on the board, and store the message of an error. For callbacks."""
    board_session.failed = ""
    try:
        _do(this_board, board_session, st.session_state[_KEY].get("event") or {})
    except LeanRAGError as error:
        board_session.failed = words(error)


def _do(this_board: Board, board_session: Session, event: Mapping[str, Any]) -> None:
    kind, now, pinned = event.get("kind"), this_board.now(), this_board.pinned()
    board_session.seq = int(event.get("seq", board_session.seq))
    if kind == "move":
        known = {control.key: control for control in this_board.controls}
        places = {key: known[key].place(value) for key, value in event["settings"].items() if key in known}
        after = {**now, **{key: known[key].stops[place] for key, place in places.items() if place is not None}}
        board_state.move(board_session, now, after, int(event["gesture"]))
        for key in [key for key in after if after[key] != now[key]]:
            stops = known[key].stops
            board_session.moved, board_session.towards = (
                key,
                1 if stops.index(after[key]) > stops.index(now[key]) else -1,
            )
        board_session.undo = None
        this_board.remember(board_state.NOW, after)
    elif kind == "go" and 0 <= int(event["place"]) < len(board_session.trail):
        after = board_session.trail[int(event["place"])]
        board_state.move(board_session, now, after, -1)
        this_board.remember(board_state.NOW, after)
    elif kind == "back" and board_session.trail:
        this_board.remember(board_state.NOW, board_session.trail.pop())
        board_session.gesture = -1
    elif kind == "clear":
        board_session.trail.clear()
        board_session.gesture = -1
    elif kind == "all":
        board_session.all_shown = bool(event.get("shown"))
    elif kind == "pin":
        this_board.remember(board_state.PINNED, now)
    elif kind == "scale":
        state.remember(board_state.SCALE, "near" if state.recall(board_state.SCALE) != "near" else None)
    elif kind == "use" and not board_use.is_used(this_board, now):  # a second click would take the way back
        used = board_use.use(this_board.summary.id, this_board.info, this_board.options(now), this_board.index_id(now))
        ground = {**this_board.ground, **{key: value for key, value in now.items() if key.startswith("index.")}}
        for name, settings in ((board_state.NOW, now), (board_state.PINNED, pinned)):
            state.remember(name, settings_link(settings, ground))
        board_session.undo, board_session.leave = used, True
    elif kind == "undo" and board_session.undo is not None:
        board_use.undo(board_session.undo)
        board_session.undo, board_session.leave = None, True
    elif kind == "column":
        board_use.open_as_column(this_board.info, this_board.options(now), this_board.of_index(now))
        board_session.leave = True
    elif kind == "question" and 0 <= int(event["place"]) < len(this_board.questions):
        pairs = [(this_board.options(each), this_board.of_index(each)) for each in (pinned, now)]
        board_use.open_question(this_board.questions[int(event["place"])].question, this_board.info, pairs)
        board_session.leave = True
