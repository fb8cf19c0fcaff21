"""The documents that a question is asked about, and the date of the facts: a button that shows both; behind it
documents, folders, tags, dates and the day."""

from calendar import monthrange
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Any

import streamlit as st

from leanrag_core.errors import InvalidConfig, LeanRAGError
from leanrag_core.messages.message import message as message_of
from leanrag_core.types.index import Index
from leanrag_core.types.scope import ALL, ScopedDocument, is_date, read_scope, written
from leanrag_core.types.scope import Scope as Within
from leanrag_core.types.summary import IndexSummary
from leanrag_core.types.visible import visible
from pages.common import buttons, choices, markup, session, state, widgets
from pages.common.html import draw
from pages.common.messages import message, say
from pages.common.scope import Scope

NAME = "in"  # in links
_LISTED = 2_000  # documents; a longer list is no usable choice, and would be sent to the browser in each run
_FIRST, _LAST = date(1000, 1, 1), date(9999, 12, 31)


def picker(scope: Scope, summary: IndexSummary) -> Within | None:
    """Draw the button; return the chosen scope, None if the index has nothing that the link asks for."""
    bench, index = session.workbench(), session.open_index(summary)
    failed: LeanRAGError | None = None
    try:
        current = read_scope(state.recall(scope.name(NAME)))
        size = bench.scopes.size(index, current)
        label = say("within.all")
        if size.documents < size.all_documents:
            chunks = say("count.chunks", n=size.chunks)
            label = say("within.some", n=size.documents, total=size.all_documents, chunks=chunks)
        if current.as_of:
            label = say("within.as_of_label", documents=label, day=current.as_of)
    except LeanRAGError as error:
        current, label, failed = _held(scope), say("within.nothing"), error
    with (
        st.container(key=scope.name("within_row")),
        st.popover(label, icon=":material/filter_alt:", type="tertiary", width="content", key=scope.name("within")),
    ):
        _facets(scope, index, current)
    if failed is None:
        return current
    message(failed, kind="error")
    _reset_button(scope, "within_again")
    return None


def cut(summary: IndexSummary, within: Within) -> Index:
    """Return the index restricted to that scope; the first time this takes a while."""
    if within == ALL:
        return session.open_index(summary)
    with st.spinner(say("within.as_of_cutting" if within.as_of else "within.cutting")):
        return session.scoped(summary, within)


def _held(scope: Scope) -> Within:
    """Return the scope of the link, all documents if it cannot be read."""
    try:
        return read_scope(state.recall(scope.name(NAME)))
    except InvalidConfig:
        return ALL


def _facets(scope: Scope, index: Index, current: Within) -> None:
    documents = session.workbench().scopes.documents(index)
    draw(markup.muted(say("within.help")))
    if len(documents) <= _LISTED:
        _several(scope, "documents", _names(documents), current.documents)
    else:
        draw(markup.muted(say("within.too_many", n=len(documents))))
    folders = sorted({part for document in documents for part in _folders(document.folder)})
    if folders:
        _several(scope, "folders", {folder: folder for folder in folders}, current.folders)
    tags = sorted({tag for document in documents for tag in document.tags})
    if tags:
        _several(scope, "tags", {tag: tag for tag in tags}, current.tags)
    n_dated = sum(bool(document.date) for document in documents)
    if n_dated:
        with st.container(horizontal=True, gap="small"):
            _day(scope, "since", current.since, _first_day)
            _day(scope, "until", current.until, _last_day)
        draw(markup.muted(say("within.dated", n=n_dated, total=len(documents))))
    _then(scope, current)
    draw(markup.muted(say("within.as_of_help")))
    if not (n_dated and tags):
        draw(markup.muted(say("within.set_in_library")))
    if current != ALL:
        _reset_button(scope, "within_all")


def _reset_button(scope: Scope, key: str) -> None:
    buttons.secondary(say("within.reset"), "filter_alt_off", scope.name(key), state.remember, scope.name(NAME), None)


def _names(documents: Sequence[ScopedDocument]) -> dict[str, str]:
    """Return each document's folder and name, by the key that links hold: its file name if unique, else its id."""
    counts: dict[str, int] = {}
    for document in documents:
        counts[document.name] = counts.get(document.name, 0) + 1
    return {
        document.name if counts[document.name] == 1 else document.id: "/".join(
            filter(None, (document.folder, document.name))
        )
        for document in documents
    }


def _folders(folder: str) -> list[str]:
    parts = folder.split("/") if folder else []
    return ["/".join(parts[:n]) for n in range(1, len(parts) + 1)]


def _several(scope: Scope, facet: str, titles: Mapping[str, str], chosen: Sequence[str]) -> None:
    """Draw a choice of several documents, folders or tags; values in a link that the index lacks are left out."""
    shown = {option: visible(title) for option, title in sorted(titles.items(), key=lambda item: item[1])}
    widgets.show(
        scope.key(f"within_{facet}"),
        [option for option in chosen if option in titles],
        lambda mount: choices.multiselect(
            say(f"within.{facet}"), shown, mount.value, **mount.wired, placeholder=say("within.any")
        ),
        lambda picked: _keep(scope, facet, tuple(picked or ())),
        read=list,
        form=widgets.labels(shown),
    )


def _day(scope: Scope, facet: str, day: str, day_of: Callable[[str], date]) -> None:
    widgets.show(
        scope.key(f"within_{facet}"),
        day_of(day) if day else None,
        lambda mount: st.date_input(
            say(f"within.{facet}"), mount.value, _FIRST, _LAST, format="YYYY-MM-DD", **mount.wired
        ),
        lambda picked: _keep(scope, facet, picked.isoformat() if picked else ""),
    )


def _then(scope: Scope, current: Within) -> None:
    """Draw the field for the day, month or year as of which facts are retrieved."""
    with st.container(key=scope.name("within_then")):
        widgets.show(
            scope.key("within_as_of"),
            current.as_of,
            lambda mount: st.text_input(
                say("within.as_of"), mount.value, max_chars=10, placeholder="2015-06", **mount.wired
            ),
            lambda picked: _keep_then(scope, str(picked or "").strip()),
        )
        wrong = st.session_state.get(scope.key("within_no_date"))
        if wrong:
            message(message_of("scope.no_date", date=wrong), kind="error")


def _keep_then(scope: Scope, day: str) -> None:
    """Remember the day, or the error if it is no date."""
    if day and not is_date(day):
        st.session_state[scope.key("within_no_date")] = day
        return
    st.session_state.pop(scope.key("within_no_date"), None)
    _keep(scope, "as_of", day)


def _first_day(text: str) -> date:
    return date.fromisoformat(f"{text}-01-01"[:10])


def _last_day(text: str) -> date:
    first = _first_day(text)
    if len(text) == 10:
        return first
    month = first.replace(month=12) if len(text) == 4 else first
    return month.replace(day=monthrange(month.year, month.month)[1])


def _keep(scope: Scope, facet: str, value: Any) -> None:
    """Remember the scope with that facet changed; drop the other date bound if no date lies between the two."""
    current = _held(scope)
    try:
        now = replace(current, **{facet: value})
    except InvalidConfig:
        now = replace(current, **{"since": "", "until": "", facet: value})
    state.remember(scope.name(NAME), written(now))
