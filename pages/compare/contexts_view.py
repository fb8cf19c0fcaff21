"""The contexts of the columns, row by row: the same item stands in the same row, with its mark and tokens in each."""

from collections.abc import Sequence

import streamlit as st
from markupsafe import Markup

from leanrag_core.answering.support import citation_counts
from leanrag_core.comparing.context_rows import ContextRow, context_rows
from pages.ask import roles
from pages.common import markup
from pages.common.html import NOTHING, draw, html, joined
from pages.common.messages import language, say, words
from pages.compare import columns, fragments
from pages.compare.loading import Loaded, traces_of


def show(loaded: Sequence[Loaded], *, differences_only: bool) -> None:
    """Draw the table of all items, and below it each context as a model receives it."""
    draw(table(loaded, differences_only=differences_only))
    with st.grid(len(loaded), min_column_width=225, gap="medium"):
        for each in loaded:
            if each.trace is None:
                continue
            with st.container(gap="xsmall"):
                draw(fragments.rule(each.letter), fragments.heading(each))
                with st.expander(say("ask.context_text"), key=f"compare_context_{each.letter.lower()}"):
                    markup.code(each.trace.context.text, height=360, key=f"code_context_{each.letter.lower()}")


def table(loaded: Sequence[Loaded], *, differences_only: bool) -> Markup:
    """Return the items of all contexts. If there is a baseline, a plus marks what a column has and the baseline lacks,
    a minus the opposite."""
    traces = traces_of(loaded)
    base = columns.baseline(list(traces))
    rows = context_rows(traces, baseline=base, language=language())
    shown = [row for row in rows if not differences_only or len(row.cells) < len(traces)]
    marks = {letter: roles.marks_by_name(trace.context) for letter, trace in traces.items()}
    cited = {each.letter: citation_counts(each.answer) if each.answer else {} for each in loaded}
    titles: dict[str, str] = {}
    for trace in traces.values():
        for section in trace.context.sections:
            titles.setdefault(section.letter, words(section.title))
    head = joined(_head(letter, trace.context.tokens) for letter, trace in traces.items())
    body: list[Markup] = []
    letter_before = ""
    for row in shown:
        if row.section != letter_before:
            letter_before = row.section
            of_section = [each for each in rows if each.section == row.section]
            n_all = sum(len(each.cells) == len(traces) for each in of_section)
            note = say("compare.section_shared", shared=n_all, n=len(of_section))
            title = titles.get(row.section, "")
            line = '<tr><th colspan="{}">{} <span class="lr-muted lr-small">{}</span></th></tr>'
            body.append(html(line, len(traces) + 1, title, note))
        cells = joined(_cell(row, letter, base, marks[letter], cited[letter]) for letter in traces)
        alone = html(' class="alone"') if len(row.cells) == 1 else NOTHING
        body.append(html('<tr{}><td dir="auto">{}</td>{}</tr>', alone, row.name, cells))
    if not shown:
        body.append(html('<tr><td colspan="{}">{}</td></tr>', len(traces) + 1, say("compare.same_contexts")))
    return html(
        '<div class="lr-ctx" role="region" tabindex="0" aria-label="{}"><table><tr><th>{}</th>{}</tr>{}</table></div>',
        say("compare.contexts_label"),
        say("compare.item"),
        head,
        joined(body),
    )


def _head(letter: str, tokens: int) -> Markup:
    note = say("compare.n_tokens", n=tokens)
    sign = fragments.sign(letter)
    return html('<th>{} {} <span class="lr-muted lr-small">{}</span></th>', fragments.square(letter), sign, note)


def _cell(row: ContextRow, letter: str, base: str, marks: dict[str, roles.Mark], cited: object) -> Markup:
    item = row.cells.get(letter)
    changed = base and letter != base
    if item is None:
        if changed and base in row.cells:
            return html(
                '<td class="x"><span class="out" title="{}">−</span></td>', say("compare.left_baseline", letter=base)
            )
        return html('<td class="x">–</td>')
    mark = marks[item.mark].drawn() if item.mark in marks else html("{}", item.mark)
    plus = NOTHING
    if changed and base not in row.cells:
        plus = html('<span class="in" title="{}">+</span> ', say("compare.entered_baseline", letter=base))
    notes = [f"{item.tokens:,}"]
    if item.trimmed:
        notes.append(say("compare.trimmed"))
    if isinstance(cited, dict) and not cited.get(item.mark) and cited:
        notes.append(say("compare.never_cited"))
    return html('<td>{}{} <span class="lr-muted lr-small">{}</span></td>', plus, mark, say("ask.comma").join(notes))
