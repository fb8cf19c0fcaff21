"""Missed evidence: what should have been found, where each strategy lost it, and which settings would have found it."""

from collections.abc import Sequence
from typing import Any

import streamlit as st
from markupsafe import Markup

from leanrag_core.comparing.gold_passages import Gold
from leanrag_core.comparing.lost_evidence import INDEX, STAGES, Lane
from leanrag_core.comparing.remedies import Remedy, remedy
from leanrag_core.figures import numbers, passages
from leanrag_core.figures.overlaps import lane_drawing
from leanrag_core.messages.catalog import joined_sentences
from leanrag_core.queries.entity_search import find_entities, names_of_chunk
from leanrag_core.system.threads import BoundedCache
from leanrag_core.text.words import words_around
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Trace
from pages.common import buttons, choices, drawing_view, forms, markup, session, state
from pages.common.html import draw, html, joined
from pages.common.messages import language, message, say, words
from pages.compare import columns, fragments, gold_view
from pages.compare.gold_view import GoldOf
from pages.compare.loading import Loaded, first_index

LANE_WIDTHS = (330, 430, 520, 590, 720)
_AROUND = 260  # characters of the chunk before and after its quote
_LISTED = 8  # most passages and entities that a search offers


def show(loaded: Sequence[Loaded], gold: GoldOf, question: str) -> None:
    """Draw the chosen piece of gold, the list of all, and a lane for each column."""
    has_set = loaded[0].live is not None and _pager(loaded, question)
    if not gold.evidence:
        message(say("missed.no_gold") if has_set or loaded[0].live is None else say("missed.no_set"))
        _marking(loaded)
        return
    place = chosen_piece(gold)
    chosen = gold.evidence[place]
    left, right = st.columns([6, 4], gap="medium")
    with left:
        _passage(loaded, chosen)
        _marking(loaded)
    with right:
        _pieces(loaded, gold, place)
    _lanes(loaded, gold, place)


def chosen_piece(gold: GoldOf) -> int:
    """Return the place of the chosen piece of gold, of which there is at least one."""
    return min(int(state.fitting("piece", 0, int, lambda value: value >= 0)), len(gold.evidence) - 1)


def _pager(loaded: Sequence[Loaded], question: str) -> bool:
    """Draw which question of the set this is, with buttons to the previous and the next; tell whether there is a
    set."""
    questions = gold_view.questions_of(loaded[0].column.summary)
    texts = [each.question for each in questions]
    if not texts:
        return False
    at = texts.index(question) if question in texts else -1
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", horizontal_alignment="right"):
        position = say("missed.question_of", n=at + 1, questions=len(texts)) if at >= 0 else say("missed.own_question")
        draw(markup.muted(position))
        for icon, step in (("chevron_left", -1), ("chevron_right", 1)):
            to = (at + step) if at >= 0 else 0
            label, is_there = say("missed.next" if step > 0 else "missed.previous"), 0 <= to < len(texts)
            wanted = texts[to] if is_there else ""
            buttons.icon_alone(label, icon, f"missed_{icon}", _open_question, wanted, disabled=not is_there)
    return True


def _open_question(text: str) -> None:
    state.remember("q", text)
    state.forget("piece", gold_view.MARKED)


def _passage(loaded: Sequence[Loaded], gold: Gold) -> None:
    """Draw the passage, its quote marked and the entities of the index underlined."""
    index = first_index(loaded)
    body: Markup = html('<div class="lr-read">{}</div>', gold.quote)
    if gold.kind == "passage" and gold.rows and index is not None:
        body = html('<div class="lr-read" dir="auto">{}</div>', _marked(index, gold))
    chunk = say("passage.chunk", n=gold.rows[0] + 1) if gold.rows and gold.kind == "passage" else ""
    draw(
        html(
            '<div class="lr-gpass"><span class="lr-gold">{}</span> <b>{}</b> <span class="lr-muted">{}</span>{}</div>',
            say("compare.gold"),
            markup.name(gold.title or gold.name(language())),
            say("ask.comma").join(part for part in (gold.document, chunk) if part),
            body,
        )
    )


def _marked(index: Index, gold: Gold) -> Markup:
    """Return the text of the chunk around its quote."""
    row = gold.rows[0]
    text = index.chunk(row).text
    names = names_of_chunk(index, row)
    start = text.find(gold.quote) if gold.quote else -1
    if start < 0:
        return html("{}", text)
    end = start + len(gold.quote)
    first, last = words_around(text, start, end, _AROUND)
    before = ("… " if first else "") + text[first:start]
    after = text[end:last] + (" …" if last < len(text) else "")
    return joined((before, html("<mark>{}</mark>", _with_names(text[start:end], names)), after))


def _with_names(text: str, names: Sequence[str]) -> Markup:
    pieces = passages.passage(text, 0, len(text), names=names).pieces if text else ()
    return joined(html("<em>{}</em>", piece.text) if "name" in piece.marks else piece.text for piece in pieces)


def _pieces(loaded: Sequence[Loaded], gold: GoldOf, place: int) -> None:
    """Draw the gold of the question with the columns that found it; a click chooses a piece."""
    draw(markup.label(say("missed.gold_of_question"), say("missed.found_by")))
    letters = [each.letter for each in loaded]
    for number, piece in enumerate(gold.evidence):
        having = "".join(letter for letter, lanes in gold.lanes.items() if lanes[number].is_found)
        with st.container(horizontal=True, wrap=False, gap="xsmall", vertical_alignment="center"):
            with st.container(width="stretch"):
                name = piece.name() if piece.kind == "entity" else _place_and_quote(piece)
                icon = "radio_button_checked" if number == place else "radio_button_unchecked"
                key, to = f"missed_piece_{number}", str(number) if number else None
                buttons.tertiary(forms.plain(name), icon, key, state.remember, "piece", to)
            draw(fragments.owners(letters, having, say("missed.found_by_columns", letters=having or "–")))
    index, chosen = first_index(loaded), gold.evidence[place]
    if index is not None and chosen.kind == "passage" and chosen.rows:
        names = [name for name in names_of_chunk(index, chosen.rows[0]) if name.casefold() in chosen.quote.casefold()]
        if names:
            draw(markup.muted(say("missed.entities_in_quote", names=say("ask.comma").join(names[:8]))))


def _place_and_quote(piece: Gold) -> str:
    return say("text.titled", title=piece.name(language()), text=_short(piece.quote))


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:58].rstrip()}…"


def _marking(loaded: Sequence[Loaded]) -> None:
    """Draw the search by which a person marks another passage or entity that should be found."""
    each = next((each for each in loaded if each.index is not None), None)
    if each is None:
        return
    with st.popover(say("missed.mark_another"), icon=":material/edit:", type="tertiary", key="missed_mark"):
        wanted = choices.text("mark_find", say("missed.find"), type="search").strip()
        if wanted:
            _offers(each, wanted)
        if state.recall(gold_view.MARKED):
            buttons.secondary(say("missed.unmark"), "close", "missed_unmark", state.remember, gold_view.MARKED, None)


def _offers(loaded: Loaded, wanted: str) -> None:
    index, locate = loaded.index, gold_view.finder_of(loaded)
    assert index is not None
    assert locate is not None
    rows = locate.rows_with(wanted, _LISTED)
    for row in rows:
        document = index.document_cells.value("title", index.chunk_cells.value("document", row))
        text = index.chunk(row).text
        at = max(0, text.casefold().find(wanted.casefold()) - 30)
        place = say("ask.comma").join((document, say("passage.chunk", n=row + 1)))
        label = say("text.titled", title=place, text=f"… {text[at : at + 90]} …")
        buttons.tertiary(
            forms.plain(" ".join(label.split())), "article", f"missed_chunk_{row}", _mark, locate.chunk_mark(row)
        )
    entities = find_entities(index, wanted, layer=0, limit=_LISTED).rows
    for entity in entities:
        buttons.tertiary(
            forms.plain(entity.name), "scatter_plot", f"missed_entity_{entity.id}", _mark, f"entity:{entity.name}"
        )
    if not rows and not entities:
        draw(markup.muted(say("missed.nothing_with", words=wanted)))


def _mark(gold_id: str) -> None:
    state.remember(gold_view.MARKED, gold_id)
    state.remember("piece", "99")  # the marked one is the last


def _lanes(loaded: Sequence[Loaded], gold: GoldOf, place: int) -> None:
    """Draw a lane for each column, and the settings change that was tried."""
    draw(html('<div class="lr-h3">{}</div>', say("missed.where_lost")))
    titles = [say(f"missed.stage.{stage}") for stage in STAGES]
    name, lanes, fix = st.columns([19, 57, 34], gap="small")
    with lanes:
        cells = joined(html("<span>{} {}</span>", n, title) for n, title in enumerate(titles, start=1))
        draw(html('<div class="lr-lanehead">{}</div>', cells))
    with fix:
        draw(html('<div class="lr-small lr-muted">{}</div>', say("missed.what_finds")))
    for each in loaded:
        with st.container(key=f"missed_lane_{each.letter.lower()}"):
            name, lanes, fix = st.columns([19, 57, 34], gap="small", vertical_alignment="center")
            with name:
                template = '<div class="lr-lanename">{}<span>{}<small>{}</small></span></div>'
                draw(html(template, fragments.square(each.letter), each.head.title, each.head.settings_line))
            if each.letter not in gold.lanes or each.trace is None:
                with lanes:
                    draw(markup.muted(say("missed.not_run")))
                continue
            lane = gold.lanes[each.letter][place]
            with lanes:
                drawing_view.show(
                    [lane_of(each.letter, lane, each.head.title, width) for width in LANE_WIDTHS],
                    key=f"missed_drawing_{each.letter.lower()}",
                    most=1.5,
                )
            with fix:
                _fix(each, each.trace, gold, place, lane)


def lane_of(letter: str, lane: Lane, title: str, width: int) -> Any:
    """Return the drawing of a lane. title: the column's."""
    stage_texts = [words(part) for part in lane.said]
    ending = (
        say("missed.is_found") if lane.is_found else say("missed.lost_at", stage=say(f"missed.stage.{lane.lost_at}"))
    )
    end = f"{say('text.titled', title=f'{letter} {title}', text=ending)}{say('text.stop')}"
    label = joined_sentences([end, say("ask.comma").join(stage_texts)])
    return lane_drawing(letter, stage_texts, passed=lane.depth, stages=len(STAGES), width=width, label=label)


def _fix(loaded: Loaded, trace: Trace, gold: GoldOf, place: int, lane: Lane) -> None:
    """Draw the tried change that finds the gold, with a button that applies it, or that no change does."""
    if lane.is_found:
        draw(markup.muted(say("missed.nothing_to_change")))
        return
    if loaded.live is None:
        draw(markup.muted(say("missed.saved")))
        return
    if lane.lost_at == INDEX:
        draw(
            html(
                '<div class="lr-fix"><b>{}</b><span>{}</span></div>', say("missed.other_graph"), say("missed.not_tried")
            )
        )
        return
    if loaded.column.ask(loaded.question).calls_model:
        draw(markup.muted(say("missed.would_call")))
        return
    own_gold = _own_gold(loaded, gold, place)
    cure = tried(loaded, trace, own_gold, lane)
    if cure is None:
        draw(markup.muted(say("missed.no_remedy")))
        return
    with st.container(horizontal=True, wrap=False, gap="small", vertical_alignment="center"):
        with st.container(width="stretch"):
            draw(remedy_text(cure))
        column, key = loaded.column, f"missed_try_{loaded.letter.lower()}"
        change, is_fixed = (loaded.letter, column.info, cure.options), bool(set(cure.options) & set(column.fixed))
        buttons.secondary(say("missed.try_it"), "", key, columns.set_options, *change, disabled=is_fixed)


def _own_gold(loaded: Loaded, gold: GoldOf, place: int) -> Gold:
    """Return the piece of gold as located in the column's own index, whose rows differ from other indexes'."""
    locate = gold_view.finder_of(loaded)
    assert locate is not None
    pieces = (*(locate.of_question(gold.question) if gold.question else ()), *gold_view.marked(locate))
    return pieces[place]


def tried(loaded: Loaded, trace: Trace, gold: Gold, lane: Lane) -> Remedy | None:
    """Return the smallest tried change that finds the gold; cached, so that nothing is run twice."""
    column, index = loaded.column, loaded.index
    assert index is not None
    key = (*column.ask(loaded.question).topic, gold)
    options = column.chosen.options

    def retrieve(changed: Any) -> Trace:
        merged = tuple(sorted({**options, **changed}.items()))
        return session.retrieve(column.summary, loaded.question, column.chosen.strategy, merged)

    return _remedies().get_or_make(key, lambda: remedy(trace, index, gold, lane, column.info, retrieve))


@st.cache_resource(show_spinner=False)
def _remedies() -> BoundedCache[Any, Remedy | None]:
    return BoundedCache(256)


def remedy_text(cure: Remedy) -> Markup:
    """Return the change, its cost, and its purpose."""
    changes = say("ask.comma").join(
        f"{forms.title_of(change.option)} {forms.shown(change.option, change.before)} → "
        f"{forms.shown(change.option, change.after)}"
        for change in cure.changes
    )
    cost = say("missed.tried", tokens=numbers.signed(cure.tokens), result=words(cure.lane.said[-1]))
    return html('<div class="lr-fix"><b>{}</b><span>{}</span></div>', changes, cost)
