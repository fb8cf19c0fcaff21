"""Suggested settings with their evidence: made on request; a person accepts each of them or none."""

import streamlit as st

from leanrag_core.execution.background import StreamedCall, StreamedCalls
from leanrag_core.figures import numbers
from leanrag_core.figures.chart import Curve, curves_chart
from leanrag_core.types.suggestion import CLUSTER_SIZE, TAU, TOP_C, TOP_N, Suggestion, Suggestions
from leanrag_core.types.summary import IndexSummary
from pages.build import settings_form
from pages.common import buttons, dialogs, drawing_view, forms, markup, session, state
from pages.common.frame import colours
from pages.common.html import draw, html
from pages.common.messages import kept_fault, say, show_fault, words

_ASKED, _FAULT = "lr_suggest", "lr_suggest_fault"  # the index for which suggestions are made; why that failed
_ACCEPTED = "lr_suggestion_accepted"  # whether a suggestion was accepted in the previous run
_SECONDS = 30


def fold(corpus_id: str) -> None:
    """Draw the suggestions in a fold; they are made on request."""
    index = next((each for each in session.index_list().indexes if each.corpus_id == corpus_id), None)
    with st.expander(say("build.suggest"), icon=":material/insights:", key="suggest"):
        if index is None:
            markup.note(say("build.suggest.no_index"))
            return
        markup.note(say("build.suggest.what", index=index.title, seconds=_SECONDS))
        suggestions = _calls().kept(_key(index))
        if suggestions is not None:
            st.fragment(_show)(suggestions)
            return
        show_fault(_FAULT)
        if st.session_state.get(_ASKED) == _key(index):
            st.fragment(_wait, run_every=0.7)(index)
            return
        buttons.secondary(
            say("build.suggest.button"), "insights", "suggest_now", st.session_state.__setitem__, _ASKED, _key(index)
        )


def _key(index: IndexSummary) -> tuple[str, str]:
    return index.id, index.created


@st.cache_resource(show_spinner=False)
def _calls() -> StreamedCalls[str, Suggestions]:
    return StreamedCalls(keep=16)


def _begin(index: IndexSummary) -> StreamedCall[str, Suggestions]:
    bench = session.workbench()
    return _calls().begin(_key(index), lambda write: bench.suggest(session.open_index(index), seconds=_SECONDS))


def _wait(index: IndexSummary) -> None:
    """Draw that suggestions are being made in a thread; redraw the page once they are there, or that failed."""
    if st.session_state.get(_ASKED) == _key(index) and _calls().kept(_key(index)) is None:
        call = _begin(index)
        if not call.wait(0.2):
            draw(html('<div class="lr-small lr-muted" role="status">{}</div>', say("build.suggest.working")))
            return
        st.session_state.pop(_ASKED, None)  # first, so that a failed call is not retried automatically
        with kept_fault(_FAULT):
            call.result()
    st.session_state.pop(_ASKED, None)
    dialogs.refresh()


def _show(suggestions: Suggestions) -> None:
    if st.session_state.pop(_ACCEPTED, False):
        st.rerun()  # the form is outside this fragment
    facts = [say("count.entities", n=suggestions.entities)]
    if suggestions.sampled < suggestions.entities:
        facts.append(say("build.suggest.sampled", n=suggestions.sampled))
    if suggestions.n_questions:
        facts.append(
            say("build.suggest.gold" if suggestions.has_gold else "build.suggest.names", n=suggestions.n_questions)
        )
    facts.append(numbers.duration(suggestions.seconds))
    markup.note(say("ask.comma").join(facts))
    for suggestion in suggestions.suggestions:
        with st.container(border=True, gap="xsmall", key=f"suggested_{suggestion.name}"):
            _one_suggestion(suggestion)
            _evidence(suggestions, suggestion)
    for note in suggestions.notes:
        markup.note(words(note))


def _under(name: str) -> str:
    """Return the name under which the form of Build, or Ask, remembers the setting."""
    return settings_form.on_ask(name) if name in (TOP_N, TOP_C) else f"b_{name}"


def _one_suggestion(suggestion: Suggestion) -> None:
    title = forms.title_of(suggestion.name)
    accepted = state.recall(_under(suggestion.name)) == suggestion.value
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        with st.container(width="stretch", gap=None):
            now = say("build.suggest.now", value=suggestion.now) if suggestion.now else ""
            template = '<div class="lr-big"><b style="font-size:1rem">{} {}</b><span>{}</span></div>'
            draw(html(template, title, suggestion.value, now))
        label = say("build.suggest.accepted" if accepted else "build.suggest.accept", value=suggestion.value)
        icon, key = "check" if accepted else "", f"accept_{suggestion.name}"
        hint = say("build.suggest.on_ask") if suggestion.name in (TOP_N, TOP_C) else None
        buttons.secondary(label, icon, key, _accept, suggestion, disabled=accepted, help=hint)
    draw(html('<div class="lr-small">{}</div>', words(suggestion.reason)))


def _accept(suggestion: Suggestion) -> None:
    state.remember(_under(suggestion.name), suggestion.value)
    st.session_state[_ACCEPTED] = True


def _evidence(suggestions: Suggestions, suggestion: Suggestion) -> None:
    """Draw the curves behind the suggestion."""
    if suggestion.name == CLUSTER_SIZE:
        rows = [row for row in suggestions.sizes if row.bic is not None] or list(suggestions.sizes)
        values = [row.cluster_size for row in rows]
        left = _curve("build.suggest.stability", [row.stability for row in rows], "path", "{:.2f}")
        right = _curve("build.suggest.bic", [row.bic or 0.0 for row in rows], "inter", "{:.1f}")
        chosen = int(suggestion.value)
    elif suggestion.name == TAU:
        values = [row.tau for row in suggestions.taus]
        left = _curve(
            "build.suggest.summarised", [float(row.summarised) for row in suggestions.taus], "inter", "{:,.0f}"
        )
        right = _curve("build.suggest.connected", [100 * row.connected for row in suggestions.taus], "path", "{:.0f} %")
        chosen = int(suggestion.value.split(",")[0])
    else:
        tried = suggestions.top_n if suggestion.name == TOP_N else suggestions.top_c
        values = [row.value for row in tried]
        code = "build.suggest.found_gold" if suggestions.has_gold else "build.suggest.found_relations"
        left = _curve(code, [100 * row.found for row in tried], "seed", "{:.0f} %")
        right = _curve("build.suggest.tokens", [row.tokens for row in tried], "chunk", "{:,.0f}")
        chosen = int(suggestion.value)
    title = forms.title_of(suggestion.name)
    mark = say("build.suggest.mark", value=chosen)
    chart = curves_chart(title, values, left, right, suggested=chosen, mark=mark, palette=colours())
    note = ""
    if suggestion.name == TAU:
        quantiles = [f"q{row.share:g} = {row.strength:g}" for row in suggestions.quantiles]
        note = say("build.suggest.quantiles", list=say("ask.comma").join(quantiles))
    drawing_view.show_chart(chart, title=say("build.suggest.evidence"), key=f"evidence_{suggestion.name}", note=note)


def _curve(code: str, y: list[float], colour: str, form: str) -> Curve:
    return Curve(say(code), tuple(y), tuple(form.format(value) for value in y), colour)
