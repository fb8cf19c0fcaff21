"""Why not this? An expected item is followed through every stage, with settings that find it."""

from typing import Any

import streamlit as st
from markupsafe import Markup

from leanrag_core.comparing.gold_passages import GoldFinder
from leanrag_core.comparing.remedies import Remedy
from leanrag_core.comparing.why_not import LOST, PASSED, Check, WhyNot
from leanrag_core.errors import LeanRAGError
from leanrag_core.figures import numbers
from leanrag_core.figures.drawing import isolated
from leanrag_core.queries.entity_search import find_entities, nearest_names
from leanrag_core.retrieval.base import strategies
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Trace
from leanrag_core.workbench.explanations import Explained
from pages.ask import asking, presets
from pages.common import buttons, choices, forms, markup, session, state
from pages.common.html import draw, html, joined
from pages.common.messages import language, message, say, words
from pages.common.scope import Scope

WANTED = "why"  # in links: the words of the expected item
_SUGGESTED = 4  # names offered that contain what was written
_LONGEST = 1_000  # characters of a passage that are shown
_SIGNS = {PASSED: "✓", LOST: "–"}


def panel(scope: Scope, index: Index, ask: asking.Ask, trace: Trace) -> None:
    """Draw the panel; writing in it redraws only the panel."""
    with st.container(border=True, gap="small", key=scope.name("why_not")):
        st.fragment(_panel)(scope, index, ask, trace)


def _panel(scope: Scope, index: Index, ask: asking.Ask, trace: Trace) -> None:
    draw(markup.view_heading(say("why.title")), markup.muted(say("why.hint")))
    label, placeholder, icon = say("why.field"), say("why.placeholder"), ":material/search:"
    look: dict[str, Any] = {"type": "search", "label_visibility": "collapsed", "max_chars": _LONGEST}
    wanted = choices.text(scope.name(WANTED), label, icon=icon, placeholder=placeholder, **look)
    state.publish_again()
    wanted = " ".join(wanted.split())
    if not wanted:
        return
    try:
        why = _explained(ask.topic, wanted, False, ask, index, trace).why
        draw(_said(why), _checklist(why))
        slot = st.empty()
        if why.loss is not None:
            with slot.container():  # every offer runs a retrieval
                st.skeleton(60)
        explained = _explained(ask.topic, wanted, True, ask, index, trace)
    except LeanRAGError as error:
        message(error, kind="error")
        return
    with slot.container(gap="small"):
        _offers(scope, ask, explained)
    _suggestions(scope, index, wanted, why)


@st.cache_resource(show_spinner=False, max_entries=128)
def _explained(
    topic: tuple[object, ...], wanted: str, offer: bool, _ask: asking.Ask, _index: Index, _trace: Trace
) -> Explained:
    # Using the session's state ends a run that a newer one has overtaken, for example when a slider moves on.
    return session.workbench().explanations.why_not(
        _index,
        _trace,
        wanted,
        finder=session.finder(_ask.summary) if _index.cut is None else GoldFinder(_index),
        offer=offer,
        cancelled=lambda: st.session_state.get(WANTED),
    )


def _said(why: WhyNot) -> Markup:
    """Return in a sentence where the item was lost first, and the details."""
    loss = why.loss
    rest = f" {words(loss.said)}." if loss else f" {words(why.lane.said[-1])}."
    notes = joined(markup.muted(words(note)) for note in why.notes)
    kind = say(
        f"why.kind.{why.gold.kind}", name=isolated(why.gold.quote or why.gold.name(language())), n=len(why.gold.rows)
    )
    template = '<div class="lr-why-what" dir="auto">{}</div><div class="lr-why-said" role="status"><b>{}</b>{}</div>{}'
    return html(template, kind, words(why.headline), rest[0] + rest[1:2].upper() + rest[2:], notes)


def _checklist(why: WhyNot) -> Markup:
    """Return every stage with a sign and its details."""
    return html('<div class="lr-why" role="list">{}</div>', joined(map(_row, why.checks)))


def _row(check: Check) -> Markup:
    return html(
        '<div role="listitem" class="{0}"><span class="g" role="img" aria-label="{1}" title="{1}">{2}</span>'
        '<span>{3}</span><span class="v"><bdi>{4}</bdi></span></div>',
        check.state,
        say(f"why.state.{check.state}"),
        _SIGNS.get(check.state, "·"),
        say(f"why.stage.{check.stage}"),
        words(check.said),
    )


def _offers(scope: Scope, ask: asking.Ask, explained: Explained) -> None:
    """Draw the tested settings that find the item, each with its tokens; a click applies one."""
    why = explained.why
    if why.loss is None:
        return
    draw(markup.label(say("why.would_find"), say("why.were_run") if explained.offers else ""))
    info = strategies().named(ask.strategy)
    for place, each in enumerate(explained.offers):
        label, key = forms.plain(_offer_text(each)), scope.name(f"why_offer_{place}")
        if buttons.secondary(label, "", key, presets.set_options, scope, info, each.options, width="stretch"):
            st.rerun()  # the whole page, since its controls have changed
    if not explained.offers:
        code = "why.not_in_graph" if not why.gold.rows else "why.nothing_finds"
        draw(markup.muted(say("missed.would_call") if ask.calls_model else say(code)))


def _offer_text(offer: Remedy) -> str:
    changes = say("ask.comma").join(
        f"{forms.title_of(change.option)} {forms.shown(change.option, change.after)}" for change in offer.changes
    )
    return say("why.offer", changes=changes, tokens=numbers.signed(offer.tokens))


def _suggestions(scope: Scope, index: Index, wanted: str, why: WhyNot) -> None:
    """Draw the entities with a similar name, if no entity has exactly the written one."""
    if why.gold.kind == "entity" or len(wanted) > 60:
        return
    names = [row.name for row in find_entities(index, wanted, layer=0, limit=_SUGGESTED).rows]
    if not names and not why.gold.rows:
        names = nearest_names(index, wanted)
    if not names:
        return
    draw(markup.label(say("why.entities_like_it")))
    with st.container(horizontal=True, gap="xsmall"):
        for name in dict.fromkeys(names):
            label, key = (forms.plain(name if len(name) <= 40 else f"{name[:38]}…")), scope.name(f"why_name_{name}")
            if buttons.tertiary(label, "scatter_plot", key, state.remember, scope.name(WANTED), name):
                st.rerun(scope="fragment")
