"""Where a question set loses its gold: bars for each column, and the settings change that finds most."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import streamlit as st
from markupsafe import Markup

from leanrag_core.comparing.lost_evidence import REACHED, STAGES, TAKEN
from leanrag_core.comparing.over_questions import FOUND, BestChange, SetResult, best_change
from leanrag_core.comparing.remedies import TOP_N, WIDER_SET
from leanrag_core.evaluation.gold import GoldQuestion
from leanrag_core.figures import numbers
from leanrag_core.retrieval.base import TOP_C
from pages.common import buttons, forms, markup, state
from pages.common.html import draw, html, joined
from pages.common.messages import say
from pages.compare import columns, fragments, set_results
from pages.compare.columns import Column

_INKS = (None, "l4", "l3", "l2", "l1", "l1", "l0")  # first for what was found, then for the stages


def panel(by_letter: Mapping[str, Column], results: Mapping[str, SetResult], questions: Sequence[GoldQuestion]) -> None:
    """Draw bars of what was found and what each stage lost, and the settings change that finds most."""
    n_gold = max(result.n_gold for result in results.values())
    if not n_gold:
        return
    template = '<div class="lr-section">{}<span class="s">{}</span></div>'
    draw(html(template, say("set.where_lost"), say("set.n_gold", n=n_gold, questions=len(questions))))
    as_table = state.recall("losses") == "table"
    draw(loss_table(by_letter, results) if as_table else loss_bars(by_letter, results))
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        _best(by_letter, results, questions)
        label, key = (say("compare.show_pictures") if as_table else say("ask.show_as_table")), "set_losses_table"
        buttons.tertiary(label, "table_rows", key, state.remember, "losses", None if as_table else "table")


def loss_bars(by_letter: Mapping[str, Column], results: Mapping[str, SetResult]) -> Markup:
    """Return a bar for each column, its parts in the order of the stages."""
    kinds = (FOUND, *STAGES)
    legend = joined(
        html('<span><i style="{}"></i>{}</span>', _paint(place), say(f"set.loss.{kind}"))
        for place, kind in enumerate(kinds)
        if any(result.losses[kind] for result in results.values())
    )
    rows = []
    for letter, result in results.items():
        bar = joined(
            html('<i style="{};flex:{} 0 0" title="{} {:,}">{:,}</i>', _paint(place), n, say(f"set.loss.{kind}"), n, n)
            for place, (kind, n) in enumerate(result.losses.items())
            if n
        )
        share = numbers.share(result.share_found)
        total = say("set.found_of", n=result.losses[FOUND], gold=result.n_gold)
        rows.append(
            html(
                '<span class="n">{}<b>{}</b> {}</span><span class="bar">{}</span><span><b>{}</b> {}</span>',
                fragments.sign(letter),
                letter,
                by_letter[letter].title,
                bar,
                share,
                html('<span class="lr-muted">{}</span>', total),
            )
        )
    return html('<div class="lr-losslegend">{}</div><div class="lr-loss">{}</div>', legend, joined(rows))


def _paint(place: int) -> str:
    """Return the background and text colour of a part of a bar: the colour of passages for what was found, the colours
    of the layers for the losses."""
    layer = _INKS[place]
    if layer is None:
        return "background:var(--lr-chunk);color:var(--lr-bg)"
    return f"background:var(--lr-{layer});color:var(--lr-{layer}k)"


def loss_table(by_letter: Mapping[str, Column], results: Mapping[str, SetResult]) -> Markup:
    """Return the same numbers as a table."""
    head = ["", *(say(f"set.loss.{kind}") for kind in (FOUND, *STAGES))]
    rows = [
        (f"{letter} {by_letter[letter].title}", *(f"{n:,}" for n in result.losses.values()))
        for letter, result in results.items()
    ]
    return markup.facts_table(head, rows, caption=say("set.where_lost"))


def _best(by_letter: Mapping[str, Column], results: Mapping[str, SetResult], questions: Sequence[GoldQuestion]) -> None:
    """Draw the change that finds most; a button runs the candidates over the whole set."""
    tries = [
        (letter, option, value)
        for letter in results
        for option, value in _candidates(by_letter[letter], results[letter])
    ]
    if not tries:
        return
    tried = {each: _changed(by_letter[each[0]], each[1], each[2]) for each in tries}
    if not all(set_results.is_kept(column, questions) for column in tried.values()):
        label = say("set.try_changes", changes=len(tries), n=len(questions))
        buttons.secondary(label, "play_arrow", "set_try", set_results.want, "tries")
        if st.session_state.get(set_results.WANTED) != "tries":
            return
        st.session_state.pop(set_results.WANTED)
    best = best_change(results, {each: set_results.result_of(column, questions) for each, column in tried.items()})
    if best is None:
        draw(markup.muted(say("set.no_change")))
        return
    draw(markup.lead(say("set.one_change"), best_text(best, by_letter), "lr-small"))
    change = (best.letter, by_letter[best.letter].info, {best.option: best.value})
    buttons.secondary(say("missed.try_it"), "", "set_take", columns.set_options, *change)


def best_text(best: BestChange, by_letter: Mapping[str, Column]) -> str:
    """Return the change in a sentence."""
    before = by_letter[best.letter].chosen.options[best.option]
    return say(
        "set.change_finds",
        letter=best.letter,
        option=forms.title_of(best.option),
        before=forms.shown(best.option, before),
        after=forms.shown(best.option, best.value),
        n=best.gained,
        tokens=numbers.signed(round(best.tokens)),
    )


def _candidates(column: Column, result: SetResult) -> list[tuple[str, int]]:
    """Return changes worth trying: more seeds if gold was not reached, more passages if it was ranked too low."""
    if column.ask("?").calls_model:
        return []
    options, lost = column.chosen.options, result.losses
    specs = forms.option_fields(column.info.config)
    wanted = []
    if lost[REACHED] and isinstance(options.get(TOP_N), int):
        wanted += [(TOP_N, round(options[TOP_N] * factor)) for factor in WIDER_SET]
    if lost[TAKEN] and isinstance(options.get(TOP_C), int) and TOP_C not in column.fixed:
        wanted += [(TOP_C, round(options[TOP_C] * factor)) for factor in WIDER_SET]
    each_once = dict.fromkeys(wanted)  # of a small number both factors may make the same
    return [(name, value) for name, value in each_once if options[name] < value <= int(specs[name].metadata["high"])]


def _changed(column: Column, option: str, value: int) -> Column:
    chosen = replace(column.chosen, options={**column.chosen.options, option: value})
    return replace(column, chosen=chosen)
