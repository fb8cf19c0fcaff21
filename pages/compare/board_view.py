"""The board: settings of a system are moved, and the whole question set says at once what they find and cost."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

import streamlit as st

from leanrag_core.comparing import board
from leanrag_core.comparing.as_code import Asked, Code, code_of_board
from leanrag_core.comparing.board import QuestionScorer, SetScores
from leanrag_core.comparing.board_controls import (
    CHOICE,
    SLIDER,
    Control,
    index_controls,
    index_settings,
    neighbours,
    number,
    numbers_of_links,
    settings_link,
    settings_name,
    split_settings,
    strategy_controls,
)
from leanrag_core.errors import LeanRAGError, PartMissing
from leanrag_core.evaluation.gold import GoldQuestion
from leanrag_core.evaluation.statistics import Interval
from leanrag_core.execution.background import LatestWork
from leanrag_core.figures import numbers
from leanrag_core.messages.message import message as message_of
from leanrag_core.presenting.making import known_estimate
from leanrag_core.presenting.story import BOARD, AddedBoard, BoardPoint
from leanrag_core.retrieval.base import MAX_TOKENS, RERANK, StrategyInfo
from leanrag_core.retrieval.settings import official_settings, own_settings, settings_words
from leanrag_core.system.threads import BoundedCache
from leanrag_core.types.index import Index
from leanrag_core.types.manifest import HEURISTIC, IMPORTED
from leanrag_core.types.summary import IndexSummary
from leanrag_core.types.visible import visible_values
from pages.common import choices, code_view, session, state, to_presentation
from pages.common.component import component
from pages.common.drawing_view import tools
from pages.common.frame import page_path
from pages.common.messages import message, say, words
from pages.compare import board_stages, board_state, board_use, gold_view
from pages.compare.board_state import Session
from pages.compare.columns import Column
from pages.evaluate import measure_words

_HERE = Path(__file__).parent
_FRAME = '<div class="lr-board"></div>'
_KEY = "lr_board_events"
_KEPT = 400  # results of settings
_HEIGHT = 640  # pixels of the board, while the first scores are computed
_AHEAD_AFTER = 0.15  # seconds in which the answer reaches the browser
_WORDS = (
    *("now", "pinned", "pinned_at", "as_pinned", "earlier", "other", "interval", "back_one", "clear_trail", "go_back"),
    *(
        "one_ago",
        "moves_ago",
        "context_tokens",
        "against",
        "won",
        "lost",
        "none_lost",
        "none_won",
        "all_of",
        "more_won",
        "same",
    ),
    *("use", "use_keep", "pin", "column", "keeps", "undo", "used", "making", "budget", "kinds", "kinds_key", "gold"),
    *(
        "sheet",
        "close_sheet",
        "row_opens",
        "trail",
        "more",
        "axis_whole",
        "axis_near",
        "x_title",
        "retrieval",
        "index",
        "setting",
    ),
)


@dataclass(frozen=True)
class Board:
    """What a board is of. ground: the official settings and those of the index; start: the settings of column A. key:
    of index, system and set, for what is kept."""

    summary: IndexSummary
    index: Index
    info: StrategyInfo
    questions: tuple[GoldQuestion, ...]
    controls: tuple[Control, ...]
    ground: Mapping[str, Any]
    start: Mapping[str, Any]
    key: tuple[object, ...]

    def name(self, settings: Mapping[str, Any], beside: Mapping[str, Any]) -> str:
        """Return what a setting is called beside another one."""
        return words(settings_name(self.controls, settings, beside))


def show(chosen: Sequence[Column], strategies: Mapping[str, StrategyInfo]) -> None:
    """Draw the board of the index of column A, on the question set of its corpus."""
    summary = chosen[0].base
    questions = gold_view.questions_of(summary)
    if not questions:
        message(say("board.no_questions"))
        if st.button(say("board.make_questions"), icon=":material/rule:", key="board_make_questions"):
            st.switch_page(page_path("evaluate"))
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


def _board_of(chosen: Sequence[Column], info: StrategyInfo, questions: tuple[GoldQuestion, ...]) -> Board:
    summary = chosen[0].base
    index = session.open_index(summary)
    official = official_settings(info)
    start = {**official, **(chosen[0].chosen.options if chosen[0].info.name == info.name else {})}
    config, heuristic = index.manifest.config, index.manifest.kind == HEURISTIC
    links = [state.recall(board_state.NOW), state.recall(board_state.PINNED)]
    listed = strategy_controls(info.config, [start, *numbers_of_links(links, info.config)])
    ground, start = ({control.key: each[control.key] for control in listed} for each in (official, start))
    if index.manifest.kind != IMPORTED and index.manifest.corpus.id:
        own = index_settings(config, heuristic=heuristic)
        tried = index_settings(replace(config.checked(), **chosen[0].changed), heuristic=heuristic)
        ground, start = ground | own, start | tried
        listed += index_controls(config, [own, tried], heuristic=heuristic)
    key = (summary.id, summary.created, info.name, hash(questions))
    return Board(summary, index, info, questions, listed, ground, start, key)


def _board(chosen: Sequence[Column], info: StrategyInfo, questions: tuple[GoldQuestion, ...], measure: str) -> None:
    measure = state.recall(board_state.MEASURE) or measure
    made = _board_of(chosen, info, questions)
    held = board_state.session_of(made.key)
    if held.leave:
        held.leave = False
        st.rerun()
    _ahead().end()
    waiting = st.empty()
    if not held.is_drawn:
        waiting.container().skeleton(_HEIGHT)
    try:
        data = _data(made, held, chosen, measure)
    except PartMissing as error:
        message(error, title=say("board.part_missing"))
        return
    finally:
        waiting.empty()
    held.is_drawn = True
    slider = next((control for control in made.controls if control.of_index), None)
    if slider is not None:
        board_stages.show(made.summary, words(slider.title), _move_time(made, slider))
    component(_HERE / "board.js", _FRAME, draws_svg=True, parts=("figure_tools",), library=_HERE / "board_chart.js")(
        data=data, key=_KEY, on_event_change=lambda: _heard(made, held)
    )
    code_view.button(lambda: _code(made, measure), key="board_code")
    _present_button(made, held, measure)
    state.publish_again()
    _read_ahead(made, held, _now(made))


def _code(made: Board, measure: str) -> Code:
    """Return what repeats the setting now, and the pinned one where that is another."""
    settings, now = {}, _now(made)
    for name, values in (("now", now), ("pinned", _pinned(made))):
        if name == "now" or values != now:
            folder = _index_of(made, values).path or made.summary.path
            options, changed = own_settings(made.info, _options(made, values)), _of_index(made, values)
            settings[name] = Asked(made.summary.id, folder, made.info.name, options, changed)
    return code_of_board(session.workbench().root, settings, made.summary.corpus_id, measure)


def _present_button(made: Board, held: Session, measure: str) -> None:
    """Add the pinned setting, the trail and the setting now to a presentation, where the set has what is measured."""
    now, pinned = _now(made), _pinned(made)
    if _scored(made, now)[0].interval(measure) is None:
        return
    order = [pinned, *held.trail, now]
    tried = [each for place, each in enumerate(order) if each not in order[:place]]

    def make() -> AddedBoard:
        pinned_scores, _ = _scored(made, pinned)
        points = tuple(_stored_point(made, each, pinned, pinned_scores, measure) for each in tried)
        return AddedBoard(
            system=made.info.title,
            settings=settings_words(made.info.name, _options(made, pinned)),
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
    scores, _ = _scored(made, settings)
    changes = board.changes(scores, pinned_scores)
    is_pinned = settings == pinned
    return BoardPoint(
        name=message_of("present.board.pinned") if is_pinned else settings_name(made.controls, settings, pinned),
        tokens=known_estimate(scores.token_interval()),
        value=known_estimate(scores.interval(measure)),
        won=len(changes.won),
        lost=len(changes.lost),
    )


def _now(made: Board) -> dict[str, Any]:
    return board_state.read(board_state.NOW, made.controls, made.ground, made.start)


def _pinned(made: Board) -> dict[str, Any]:
    return board_state.read(board_state.PINNED, made.controls, made.ground, made.start)


def _remember(name: str, settings: Mapping[str, Any], made: Board) -> None:
    state.remember(name, settings_link(settings, made.ground))


def _heard(made: Board, held: Session) -> None:
    """Carry out what a person did on the board, and keep the message of what failed. For callbacks."""
    held.failed = ""
    try:
        _do(made, held, st.session_state[_KEY].get("event") or {})
    except LeanRAGError as error:
        held.failed = words(error)


def _do(made: Board, held: Session, event: Mapping[str, Any]) -> None:
    kind, now, pinned = event.get("kind"), _now(made), _pinned(made)
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
        _remember(board_state.NOW, after, made)
    elif kind == "go" and 0 <= int(event["place"]) < len(held.trail):
        after = held.trail[int(event["place"])]
        board_state.move(held, now, after, -1)
        _remember(board_state.NOW, after, made)
    elif kind == "back" and held.trail:
        _remember(board_state.NOW, held.trail.pop(), made)
        held.gesture = -1
    elif kind == "clear":
        held.trail.clear()
        held.gesture = -1
    elif kind == "all":
        held.all_shown = bool(event.get("shown"))
    elif kind == "pin":
        _remember(board_state.PINNED, now, made)
    elif kind == "scale":
        state.remember(board_state.SCALE, "near" if state.recall(board_state.SCALE) != "near" else None)
    elif kind == "use":
        used = board_use.use(made.summary.id, made.info, _options(made, now), _index_id(made, now))
        ground = {**made.ground, **{key: value for key, value in now.items() if key.startswith("index.")}}
        for name, settings in ((board_state.NOW, now), (board_state.PINNED, pinned)):
            state.remember(name, settings_link(settings, ground))
        held.undo, held.leave = used, True
    elif kind == "undo" and held.undo is not None:
        board_use.undo(held.undo)
        held.undo, held.leave = None, True
    elif kind == "column":
        board_use.open_as_column(made.info, _options(made, now), _of_index(made, now))
        held.leave = True
    elif kind == "question" and 0 <= int(event["place"]) < len(made.questions):
        pairs = [(_options(made, each), _of_index(made, each)) for each in (pinned, now)]
        board_use.open_question(made.questions[int(event["place"])].question, made.info, pairs)
        held.leave = True


def _options(made: Board, settings: Mapping[str, Any]) -> dict[str, Any]:
    return split_settings(settings)[0]


def _of_index(made: Board, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of the index that differ from that of column A."""
    return split_settings({key: value for key, value in settings.items() if value != made.ground[key]})[1]


def _index_of(made: Board, settings: Mapping[str, Any]) -> Index:
    """Return the index of the settings: that of the column, else a trial that is made from kept stages."""
    of_index = _of_index(made, settings)
    if not of_index:
        return made.index
    topic = (*made.key[:2], tuple(sorted(of_index.items())))
    return _trials().get_or_make(topic, lambda: session.workbench().trials.make(made.index, of_index))


@st.cache_resource(show_spinner=False)
def _trials() -> BoundedCache[tuple[Any, ...], Index]:
    return BoundedCache(12)


def _index_id(made: Board, settings: Mapping[str, Any]) -> str:
    """Return the id of the index of the settings, "" where it is that of the column."""
    index = _index_of(made, settings)
    return "" if index is made.index else index.folder_name


@st.cache_resource(show_spinner=False)
def _results() -> BoundedCache[tuple[Any, ...], tuple[SetScores, float]]:
    return BoundedCache(_KEPT)


@st.cache_resource(show_spinner=False, max_entries=4)
def _scorer(key: tuple[object, ...], _questions: tuple[GoldQuestion, ...]) -> QuestionScorer:
    return QuestionScorer(_questions)


def _scored(made: Board, settings: Mapping[str, Any]) -> tuple[SetScores, float]:
    """Return what the settings find over the set, and the seconds that it took when it was measured."""
    topic = (*made.key, tuple(sorted(settings.items())))

    def run() -> tuple[SetScores, float]:
        began = time.perf_counter()
        index = _index_of(made, settings)
        with session.workbench().questions.naming_damage(index):
            retrieve = session.workbench().questions.retriever(
                index, made.info.name, _options(made, settings), context_alone=True
            )
            scores = _scorer(made.key, made.questions).score(retrieve)
        return scores, time.perf_counter() - began

    return _results().get_or_make(topic, run)


def _read_ahead(made: Board, held: Session, now: Mapping[str, Any]) -> None:
    """Measure in a thread what is likely to be moved next, until something is."""
    results, scorer, asking = _results(), _scorer(made.key, made.questions), session.workbench().questions
    waiting = []
    for settings in neighbours(made.controls, now, held.moved, held.towards):
        topic = (*made.key, tuple(sorted(settings.items())))
        if topic not in results:
            waiting.append((topic, _index_of(made, settings), _options(made, settings)))

    def work(look: Callable[[], None]) -> None:
        board.prepare()
        for topic, index, options in waiting:
            look()
            began = time.perf_counter()
            try:
                retrieve = asking.retriever(index, made.info.name, options, context_alone=True)
                results.keep(topic, (scorer.score(retrieve, look), time.perf_counter() - began))
            except LeanRAGError:  # said when somebody moves there
                return

    if waiting:
        _ahead().begin(work, after_seconds=_AHEAD_AFTER)


@st.cache_resource(show_spinner=False)
def _ahead() -> LatestWork:
    return LatestWork()


def _other_methods(made: Board, chosen: Sequence[Column], measure: str) -> list[dict[str, Any]]:
    """Return the other columns, fixed: those of another system that can be asked at once."""
    points = []
    for column in chosen:
        if (
            column.info.name == made.info.name
            or column.base.id != made.summary.id
            or column.changed
            or column.info.calls_model
            or column.chosen.options.get(RERANK)
        ):
            continue
        topic = (*made.key, column.ask("").topic)

        def run(column: Column = column) -> tuple[SetScores, float]:
            questions = session.workbench().questions
            retrieve = questions.retriever(made.index, column.info.name, column.chosen.options, context_alone=True)
            return _scorer(made.key, made.questions).score(retrieve), 0.0

        try:
            scores, _ = _results().get_or_make(topic, run)
        except LeanRAGError:  # Side by side says what that column lacks
            continue
        points.append({"name": words(column.info.title), "letter": column.letter.lower(), **_point(scores, measure)})
    return points


@st.cache_resource(show_spinner=False)
def _intervals() -> BoundedCache[tuple[SetScores, str], tuple[Interval | None, Interval | None]]:
    return BoundedCache(_KEPT)


def _point(scores: SetScores, measure: str) -> dict[str, Any]:
    """Return a point of the chart: values, bounds and the words beside it."""
    y, x = _intervals().get_or_make((scores, measure), lambda: (scores.interval(measure), scores.token_interval()))
    if y is None or x is None:
        return {"x": None, "y": None, "text": "–"}
    tokens = f"{x.value:,.0f}"
    return {
        **{"x": x.value, "xLow": x.low, "xHigh": x.high, "y": y.value, "yLow": y.low, "yHigh": y.high},
        "text": say("board.at_tokens", value=_value(y.value, measure), tokens=tokens),
        "value": _spanned(y, measure),
        "tokens": _spanned(x, ""),
    }


def _value(value: float, measure: str) -> str:
    if measure in (board.FOUND, board.ALL):
        return numbers.score(value)
    return numbers.decimal(value, 2 if measure == board.PER_THOUSAND else 1 if measure else 0)


def _spanned(interval: Interval, measure: str) -> str:
    value = _value(interval.value, measure)
    if interval.low is None or interval.high is None:
        return value
    return say("board.spanned", value=value, low=_value(interval.low, measure), high=_value(interval.high, measure))


def _data(made: Board, held: Session, chosen: Sequence[Column], measure: str) -> dict[str, Any]:
    now, pinned, failed = _now(made), _pinned(made), held.failed
    try:
        now_scores, seconds = _scored(made, now)
    except PartMissing:
        raise
    except LeanRAGError as error:  # a clustersize that leaves no hierarchy, stages that are gone
        failed = words(error)
        now = {key: made.ground[key] if key.startswith("index.") else value for key, value in now.items()}
        _remember(board_state.NOW, now, made)
        now_scores, seconds = _scored(made, now)
    pinned_scores, of_pinned = _scored(made, pinned)
    seconds = min(seconds, of_pinned)  # the first one embeds the questions
    stands = board.standing(now_scores, pinned_scores, measure)
    said = board.finding(settings_name(made.controls, now, pinned), stands)
    is_pinned = now == pinned
    if is_pinned:
        claim = say("board.is_pinned", value=_point(now_scores, measure)["text"])
        sentence = {"before": "", "claim": "", "after": claim, "changes": ""}
    else:
        sentence = {"before": words(said.before), "claim": words(said.claim), "after": words(said.after)}
        sentence["changes"] = words(board.changes_words(stands.changes))
    data: dict[str, Any] = {
        "index": made.summary.id + made.summary.created + made.info.name,
        "seq": held.seq,
        "words": {name: say(f"board.{name}", **_holes(name)) for name in _WORDS},
        "failed": failed,
        "groups": _groups(made, now, pinned, seconds),
        "now": {**_point(now_scores, measure), "name": made.name(now, pinned), "isPinned": is_pinned},
        "pinned": {**_point(pinned_scores, measure), "name": made.name(pinned, now)},
        "trail": [_trail_point(made, each, pinned, pinned_scores, measure) for each in held.trail],
        "others": _other_methods(made, chosen, measure),
        "share": measure in (board.FOUND, board.ALL),
        "measure": say(f"board.measure.{measure}"),
        "near": state.recall(board_state.SCALE) == "near",
        "budget": now.get(MAX_TOKENS),
        "sentence": sentence,
        "won": _rows(made, now_scores, pinned_scores, stands.changes.won),
        "lost": _rows(made, now_scores, pinned_scores, stands.changes.lost),
        "nSame": stands.n_gold - len(stands.changes.won) - len(stands.changes.lost),
        "nAll": len(made.questions),
        "same": _unchanged(made, now_scores, pinned_scores, stands.changes) if held.all_shown else None,
        "kinds": _kinds(made, now_scores, pinned_scores, measure),
        "undo": held.undo is not None,
        "makesIndex": any(now[key] != made.ground[key] for key in now if key.startswith("index.")),
    }
    gold = say("board.mean_of_gold", n=stands.n_gold, without=len(made.questions) - stands.n_gold)
    title = say("board.figure_title", measure=say(f"board.measure.{measure}"))
    data["title"] = title
    data["tools"] = tools(f"{title} {made.summary.title}", gold + say("text.space") + say("board.no_model"), svg=True)
    return visible_values(data)  # type: ignore[no-any-return]


def _holes(name: str) -> dict[str, str]:
    """Return sentences that the script fills in."""
    holes = {"pinned_at": "value", "moves_ago": "n", "all_of": "n", "more_won": "n", "same": "n", "budget": "tokens"}
    return {holes[name]: f"{{{holes[name]}}}"} if name in holes else {}


def _groups(made: Board, now: Mapping[str, Any], pinned: Mapping[str, Any], seconds: float) -> list[dict[str, Any]]:
    """Return the controls in their groups, each with what it costs to move one."""
    own = [control for control in made.controls if not control.of_index]
    of_index = [control for control in made.controls if control.of_index]
    at_once = say("board.at_once", time=numbers.duration(seconds))
    groups = [
        {"name": "retrieval", "note": at_once, "controls": [_control(each, now, pinned) for each in own if each.first]}
    ]
    rest = [_control(each, now, pinned) for each in own if not each.first]
    if rest:
        groups.append({"name": "more", "note": "", "controls": rest})
    if of_index:
        takes = _move_time(made, of_index[0])
        controls = [{**_control(each, now, pinned), "off": not takes.are_kept} for each in of_index]
        groups.append({"name": "index", "note": _time_words(takes), "controls": controls})
    return groups


def _move_time(made: Board, control: Control) -> board_stages.MoveTime:
    other = next(stop for stop in control.stops if stop != made.ground[control.key])
    return board_stages.move_time(made.summary, control.name, other)


def _time_words(takes: board_stages.MoveTime) -> str:
    """Return what a move of a slider of the index takes: as measured on this machine, else as expected."""
    if takes.failed is not None:
        return words(takes.failed)
    if not takes.are_kept:
        return say("board.embeds_anew", time=numbers.duration(takes.seconds.expected))
    if not takes.seconds.high:
        return say("board.from_stages_soon")
    low, high = numbers.duration(takes.seconds.low), numbers.duration(takes.seconds.high)
    return say("board.from_stages", time=numbers.span(low, high))


def _control(control: Control, now: Mapping[str, Any], pinned: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "key": control.key,
        "kind": control.kind,
        "title": words(control.title),
        "stops": list(control.stops),
        "shown": _shown(control),
        "at": _place(control, now[control.key]),
        "pinnedAt": _place(control, pinned[control.key]),
        "ofIndex": control.of_index,
        "off": False,
    }


def _shown(control: Control) -> list[str]:
    if control.kind == SLIDER:
        return [number(stop) for stop in control.stops]
    return [words(control.shown(stop)) for stop in control.stops] if control.kind == CHOICE else []


def _place(control: Control, value: Any) -> int:
    return control.place(value) or 0


def _trail_point(
    made: Board, settings: Mapping[str, Any], pinned: Mapping[str, Any], pinned_scores: SetScores, measure: str
) -> dict[str, Any]:
    scores, _ = _scored(made, settings)
    changes = board.changes(scores, pinned_scores)
    changed = say("board.won_lost", won=len(changes.won), lost=len(changes.lost))
    name = made.name(settings, pinned)
    return {**_point(scores, measure), "name": name, "against": changed, "isPinned": settings == pinned}


def _rows(made: Board, now: SetScores, pinned: SetScores, places: Sequence[int]) -> list[dict[str, Any]]:
    rows = []
    for place in places:
        question, after, before = made.questions[place], now.questions[place], pinned.questions[place]
        kind = measure_words.kind_title(question.kind) if question.kind else ""
        gold = [f"{before.found} / {before.n_gold}", f"{after.found} / {after.n_gold}"] if after.n_gold else ["–", "–"]
        rows.append({"place": place, "question": question.question, "kind": kind, "gold": gold})
    return rows


def _unchanged(made: Board, now: SetScores, pinned: SetScores, changes: board.Changes) -> list[dict[str, Any]]:
    changed = {*changes.won, *changes.lost}
    return _rows(made, now, pinned, [place for place in range(len(made.questions)) if place not in changed])


def _kinds(made: Board, now: SetScores, pinned: SetScores, measure: str) -> list[dict[str, Any]]:
    rows = []
    for mean in board.by_kind(made.questions, now, pinned, measure):
        if mean.now is None or mean.pinned is None:
            continue
        change = numbers.difference(mean.now - mean.pinned)
        rows.append(
            {
                **{
                    "name": measure_words.kind_title(mean.kind) if mean.kind else say("evaluate.sets.no_kind"),
                    "n": mean.n,
                },
                **{"pinned": mean.pinned, "now": mean.now, "text": _value(mean.now, measure)},
                "change": say("board.kind_same") if abs(mean.now - mean.pinned) < 1e-9 else change,
            }
        )
    return rows
