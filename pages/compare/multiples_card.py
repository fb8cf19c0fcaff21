"""One value of a setting as a card: head, tokens, gold, chunks, and buttons that apply the value."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st
from markupsafe import Markup

from leanrag_core.comparing.multiples import Cell, depth_words
from leanrag_core.figures import numbers
from leanrag_core.figures.card_row import Card
from leanrag_core.figures.drawing import Drawing
from leanrag_core.retrieval.variants import Setting
from pages.ask import presets
from pages.common import buttons, markup, state
from pages.common.html import NOTHING, draw, html, joined
from pages.common.messages import message, say, words
from pages.common.scope import Scope
from pages.compare import columns, fragments
from pages.compare.columns import Column
from pages.compare.loading import Loaded


@dataclass(frozen=True)
class ValueCard:
    """A value with its column, and the column's results so far."""

    value: Any
    in_use: bool
    loaded: Loaded
    waits: bool = False  # another index is being made first


def head(setting: Setting, card: ValueCard) -> None:
    """Draw the value, and whether it is in use or a trial's."""
    is_trial = card.loaded.live is not None and (card.loaded.live.is_trial or card.loaded.live.unmade)
    tag = NOTHING
    if card.in_use:
        tag = html('<span class="lr-tag used">{}</span>', say("multiples.in_use"))
    elif is_trial:
        tag = html('<span class="lr-kind">{}</span>', say("multiples.trial"))
    template = '<div class="lr-mulhead{}"><span>{} <b>{}</b></span>{}</div>'
    draw(
        html(
            template, " used" if card.in_use else "", words(setting.title), words(setting.value_words(card.value)), tag
        )
    )


def missing(card: ValueCard) -> None:
    """Draw why a card has no graph: an error, or because its index is being made."""
    if card.loaded.error is not None:
        message(card.loaded.error, kind="error")
    elif card.waits or card.loaded.call is not None:
        draw(html('<div class="lr-making" role="status">{}<i></i><i></i><i></i></div>', say("multiples.making")))


def tokens(loaded: Loaded, cell: Cell, used: Cell | None, most: int, *, is_fewest: bool) -> Markup:
    """Return the context's tokens compared with the value in use, with a bar by section. most: the most tokens of any
    card."""
    trace = loaded.trace
    assert trace is not None
    change = cell.tokens / max(1, used.tokens) - 1 if used is not None else 0.0
    beside = ""
    if is_fewest:
        beside = say("multiples.fewest_word")
    elif used is not None and not cell.in_use:
        beside = numbers.change(change)
    return html(
        '<div class="lr-mulrow"><span><b>{:,}</b> {}</span><span>{}</span></div>'
        '<div class="lr-colbar" role="img" aria-label="{}"><span>{}</span></div>',
        cell.tokens,
        say("compare.tokens"),
        beside,
        fragments.tokens_by_section(trace.context),
        fragments.token_parts(trace.context, most),
    )


def gold(n_found: int, n_gold: int, *, is_most: bool) -> Markup:
    """Return how much of the gold the context holds."""
    squares = joined(html('<i class="{}"></i>', "y" if place < n_found else "") for place in range(min(n_gold, 12)))
    word = html("<b>{}</b> ", say("multiples.most_word")) if is_most else NOTHING
    template = '<div class="lr-mulrow{}"><span>{}</span><span>{}{} / {} <span class="lr-mulgold">{}</span></span></div>'
    return html(template, " most" if is_most else "", say("compare.gold_found"), word, n_found, n_gold, squares)


def chunks(loaded: Loaded, traces: Sequence[Any], gold_ids: Sequence[str]) -> Markup:
    """Return the marks of the chunks; a chunk in one card alone is tinted, one with gold has an edge."""
    trace = loaded.trace
    assert trace is not None
    marks = trace.context.mark_of
    chips = []
    for passage in trace.passages[:8]:
        alone = sum(any(other.id == passage.id for other in each.passages) for each in traces) == 1
        kind = " ".join(word for word, holds in (("alone", alone), ("found", passage.id in gold_ids)) if holds)
        chips.append(
            html('<span class="lr-mulchip {}" title="{}">{}</span>', kind, passage.name, marks.get(passage.id, "–"))
        )
    return html('<div class="lr-mulchips">{}</div>', joined(chips))


def _take(varied_column: Column, target: Scope, setting: Setting, value: Any) -> None:
    if setting.of_index:
        same = str(value or "") == str(varied_column.base.config.by_name()[setting.name] or "")
        state.remember(target.name(columns.index_name(setting.name)), None if same else state.written(value))
    else:
        presets.set_options(target, varied_column.info, {setting.name: value})


def _open(varied_column: Column, setting: Setting, value: Any) -> None:
    """Add a column with the value, beside the column that is varied. For callbacks."""
    letter = columns.duplicate(varied_column.letter)
    if letter:
        _take(varied_column, columns.scope_of(letter), setting, value)
        state.forget("cview")


def actions(varied_column: Column, setting: Setting, card: ValueCard, place: int) -> None:
    """Draw the buttons that open the value in a new column, and that apply it to the varied one."""
    with st.container(horizontal=True, gap="small", horizontal_alignment="distribute"):
        if card.in_use:
            draw(markup.muted(say("multiples.is_column", letter=varied_column.letter)))
            return
        label, key, is_full = say("multiples.open"), f"multiples_open_{place}", len(columns.letters()) >= columns.MOST
        buttons.tertiary(label, "", key, _open, varied_column, setting, card.value, disabled=is_full)
        label, key, scope = say("multiples.use"), f"multiples_use_{place}", varied_column.scope
        hint = say("multiples.use_help", letter=varied_column.letter)
        buttons.tertiary(label, "", key, _take, varied_column, scope, setting, card.value, help=hint)


def picture(setting: Setting, card: ValueCard, cell: Cell, drawing: Drawing, n_gold: int) -> Card:
    """Return the card as drawn in a saved picture."""
    facts = [(say("compare.tokens"), f"{cell.tokens:,}")]
    if cell.gold is not None:
        facts.append((say("compare.gold_found"), f"{cell.gold} / {n_gold}"))
    facts.append((say("multiples.ancestor"), words(depth_words(cell.depth))))
    tag = say("multiples.in_use") if card.in_use else ""
    return Card(words(setting.words(card.value)), tag, drawing, tuple(facts), card.in_use)
