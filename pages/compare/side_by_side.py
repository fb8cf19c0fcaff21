"""The columns beside each other: head, figures, answer, subgraph, tokens and passages of each, in the same rows."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from leanrag_core.comparing.sentences import said_alone
from leanrag_core.comparing.sharing import Shared, passage_name
from leanrag_core.figures.drawing import isolated
from leanrag_core.figures.small_graph import Slots, aligned, small_graph
from leanrag_core.retrieval.base import strategies as all_strategies
from leanrag_core.types.summary import IndexSummary
from leanrag_core.types.trace import Trace
from leanrag_core.types.visible import visible_values
from pages.ask import answer_view, asking, citations, part_view, reference_view, result_view, retrieval_view
from pages.common import choices, drawing_view, forms, markup, passage_view, session, state
from pages.common.component import component
from pages.common.html import draw, html
from pages.common.messages import language, message, say, words
from pages.compare import columns, fragments, loading
from pages.compare.loading import Loaded

_ROWS = Path(__file__).with_name("chunk_rows.js")
_FRAME = '<div class="lr-ckrows"></div>'
WIDTHS = (250, 340, 520)  # px of the drawings of a column
_MOST_PASSAGES = 6  # of a column before "more"
_LONG_ANSWER = 380  # characters; a longer one is folded


def show(
    loaded: Sequence[Loaded],
    shared: Shared,
    gold: Mapping[str, Sequence[str]],
    indexes: Mapping[str, IndexSummary] | None,
    *,
    differences_only: bool,
    n_gold: int = 0,
) -> dict[str, DeltaGenerator]:
    """Draws the columns; returns the place of each that is still at work. gold: names of the gold that each column
    found. indexes: None in a saved comparison, which has no settings to change."""
    traces = {each.letter: each.trace for each in loaded if each.trace is not None}
    slots = aligned(traces)
    alone = said_alone({each.letter: each.answer for each in loaded if each.answer is not None})
    most = max((trace.context.tokens for trace in traces.values()), default=1)
    base = _baseline(loaded)
    tick = base.trace.context.tokens if base is not None and base.trace is not None else None
    pick = _phone_choice([each.letter for each in loaded])
    hidden = [each.letter for each in loaded if pick not in (each.letter, "")]
    rules = ",".join(f".st-key-compare_col_{letter.lower()}" for letter in hidden)
    if rules:
        draw(html("<style>@media (max-width:640px){{{}{{display:none}}}}</style>", rules))
    places: dict[str, DeltaGenerator] = {}
    with st.grid(len(loaded), min_column_width=225, gap="medium", key="compare_columns"):
        for each in loaded:
            with st.container(gap="xsmall", key=f"compare_col_{each.letter.lower()}"):
                _head(each, indexes)
                if each.trace is None:
                    places[each.letter] = _without_trace(each)
                    continue
                if each.live is not None:
                    part_view.made_line(each.scope, each.live.summary, each.question)
                owners = shared.owners.get(each.letter, {})
                gold_ids = gold.get(each.letter, ())
                draw(fragments.figures(each, base, (len(gold_ids), n_gold) if n_gold else None))
                places[each.letter] = _answer(each, alone.get(each.letter, frozenset()))
                _graph(each, each.trace, slots, owners)
                draw(fragments.token_bar(each.trace, most, tick))
                _passages(
                    each,
                    each.trace,
                    owners,
                    gold_ids,
                    [other.letter for other in loaded],
                    only_different=differences_only,
                )
                _steps(each, each.trace)
    return places


def _baseline(loaded: Sequence[Loaded]) -> Loaded | None:
    letter = columns.baseline([each.letter for each in loaded])
    return next((each for each in loaded if each.letter == letter), None)


def _phone_choice(letters: Sequence[str]) -> str:
    """On a phone the columns are tabs; elsewhere the choice is not seen."""
    titles = {letter.lower(): letter for letter in letters}
    with st.container(key="compare_pick"):
        chosen = choices.segments("phone", say("compare.column"), titles, label_visibility="collapsed", width="stretch")
    return chosen.upper()


def _head(loaded: Loaded, indexes: Mapping[str, IndexSummary] | None) -> None:
    letter = loaded.letter
    draw(fragments.rule(letter))
    with st.container(
        horizontal=True, wrap=False, gap="xxsmall", vertical_alignment="center", key=f"compare_head_{letter.lower()}"
    ):
        with st.container(width="stretch", gap=None):
            draw(fragments.heading(loaded))
        if indexes is not None:
            pinned = state.recall("base") == letter.lower()
            st.button(
                "",
                icon=":material/keep:" if pinned else ":material/keep_off:",
                type="tertiary",
                help=say("compare.unpin" if pinned else "compare.pin", letter=letter),
                key=f"compare_pin_{letter.lower()}",
                on_click=columns.pin,
                args=(letter,),
            )
            _settings_button(loaded, indexes)
    draw(fragments.settings(loaded))


def _settings_button(loaded: Loaded, indexes: Mapping[str, IndexSummary]) -> None:
    letter = loaded.letter
    popover = st.popover(
        "",
        icon=":material/tune:",
        type="tertiary",
        help=say("compare.settings_of", letter=letter),
        key=f"compare_settings_{letter.lower()}",
        on_change="rerun",
    )
    if not popover.open:
        return
    with popover:
        strategies = {info.name: info for info in all_strategies().strategies}
        columns.form(loaded.column, indexes, strategies)
        if loaded.column.fixed:
            draw(
                markup.muted(say("compare.equal_decides", options=", ".join(map(forms.title_of, loaded.column.fixed))))
            )
        st.button(
            say("compare.remove_column", letter=letter),
            icon=":material/delete:",
            type="tertiary",
            key=f"compare_remove_{letter.lower()}",
            disabled=len(columns.letters()) <= columns.LEAST,
            on_click=columns.remove,
            args=(letter,),
        )


def _without_trace(loaded: Loaded) -> DeltaGenerator:
    """A column that has nothing yet: why, and what to do; the others stand."""
    place = st.empty()
    if loaded.call is not None:
        with place.container():
            st.skeleton(220)
    elif loaded.missing_part:
        column = loaded.column
        again = loaded.question if column.ask(loaded.question).calls_model else ""
        part_view.offer(loaded.scope, column.summary, column.info, loaded.missing_part, ask_again=again)
    elif loaded.error is not None:
        message(loaded.error, kind="error")
        st.button(
            say("ask.try_again"),
            icon=":material/replay:",
            key=f"compare_retry_{loaded.letter.lower()}",
            on_click=asking.want,
            args=(loaded.scope, loaded.question),
        )
    elif loaded.waits:
        message(say("compare.press_compare"))
    return place


def _answer(loaded: Loaded, alone: frozenset[int]) -> DeltaGenerator:
    """The answer in a place of fixed height, "More" for the rest."""
    letter, name = loaded.letter.lower(), f"{loaded.letter.lower()}_whole"
    answer = loaded.answer
    whole = state.recall(name) == "1"
    with st.container(key=f"compare_{'whole' if whole else 'answer'}_{letter}", gap=None):
        place = st.empty()
        if answer is None:
            with place.container():
                if loaded.answer_error is not None:
                    message(loaded.answer_error, kind="error", title=say("ask.no_answer_written"))
                elif loaded.call is not None:
                    st.skeleton(110)
                else:
                    message(say("compare.press_for_answer"))
        elif not answer.grounded:
            with place.container():
                if answer.extractive:
                    answer_view.no_answer(answer)
                else:
                    draw(html('<div class="lr-read">{}</div>', answer.text))
                    message(say("ask.cites_nothing"))
        else:
            citations.show(
                answer,
                open_mark=str(st.session_state.get(loaded.scope.key("cited"), "")),
                key=f"compare_text_{letter}",
                on_cite=partial(reference_view.open_citation, loaded.scope, answer, stored=loaded.index is None),
                alone=alone,
                tint=f"column-{letter}",
            )
    if answer is not None and len(answer.text) > _LONG_ANSWER:
        st.button(
            say("compare.less") if whole else say("compare.more"),
            type="tertiary",
            key=f"compare_more_{letter}",
            on_click=state.remember,
            args=(name, None if whole else "1"),
        )
    elif answer is not None:
        draw(html('<div class="lr-colgap"></div>'))
    return place


def _graph(loaded: Loaded, trace: Trace, slots: Slots, owners: Mapping[str, str]) -> None:
    drawings = [small_graph(loaded.letter, trace, slots, owners, width=width, language=language()) for width in WIDTHS]
    drawing_view.show(drawings, key=f"compare_graph_{loaded.letter.lower()}")


def _passages(
    loaded: Loaded,
    trace: Trace,
    owners: Mapping[str, str],
    gold_ids: Sequence[str],
    letters: Sequence[str],
    *,
    only_different: bool,
) -> None:
    """The passages in lines; those that only this column has in bold."""
    letter = loaded.letter.lower()
    marks = {item.ref: item.mark for section in trace.context.sections for item in section.items}
    rows = []
    for passage in trace.passages:
        having = owners.get(passage.id, loaded.letter)
        if only_different and set(having) >= set(letters):
            continue
        mark = marks.get(passage.id, "")
        rows.append(
            {
                "id": passage.id,
                "mark": mark,
                "name": isolated(passage_name(passage)),
                "gold": say("compare.gold") if passage.id in gold_ids else "",
                "cited": fragments.cited_text(loaded.answer, mark),
                "owners": [other for other in letters if other in having],
                "alone": len(having) == 1,
                "about": words(passage.reason) if passage.reason else "",
            }
        )
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
        note = fragments.never_cited(loaded)
        if only_different and not rows:
            note = say("compare.no_different_passages")
        if not trace.passages:
            note = say("compare.no_passages")
        if note:
            draw(markup.muted(note))
        if len(rows) > _MOST_PASSAGES:
            st.button(
                say("compare.less") if whole else say("compare.more_passages", n=len(rows) - _MOST_PASSAGES),
                type="tertiary",
                key=f"compare_more_passages_{letter}",
                on_click=state.remember,
                args=(f"{letter}_passages", None if whole else "1"),
            )


def _steps(loaded: Loaded, trace: Trace) -> None:
    """The steps of the retrieval, to be played, and its whole subgraph, behind a fold."""
    fold = st.expander(
        say("compare.steps"),
        icon=":material/play_arrow:",
        key=f"compare_steps_{loaded.letter.lower()}",
        on_change="rerun",
    )
    if fold.open:
        with fold:
            retrieval_view.show(loaded.scope, loaded.index, trace)


def drawers(loaded: Sequence[Loaded]) -> None:
    """Opens what was clicked in one of the columns."""
    for each in loaded:
        reference_view.drawer(each.scope, each.index)
        if each.index is not None:
            passage_view.drawer(each.index, scope=each.scope)


def at_work(place: DeltaGenerator, loaded: Loaded, seconds: int) -> None:
    """What a column does at the moment: its steps so far, or the words of its answer so far."""
    if loaded.trace is None:
        steps = session.steps_so_far(loaded.column.ask(loaded.question).topic)
        place.html(str(result_view.steps_so_far(steps, seconds)))
    elif loaded.call is not None and loaded.call.pieces:
        place.html(str(html('<div class="lr-read lr-writing" aria-busy="true">{}</div>', loaded.call.text)))


def wait(loaded: Sequence[Loaded], places: Mapping[str, DeltaGenerator]) -> None:
    """While a model is asked the columns say what they do; the page is drawn anew when one of them is done."""
    if any(each.call is not None for each in loaded):
        loading.wait_for_any(loaded, {letter: partial(at_work, place) for letter, place in places.items()})
        st.rerun()
