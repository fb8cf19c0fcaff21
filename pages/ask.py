"""Ask: a question, how its answer was found step by step, and every source behind it."""

from typing import Any

import streamlit as st

from leanrag_core.errors import EndpointError, InvalidConfig
from leanrag_core.figures import numbers
from leanrag_core.figures.direction import isolated
from leanrag_core.models.registry import BUILTIN
from leanrag_core.retrieval.base import require_question
from leanrag_core.types.index import Index
from leanrag_core.types.summary import IndexSummary
from leanrag_core.types.trace import Trace
from pages._shared.ask import answer_view, asking, retrieval_view
from pages._shared.build import job_view
from pages._shared.common import forms, passage_view, session, state, widgets
from pages._shared.common.frame import enter, gone_index, heading, kind_line, message, plain_errors

DRAFT = "lr_draft"
PILLS = ("inter_cluster", "source_chunks", "findings")
SLIDERS = {"top_n": ("n", "Top-N seeds"), "top_c": ("c", "Top-C chunks")}
TOO_LONG = "lr_question_too_long"  # what is told of the question that was not taken
WIDER_ABOVE = 10  # seeds; the figure then takes more of the page
URL = ("index", "q", "strategy", "n", "c", "step", "node", "show")


def ask_now() -> None:
    question = " ".join(str(st.session_state.get(widgets.key_of(DRAFT), "")).split())
    st.session_state.pop(TOO_LONG, None)
    try:
        if question:
            require_question(question)
    except InvalidConfig as error:  # and it stays out of the address, which could not be opened again
        st.session_state[TOO_LONG] = str(error)
        return
    state.remember("q", question)
    widgets.settle(DRAFT, question)
    state.remember("node", None)
    asking.want(question)


def take_example(question: str) -> None:
    st.session_state.pop(TOO_LONG, None)
    state.remember("q", question)
    state.remember("node", None)
    asking.want(question)


def question_form() -> None:
    with st.container(key="question"), st.form("question_form", border=False, enter_to_submit=True):
        left, right = st.columns([8, 1], gap="small", vertical_alignment="top")
        with left:
            widgets.show(DRAFT, state.recall("q"), draft, lambda written: None)
        with right, st.container(key="primary_ask"):
            st.form_submit_button("Ask", type="primary", icon=":material/send:", width="stretch", on_click=ask_now)
    if TOO_LONG in st.session_state:
        message(st.session_state[TOO_LONG], kind="error", title="This question was not asked.")


def draft(mount: widgets.Mount[str]) -> str:
    """A question may be written here; until the button is pressed the one before holds."""
    st.text_area(
        "Question",
        value=mount.value,
        key=mount.key,
        height="content",
        label_visibility="collapsed",
        placeholder="Ask something that the documents can answer",
    )
    return mount.value


def strategy_options(strategies: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The strategy and its options, from the controls in one row."""
    options: dict[str, Any] = {}
    with st.container(horizontal=True, vertical_alignment="top", gap="medium", key="params"):
        names = list(strategies)
        name = widgets.one_of(
            "strategy",
            names,
            lambda mount: st.selectbox(
                "Strategy",
                names,
                index=names.index(mount.value),
                format_func=lambda strategy: strategies[strategy].title,
                key=mount.key,
                on_change=mount.changed,
                width=210,
            ),
        )
        config = strategies[name].config
        specs = forms.option_fields(config)
        for field, (short, title) in SLIDERS.items():
            if field in specs:
                options[field] = slider(specs[field], short, title)
        pills = [field for field in PILLS if field in specs]
        if pills:
            options |= switches(f"{name}_use", specs, pills)
        rest = [field for field in specs if field not in options]
        if rest:
            with st.container(gap="xsmall", width="content"):
                st.html('<div class="lr-small" style="height:1.35rem"></div>')
                with st.popover("More settings", icon=":material/tune:", type="tertiary", width="content"):
                    for field in rest:
                        options[field] = forms.draw_field(config, field, prefix=f"{name}_")
    return name, options


def slider(spec: Any, short: str, title: str) -> int:
    """Top-N or top-C: the strategies share it, each within its own bounds."""
    low, high = int(spec.metadata["low"]), int(spec.metadata["high"])

    def allowed(value: int) -> bool:
        return low <= value <= high

    # The scale grows with a value from a link, and does not shrink under the hand that moves it back.
    widest = f"lr_widest_{short}"
    now = state.fitting(short, spec.default, int, allowed)
    st.session_state[widest] = max(30 if short == "n" else 20, now, st.session_state.get(widest, 0))
    top = min(high, st.session_state[widest])
    return int(
        widgets.remembered(
            short,
            spec.default,
            lambda mount: st.slider(
                title, low, top, mount.value, key=mount.key, on_change=mount.changed, width=160, help=forms.hint(spec)
            ),
            parse=int,
            allowed=allowed,
            form=(low, top),
        )
    )


def switches(name: str, specs: dict[str, Any], fields: list[str]) -> dict[str, bool]:
    """The parts of a strategy that are on, remembered for each strategy by itself."""
    default = sorted(field for field in fields if specs[field].default)
    chosen = widgets.remembered(
        name,
        default,
        lambda mount: st.pills(
            "Use",
            fields,
            selection_mode="multi",
            default=mount.value,
            format_func=forms.title_of,
            key=mount.key,
            on_change=mount.changed,
            width="content",
            wrap=True,
        ),
        parse=lambda text: [] if text == "none" else sorted(text.split(",")),
        allowed=lambda parts: set(parts) <= set(fields),
        write=lambda parts: ",".join(parts) or "none",
        read=sorted,
        form=tuple(fields),
        key="lr_use",
    )
    return {field: field in chosen for field in fields}


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
    summary = enter("ask")
    if summary is None:
        heading("Ask")
        asking.withdraw()
        if not gone_index():
            job_view.no_index()
        state.publish(URL)
        return
    facts = f"{isolated(summary.title)}, {numbers.counted(summary.documents, 'document')}"
    size = "" if "clustersize" in summary.apart else f", clustersize {summary.config.get('cluster_size')}"
    heading("Ask", f"{facts}{size}")
    kind_line(summary)
    question_form()
    strategies = {info.name: info for info in session.workbench().strategies()}
    strategy, options = strategy_options(strategies)
    question = state.recall("q")
    names = [*URL, *(f"{name}_use" for name in strategies)]
    names += [f"{name}_{field}" for name, info in strategies.items() for field in forms.option_fields(info.config)]
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
