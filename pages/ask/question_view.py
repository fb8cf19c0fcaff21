"""The question field, and examples from the corpus while it is empty."""

from collections.abc import Sequence

import streamlit as st

from leanrag_core.errors import InvalidConfig
from leanrag_core.messages.catalog import joined_sentences
from leanrag_core.retrieval.base import require_question
from leanrag_core.types.summary import IndexSummary
from leanrag_core.workbench.samples import Example
from pages.ask import asking, reference_view
from pages.common import buttons, forms, markup, session, state, widgets
from pages.common.html import draw
from pages.common.messages import message, say
from pages.common.scope import Scope


def form(scope: Scope, *, button: str = "ask.button", icon: str = "send", askers: Sequence[Scope] = ()) -> None:
    """Draw the question field; the previous question holds until the button is pressed. askers: the scopes that ask the
    question; by default the field's own."""
    with st.container(key=scope.key("question")), st.form(scope.name("question_form"), border=False):
        left, right = st.columns([8, 1], gap="small", vertical_alignment="top")
        with left:
            widgets.show(scope.key("draft"), state.recall(scope.name("q")), _draft, lambda written: None)
        with right, st.container(key=f"primary_{scope.name('ask')}"):
            st.form_submit_button(
                say(button),
                type="primary",
                icon=f":material/{icon}:",
                width="stretch",
                on_click=_ask_now,
                args=(scope, askers or (scope,)),
                key=scope.name("ask_button"),
            )
    too_long = st.session_state.get(scope.key("question_too_long"))
    if too_long:
        message(too_long, kind="error", title=say("ask.question_not_asked"))


def _draft(mount: widgets.Mount[str]) -> str:
    label, placeholder = say("ask.question"), say("ask.question_placeholder")
    st.text_area(
        label, value=mount.value, key=mount.key, height="content", label_visibility="collapsed", placeholder=placeholder
    )
    return mount.value


def _ask_now(scope: Scope, askers: Sequence[Scope]) -> None:
    draft = scope.key("draft")
    question = " ".join(str(st.session_state.get(widgets.key_of(draft), "")).split())
    if ask(scope, question, askers):
        widgets.settle(draft, question)


def ask(scope: Scope, question: str, askers: Sequence[Scope]) -> bool:
    """Ask the question in these scopes; return False if it is too long, which the form then shows. For callbacks."""
    try:
        if question:
            require_question(question)
    except InvalidConfig as error:  # and it stays out of the address, since that link could not be opened
        st.session_state[scope.key("question_too_long")] = error.message
        return False
    _take(scope, question, askers)
    return True


def _take(scope: Scope, question: str, askers: Sequence[Scope]) -> None:
    st.session_state.pop(scope.key("question_too_long"), None)
    state.remember(scope.name("q"), question)
    state.forget(
        scope.name("node"), reference_view.PLACE, scope.name("without"), scope.name("after"), scope.name("wrote")
    )
    for asker in askers:
        asking.want(asker, question)


def examples(scope: Scope, summary: IndexSummary, *, askers: Sequence[Scope] = ()) -> None:
    """Draw questions of a sample corpus as buttons, one of each kind, and how they were chosen. askers: see form()."""
    samples = session.workbench().corpora.samples
    offered = samples.examples(summary.corpus_id)
    if offered is None:
        message(say("ask.no_examples"))
        return
    draw(markup.label(say("ask.examples")))
    texts = {question.id: question.question for question in samples.questions(summary.corpus_id)}
    with st.container(gap="xxsmall"):
        for number, example in enumerate(offered.examples):
            label, key, hint = forms.plain(texts[example.id]), scope.name(f"example_{number}"), _why_chosen(example)
            buttons.tertiary(label, "chat_bubble", key, _take, scope, texts[example.id], askers or (scope,), help=hint)
    chosen = say("ask.examples_chosen", clustersize=offered.cluster_size)
    below_root = say("ask.examples_below_root", n=offered.below_root, questions=offered.questions)
    markup.note(joined_sentences([chosen, below_root]))


def _why_chosen(example: Example) -> str | None:
    """Return how much of the example's gold the contexts of LeanRAG and of vector search hold."""
    if example.gold is None or example.gold_of_vectors is None:
        return None
    gold_percent, vectors_percent = round(100 * example.gold), round(100 * example.gold_of_vectors)
    return say("ask.example_gold", held=gold_percent, vectors=vectors_percent, tokens=example.tokens)
