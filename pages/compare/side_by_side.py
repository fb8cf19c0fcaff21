"""The columns side by side: head, figures, answer, subgraph, tokens and passages of each, in the same rows."""

from collections.abc import Mapping, Sequence
from functools import partial
from math import ceil
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from leanrag_core.comparing.sentences import said_alone, say_the_same
from leanrag_core.comparing.sharing import Shared
from leanrag_core.figures import numbers
from leanrag_core.figures.drawing import isolated, text_width
from leanrag_core.figures.passages import passage_name
from leanrag_core.figures.small_graph import Slots, aligned, small_graph
from leanrag_core.jobs.kinds import BUILD
from leanrag_core.messages.catalog import joined_sentences
from leanrag_core.messages.message import Message
from leanrag_core.types.forecast import Forecast
from leanrag_core.types.job import Progress
from leanrag_core.types.summary import IndexSummary
from leanrag_core.types.trace import Answer, AnswerPart, Trace, TraceItem
from leanrag_core.types.visible import visible_values
from pages.ask import answer_view, asking, citations, part_view, reference_view, result_view, retrieval_view
from pages.common import buttons, choices, drawing_view, markup, passage_view, session, state
from pages.common.component import component
from pages.common.html import draw, html
from pages.common.messages import language, message, say, show_fault, words
from pages.compare import column_heads, columns, fragments, loading
from pages.compare.gold_view import GoldOf
from pages.compare.loading import Loaded, traces_of

_ROWS = Path(__file__).with_name("chunk_rows.js")
_FRAME = '<div class="lr-ckrows"></div>'
WIDTHS = (250, 340, 520)  # px of the drawings of a column
_MOST_PASSAGES = 6  # passages of a column before "more"
_LONG_ANSWER = 380  # characters; a longer one is folded
# Pixels: of compare.css, and of one of two columns in a window of 1,440; a mark and its section's name take _MARK each.
_ANSWER_HEIGHT, _COLUMN, _FONT, _LINE, _BETWEEN, _MARK = 186, 540, 16, 24, 10, 32


def show(
    loaded: Sequence[Loaded],
    shared: Shared,
    gold: GoldOf,
    indexes: Mapping[str, IndexSummary] | None,
    *,
    differences_only: bool,
) -> dict[str, DeltaGenerator]:
    """Draw the columns; return the place of each that is still running. indexes: None in a saved comparison, whose
    settings cannot be changed."""
    traces = traces_of(loaded)
    slots = aligned(traces)
    answers = {each.letter: each.answer for each in loaded if each.answer is not None}
    alone = said_alone(answers)
    most = max((trace.context.tokens for trace in traces.values()), default=1)
    base = _baseline(loaded)
    tick = base.trace.context.tokens if base is not None and base.trace is not None else None
    show_fault(column_heads.KEEP_FAILED)
    is_same = len(answers) == len(loaded) and say_the_same(answers)
    are_compared = not is_same and sum(answer.grounded for answer in answers.values()) > 1
    if is_same:
        draw(html('<div class="lr-same" role="status">{}</div>', say("compare.same_answer")))
        if differences_only:  # once, for all columns
            with st.container(key="compare_same"):
                _answer(loaded[0], frozenset(), are_compared=False, differences_only=False, reason_above=None)
    reason_above = _reason_of_all(loaded)
    if reason_above is not None:
        draw(html('<div class="lr-same" role="status">{}</div>', words(reason_above)))
    _phone_choice([each.letter for each in loaded])
    places: dict[str, DeltaGenerator] = {}
    with st.grid(len(loaded), min_column_width=225, gap="medium", key="compare_columns"):
        for each in loaded:
            with st.container(gap="xsmall", key=f"compare_col_{each.letter.lower()}"):
                column_heads.show(each, indexes is not None)
                if each.trace is None:
                    places[each.letter] = _without_trace(each)
                    continue
                if each.live is not None:
                    part_view.made_line(each.scope, each.live.summary, each.question)
                owners = shared.owners.get(each.letter, {})
                n_gold = len(gold.evidence)
                draw(fragments.figures(each, base, (gold.n_found(each.letter), n_gold) if n_gold else None))
                if not (is_same and differences_only):
                    only_here = alone.get(each.letter, frozenset())
                    places[each.letter] = _answer(
                        each,
                        only_here,
                        are_compared=are_compared,
                        differences_only=differences_only,
                        reason_above=reason_above,
                    )
                _graph(each, each.trace, slots, owners)
                draw(fragments.token_bar(each.trace, most, tick))
                answer_view.notes_panel(each.trace)
                _passages(
                    each, each.trace, owners, gold, [other.letter for other in loaded], only_different=differences_only
                )
                _steps(each, each.trace)
    if indexes is not None:
        column_heads.let_rename()
    return places


def _baseline(loaded: Sequence[Loaded]) -> Loaded | None:
    letter = columns.baseline([each.letter for each in loaded])
    return next((each for each in loaded if each.letter == letter), None)


def _reason_of_all(loaded: Sequence[Loaded]) -> Message | None:
    """Return why columns do not answer where that holds for all, since they ask the same index; None if there is no
    such reason."""
    indexes = {each.trace.index.id for each in loaded if each.trace is not None}
    reasons = [each.answer.because for each in loaded if each.answer is not None]
    return reasons[0] if len(indexes) == 1 and reasons and all(each == reasons[0] for each in reasons) else None


def _phone_choice(letters: Sequence[str]) -> None:
    """Draw tabs that choose a column, and hide the others; both on a phone only."""
    titles = {letter.lower(): letter for letter in letters}
    with st.container(key="compare_pick"):
        chosen = choices.segments("phone", say("compare.column"), titles, label_visibility="collapsed", width="stretch")
    rules = ",".join(f".st-key-compare_col_{key}" for key in titles if chosen not in (key, ""))
    if rules:
        draw(html("<style>@media (max-width:640px){{{}{{display:none}}}}</style>", rules))


def _without_trace(loaded: Loaded) -> DeltaGenerator:
    """Draw why a column has no result yet, and what to do; the other columns are not affected."""
    place = st.empty()
    if loaded.call is not None:
        with place.container():
            st.skeleton(220)
    elif loaded.takes is not None:
        _offer_trial(loaded, loaded.takes)
    elif loaded.missing_part:
        column = loaded.column
        again = loaded.question if column.ask(loaded.question).calls_model else ""
        part_view.offer(loaded.scope, column.summary, column.info, loaded.missing_part, ask_again=again)
    elif loaded.error is not None:
        message(loaded.error, kind="error")
        column, key = loaded.column, f"compare_retry_{loaded.letter.lower()}"
        if column.unmade:
            buttons.secondary(say("ask.try_again"), "replay", key, loading.want_trial, column.base, column.changed)
        else:
            buttons.secondary(say("ask.try_again"), "replay", key, asking.want, loaded.scope, loaded.question)
    elif loaded.waits:
        message(say("compare.press_compare"))
    return place


def _offer_trial(loaded: Loaded, takes: Forecast) -> None:
    """Draw a button that makes the column's index, with the time and cost."""
    column = loaded.column
    calls = round(takes.calls.expected)
    if calls:
        message(say("compare.trial_calls", n=calls, cost=numbers.money(takes.dollars.expected)))
    else:
        message(say("compare.trial_takes", time=numbers.duration(takes.seconds.expected)))
    key = f"compare_make_trial_{loaded.letter.lower()}"
    buttons.secondary(say("compare.make_trial"), "play_arrow", key, loading.want_trial, column.base, column.changed)


def _answer(
    loaded: Loaded, alone: frozenset[int], *, are_compared: bool, differences_only: bool, reason_above: Message | None
) -> DeltaGenerator:
    """Draw the answer in a box of fixed height, with "More" for the rest. alone: places of sentences that no other
    column says. are_compared: answers are marked by what others say. differences_only: omit what others say, too.
    reason_above: the reason for no answer that stands above the columns."""
    letter, name = loaded.letter.lower(), f"{loaded.letter.lower()}_whole"
    answer = loaded.answer
    whole = state.recall(name) == "1"
    only_alone = differences_only and are_compared
    shown = [part for place, part in enumerate(answer.parts) if place in alone or not only_alone] if answer else []
    with st.container(key=f"compare_{'whole' if whole else 'answer'}_{letter}", gap=None):
        place = st.empty()
        if answer is None or not answer.grounded:
            with place.container():
                _no_grounded_answer(loaded, reason_above)
        elif not shown:
            draw(markup.muted(say("compare.no_different_sentences")))
        else:
            citations.show(
                answer,
                open_mark=str(st.session_state.get(loaded.scope.key("cited"), "")),
                key=f"compare_text_{letter}",
                on_cite=partial(reference_view.open_citation, loaded.scope, answer, stored=loaded.index is None),
                differences=citations.Differences(
                    alone=alone, only_alone=only_alone, compared=are_compared, tint=f"column-{letter}"
                ),
            )
    if is_long(shown):
        buttons.show_all(name, say("compare.more"), f"compare_more_{letter}")
    elif answer is not None:
        draw(html('<div class="lr-colgap"></div>'))
    return place


def _no_grounded_answer(loaded: Loaded, reason_above: Message | None) -> None:
    """Draw what stands in the place of an answer that cites sources."""
    answer = loaded.answer
    if answer is None and loaded.answer_error is not None:
        message(loaded.answer_error, kind="error", title=say("ask.no_answer_written"))
    elif answer is None and loaded.call is not None:
        st.skeleton(110)
    elif answer is None:
        message(say("compare.press_for_answer"))
    elif answer.extractive:
        answer_view.no_answer(answer, reason_above=reason_above)
    else:
        draw(html('<div class="lr-read">{}</div>', answer.text))
        message(say("ask.cites_nothing"))


def is_long(parts: Sequence[AnswerPart]) -> bool:
    """Return whether these sentences are about to be higher than the box of an answer, each in lines of its own."""
    widths = (text_width(part.text, _FONT) + _MARK * (len(part.marks) + 2) for part in parts)
    height = sum(_LINE * ceil(width / _COLUMN) + _BETWEEN for width in widths)
    return sum(len(part.text) for part in parts) > _LONG_ANSWER or height > _ANSWER_HEIGHT


def _graph(loaded: Loaded, trace: Trace, slots: Slots, owners: Mapping[str, str]) -> None:
    drawings = [small_graph(loaded.letter, trace, slots, owners, width=width, language=language()) for width in WIDTHS]
    drawing_view.show(drawings, key=f"compare_graph_{loaded.letter.lower()}")


def _passages(
    loaded: Loaded,
    trace: Trace,
    owners: Mapping[str, str],
    gold: GoldOf,
    letters: Sequence[str],
    *,
    only_different: bool,
) -> None:
    """Draw the passages as lines; those in this column alone are bold."""
    letter = loaded.letter.lower()
    marks = trace.context.mark_of
    gold_ids = gold.found_ids.get(loaded.letter, ())
    rows = []
    for passage in trace.passages:
        having = owners.get(passage.id, loaded.letter)
        if not (only_different and set(having) >= set(letters)):
            mark = marks.get(passage.id, "")
            rows.append(_passage_row(loaded.answer, passage, mark, having, letters, is_gold=passage.id in gold_ids))
    whole = state.recall(f"{letter}_passages") == "1"
    shown = rows if whole else rows[:_MOST_PASSAGES]
    key = f"compare_passages_{letter}"

    def opened() -> None:
        ref = str(st.session_state[key].get("opened") or "")
        chosen = next((passage for passage in trace.passages if passage.id == ref), None)
        if chosen is not None:
            stored = loaded.index is None
            reference_view.opener(loaded.scope, trace, chosen, marks.get(ref, ""), stored=stored)()

    data = visible_values({"rows": shown, "letters": list(letters)})
    component(_ROWS, _FRAME)(data=data, key=key, on_opened_change=opened)
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        notes = (fragments.gold_chunks(trace, gold_ids, gold.n_found(loaded.letter)), fragments.never_cited(loaded))
        note = joined_sentences(filter(None, notes))
        if only_different and not rows:
            note = say("compare.no_different_passages")
        if not trace.passages:
            note = say("compare.no_passages")
        if note:
            draw(markup.muted(note))
        if len(rows) > _MOST_PASSAGES:
            label = say("compare.more_passages", n=len(rows) - _MOST_PASSAGES)
            buttons.show_all(f"{letter}_passages", label, f"compare_more_passages_{letter}")


def _passage_row(
    answer: Answer | None, passage: TraceItem, mark: str, having: str, letters: Sequence[str], *, is_gold: bool
) -> dict[str, Any]:
    """Return the line of a passage. having: the letters of the columns that have it."""
    return {
        "id": passage.id,
        "mark": mark,
        "name": isolated(passage_name(passage, language())),
        "gold": say("compare.gold") if is_gold else "",
        "cited": fragments.cited_text(answer, mark),
        "owners": [other for other in letters if other in having],
        "retrievedBy": say("compare.retrieved_by", letters=", ".join(having)),
        "alone": len(having) == 1,
        "about": words(passage.reason) if passage.reason else "",
    }


def _steps(loaded: Loaded, trace: Trace) -> None:
    """Draw the replayable steps of the retrieval and its whole subgraph, in a fold."""
    icon = ":material/play_arrow:"
    fold = st.expander(say("compare.steps"), icon=icon, key=f"compare_steps_{loaded.letter.lower()}", on_change="rerun")
    if fold.open:
        with fold:
            retrieval_view.show(loaded.scope, loaded.index, trace)


def drawers(loaded: Sequence[Loaded]) -> None:
    """Open the drawer of what was clicked in one of the columns."""
    for each in loaded:
        reference_view.drawer(each.scope, each.index)
        if each.index is not None:
            passage_view.drawer(each.index, scope=each.scope)


def at_work(place: DeltaGenerator, loaded: Loaded, seconds: int) -> None:
    """Draw the progress of a column: its steps so far, or the answer so far."""
    if loaded.trace is None and loaded.column.unmade:
        progress = loaded.call.pieces[-1] if loaded.call and loaded.call.pieces else None
        stage = progress.stage if isinstance(progress, Progress) else BUILD.stages[0].name
        doing = words(BUILD.stage(stage).doing)
        template = '<div class="lr-making" role="status">{}<i></i><i></i><i></i></div>'
        place.html(str(html(template, say("compare.making", doing=doing, seconds=seconds))))
    elif loaded.trace is None:
        steps = session.retrievals().pieces(loaded.column.ask(loaded.question).topic)
        place.html(str(result_view.steps_so_far(steps, seconds)))
    elif loaded.call is not None and loaded.call.pieces:
        place.html(str(html('<div class="lr-read lr-writing" aria-busy="true">{}</div>', loaded.call.text)))


def wait(loaded: Sequence[Loaded], places: Mapping[str, DeltaGenerator]) -> None:
    """Draw the progress of the columns while a model is called; redraw the page when one of them is done."""
    if any(each.call is not None for each in loaded):
        loading.wait_for_any(loaded, {letter: partial(at_work, place) for letter, place in places.items()})
        st.rerun()
