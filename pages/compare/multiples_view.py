"""One question at several values of one setting: a row of subgraphs with tokens, gold found, and where the seeds
meet."""

from collections.abc import Sequence
from dataclasses import Field, replace
from functools import partial
from pathlib import Path
from typing import Any

import streamlit as st

from leanrag_core.comparing.multiples import Cell, depth_of, depth_words, finding, usual_values, values_of
from leanrag_core.errors import LeanRAGError
from leanrag_core.figures import numbers
from leanrag_core.figures.card_row import Card, card_row
from leanrag_core.figures.drawing import plain_values
from leanrag_core.figures.small_graph import passages_drawing
from leanrag_core.figures.tree_card import MOST_SEEDS, seed_places, tree_card
from leanrag_core.messages.catalog import joined_sentences
from leanrag_core.retrieval.base import MAX_TOKENS, TOP_C
from leanrag_core.retrieval.variants import Setting, changed_settings
from leanrag_core.types.config import SETTINGS, IndexConfig
from pages.common import buttons, choices, drawing_view, forms, markup, session, state, widgets
from pages.common.component import component
from pages.common.html import NOTHING, draw, html, joined
from pages.common.messages import language, message, say, words
from pages.compare import columns, gold_view, loading, multiples_card, side_by_side
from pages.compare.columns import Column
from pages.compare.multiples_card import ValueCard

VARY, AT = "vary", "vary_at"  # their names in links
_FIRST = ("top_n", TOP_C, MAX_TOKENS, "ix_cluster_size", "ix_tau", "ix_chunk_tokens")  # of the list of settings
_WIDTH, _NARROW, _MOST_WIDE = 206, 148, 5  # px of a graph, px of one among six or seven, most cards that are drawn wide
_WIDER = {2: (340, 480), 3: (320,), 4: (240,)}  # px of the graph where so few cards leave room for more
_TOOLS = Path(__file__).with_name("multiples_tools.js")
_QUICK_SECONDS = 20.0  # quicker indexes are made without a click


def show(varied_column: Column, question: str) -> None:
    """Draw the choice of a setting and its values, and the cards. varied_column: gives all other settings."""
    session.prepare_trials()
    setting, values = _choice(varied_column)
    if not question:
        draw(markup.muted(say("multiples.no_question")))
        return
    if varied_column.ask(question).calls_model:
        message(say("multiples.calls_model", system=words(varied_column.info.title)))
        return
    cards = _load(varied_column, setting, values, question)
    if cards is None:
        return
    done = [card for card in cards if card.loaded.trace is not None]
    gold = gold_view.of_question([card.loaded for card in done], question)
    cells = {card.loaded.letter: _cell(card, gold) for card in done}
    place = st.empty()
    if len(done) == len(cards):
        claims = finding(setting, list(cells.values()))
        rest = html(" {}", words(claims.rest)) if claims.rest else NOTHING
        with place:
            draw(html('<div class="lr-finding"><b>{}</b>{}</div>', words(claims.claim), rest))
    pictures = _cards(varied_column, setting, cards, cells, gold)
    if len(done) == len(cards):
        _tools(pictures, question, list(cells.values()), setting)
        _equal(done, setting)
        _table(setting, done, cells, len(gold.evidence))
    making = [card.loaded for card in cards if card.loaded.call is not None]
    if making:
        side_by_side.wait(making, {making[0].letter: place})


def _settings(varied_column: Column) -> dict[str, tuple[Setting, Field[Any]]]:
    """Return every setting that can be varied, by its name in links, the most useful ones first."""
    settings = {
        name: (Setting(name), spec)
        for name, spec in forms.option_fields(varied_column.info.config).items()
        if name not in varied_column.fixed and (not isinstance(spec.default, str) or spec.metadata.get("choices"))
    }
    fields = forms.option_fields(IndexConfig)
    settings |= {columns.index_name(name): (Setting(name, of_index=True), fields[name]) for name in SETTINGS}
    order = {name: place for place, name in enumerate(_FIRST)}
    return dict(sorted(settings.items(), key=lambda each: order.get(each[0], len(order))))


def _choice(varied_column: Column) -> tuple[Setting, tuple[Any, ...]]:
    """Return the chosen setting and its values."""
    known = _settings(varied_column)
    titles = {
        name: forms.title_of(setting.name, IndexConfig if setting.of_index else None)
        for name, (setting, _) in known.items()
    }
    first = columns.index_name("cluster_size")
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom", key="multiples_choice"):
        name = choices.dropdown(VARY, say("multiples.vary"), titles, default=first, forgets=(AT,), width=240)
        setting, spec = known[name]
        usual = usual_values(spec, varied_column.settings.value(setting))
        text = ", ".join(map(_text, usual))
        if isinstance(spec.default, bool) or spec.metadata.get("choices"):
            return setting, usual

        def keep(chosen: str) -> None:
            state.remember(AT, None if chosen.strip() in ("", text) else chosen.strip())

        written = state.recall(AT) or text
        widgets.show(
            f"lr_{AT}",
            written,
            lambda mount: st.text_input(say("multiples.at"), value=mount.value, **mount.wired, width=300),
            keep,
            form=name,
        )
    values = values_of(written, spec)
    if values is None:
        message(say("multiples.not_values", values=written), kind="error")
    return setting, values or usual


def _text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _with_value(varied_column: Column, setting: Setting, value: Any, place: int) -> Column:
    """Return the column with that value of the setting. Raises LeanRAGError for an impossible value."""
    letter = f"M{place + 1}"
    if not setting.of_index:
        options = {**varied_column.chosen.options, setting.name: value}
        return replace(varied_column, letter=letter, chosen=replace(varied_column.chosen, options=options), group=None)
    changed = changed_settings(varied_column.base.config.by_name(), {**varied_column.changed, setting.name: value})
    trial = session.trial(varied_column.base, changed)
    return replace(
        varied_column,
        letter=letter,
        changed=changed,
        summary=trial or varied_column.base,
        unmade=trial is None,
        group=None,
    )


def _load(varied_column: Column, setting: Setting, values: Sequence[Any], question: str) -> list[ValueCard] | None:
    """Return a card for each value; missing indexes are made one after the other. None while the person's consent is
    pending."""
    now = varied_column.settings.value(setting)
    columns_of_values: list[tuple[Any, Column | None, LeanRAGError | None]] = []
    for place, value in enumerate(values):
        try:
            columns_of_values.append((value, _with_value(varied_column, setting, value, place), None))
        except LeanRAGError as error:
            columns_of_values.append((value, None, error))
    unmade = [column for _, column, _ in columns_of_values if column is not None and column.unmade]
    if unmade and not _may_make(varied_column, unmade):
        return None
    cards, is_making = [], False
    for place, (value, column, fault) in enumerate(columns_of_values):
        in_use = str(value if value is not None else "") == str(now if now is not None else "")
        if column is None:
            blank = loading.blank(replace(varied_column, letter=f"M{place + 1}", group=None), question)
            cards.append(ValueCard(value, in_use, replace(blank, error=fault)))
        elif column.unmade and is_making:
            cards.append(ValueCard(value, in_use, loading.blank(column, question), waits=True))
        else:
            loaded = loading.load(column, question)
            is_making = is_making or loaded.call is not None
            cards.append(ValueCard(value, in_use, loaded))
    return cards


def _may_make(varied_column: Column, unmade: Sequence[Column]) -> bool:
    """Tell whether the missing indexes may be made now: if that is quick, or if a person has agreed."""
    topics = [loading.trial_topic(column.base, column.changed) for column in unmade]
    if all(loading.is_wanted(topic) for topic in topics):
        return True

    def make() -> None:
        for column in unmade:
            loading.want_trial(column.base, column.changed)

    trials, index = session.workbench().trials, session.open_index(varied_column.base)
    seconds = [trials.seconds(index, column.changed).expected for column in unmade]
    calls = sum(trials.forecast(index, trials.config(index, column.changed)).calls.expected for column in unmade[:1])
    if not calls and sum(seconds) <= _QUICK_SECONDS:
        make()
        return True
    takes = numbers.duration(sum(seconds))
    if calls:
        message(say("compare.takes_calls", n=round(calls) * len(unmade)))
    buttons.secondary(say("multiples.make", n=len(unmade), time=takes), "play_arrow", "multiples_make", make)
    return False


def _cell(card: ValueCard, gold: gold_view.GoldOf) -> Cell:
    trace, index = card.loaded.trace, card.loaded.index
    assert trace is not None
    assert index is not None
    n_found = gold.n_found(card.loaded.letter) if gold.evidence else None
    return Cell(card.value, card.in_use, trace.context.tokens, n_found, depth_of(trace, index))


def _cards(
    varied_column: Column, setting: Setting, cards: Sequence[ValueCard], cells: dict[str, Cell], gold: gold_view.GoldOf
) -> list[Card]:
    """Draw the cards; return the finished ones as pictures."""
    pictures: list[Card] = []
    width = _WIDTH if len(cards) <= _MOST_WIDE else _NARROW
    traces = [card.loaded.trace for card in cards if card.loaded.trace is not None]
    places = seed_places(traces)
    n_layers = max((len(card.loaded.index.layers) for card in cards if card.loaded.index is not None), default=2)
    most = max((trace.context.tokens for trace in traces), default=1)
    used = next((cell for cell in cells.values() if cell.in_use), None)
    gold_counts = [cell.gold for cell in cells.values() if cell.gold is not None]
    best = max(gold_counts) if len(set(gold_counts)) > 1 else None
    fewest = min((cell.tokens for cell in cells.values()), default=0) if len(cells) == len(cards) else None
    trials = {trial.id: trial.seconds for trial in session.workbench().trials.all()}
    is_wide = width == _WIDTH
    with st.grid(
        len(cards),
        min_column_width=150 if is_wide else 120,
        gap="medium" if is_wide else "small",
        key="multiples_cards",
    ):
        for place, card in enumerate(cards):
            with st.container(gap="xsmall", key=f"multiples_card_{place}"):
                multiples_card.head(setting, card)
                loaded = card.loaded
                if loaded.trace is None or loaded.index is None:
                    multiples_card.missing(card)
                    continue
                cell = cells[loaded.letter]
                if places:
                    tree = partial(tree_card, loaded.trace, loaded.index, places, n_layers=n_layers, arcs=is_wide)
                else:
                    tree = partial(passages_drawing, loaded.trace, {})
                widths = (width, *_WIDER.get(len(cards), ()))
                drawings = [tree(width=each, language=language()) for each in widths]
                pictures.append(multiples_card.picture(setting, card, cell, drawings[0], len(gold.evidence)))
                drawing_view.show(drawings, key=f"multiples_graph_{place}", most=1.6)
                n = len(loaded.index.layers)
                seconds = trials.get(loaded.column.summary.id)
                made = (
                    say("multiples.made", n=n, time=numbers.duration(seconds))
                    if seconds
                    else say("multiples.layers", n=n)
                )
                draw(html('<div class="lr-mulrow mute">{}</div>', made))
                draw(multiples_card.tokens(loaded, cell, used, most, is_fewest=cell.tokens == fewest))
                if cell.gold is not None:
                    draw(multiples_card.gold(cell.gold, len(gold.evidence), is_most=cell.gold == best))
                template = '<div class="lr-mulrow"><span>{}</span><b>{}</b></div>'
                draw(html(template, say("multiples.ancestor"), words(depth_words(cell.depth))))
                draw(multiples_card.chunks(loaded, traces, gold.found_ids.get(loaded.letter, ())))
                multiples_card.actions(varied_column, setting, card, place)
    return pictures


def _tools(pictures: Sequence[Card], question: str, cells: Sequence[Cell], setting: Setting) -> None:
    """Draw the tools that save all cards as one picture."""
    claims = finding(setting, cells)
    sentence = joined_sentences([words(claims.claim), words(claims.rest) if claims.rest else ""])
    drawn = plain_values([card_row(pictures, title=question, finding=sentence)])[0]
    offered = drawing_view.tools(f"{words(setting.title)} {question[:40]}", "", svg=True)
    component(_TOOLS, '<div class="lr-multools"></div>', parts=("figure_tools",))(
        data={"picture": drawn, "tools": offered}, key="multiples_tools"
    )


def _equal(cards: Sequence[ValueCard], setting: Setting) -> None:
    """Draw in one line what all cards have in common."""
    traces = [card.loaded.trace for card in cards if card.loaded.trace is not None]
    seeds = set.intersection(*({item.id for item in trace.with_role("seed")} for trace in traces))
    chunks = set.intersection(*({passage.id for passage in trace.passages} for trace in traces))
    seeds_as = "in_trays" if len(seed_places(traces)) > MOST_SEEDS else "as_discs"
    line = say("multiples.equal", seeds=len(seeds), chunks=len(chunks), setting=words(setting.title))
    legend = joined_sentences([say(f"multiples.{seeds_as}"), say("multiples.legend")])
    draw(html('<div class="lr-equal">{}</div>', line), markup.muted(legend))


def _table(setting: Setting, cards: Sequence[ValueCard], cells: dict[str, Cell], n_gold: int) -> None:
    """Draw the cards' numbers as a table, folded."""
    head = joined(
        html("<th>{}</th>", title)
        for title in (words(setting.title), say("compare.tokens"), say("compare.gold_found"), say("multiples.ancestor"))
    )
    rows = []
    for card in cards:
        cell = cells[card.loaded.letter]
        gold = "–" if cell.gold is None else f"{cell.gold} / {n_gold}"
        texts = (words(setting.value_words(cell.value)), f"{cell.tokens:,}", gold, words(depth_words(cell.depth)))
        rows.append(html("<tr>{}</tr>", joined(html("<td>{}</td>", text) for text in texts)))
    template = '<details class="lr-equal"><summary>{}</summary><table class="lr-facts"><tr>{}</tr>{}</table></details>'
    draw(html(template, say("figure.as_table"), head, joined(rows)))
