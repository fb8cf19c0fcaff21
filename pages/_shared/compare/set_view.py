"""The columns over a question set: measures, what each question found, and where the set loses its gold."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st
from markupsafe import Markup

from leanrag_core.comparing.lost_evidence import REACHED, STAGES, TAKEN
from leanrag_core.comparing.over_questions import FOUND, BestChange, SetResult, best_change, over_questions
from leanrag_core.comparing.remedies import TOP_N, WIDER_SET
from leanrag_core.errors import LeanRAGError
from leanrag_core.evaluation.gold import GoldQuestion
from leanrag_core.figures import numbers
from leanrag_core.retrieval.base import TOP_C
from leanrag_core.types.trace import Trace
from pages._shared.common import forms, markup, session, state
from pages._shared.common.html import NOTHING, draw, html, joined
from pages._shared.common.messages import message, say, words
from pages._shared.compare import columns, fragments, gold_view
from pages._shared.compare.columns import Column

_WANTED = "lr_compare_set"  # a person asked for columns that call a model over the whole set
_INKS = (None, "l4", "l3", "l2", "l1", "l1", "l0")  # of found, then of the stages


def show(chosen: Sequence[Column]) -> None:
    """The table of the set, what each question found, and the losses."""
    questions = gold_view.questions_of(chosen[0].summary)
    if not questions:
        message(say("set.none"))
        return
    draw(markup.muted(say("set.facts", n=len(questions), corpus=chosen[0].summary.corpus_name)))
    results = results_of(chosen, questions)
    if not results:
        return
    by_letter = {column.letter: column for column in chosen}
    draw(html('<div class="lr-h3">{}</div>', say("set.measures")), measures_table(by_letter, results))
    _loss_panel(by_letter, results, questions)
    draw(html('<div class="lr-h3">{}</div>', say("set.by_question")))
    _questions_table(results, questions)


def losses(chosen: Sequence[Column]) -> None:
    """Where the set loses its gold, below one question's lanes; only for columns that cost nothing."""
    questions = gold_view.questions_of(chosen[0].summary)
    results = results_of(chosen, questions, quiet=True) if questions else {}
    if results:
        _loss_panel({column.letter: column for column in chosen}, results, questions)


def results_of(
    chosen: Sequence[Column], questions: Sequence[GoldQuestion], *, quiet: bool = False
) -> dict[str, SetResult]:
    """The result of each column that can run at once, or was asked for; others are said to wait. quiet: or nothing."""
    results: dict[str, SetResult] = {}
    waiting: list[str] = []
    for column in chosen:
        calls = column.ask("?").calls_model
        if calls and not _kept(column, questions) and st.session_state.get(_WANTED) != _key(column, questions):
            waiting.append(column.letter)
            continue
        try:
            results[column.letter] = _result(column, questions)
        except LeanRAGError as error:
            if not quiet:
                message(error, kind="error", title=say("set.column_failed", letter=column.letter))
    if waiting and not quiet:
        letters = say("ask.comma").join(waiting)
        message(say("set.would_call", letters=letters, n=len(questions)))
        for column in chosen:
            if column.letter in waiting:
                st.button(
                    say("set.run_column", letter=column.letter, n=len(questions)),
                    key=f"set_run_{column.letter.lower()}",
                    icon=":material/play_arrow:",
                    on_click=_want,
                    args=(_key(column, questions),),
                )
    return results


def _want(key: Any) -> None:
    st.session_state[_WANTED] = key


def _key(column: Column, questions: Sequence[GoldQuestion]) -> tuple[Any, ...]:
    return (*column.ask("").topic, len(questions), hash(tuple(questions)))


@st.cache_resource(show_spinner=False)
def _results() -> dict[tuple[Any, ...], SetResult]:
    return {}


def _kept(column: Column, questions: Sequence[GoldQuestion]) -> bool:
    return _key(column, questions) in _results()


def _result(column: Column, questions: Sequence[GoldQuestion]) -> SetResult:
    """The column over the set: kept, since another column's settings do not change it."""
    kept, key = _results(), _key(column, questions)
    if key not in kept:
        index, bench = session.open_index(column.summary), session.workbench()
        place = st.empty()

        def retrieve(question: str) -> Trace:
            return bench.retrieve(index, question, column.chosen.strategy, **column.chosen.options)

        def told(n: int) -> None:
            if n % 5 == 0:
                place.html(str(markup.muted(say("set.running", letter=column.letter, n=n, questions=len(questions)))))

        with bench.naming_damage(index):
            kept[key] = over_questions(index, questions, retrieve, told)
        place.empty()
        while len(kept) > 64:
            del kept[next(iter(kept))]
    return kept[key]


def measures_table(by_letter: Mapping[str, Column], results: Mapping[str, SetResult]) -> Markup:
    """The measures of each column, the best of each in bold."""
    letters = list(results)
    head = joined(html("<th>{} {}</th>", fragments.square(letter), by_letter[letter].title) for letter in letters)
    rows = [_row(say("set.gold_found"), [_share(results[letter]) for letter in letters], most=True)]
    names = [mean.measure for mean in results[letters[0]].means]
    for place, name in enumerate(names):
        means = [results[letter].means[place] for letter in letters]
        values = [mean.value for mean in means]
        places = 0 if name == "context-tokens" else 2
        rows.append(_row(words(means[0].title), values, places=places, most=name != "context-tokens"))
    per_thousand = [
        results[letter].losses[FOUND] / max(1.0, results[letter].mean_tokens * len(results[letter].questions)) * 1000
        for letter in letters
    ]
    rows.append(_row(say("set.gold_per_thousand"), per_thousand, most=True))
    rows.append(_row(say("set.median_ms"), [results[letter].median_ms for letter in letters], places=1, most=False))
    return html(
        '<div class="lr-scroll"><table class="lr-facts" aria-label="{}"><tr><th></th>{}</tr>{}</table></div>',
        say("set.measures"),
        head,
        joined(rows),
    )


def _share(result: SetResult) -> float:
    return result.losses[FOUND] / max(1, result.n_gold)


def _row(title: str, values: Sequence[float | None], *, places: int = 2, most: bool) -> Markup:
    """A measure's values, the best in bold with the word for it. most: whether more is better."""
    known = [value for value in values if value is not None]
    best = (max(known) if most else min(known)) if known else None
    cells = []
    for value in values:
        if value is None:
            cells.append(html("<td>–</td>"))
            continue
        shown = numbers.decimal(value, places)
        is_best = value == best and len({round(each, 6) for each in known}) > 1
        cells.append(html("<td><b>{}</b> {}</td>", shown, say("set.best")) if is_best else html("<td>{}</td>", shown))
    return html("<tr><td>{}</td>{}</tr>", title, joined(cells))


def _loss_panel(
    by_letter: Mapping[str, Column], results: Mapping[str, SetResult], questions: Sequence[GoldQuestion]
) -> None:
    """Bars of what was found and what each stage lost, and the change of a setting that finds most."""
    n_gold = max(result.n_gold for result in results.values())
    if not n_gold:
        return
    draw(
        html(
            '<div class="lr-section">{}<span class="s">{}</span></div>',
            say("set.where_lost"),
            say("set.n_gold", n=n_gold, questions=len(questions)),
        )
    )
    as_table = state.recall("losses") == "table"
    draw(loss_table(by_letter, results) if as_table else loss_bars(by_letter, results))
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        _best(by_letter, results, questions)
        st.button(
            say("compare.show_pictures") if as_table else say("ask.show_as_table"),
            key="set_losses_table",
            type="tertiary",
            icon=":material/table_rows:",
            on_click=state.remember,
            args=("losses", None if as_table else "table"),
        )


def loss_bars(by_letter: Mapping[str, Column], results: Mapping[str, SetResult]) -> Markup:
    """A bar for each column, in the order of the stages."""
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
        share = numbers.share(_share(result))
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
    """The background and the ink of a part of a bar: found in the colour of passages, losses on the ramp of layers."""
    layer = _INKS[place]
    if layer is None:
        return "background:var(--lr-chunk);color:var(--lr-bg)"
    return f"background:var(--lr-{layer});color:var(--lr-{layer}k)"


def loss_table(by_letter: Mapping[str, Column], results: Mapping[str, SetResult]) -> Markup:
    """The same numbers as a table."""
    head = ["", *(say(f"set.loss.{kind}") for kind in (FOUND, *STAGES))]
    rows = [
        (f"{letter} {by_letter[letter].title}", *(f"{n:,}" for n in result.losses.values()))
        for letter, result in results.items()
    ]
    return markup.facts_table(head, rows, caption=say("set.where_lost"))


def _best(by_letter: Mapping[str, Column], results: Mapping[str, SetResult], questions: Sequence[GoldQuestion]) -> None:
    """The change that finds most: a button tries some of them over the whole set, each is really run."""
    tries = [
        (letter, option, value)
        for letter in results
        for option, value in _candidates(by_letter[letter], results[letter])
    ]
    if not tries:
        return
    tried = {each: _changed(by_letter[each[0]], each[1], each[2]) for each in tries}
    if not all(_kept(column, questions) for column in tried.values()):
        st.button(
            say("set.try_changes", changes=len(tries), n=len(questions)),
            key="set_try",
            icon=":material/play_arrow:",
            on_click=_want,
            args=("tries",),
        )
        if st.session_state.get(_WANTED) != "tries":
            return
        st.session_state.pop(_WANTED)
    best = best_change(results, {each: _result(column, questions) for each, column in tried.items()})
    if best is None:
        draw(markup.muted(say("set.no_change")))
        return
    draw(html('<div class="lr-small"><b>{}</b> {}</div>', say("set.one_change"), best_text(best, by_letter)))
    st.button(
        say("missed.try_it"),
        key="set_take",
        on_click=columns.set_options,
        args=(best.letter, by_letter[best.letter].info, {best.option: best.value}),
    )


def best_text(best: BestChange, by_letter: Mapping[str, Column]) -> str:
    """The change in a sentence."""
    before = by_letter[best.letter].chosen.options[best.option]
    return say(
        "set.change_finds",
        letter=best.letter,
        option=forms.title_of(best.option),
        before=before,
        after=best.value,
        n=best.gained,
        tokens=numbers.signed(round(best.tokens)),
    )


def _candidates(column: Column, result: SetResult) -> list[tuple[str, int]]:
    """Changes worth a try: more seeds where gold was not reached, more passages where it was ranked too low."""
    if column.ask("?").calls_model:
        return []
    options, lost = column.chosen.options, result.losses
    specs = forms.option_fields(column.info.config)
    wanted = []
    if lost[REACHED] and isinstance(options.get(TOP_N), int):
        wanted += [(TOP_N, round(options[TOP_N] * factor)) for factor in WIDER_SET]
    if lost[TAKEN] and isinstance(options.get(TOP_C), int) and TOP_C not in column.fixed:
        wanted += [(TOP_C, round(options[TOP_C] * factor)) for factor in WIDER_SET]
    return [(name, value) for name, value in wanted if options[name] < value <= int(specs[name].metadata["high"])]


def _changed(column: Column, option: str, value: int) -> Column:
    chosen = replace(column.chosen, options={**column.chosen.options, option: value})
    return replace(column, chosen=chosen)


def _questions_table(results: Mapping[str, SetResult], questions: Sequence[GoldQuestion]) -> None:
    """Each question with what every column found; a click opens it."""
    letters = list(results)
    only = state.recall("differ") == "1"
    lines = []
    for place, question in enumerate(questions):
        each = {letter: results[letter].questions[place] for letter in letters}
        if only and len({item.n_found for item in each.values()}) == 1:
            continue
        lines.append((place, question, each))
    for place, question, each in lines:
        with st.container(
            horizontal=True, wrap=False, gap="small", vertical_alignment="center", key=f"set_row_{place}"
        ):
            with st.container(width="stretch"):
                st.button(
                    forms.plain(question.question),
                    key=f"set_question_{place}",
                    type="tertiary",
                    help=question.kind or None,
                    on_click=_open,
                    args=(question.question,),
                )
            with st.container(width="content"):
                draw(_found_cells(each))


def _found_cells(each: Mapping[str, Any]) -> Markup:
    cells = []
    for letter, result in each.items():
        n_gold = len(result.evidence)
        text = f"{result.n_found}/{n_gold}" if n_gold else "–"
        cells.append(
            html('<span class="lr-cell" style="{}"><b>{}</b> {}</span>', fragments.colour(letter), letter, text)
        )
    return html('<span class="lr-cells">{}</span>', joined(cells)) if cells else NOTHING


def _open(question: str) -> None:
    state.remember("q", question)
    state.remember("piece", None)
    state.remember("cview", columns.MISSED)
