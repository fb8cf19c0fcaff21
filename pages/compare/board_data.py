"""What the browser needs to draw a board: points, sentences, controls and rows of questions."""

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from leanrag_core.comparing import board
from leanrag_core.comparing.board import SetScores
from leanrag_core.comparing.board_controls import CHOICE, SLIDER, Control, number, settings_name
from leanrag_core.errors import LeanRAGError, PartMissing
from leanrag_core.evaluation.statistics import Interval
from leanrag_core.figures import numbers
from leanrag_core.messages.catalog import joined_sentences
from leanrag_core.retrieval.base import MAX_TOKENS
from leanrag_core.system.threads import BoundedCache
from leanrag_core.types.visible import visible_values
from pages.common import state
from pages.common.drawing_view import tools
from pages.common.messages import say, span, words
from pages.compare import board_stages, board_state, board_use
from pages.compare.board_scores import KEPT, Board
from pages.compare.board_state import Session
from pages.compare.columns import Column
from pages.evaluate import measure_words

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
    ),
    *("same", "use", "use_keep", "pin", "column", "keeps", "undo", "used", "making", "budget", "kinds", "kinds_key"),
    *("gold", "sheet", "close_sheet", "row_opens", "trail", "more", "axis_whole", "axis_near", "x_title", "retrieval"),
    *("index", "setting"),
)


def board_data(this_board: Board, board_session: Session, chosen: Sequence[Column], measure: str) -> dict[str, Any]:
    """Return everything that the script of the board draws."""
    now, pinned, failed = this_board.now(), this_board.pinned(), board_session.failed
    try:
        now_scores, seconds = this_board.scored(now)
    except PartMissing:
        raise
    except LeanRAGError as error:  # such as a clustersize without a hierarchy, or deleted stages
        failed = words(error)
        now = {key: this_board.ground[key] if key.startswith("index.") else value for key, value in now.items()}
        this_board.remember(board_state.NOW, now)
        now_scores, seconds = this_board.scored(now)
    pinned_scores, of_pinned = this_board.scored(pinned)
    seconds = min(seconds, of_pinned)  # the first one embeds the questions
    stands = board.standing(now_scores, pinned_scores, measure)
    finding = board.finding(settings_name(this_board.controls, now, pinned), stands)
    is_pinned, is_used = now == pinned, board_use.is_used(this_board, now)
    if is_pinned:
        claim = say("board.is_pinned", value=_point(now_scores, measure)["text"])
        sentence = {"before": "", "claim": "", "after": claim, "changes": ""}
    else:
        sentence = {"before": words(finding.before), "claim": words(finding.claim), "after": words(finding.after)}
        sentence["changes"] = words(board.changes_words(stands.changes))
    data: dict[str, Any] = {
        "index": this_board.summary.id + this_board.summary.created + this_board.info.name,
        "seq": board_session.seq,
        "words": {name: say(f"board.{name}", **_holes(name)) for name in _WORDS},
        "failed": failed,
        "groups": _groups(this_board, now, pinned, seconds),
        "now": {**_point(now_scores, measure), "name": this_board.name(now, pinned), "isPinned": is_pinned},
        "pinned": {**_point(pinned_scores, measure), "name": this_board.name(pinned, now)},
        "trail": [_trail_point(this_board, each, pinned, pinned_scores, measure) for each in board_session.trail],
        "others": _other_methods(this_board, chosen, measure),
        "share": measure in (board.FOUND, board.ALL),
        "measure": say(f"board.measure.{measure}"),
        "near": state.recall(board_state.SCALE) == "near",
        "budget": now.get(MAX_TOKENS),
        "sentence": sentence,
        "won": _rows(this_board, now_scores, pinned_scores, stands.changes.won),
        "lost": _rows(this_board, now_scores, pinned_scores, stands.changes.lost),
        "nSame": stands.n_gold - len(stands.changes.won) - len(stands.changes.lost),
        "nAll": len(this_board.questions),
        "same": _unchanged(this_board, now_scores, pinned_scores, stands.changes) if board_session.all_shown else None,
        "kinds": _kinds(this_board, now_scores, pinned_scores, measure),
        "isUsed": is_used,
        "undo": is_used and board_session.undo is not None,
        "makesIndex": any(now[key] != this_board.ground[key] for key in now if key.startswith("index.")),
    }
    n, n_gold = len(this_board.questions), stands.n_gold
    means = say("board.mean_of_all", n=n)
    if measure != board.PASSAGES and n_gold < n:
        means = say("board.mean_of_gold", n=n_gold, without=n - n_gold, all=n)
    title = say("board.figure_title", measure=say(f"board.measure.{measure}"))
    data["title"] = title
    data["tools"] = tools(
        f"{title} {this_board.summary.title}", joined_sentences([means, say("board.no_model")]), svg=True
    )
    return visible_values(data)  # type: ignore[no-any-return]


def _other_methods(this_board: Board, chosen: Sequence[Column], measure: str) -> list[dict[str, Any]]:
    """Return fixed points for the columns with another system, where these can be asked at once."""
    points = []
    for column in chosen:
        scores = this_board.scored_column(column)
        if scores is not None:
            name = words(column.info.title)
            points.append({"name": name, "letter": column.letter.lower(), **_point(scores, measure)})
    return points


@st.cache_resource(show_spinner=False)
def _intervals() -> BoundedCache[tuple[SetScores, str], tuple[Interval | None, Interval | None]]:
    return BoundedCache(KEPT)


def _point(scores: SetScores, measure: str) -> dict[str, Any]:
    """Return a point of the chart: its values, bounds and labels."""
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


def _holes(name: str) -> dict[str, str]:
    """Return the placeholders of a sentence that the script fills in."""
    holes = {"pinned_at": "value", "moves_ago": "n", "all_of": "n", "more_won": "n", "same": "n", "budget": "tokens"}
    return {holes[name]: f"{{{holes[name]}}}"} if name in holes else {}


def _groups(
    this_board: Board, now: Mapping[str, Any], pinned: Mapping[str, Any], seconds: float
) -> list[dict[str, Any]]:
    """Return the controls in their groups, each with the cost of moving one."""
    strategy_controls = [control for control in this_board.controls if not control.of_index]
    of_index = [control for control in this_board.controls if control.of_index]
    at_once = say("board.at_once", time=numbers.duration(seconds))
    groups = [
        {
            "name": "retrieval",
            "note": at_once,
            "controls": [_control(each, now, pinned) for each in strategy_controls if each.first],
        }
    ]
    rest = [_control(each, now, pinned) for each in strategy_controls if not each.first]
    if rest:
        groups.append({"name": "more", "note": "", "controls": rest})
    if of_index:
        takes = move_time(this_board, of_index[0])
        controls = [{**_control(each, now, pinned), "off": not takes.are_kept} for each in of_index]
        groups.append({"name": "index", "note": _time_words(takes), "controls": controls})
    return groups


def move_time(this_board: Board, control: Control) -> board_stages.MoveTime:
    """Return what a change of an index setting takes."""
    other = next(stop for stop in control.stops if stop != this_board.ground[control.key])
    return board_stages.move_time(this_board.summary, control.name, other)


def _time_words(takes: board_stages.MoveTime) -> str:
    """Return in words how long moving an index slider takes: as measured on this machine, else as expected."""
    if takes.failed is not None:
        return words(takes.failed)
    if not takes.are_kept:
        return say("board.embeds_anew", time=numbers.duration(takes.seconds.expected))
    if not takes.seconds.high:
        return say("board.from_stages_soon")
    low, high = numbers.duration(takes.seconds.low), numbers.duration(takes.seconds.high)
    return say("board.from_stages", time=span(low, high))


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
    this_board: Board, settings: Mapping[str, Any], pinned: Mapping[str, Any], pinned_scores: SetScores, measure: str
) -> dict[str, Any]:
    scores, _ = this_board.scored(settings)
    changes = board.changes(scores, pinned_scores)
    changed = say("board.won_lost", won=len(changes.won), lost=len(changes.lost))
    name = this_board.name(settings, pinned)
    return {**_point(scores, measure), "name": name, "against": changed, "isPinned": settings == pinned}


def _rows(this_board: Board, now: SetScores, pinned: SetScores, places: Sequence[int]) -> list[dict[str, Any]]:
    rows = []
    for place in places:
        question, after, before = this_board.questions[place], now.questions[place], pinned.questions[place]
        kind = measure_words.kind_title(question.kind) if question.kind else ""
        gold = [f"{before.found} / {before.n_gold}", f"{after.found} / {after.n_gold}"] if after.n_gold else ["–", "–"]
        rows.append({"place": place, "question": question.question, "kind": kind, "gold": gold})
    return rows


def _unchanged(this_board: Board, now: SetScores, pinned: SetScores, changes: board.Changes) -> list[dict[str, Any]]:
    changed = {*changes.won, *changes.lost}
    return _rows(this_board, now, pinned, [place for place in range(len(this_board.questions)) if place not in changed])


def _kinds(this_board: Board, now: SetScores, pinned: SetScores, measure: str) -> list[dict[str, Any]]:
    rows = []
    for mean in board.by_kind(this_board.questions, now, pinned, measure):
        if mean.now is None or mean.pinned is None:
            continue
        change = mean.now - mean.pinned
        rows.append(
            {
                "name": measure_words.kind_title(mean.kind) if mean.kind else say("evaluate.sets.no_kind"),
                "n": mean.n,
                "pinned": mean.pinned,
                "now": mean.now,
                "text": _value(mean.now, measure),
                "change": say("board.kind_same") if abs(change) < 1e-9 else _change(change, measure),
            }
        )
    return rows


def _change(change: float, measure: str) -> str:
    """Write a difference of values as these are written."""
    if measure in (board.FOUND, board.ALL):
        return numbers.difference(change)
    return f"{'+' if change > 0 else ''}{_value(change, measure)}"
