"""The store of model calls: number and size by model, task and index; download and deletion."""

import tempfile
import time
from collections import defaultdict
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pandas as pd
import streamlit as st

from leanrag_core.figures import numbers
from leanrag_core.types.calls import CallRecord
from leanrag_core.types.config import model_title
from leanrag_core.types.visible import visible
from pages.common import buttons, choices, dialogs, downloads, forms, markup, session
from pages.common.frame import plain_errors
from pages.common.html import draw, html
from pages.common.messages import language, say

_DAY = 86_400.0
_READ = 100  # most calls of a group that can be read singly


@dataclass(frozen=True)
class Group:
    """Calls of one model, task and index."""

    model: str
    task: str
    index: str
    calls: int
    size_bytes: int


@dataclass(frozen=True)
class Call:
    """One stored call. facts: when, tokens, seconds; text: the reply as it came."""

    facts: str
    text: str


def panel() -> None:
    """Draw number and size of the stored calls, a table, and its actions."""
    store = session.workbench().calls
    n, size = len(store), store.size_bytes()
    if not n:
        draw(markup.muted(say("settings.calls.none")))
        return
    draw(markup.muted(say("settings.calls.what", n=n, size=numbers.size(size))))
    call_groups = groups()
    names = {index.id: index.title for index in session.index_list().indexes}
    model, task, of_index, calls, text = (
        say(f"settings.calls.{name}") for name in ("model", "task", "index", "number", "text")
    )
    table = pd.DataFrame(
        {
            model: [model_title(group.model) for group in call_groups],
            task: [task_name(group.task) for group in call_groups],
            of_index: [names.get(group.index, group.index or "–") for group in call_groups],
            calls: [group.calls for group in call_groups],
            text: [numbers.size(group.size_bytes) for group in call_groups],
        }
    )
    picked = forms.table(
        table,
        320,
        column_config={
            model: st.column_config.TextColumn(width=220),
            calls: st.column_config.NumberColumn(format="localized", width=70),
            text: st.column_config.TextColumn(width=70),
        },
        key=f"call_groups_{n}",
        on_select="rerun",
        selection_mode="single-row",
    )
    rows = [row for row in picked["selection"]["rows"] if row < len(call_groups)]
    if rows:
        single_calls(call_groups[rows[0]], n)
    else:
        draw(html('<div class="lr-hint" style="margin:0">{}</div>', say("settings.calls.select")))
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom"):
        title = say("settings.calls.download")
        downloads.button(
            title, _exported, "model-calls.jsonl", "application/jsonl", key="export_calls", type="secondary"
        )
        label, title = say("settings.calls.delete"), say("settings.calls.delete_title")
        draw_dialog, icon = partial(confirm_delete, call_groups, names), ":material/delete:"
        dialogs.form(label, title, draw_dialog, key="delete_calls", type="tertiary", icon=icon)


def single_calls(group: Group, n: int) -> None:
    """Draw the newest calls of a group, and one stored reply."""
    calls = _newest(str(session.workbench().calls.folder), group, n)
    draw(markup.label(say("settings.calls.replies_of", model=model_title(group.model)), _which(group, len(calls))))
    number = 0
    if len(calls) > 1:
        number = int(st.number_input(say("settings.calls.reply"), 1, len(calls), key=f"reply_{group}", width=140)) - 1
    call = calls[number] if number < len(calls) else None
    if call is None:
        draw(markup.muted(say("settings.calls.gone")))
        return
    draw(html('<div class="lr-small lr-muted">{}</div>', call.facts))
    markup.code(call.text, height=220)


def _which(group: Group, shown: int) -> str:
    parts = [task_name(group.task), say("build.spent.calls", n=group.calls)]
    parts += [] if shown == group.calls else [say("settings.calls.newest", n=shown)]
    return say("ask.comma").join(parts)


@st.cache_data(max_entries=4, show_spinner=False)
def _newest(folder: str, group: Group, n: int) -> list[Call]:
    """Return the newest calls of the group, the newest first."""
    store = session.workbench().calls
    entries = [
        entry
        for entry in store.entries()
        if (entry.model, entry.task.split(":")[0], entry.index) == (group.model, group.task, group.index)
    ]
    newest = sorted(entries, key=lambda entry: (-entry.at, entry.key))[:_READ]
    records = [(stored, store.get(stored.key)) for stored in newest]
    return [_call(stored.at, record) for stored, record in records if record is not None]


def _call(at: float, record: CallRecord) -> Call:
    facts = [numbers.day(datetime.fromtimestamp(at, UTC).isoformat(), language())]
    if record.completion_tokens:
        facts.append(say("settings.calls.tokens", read=record.prompt_tokens or 0, written=record.completion_tokens))
    if record.cached_tokens:
        facts.append(say("settings.calls.cached", n=record.cached_tokens))
    if record.seconds:
        facts.append(numbers.duration(record.seconds))
    if record.finish_reason not in (None, "stop"):
        facts.append(say("settings.calls.ended_by", reason=record.finish_reason))
    return Call(say("ask.comma").join(facts), record.text or say("settings.calls.vector"))


def task_name(task: str) -> str:
    """Return the task of a prompt's fingerprint in words, such as "extract graph"."""
    return task.split(":")[0].rsplit(".v", 1)[0].replace("_", " ") or "–"


def groups() -> list[Group]:
    """Return the stored calls in groups, by model, task and index."""
    store = session.workbench().calls
    n = len(store)
    return _groups(str(store.folder), n, store.size_bytes()) if n else []


@st.cache_data(max_entries=4, show_spinner=False)
def _groups(folder: str, n: int, size: int) -> list[Group]:
    """Return the calls in groups, read again when their number or size changes."""
    sizes: dict[tuple[str, str, str], list[int]] = defaultdict(list)
    for entry in session.workbench().calls.entries():
        sizes[entry.model, entry.task.split(":")[0], entry.index].append(entry.size_bytes)
    return [Group(*key, len(sizes_of_group), sum(sizes_of_group)) for key, sizes_of_group in sorted(sizes.items())]


def _exported() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "calls.jsonl"
        session.workbench().calls.export(path)
        return path.read_bytes()


def confirm_delete(groups: list[Group], names: dict[str, str]) -> None:
    """Draw the choice of calls to delete, the consequences, and the delete button."""
    by_index: dict[str, int] = defaultdict(int)
    for group in groups:
        by_index[group.index] += group.calls
    ways = tuple(say(f"settings.calls.way.{name}") for name in ("index", "older", "all"))
    extent = st.radio(
        say("settings.calls.which"), ways, horizontal=True, key="delete_way", label_visibility="collapsed"
    )
    index: str | None = None
    before: float | None = None
    number: int | None = None
    if extent == ways[0]:
        titles = {
            id_: say("ask.comma").join(
                [
                    visible(names.get(id_, id_)) or say("settings.calls.no_index"),
                    say("build.spent.calls", n=by_index[id_]),
                ]
            )
            for id_ in sorted(by_index)
        }
        index = choices.dropdown("delete_index_calls", say("settings.calls.made_for"), titles, key="delete_index_calls")
        number = by_index[index]
    elif extent == ways[1]:
        days = st.number_input(say("settings.calls.days"), min_value=0, max_value=3650, value=30, key="delete_days")
        before = time.time() - days * _DAY
    else:
        number = sum(by_index.values())
    draw(html('<div class="lr-small">{}</div>', say("settings.calls.delete_means")))
    label = say("settings.calls.delete_these") if number is None else say("settings.calls.delete_n", n=number)
    if buttons.secondary(label, "delete", "confirm_delete_calls"):
        with plain_errors():
            gone = session.workbench().calls.delete(index=index, before=before)
            st.toast(say("settings.calls.deleted", n=gone))
            dialogs.close()
            st.rerun()
