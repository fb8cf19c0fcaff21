"""Pieces of HTML of a comparison, shared by the page and its exported file."""

from collections.abc import Sequence

from markupsafe import Markup

from leanrag_core.answering.support import citation_counts
from leanrag_core.figures import numbers
from leanrag_core.figures.palette import known_colour
from leanrag_core.messages.message import message as message_of
from leanrag_core.retrieval.context import passage_section
from leanrag_core.types.trace import Answer, Context, ContextSection, Trace
from pages.ask import roles
from pages.common import markup
from pages.common.html import NOTHING, html, joined
from pages.common.messages import say, words
from pages.compare.loading import Loaded


def colour(letter: str) -> str:
    """Return the style that gives an element the column's colour as --c."""
    return f"--c:var(--lr-column-{letter.lower()})"


def square(letter: str) -> Markup:
    """Return the letter in its colour."""
    return html('<span class="lr-sq" style="{}">{}</span>', colour(letter), letter)


def sign(letter: str) -> Markup:
    """Return the marker of a column: disc, diamond, triangle or square."""
    return html('<i class="lr-sign {}" style="{}" aria-hidden="true"></i>', letter.lower(), colour(letter))


def owners(letters: Sequence[str], having: str, title: str = "") -> Markup:
    """Return a square for each column, filled for the columns in `having`."""
    squares = joined(
        html('<i class="{}" style="{}">{}</i>', "y" if letter in having else "", colour(letter), letter)
        for letter in letters
    )
    return html('<span class="lr-own" role="img" aria-label="{}">{}</span>', title or ", ".join(having), squares)


def rule(letter: str) -> Markup:
    """Return the line above a column, in its line style."""
    return html('<i class="lr-rule {}"></i>', letter.lower())


def heading(loaded: Loaded, *, renames: bool = False) -> Markup:
    """Return the letter, marker, name and badge of a column. If its name does not say the strategy, the strategy
    replaces the badge. renames: the name can be changed (column_names.js)."""
    head = loaded.head
    meaning, badge = say(f"badge.{head.badge}.meaning"), say(f"badge.{head.badge}")
    strategy = head.tag or (words(loaded.trace.title) if head.named and loaded.trace is not None else "")
    tags = html('<span class="lr-tag" title="{}">{}</span>', meaning, strategy or badge)
    if loaded.live is not None and (loaded.live.is_trial or loaded.live.unmade):
        tags += html('<span class="lr-kind">{}</span>', say("compare.trial"))
    name = html('<b title="{}">{}</b>', head.title, head.title)
    if renames:
        frame = '<b class="lr-renames" tabindex="0" role="button" title="{}">{}</b>'
        name = html(frame, f"{head.title}. {say('compare.rename_hint')}", head.title)
    template = '<div class="lr-colhead{}">{}{}{}<span class="tags">{}</span></div>'
    return html(template, " variant" if head.tag else "", square(loaded.letter), sign(loaded.letter), name, tags)


def settings(loaded: Loaded) -> Markup:
    """Return the settings in a line, and what differs from the published system, or for a variant from the other
    columns."""
    if loaded.head.tag:
        pills = joined(
            html('<span class="lr-pill">{}{} <b>{}</b></span>', sign, title, value)
            for sign, shown in (("≠ ", loaded.head.pills), ("", loaded.head.facts))
            for title, value in shown
        )
        return html('<div class="lr-pills">{}</div>', pills)
    differs = words(loaded.head.differs)
    line = loaded.head.settings_line
    template = '<div class="lr-colset" title="{}">{}{}</div>'
    return html(template, f"{line}\n{differs}", line, html("<br>{}", differs) if differs else NOTHING)


def figures(loaded: Loaded, base: Loaded | None, gold: tuple[int, int] | None) -> Markup:
    """Return tokens, latency, calls and cost, and gold found or share cited, in a row. gold: number found, and of how
    many."""
    trace = loaded.trace
    assert trace is not None
    tokens = trace.context.tokens
    beside = say("compare.tokens")
    if base is not None and base.trace is not None and base.trace.context.tokens:
        if base.letter == loaded.letter:
            beside = say("compare.tokens_baseline")
        else:
            share = numbers.share(tokens / base.trace.context.tokens)
            beside = say("compare.tokens_share", share=share, letter=base.letter)
    latency = numbers.duration(trace.timings_ms.get("total", 0.0) / 1000)
    usage = trace.usage
    calls, cost = usage.calls, usage.cost
    if loaded.answer is not None:
        calls, cost = calls + loaded.answer.usage.calls, cost + loaded.answer.usage.cost
    money = say("compare.calls_for", cost=numbers.money(cost), n=calls) if cost else say("compare.calls", n=calls)
    last = (f"{gold[0]} / {gold[1]}", say("compare.gold_found")) if gold else _cited_share(loaded)
    cells = ((f"{tokens:,}", beside), (latency, say("compare.latency")), (f"{calls:,}", money), last)
    return html(
        '<div class="lr-colfig">{}</div>',
        joined(html('<div>{}<small title="{}">{}</small></div>', value, note, note) for value, note in cells),
    )


def _cited_share(loaded: Loaded) -> tuple[str, str]:
    """Return how many of the context's items the answer cites; used if the question has no gold."""
    if loaded.answer is None or loaded.trace is None:
        return "–", say("compare.cited")
    n_items = sum(len(section.items) for section in loaded.trace.context.sections)
    cited = {mark for part in loaded.answer.parts for mark in part.marks}
    return f"{len(cited)} / {n_items}", say("compare.cited")


def token_bar(trace: Trace, most: int, tick: int | None) -> Markup:
    """Return the context's tokens by section on a scale shared by all columns. most: tokens of the longest context;
    tick: tokens of the baseline."""
    context = trace.context
    legend = [
        html('<span><i style="{}"></i>{} <b>{:,}</b></span>', _paint(section), words(section.title), section.tokens)
        for section in context.sections
        if section.tokens
    ]
    mark = html('<u style="left:{:.2f}%"></u>', min(99.6, 100 * tick / max(1, most))) if tick else NOTHING
    return html(
        '<div class="lr-colbar" role="img" aria-label="{}"><span>{}</span>{}</div><div class="lr-collegend">{}</div>',
        tokens_by_section(context),
        token_parts(context, most),
        mark,
        joined(legend),
    )


def _paint(section: ContextSection) -> str:
    return markup.paint(known_colour(section.colour))


def token_parts(context: Context, most: int) -> Markup:
    """Return the parts of a bar, one for each section. most: the tokens that fill the bar."""
    template = '<i class="p{}" style="{};width:{:.2f}%"></i>'
    return joined(
        html(template, place % 4, _paint(section), 100 * section.tokens / max(1, most))
        for place, section in enumerate(context.sections)
        if section.tokens
    )


def tokens_by_section(context: Context) -> str:
    """Return the tokens of each section, in a sentence."""
    by_section = say("ask.comma").join(
        f"{words(section.title)} {section.tokens:,}" for section in context.sections if section.tokens
    )
    return say("markup.tokens_by_section", sections=by_section)


def cited_text(answer: Answer | None, mark: str) -> str:
    """Return how often the answer cites that mark, or that it never does."""
    if answer is None or not mark:
        return "" if mark else say("compare.left_out")
    n = citation_counts(answer)[mark]
    return say("compare.cited_times", n=n) if n else say("compare.never_cited")


def never_cited(loaded: Loaded) -> str:
    """Return how many of the context's passages the answer never cites."""
    trace, answer = loaded.trace, loaded.answer
    section = passage_section(trace) if trace else None
    if section is None or answer is None:
        return ""
    counts = citation_counts(answer)
    n_uncited = sum(item.mark not in counts for item in section.items)
    return say("compare.never_cited_of", n=n_uncited, items=len(section.items))


def gold_chunks(trace: Trace, gold_ids: Sequence[str], n_found: int) -> str:
    """Return how many chunks are marked as gold where that is not how much gold was found: a piece may lie in several
    chunks, and a chunk may hold several. gold_ids: of passages and entities."""
    n_chunks = sum(passage.id in gold_ids for passage in trace.passages)
    return say("compare.gold_chunks", n=n_found, chunks=n_chunks) if n_chunks not in (0, n_found) else ""


def answer_text(answer: Answer, letter: str, alone: frozenset[int]) -> Markup:
    """Return the answer with its marks, for the exported file; on the page a component draws it."""
    marks = roles.marks_by_name(answer.trace.context)
    sentences = []
    for place, part in enumerate(answer.parts):
        chips = joined(marks[name].drawn() if name in marks else html("[{}]", name) for name in part.marks)
        text = html("<u>{}</u> {}", part.text, chips) if place in alone else html("{} {}", part.text, chips)
        sentences.append(html("<p>{}</p>" if answer.extractive else "{} ", text))
    if not answer.grounded:
        sentences = [html("<p>{}</p>", say("ask.nothing_answers") if answer.extractive else answer.text)]
    return html(
        '<div class="lr-read lr-said" style="--alone:var(--lr-column-{})">{}</div>', letter.lower(), joined(sentences)
    )


def columns_sentence(loaded: Sequence[Loaded]) -> str:
    """Return what is compared, for the page's heading."""
    group = loaded[0].live.group if loaded and loaded[0].live else None
    if group is not None and len(group.settings) == len(loaded):
        system = words(loaded[0].column.info.title)
        if not group.differing:
            return say("compare.facts_same", n=len(loaded), system=system)
        titles = say("ask.comma").join(words(setting.title) for setting in group.differing)
        return say("compare.facts_variants", n=len(loaded), system=system, settings=titles)
    n_indexes = len({each.trace.index.id if each.trace else each.column.summary.id for each in loaded})
    if n_indexes == 1:
        return say("compare.facts", columns=message_of("count.columns", n=len(loaded)))
    return say("compare.facts_indexes", columns=message_of("count.columns", n=len(loaded)), n=n_indexes)
