"""A verdict that the order of the answers turned, to be read: what the judge wrote in either order."""

import json
from collections.abc import Mapping, Sequence

import streamlit as st
from markupsafe import Markup

from leanrag_core.evaluation.audit.records import Flip
from leanrag_core.types.config import model_title
from leanrag_core.types.experiment import Judgement
from pages.common import markup, widgets
from pages.common.html import draw, html
from pages.common.messages import say
from pages.evaluate import figure_view

_MOST = 420  # characters of a reply that are shown beside its verdict
_EXPLANATIONS = ("explanation", "Explanation", "reason", "justification")


def show(flips: Sequence[Flip], letters: Mapping[str, str], questions: Mapping[str, str], *, a: str, b: str) -> None:
    """The flips of a pair, one at a time. questions: their words by id, as far as these are known."""
    own = [flip for flip in flips if {flip.a, flip.b} == {a, b}]
    figure_view.title(say("evaluate.audit.flip"), say("evaluate.audit.flip_note", n=len(own)))
    if not own:
        draw(markup.muted(say("evaluate.audit.no_flips")))
        return
    number = int(
        widgets.remembered(
            "flip",
            1,
            lambda mount: st.number_input(
                say("evaluate.audit.flip_number", n=len(own)),
                min_value=1,
                max_value=len(own),
                value=mount.value,
                key=mount.key,
                on_change=mount.changed,
                width=180,
            ),
            parse=int,
            allowed=lambda value: 1 <= value <= len(own),
            form=len(own),
        )
    )
    flip = own[number - 1]
    draw(html('<div class="lr-small lr-muted" dir="auto">{}</div>', questions.get(flip.question, flip.question)))
    for judgement in (flip.shown_first, flip.shown_second):
        draw(_said(judgement, flip.criterion, letters))
    with st.popover(say("evaluate.audit.prompts"), type="tertiary", icon=":material/description:", key="audit_prompts"):
        for judgement in (flip.shown_first, flip.shown_second):
            draw(markup.label(say("evaluate.audit.shown_first", run=judgement.first), model_title(judgement.judge)))
            markup.code(judgement.prompt or say("evaluate.audit.no_prompt"), height=160)
            markup.code(judgement.reply, height=160)


def _said(judgement: Judgement, criterion: str, letters: Mapping[str, str]) -> Markup:
    winner = {1: judgement.first, 2: judgement.second}.get(int(judgement.verdicts.get(criterion) or 0), "")
    colour = letters.get(winner, "").lower()
    verdict = say("evaluate.audit.won", run=winner) if winner else say("evaluate.audit.tied")
    return html(
        '<div class="lr-said-by" style="--c:var(--lr-{})"><div class="w">{} <b>{}</b></div>'
        '<div class="lr-read" dir="auto">{}</div></div>',
        f"column-{colour}" if colour else "base",
        say("evaluate.audit.shown_first", run=judgement.first),
        verdict,
        explanation(judgement, criterion),
    )


def explanation(judgement: Judgement, criterion: str) -> str:
    """Why the judge decided so by that criterion, where its reply can be read; else the beginning of the reply."""
    try:
        reply = json.loads(judgement.reply)
    except (ValueError, RecursionError):
        reply = None
    if isinstance(reply, dict):
        for name, part in reply.items():
            if str(name).lower().startswith(criterion.lower()) and isinstance(part, dict):
                text = next((str(part[key]) for key in _EXPLANATIONS if key in part), "")
                if text:
                    return text if len(text) <= _MOST else text[:_MOST].rstrip() + "…"
    return judgement.reply if len(judgement.reply) <= _MOST else judgement.reply[:_MOST].rstrip() + "…"
