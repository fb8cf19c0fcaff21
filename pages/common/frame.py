"""The frame around every page: theme, style sheet, sidebar with the index, and errors in plain words."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import streamlit as st
from markupsafe import Markup

from leanrag_core.errors import InvalidConfig, LeanRAGError
from leanrag_core.figures import numbers
from leanrag_core.figures.drawing import isolated
from leanrag_core.figures.palette import Palette, palette
from leanrag_core.messages.catalog import joined_sentences
from leanrag_core.queries.index_table import short_title
from leanrag_core.types.config import is_file, is_remote
from leanrag_core.types.job import JobState
from leanrag_core.types.manifest import HEURISTIC, REFERENCE_GRAPH
from leanrag_core.types.roles import ROLES
from leanrag_core.types.settings import Settings
from leanrag_core.types.summary import IndexSummary
from leanrag_core.types.visible import visible
from leanrag_core.workbench.indexes import EARLIER, present_id, state_id
from leanrag_core.workbench.role_checks import is_asked, leaves
from pages.common import buttons, deletion, reveal, running_view, session, state, unkept, widgets
from pages.common.html import NOTHING, draw, html, joined
from pages.common.messages import (
    as_sentence,
    known,
    language,
    message,  # exported for the pages
    say,
    say_or,
    words,
)

PAGES = (
    ("library", "library_books"),
    ("build", "construction"),
    ("explore", "account_tree"),
    ("ask", "forum"),
    ("compare", "view_column_2"),
    ("evaluate", "rule"),
    ("present", "slideshow"),
    ("settings", "settings"),
)
_HERE = Path(__file__).resolve().parent
_KEY_HINTS = ("press_enter", "press_ctrl_enter", "press_enter_in_form", "press_ctrl_enter_in_form")
_TITLE = 20  # characters that the sidebar's list of indexes has room for


def page_path(name: str) -> Path:
    """Return the script path of a page, for links to it."""
    return _HERE.parent / name / "page.py"


def page_button(
    page: str, label: str, icon: str, key: str, act: buttons.Act = None, *args: Any, look: Any = buttons.secondary
) -> None:
    """Draw a button that leads to a page. act: called with args before the page is left, as a callback, since the
    sidebar's own widget is drawn before the button. look: buttons.primary, secondary or tertiary."""
    if look(label, icon, key, act, *args):
        st.switch_page(page_path(page))


def mark_path() -> str:
    """Return the path of the small logo, for the browser's tab."""
    return str(_HERE / "assets" / "mark_light.svg")


def is_dark() -> bool:
    """Return whether the reader's theme is dark."""
    return st.context.theme.type == "dark"


def colours() -> Palette:
    """Return the palette of the reader's theme."""
    return palette(dark=is_dark())


def enter(page: str) -> IndexSummary | None:
    """Draw the frame of the page; return the index chosen in the sidebar, None if there is none, or if the requested
    one is gone (see gone_index).

    This is the first call of every page; it relies on nothing else.
    """
    state.read_url(page)
    reveal.follow_link()
    hints = "".join(f'--lr-{name.replace("_", "-")}:"{say(f"frame.{name}")}";' for name in _KEY_HINTS)
    draw(html("<style>:root{{{}}}</style>", Markup(colours().css_variables() + hints)))
    theme = "dark" if is_dark() else "light"
    st.logo(
        str(_HERE / "assets" / f"logo_{theme}.svg"),
        size="medium",
        icon_image=str(_HERE / "assets" / f"mark_{theme}.svg"),
    )
    with st.sidebar:
        live = session.running_jobs()
        chosen = _choose_index(live)
        if page != "build":  # the page of jobs shows them at full width
            running_view.line(live, page_path("build"), first=chosen is None)
        draw(_where_text_goes(chosen))
    if page != "compare":
        unkept.ask()
    if chosen is not None and chosen.id.startswith(EARLIER):
        _earlier_line(chosen)
    return chosen


def _earlier_line(chosen: IndexSummary) -> None:
    """Draw that the page shows an earlier state, with a button to the current state of the index."""
    bench = session.workbench()
    kept = bench.snapshots.find(bench.indexes.path(present_id(chosen.id)), state_id(chosen.id))
    time = kept.kept or chosen.created
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="earlier_state"):
        with st.container(width="stretch"):
            message(say("snapshot.is_earlier", name=isolated(chosen.name), time=numbers.day(time, language())))
        buttons.secondary(
            say("snapshot.to_present"), "update", "to_present_state", state.remember, "index", present_id(chosen.id)
        )


def _where_text_goes(chosen: IndexSummary | None) -> Markup:
    """Return which machine reads the index's text and the questions, and to which one a running build sends text."""
    try:
        settings = session.workbench().settings.read()
    except InvalidConfig as error:
        return _private("out", as_sentence(words(error)))
    if settings.roles:
        return _where_roles_go(settings)
    lines = []
    models = [settings.answer_model, *(session.models_of(chosen.config.by_name()) if chosen is not None else ())]
    remote_models = [model for model in models if is_remote(model)]
    if not remote_models:
        lines.append(("ok", say("frame.builtin_engine")))
    elif settings.local or all(map(is_file, remote_models)):
        lines.append(("ok", say("frame.local_model")))
    else:
        lines.append(("out", say("frame.sent_to", host=settings.host)))
    if not settings.local and session.endpoint_builds():
        if lines[0][0] == "ok":
            lines = [("ok", say("frame.index_stays"))]
        lines.append(("out", say("frame.build_sends_to", host=settings.host)))
    return joined(_private(sign, sentence) for sign, sentence in lines)


def _private(sign: str, sentence: str) -> Markup:
    """Return a line on where text goes. sign: ok if it stays on this machine, else out."""
    return html('<p class="lr-private"><i class="lr-dot-{}" aria-hidden="true"></i>{}</p>', sign, sentence)


def _where_roles_go(settings: Settings) -> Markup:
    """Return which of the roles, as they are set, would send text to another machine."""
    leaving = leaves(settings)
    asked_roles = [role for role in ROLES if is_asked(settings, role)]
    if not leaving:
        sign, sentence = "ok", say("frame.roles_stay" if asked_roles else "frame.builtin_engine")
    elif len(leaving) == 1:
        sign, sentence = "out", say("frame.one_role_leaves", role=_in_sentence(leaving[0]))
    elif len(leaving) == len(asked_roles):
        hosts = dict.fromkeys(settings.of_role(role).host for role in leaving)
        sign, sentence = "out", say("frame.roles_leave_to", hosts=say("ask.comma").join(hosts))
    else:
        names = say("ask.comma").join(_in_sentence(role) for role in leaving)
        sign, sentence = "out", say("frame.some_roles_leave", roles=names)
    return _private(sign, sentence)


def _in_sentence(role: str) -> str:
    return say(f"role.{role}").lower()


def uses_endpoint(config: Mapping[str, Any]) -> bool:
    """Return whether an index's settings name a model that is called."""
    return any(is_remote(model) for model in session.models_of(config))


def _choose_index(live: Sequence[JobState]) -> IndexSummary | None:
    listed = session.index_list()
    indexes = {summary.id: summary for summary in listed.indexes}
    deletion.damaged(listed.damaged, say("frame.delete_damaged"), session.workbench().indexes.delete)
    wanted = state.recall("index")
    if wanted.startswith(EARLIER):
        with suppress(LeanRAGError):  # the earlier state was deleted; the page says so
            earlier = session.workbench().indexes.summary(wanted)
            indexes[wanted] = replace(earlier, apart=say("snapshot.apart"), comma=say("ask.comma"))
    if not indexes:
        rest = say("frame.first_is_built" if any(job.builds_index for job in live) else "frame.build_first")
        draw(html('<div class="lr-side">{}<br>{}</div>', say("frame.no_index"), rest))
        return None
    # The index that a link names is never replaced by another one, since that one would then answer the question.
    newest = None if wanted and wanted not in indexes else next(iter(indexes))
    titles = {id_: visible(short_title(summary, _TITLE)) for id_, summary in indexes.items()}
    chosen = widgets.remembered(
        "index",
        newest,
        lambda mount: st.selectbox(
            say("frame.index"),
            list(indexes),
            index=None if mount.value is None else list(indexes).index(mount.value),
            format_func=titles.__getitem__,
            placeholder=say("frame.choose_index"),
            **mount.wired,
        ),
        widgets.Values(allowed=lambda value: value in indexes, form=widgets.labels(titles)),
        pin=newest is not None,
    )
    if chosen is None:
        state.memory().unfit.discard("index")  # the URL keeps naming it, so that a reload shows the same
        return None
    summary = indexes[chosen]
    draw(html('<div class="lr-side">{}</div>', _figures(summary)))
    return summary


def gone_index() -> bool:
    """Tell whether the requested index is missing although others exist; if so, draw that, and what to do."""
    if not session.index_list().indexes:
        return False
    title = say("frame.index_not_here")
    message(say("frame.index_gone", index=state.recall("index")), kind="error", title=title)
    page_button("build", say("frame.open_build"), "construction", "gone_build")
    return True


def _figures(summary: IndexSummary) -> Markup:
    comma = say("ask.comma")
    entities, relations = summary.layers[0].entities, summary.layers[0].relations
    title = kind_title(summary.kind)
    label = (
        html('<span class="lr-kind">{}</span>', title)
        if summary.kind in (HEURISTIC, REFERENCE_GRAPH)
        else html("{}", title)
    )
    if summary.builtin_texts:
        label += html("<br>{}", say("frame.builtin_texts", n=summary.builtin_texts))
    return html(
        "{}{}{}{}<br>{}{}{}<br>{}<br>{}",
        html("{}<br>", isolated(summary.title)) if len(summary.title) > _TITLE else NOTHING,
        _bold("frame.count.entities", entities),
        comma,
        _bold("frame.count.layers", len(summary.layers)),
        _bold("frame.count.chunks", summary.chunks),
        comma,
        _bold("frame.count.relations", relations),
        label,
        say("frame.built", time=numbers.day(summary.created, language())),
    )


def _bold(code: str, n: int) -> Markup:
    """Return a count with its unit, the number in bold."""
    before, _, after = say(code, n=n).partition(f"{n:,}")
    return html("{}<b>{:,}</b>{}", before, n, after)


def kind_title(kind: str) -> str:
    """Return a kind of graph in words; a kind of a newer version by its name."""
    return say_or(kind, f"graph.{kind.replace(' ', '_').lower()}")


def heading(title: str, facts: str = "") -> None:
    """Draw the page's title and one muted line of facts (plain text)."""
    template = (
        '<div class="lr-head"><span class="t" role="heading" aria-level="1">{}</span><span class="s">{}</span></div>'
    )
    draw(html(template, title, facts))


def kind_line(summary: IndexSummary) -> None:
    """Draw a line about what made the graph, and about the languages that its text was read in."""
    kind, builtin_texts = summary.kind, summary.builtin_texts
    label = kind_title(kind)
    code = f"graph.{kind.replace(' ', '_').lower()}.meaning"
    parts = [say(code)] if known(code) else []
    read = session.read_by_rules(summary)
    if read and not read.with_grammar:
        parts = [say("graph.no_grammar" if read.by_statistics else "graph.by_dictionary")]
    if read and read.with_dictionary and (read.with_grammar or read.by_statistics):
        parts.append(say("graph.partly_by_dictionary", share=_share(read.with_dictionary, sum(read))))
    if read and read.with_grammar and read.by_statistics:
        parts.append(say("graph.partly_no_grammar", share=_share(read.by_statistics, sum(read))))
    if builtin_texts:
        label = say("graph.partly_builtin", kind=label)
        reason = "graph.unwritten_texts" if kind == REFERENCE_GRAPH else "graph.builtin_texts"
        parts.append(say(reason, n=builtin_texts, of=summary.aggregated_texts))
    draw(html('<div class="lr-kindline"><span class="lr-kind">{}</span> {}</div>', label, joined_sentences(parts)))


def _share(n: int, n_all: int) -> str:
    return numbers.share(n / n_all) if 100 * n >= n_all else say("graph.under_one_percent")


def lazy_fold(title: str, content: Callable[[], None], *, key: str, icon: str) -> None:
    """Draw a fold whose content is looked up when a person opens it."""
    fold = st.expander(title, icon=f":material/{icon}:", key=key, on_change="rerun")
    if fold.open:
        with fold, plain_errors():
            content()


@contextmanager
def plain_errors() -> Iterator[None]:
    """Draw an error of the with block as its message, so that the rest of the page is still drawn."""
    try:
        yield
    except LeanRAGError as error:
        message(error, kind="error")
