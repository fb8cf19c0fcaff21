"""The store of model calls: how much there is, by model, task and index; download and deletion."""

import tempfile
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import streamlit as st

from leanrag_core.figures import numbers
from pages._shared import forms, session
from pages._shared.frame import plain_errors

_DAY = 86_400.0


@dataclass(frozen=True)
class Group:
    """Calls of one model, task and index. oldest: seconds since 1970."""

    model: str
    task: str
    index: str
    calls: int
    size_bytes: int
    oldest: float


def panel() -> None:
    """Number and size of the stored calls, a table, and what can be done with them."""
    store = session.workbench().calls
    n, size = len(store), store.size_bytes()
    if not n:
        st.html(
            '<div class="lr-small lr-muted">No stored call yet. Every answer of an endpoint is kept here, so that a '
            "build that is resumed or repeated pays for nothing twice.</div>"
        )
        return
    st.html(
        f'<div class="lr-small lr-muted">{numbers.counted(n, "call")}, {numbers.size(size)}. Builds that are resumed '
        "or repeated take their answers from here. Keys are not in it.</div>"
    )
    groups = _groups(str(store.folder), n, size)
    names = {one.id: one.name for one in session.shelf().indexes}
    table = pd.DataFrame(
        {
            "Model": [one.model.removeprefix("openai:") for one in groups],
            "Task": [task_name(one.task) for one in groups],
            "Index": [names.get(one.index, one.index or "–") for one in groups],
            "Calls": [one.calls for one in groups],
            "Text": [numbers.size(one.size_bytes) for one in groups],
        }
    )
    st.dataframe(
        table,
        hide_index=True,
        height=forms.table_height(len(table), 320),
        column_config={"Calls": st.column_config.NumberColumn(format="localized", width="small")},
    )
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom"):
        st.download_button(
            "Download as JSON Lines",
            _exported,
            file_name="model-calls.jsonl",
            mime="application/jsonl",
            icon=":material/download:",
            key="export_calls",
            on_click="ignore",
        )
        if st.button("Delete calls", type="tertiary", icon=":material/delete:", key="delete_calls"):
            confirm_delete(groups, names)


def task_name(task: str) -> str:
    """The task of a prompt's fingerprint in words: "extract graph"."""
    return task.split(":")[0].rsplit(".v", 1)[0].replace("_", " ") or "–"


@st.cache_data(max_entries=4, show_spinner=False)
def _groups(folder: str, n: int, size: int) -> list[Group]:
    """The calls in groups; read again when their number or size has changed."""
    calls: dict[tuple[str, str, str], list[tuple[int, float]]] = defaultdict(list)
    for entry in session.workbench().calls.entries():
        calls[entry.model, entry.task.split(":")[0], entry.index].append((entry.size_bytes, entry.at))
    return [
        Group(*key, len(found), sum(size for size, _ in found), min(at for _, at in found))
        for key, found in sorted(calls.items())
    ]


def _exported() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "calls.jsonl"
        session.workbench().calls.export(path)
        return path.read_bytes()


@st.dialog("Delete stored calls?")
def confirm_delete(groups: list[Group], names: dict[str, str]) -> None:
    """Which ones, what that means, and the deletion."""
    by_index: dict[str, int] = defaultdict(int)
    for group in groups:
        by_index[group.index] += group.calls
    ways = ("Of one index", "Older than some days", "All")
    way = st.radio("Which", ways, horizontal=True, key="delete_way", label_visibility="collapsed")
    index: str | None = None
    before: float | None = None
    number: int | None = None
    if way == ways[0]:
        index = st.selectbox(
            "First made for",
            sorted(by_index),
            format_func=lambda id_: f"{names.get(id_, id_) or 'no index'}, {numbers.counted(by_index[id_], 'call')}",
            key="delete_index_calls",
        )
        number = by_index[index]
    elif way == ways[1]:
        days = st.number_input("Days", min_value=0, max_value=3650, value=30, key="delete_days")
        before = time.time() - days * _DAY
    else:
        number = sum(by_index.values())
    st.html(
        '<div class="lr-small">Indexes stay as they are. A build that needs these answers again pays for them again.'
        "</div>"
    )
    label = "Delete these calls" if number is None else f"Delete {numbers.counted(number, 'call')}"
    if st.button(label, type="primary", key="primary_delete_calls"):
        with plain_errors():
            gone = session.workbench().calls.delete(index=index, before=before)
            st.toast(f"{numbers.counted(gone, 'call')} deleted")
            st.rerun()
