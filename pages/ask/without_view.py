"""Without this: remove a seed, a relation or a chunk, and show what changes in context and answer."""

import streamlit as st
from markupsafe import Markup

from leanrag_core.comparing.without import OTHER, SENT, AnswerChanges, Removable, answer_changes, removables
from leanrag_core.errors import LeanRAGError
from leanrag_core.figures.changes import changes
from leanrag_core.figures.drawing import isolated
from leanrag_core.retrieval.base import strategies
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Answer, Trace
from leanrag_core.types.visible import visible
from leanrag_core.workbench.explanations import RunWithout
from pages.ask import asking, changes_view
from pages.common import buttons, choices, markup, session, state, widgets
from pages.common.html import NOTHING, draw, html, joined
from pages.common.messages import language, message, say
from pages.common.scope import Scope

TAKEN_OUT = "without"  # in links: ids, separated by commas
_LISTED = 5  # most names listed per role


def panel(scope: Scope, index: Index, ask: asking.Ask, trace: Trace, answer: Answer | None) -> None:
    """Draw the panel; removing something in it redraws only the panel."""
    with st.container(border=True, gap="small", key=scope.name("without_this")):
        st.fragment(_panel)(scope, index, ask, trace, answer)


def _panel(scope: Scope, index: Index, ask: asking.Ask, trace: Trace, answer: Answer | None) -> None:
    draw(markup.view_heading(say("without.title")), markup.muted(say("without.hint")))
    info = strategies().named(ask.strategy)
    if hasattr(info.strategy, "answer"):
        draw(markup.muted(say("without.answers_itself", strategy=info.title)))
        return
    offered = {each.id: each for each in removables(trace, info, language())}
    if not offered:
        draw(markup.muted(say("ask.nothing_retrieved")))
        return
    chosen = _choice(scope, offered)
    state.publish_again()
    if not chosen:
        return
    try:
        run: RunWithout = _run(ask.topic, tuple(chosen), index, trace)
    except LeanRAGError as error:
        message(error, kind="error")
        return
    draw(markup.muted(say("without.sent" if run.way == SENT else "without.retrieved")))
    draw(markup.label(say("without.context")), _context(trace, run.trace))
    draw(markup.label(say("without.answer")))
    _answer(scope, index, ask, tuple(chosen), run.trace, answer)


def _choice(scope: Scope, offered: dict[str, Removable]) -> list[str]:
    """Return the ids that are removed; ids in a link that this retrieval lacks are ignored."""
    titles = {id_: visible(_title(each)) for id_, each in offered.items()}

    def wanted(text: str) -> list[str]:
        return [id_ for id_ in text.split(",") if id_]

    label, placeholder = say("without.field"), say("without.placeholder")
    chosen = widgets.remembered(
        scope.name(TAKEN_OUT),
        [],
        lambda mount: choices.multiselect(
            label, titles, mount.value, **mount.wired, placeholder=placeholder, label_visibility="collapsed"
        ),
        widgets.Values(
            parse=wanted,
            allowed=lambda ids: all(id_ in offered for id_ in ids),
            write=",".join,
            form=widgets.labels(titles),
        ),
    )
    return list(chosen or ())


def _title(each: Removable) -> str:
    kind = say(f"without.kind.{each.kind}") if each.kind != OTHER else ""
    return " ".join(part for part in (kind, each.mark, isolated(each.name)) if part)


@st.cache_resource(show_spinner=False, max_entries=64)
def _run(topic: tuple[object, ...], ids: tuple[str, ...], _index: Index, _trace: Trace) -> RunWithout:
    return session.workbench().explanations.without(_index, _trace, ids)


def _context(before: Trace, after: Trace) -> Markup:
    """Return what entered and left the retrieval, and the tokens."""
    changed = changes(before, after, language())
    lines = []
    for group in changed.groups:
        for sign, names in (("in", group.entered), ("out", group.left)):
            if names:
                title = changes_view.role_title(after, group.role, len(names))
                listed = changes_view.listed(names, _LISTED)
                lines.append(_line(sign, say("text.titled", title=title, text=listed)))
    return html('<div class="lr-diff">{}</div>', joined(lines)) + markup.muted(
        changes_view.tokens_words(changed.tokens)
    )


def _line(sign: str, text: str) -> Markup:
    return html('<div class="{}" dir="auto"><span>{}</span></div>', sign, text)


@st.cache_resource(show_spinner=False, max_entries=64)
def _extractive(topic: tuple[object, ...], ids: tuple[str, ...], _index: Index, _trace: Trace) -> Answer:
    return session.workbench().answer(_index, _trace)


def _answer(
    scope: Scope, index: Index, ask: asking.Ask, chosen: tuple[str, ...], trace: Trace, before: Answer | None
) -> None:
    """Draw how the answer from the remaining context differs, and its text. A model is called only on request."""
    bench = session.workbench()
    after: Answer | None
    if before is None:
        draw(markup.muted(say("without.no_answer_yet")))
        return
    try:
        if bench.questions.asks_model(ask.summary.config.model):
            after = bench.questions.kept_answer(index, trace)
        else:
            after = _extractive(ask.topic, chosen, index, trace)
        if after is None:
            model = asking.model_of(ask)
            if not buttons.secondary(say("without.ask_model", model=model), "edit", scope.name("without_ask")):
                return
            with st.spinner(say("ask.waiting", model=model)):
                after = bench.answer(index, trace)
    except LeanRAGError as error:
        message(error, kind="error", title=say("ask.no_answer_written"))
        return
    draw(_differences(answer_changes(before, after, language())))
    with st.expander(say("without.read"), key=scope.name("without_answer")):
        draw(html('<div class="lr-read" dir="auto">{}</div>', after.text))


def _differences(changed: AnswerChanges) -> Markup:
    """Return the sentences that are gone, new, or cited differently."""
    if not changed.any:
        return html('<div class="lr-small">{}</div>', say("without.same_answer", n=changed.n_same))
    lines = [_line("out", text) for text in changed.gone] + [_line("in", text) for text in changed.new]
    for moved in changed.moved:
        gone = [name for name in moved.before if name not in moved.after]
        new = [name for name in moved.after if name not in moved.before]
        cites = say("ask.comma").join(
            say(code, names=changes_view.listed(names, _LISTED))
            for code, names in (("without.lost", gone), ("without.won", new))
            if names
        )
        lines.append(html('<div class="moved" dir="auto">{}<br><small>{}</small></div>', moved.text, cites))
    same = markup.muted(say("without.stays", n=changed.n_same)) if changed.n_same else NOTHING
    return html('<div class="lr-diff">{}</div>', joined(lines)) + same
