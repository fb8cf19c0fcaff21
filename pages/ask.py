"""Ask: a question, how its answer was found step by step, and every source behind it."""

from typing import Any

import streamlit as st

from leanrag_core.errors import EndpointError, InvalidConfig
from leanrag_core.figures import numbers
from leanrag_core.models.registry import BUILTIN
from leanrag_core.retrieval.base import require_question
from leanrag_core.types.index import Index
from leanrag_core.types.summary import IndexSummary
from leanrag_core.types.trace import Trace
from pages._shared import answer_view, asking, forms, job_view, passage_view, retrieval_view, session, state
from pages._shared.frame import enter, heading, kind_line, message, plain_errors

PILLS = ("inter_cluster", "source_chunks", "findings")
SLIDERS = {"top_n": ("n", "Top-N seeds"), "top_c": ("c", "Top-C chunks")}
TOO_LONG = "lr_question_too_long"  # what is told of the question that was not taken
WIDER_ABOVE = 10  # seeds; the figure then takes more of the page
URL = ["index", "q", "strategy", "n", "c", "use", "step", "node", "show"]


def ask_now() -> None:
    question = " ".join(str(st.session_state.get(state.widget_key("draft"), "")).split())
    st.session_state.pop(TOO_LONG, None)
    try:
        if question:
            require_question(question)
    except InvalidConfig as error:  # and it stays out of the address, which could not be opened again
        st.session_state[TOO_LONG] = str(error)
        return
    state.remember("q", question)
    state.remember("node", None)
    asking.want(state.recall("q"))


def take_example(question: str) -> None:
    st.session_state.pop(TOO_LONG, None)
    state.remember("q", question)
    st.session_state[state.widget_key("draft")] = question
    state.remember("node", None)
    asking.want(question)


def question_form() -> None:
    key = state.widget_key("draft")
    if key not in st.session_state:
        st.session_state[key] = state.recall("q")
    with st.container(key="question"), st.form("question_form", border=False, enter_to_submit=True):
        left, right = st.columns([8, 1], gap="small", vertical_alignment="top")
        with left:
            st.text_area(
                "Question",
                key=key,
                height="content",
                label_visibility="collapsed",
                placeholder="Ask something that the documents can answer",
            )
        with right, st.container(key="primary_ask"):
            st.form_submit_button("Ask", type="primary", icon=":material/send:", width="stretch", on_click=ask_now)
    if TOO_LONG in st.session_state:
        message(st.session_state[TOO_LONG], kind="error", title="This question was not asked.")


def strategy_options(strategies: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The strategy and its options, from the controls in one row."""
    options: dict[str, Any] = {}
    with st.container(horizontal=True, vertical_alignment="top", gap="medium", key="params"):
        key = state.prepare("strategy", next(iter(strategies)), str, lambda value: value in strategies)
        name = st.selectbox(
            "Strategy", list(strategies), format_func=lambda one: strategies[one].title, key=key, width=210
        )
        state.remember("strategy", None if name == next(iter(strategies)) else name)
        config = strategies[name].config
        specs = forms.option_fields(config)
        for field, (short, title) in SLIDERS.items():
            if field in specs:
                options[field] = slider(specs[field], short, title)
        pills = [field for field in PILLS if field in specs]
        if pills:
            options |= switches(specs, pills)
        rest = [field for field in specs if field not in options]
        if rest:
            with st.container(gap="xsmall", width="content"):
                st.html('<div class="lr-small" style="height:1.35rem"></div>')
                with st.popover("More settings", icon=":material/tune:", type="tertiary", width="content"):
                    for field in rest:
                        options[field] = forms.draw_field(config, field, prefix=f"{name}_")
    return name, options


def slider(spec: Any, short: str, title: str) -> int:
    low, high = int(spec.metadata["low"]), int(spec.metadata["high"])
    key = state.prepare(short, spec.default, int, lambda value: low <= value <= high)
    shown = max(30 if short == "n" else 20, int(st.session_state[key]))
    value = int(st.slider(title, low, min(high, shown), key=key, width=160, help=forms.hint(spec)))
    state.remember(short, None if value == spec.default else value)
    return value


def switches(specs: dict[str, Any], names: list[str]) -> dict[str, bool]:
    default = [name for name in names if specs[name].default]

    def parse(text: str) -> list[str]:
        return [name for name in text.split(",") if name in names]

    key = state.prepare("use", default, parse, lambda value: all(one in names for one in value))
    chosen = st.pills(
        "Use", names, selection_mode="multi", format_func=forms.title_of, key=key, width="content", wrap=True
    )
    state.remember("use", None if sorted(chosen) == sorted(default) else ",".join(sorted(chosen)) or "none")
    return {name: name in chosen for name in names}


def examples(summary: IndexSummary) -> None:
    questions = session.workbench().questions(summary.corpus_id)
    if summary.config.get("model") == BUILTIN:  # which knows a question off the topic, not one beside the answer
        questions = [one for one in questions if one.get("type") != "unanswerable"]
    if not questions:
        message("Write a question that these documents can answer, then press Ask or Ctrl+Enter.")
        return
    st.html('<div class="lr-label">Examples from this corpus</div>')
    kinds: dict[str, str] = {}
    for one in questions:
        kinds.setdefault(str(one.get("type", "")), one["question"])
    shown = list(kinds.values())[:5]
    shown += [one["question"] for one in questions if one["question"] not in shown][: max(0, 3 - len(shown))]
    with st.container(gap="xxsmall"):
        for number, question in enumerate(shown):
            st.button(
                forms.plain(question),
                key=f"example_{number}",
                icon=":material/chat_bubble:",
                type="tertiary",
                on_click=take_example,
                args=(question,),
            )


def result(index: Index, summary: IndexSummary, question: str, strategy: str, options: dict[str, Any]) -> None:
    packed: session.Options = tuple(sorted(options.items()))
    trace = session.retrieve(summary, question, strategy, packed)
    before = previous_trace(summary, question, strategy, trace)
    # Many seeds stand in trays, which need room for their names.
    left, right = st.columns([5, 7] if len(trace.seeds) <= WIDER_ABOVE else [4, 9], gap="large")
    with left:
        slot = st.container(gap="small")
    with right:
        retrieval_view.show(index, trace)
    retrieval_view.context_panel(trace)
    retrieval_view.chunk_cards(trace)
    with slot:
        asking.show(index, asking.Ask(summary, question, strategy, packed), trace)
        answer_view.changes_panel(before, trace)
        answer_view.notes_panel(trace)


def answer_or_retry(index: Index, summary: IndexSummary, question: str, strategy: str, options: dict[str, Any]) -> None:
    """The result; where the endpoint could not embed the question, why, and a way to try again."""
    try:
        result(index, summary, question, strategy, options)
    except EndpointError as error:
        message(str(error), kind="error", title="The question could not be embedded.")
        st.button("Try again", icon=":material/replay:", key="retry_retrieval")


def previous_trace(summary: IndexSummary, question: str, strategy: str, trace: Trace) -> Trace | None:
    """The last other retrieval of this question, to tell what a setting changed."""
    kept = st.session_state.setdefault("lr_traces", {})
    topic = (summary.id, question)
    if kept.get("topic") != topic:
        kept.update(topic=topic, now=trace, before=None)
    elif kept["now"].parameters != trace.parameters or kept["now"].strategy != trace.strategy:
        kept.update(before=kept["now"], now=trace)
    found: Trace | None = kept["before"]
    return found


def page() -> None:
    linked = st.query_params.get("index", "")
    summary = enter("ask")
    if summary is None:
        heading("Ask")
        job_view.no_index()
        state.publish(["index"])
        return
    facts = f"{summary.title}, {numbers.counted(summary.documents, 'document')}"
    size = "" if "clustersize" in summary.apart else f", clustersize {summary.config.get('cluster_size')}"
    heading("Ask", f"{facts}{size}")
    kind_line(summary.kind, summary.builtin_texts)
    if linked not in ("", *(one.id for one in session.shelf().indexes)):
        message(f"The index {linked} is no longer there, so {summary.title} is shown instead. Nothing was asked of it.")
        asking.withdraw()
    question_form()
    strategies = {info.name: info for info in session.workbench().strategies()}
    strategy, options = strategy_options(strategies)
    question = state.recall("q")
    names = [*URL, *(f"{strategy}_{field}" for field in forms.option_fields(strategies[strategy].config))]
    state.publish(names)  # before the answer is written, so that the page can be reloaded while it is
    with plain_errors(), session.reading(summary) as index:
        if question:
            answer_or_retry(index, summary, question, strategy, options)
        else:
            session.read_ahead(summary)
            examples(summary)
        answer_view.dialogs(index)
        passage_view.drawer(index)
    state.publish(names)


page()
