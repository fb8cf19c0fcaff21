"""The table of indexes: the settings that differ, quality and cost; sorted, filtered, grouped."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from leanrag_core.errors import LeanRAGError
from leanrag_core.figures import numbers
from leanrag_core.queries import index_table
from leanrag_core.storage.layout import read_report
from leanrag_core.types.build_report import Spent
from leanrag_core.types.config import IndexConfig, model_title
from leanrag_core.types.summary import IndexSummary
from pages.build import embedding_view, index_actions
from pages.common import choices, forms, markup, paging, session, state, widgets
from pages.common.frame import kind_title
from pages.common.html import draw
from pages.common.messages import say, say_or

_ROWS = 200  # a page
_GROUPS = ("", "corpus_name", "kind", "model")
_ALWAYS = ("cluster_size", "tau")  # columns even if all indexes have the same value
_NAMED = ("chunk_tokens", "model")  # settings that stand below the table if all indexes have the same
_LONGEST = 40  # characters of a setting in a cell


def show(indexes: Sequence[IndexSummary]) -> None:
    """Draw the table of indexes, and the actions on the ticked ones."""
    draw(markup.label(say("build.indexes"), say("build.newest_first", n=len(indexes))))
    fitting, by = _filtered(indexes)
    rows = paging.rows_of_page(index_table.grouped(fitting, by), _ROWS, key="index_page")
    ticked = _table(rows, by)
    common = index_table.common_settings(rows, _NAMED) if len(rows) > 1 else {}
    if common:
        listed = say("ask.comma").join(
            f"{forms.title_of(name, IndexConfig)} {shown(name, value)}" for name, value in common.items()
        )
        markup.note(say("build.same_in_all", settings=listed))
    index_actions.row(indexes, indexes if len(indexes) == 1 else ticked)


def _filtered(indexes: Sequence[IndexSummary]) -> tuple[Sequence[IndexSummary], str]:
    """Draw the filter and the grouping; return the matching indexes and the grouping. Few indexes are not filtered."""
    if len(indexes) < 3:
        return indexes, ""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        label, placeholder = say("build.filter"), say("build.filter_hint")
        wanted = st.text_input(label, placeholder=placeholder, icon=":material/search:", key="index_filter", width=260)
        titles = {by: say(f"build.group.{by or 'none'}") for by in _GROUPS}
        by = choices.dropdown("group", say("build.group"), titles, key="index_group", width=180)
    fitting = [index for index in indexes if wanted.strip().casefold() in _searched(index)]
    if not fitting:
        markup.note(say("build.none_fits", n=len(indexes)))
    return fitting or indexes, by


def _searched(index: IndexSummary) -> str:
    """Return what the filter looks through: settings under their titles, as the table shows them, and their names."""
    known = forms.option_fields(IndexConfig)
    texts = [index.title, index.corpus_name, index.kind, kind_title(index.kind)]
    for name, value in index.config.by_name().items():
        texts.append(f"{name} {value}")
        if name in known:
            title = forms.title_of(name, IndexConfig)
            texts += [f"{title} {value}", f"{title} {shown(name, value)}"]
    return " ".join(texts).casefold()


def shown(name: str, value: Any) -> str:
    """Return the value of a setting as a cell shows it."""
    if name in ("model", "embedding"):
        code = embedding_view.TITLES.get(value, "") if name == "embedding" else f"build.model.{value}"
        return say_or(model_title(str(value)), code)
    if name == "tau" and not value:
        return say("setting.from_data")
    text = forms.shown(name, value) if isinstance(value, bool | int | str | None) else str(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _table(rows: Sequence[IndexSummary], by: str) -> list[IndexSummary]:
    """Draw the rows; return the ticked ones in order."""
    costs, recalls = _costs(rows), _recalls(rows)
    columns: dict[str, list[Any]] = {}
    if by:
        columns[say(f"build.group.{by}")] = [_group(index, by) for index in rows]
    columns[say("build.column.name")] = [index.name for index in rows]
    if by != "corpus_name":
        columns[say("build.group.corpus_name")] = [index.corpus_name for index in rows]
    if by != "kind":
        columns[say("build.group.kind")] = [kind_title(index.kind) for index in rows]
    for name in (*_ALWAYS, *(name for name in index_table.differing_settings(rows) if name not in _ALWAYS)):
        if name != by and name in forms.option_fields(IndexConfig):
            values = [index.config.by_name().get(name) for index in rows]
            numeric = all(isinstance(value, int) and not isinstance(value, bool) for value in values)
            columns[forms.title_of(name, IndexConfig)] = values if numeric else [shown(name, value) for value in values]
    if any(index.id in recalls for index in rows):
        columns[say("build.column.recall")] = [_recall(recalls.get(index.id)) for index in rows]
    if any(spent.calls for spent in costs.values()):
        columns[say("build.column.calls")] = [costs[index.id].calls for index in rows]
        columns[say("build.column.cost")] = [costs[index.id].cost for index in rows]
    columns[say("build.chunks")] = [index.chunks for index in rows]
    columns[say("build.entities")] = [index.layers[0].entities for index in rows]
    columns[say("build.column.layers")] = [len(index.layers) for index in rows]
    columns[say("build.column.size")] = [index.size_bytes / 1e6 for index in rows]
    columns[say("build.column.built")] = [pd.Timestamp(index.created).tz_convert(None) for index in rows]

    ids = [index.id for index in rows]
    ticked = widgets.show(
        "index_table",
        tuple(id_ for id_ in ids if id_ in state.recall(index_actions.TICKED).split(",")),
        lambda mount: forms.table(
            pd.DataFrame(columns),
            320,
            key=mount.key,
            on_select=mount.changed,
            selection_mode="multi-row",
            selection_default={"selection": {"rows": [ids.index(id_) for id_ in mount.value]}},
            column_config=_config(),
        ),
        lambda chosen: state.remember(index_actions.TICKED, ",".join(chosen)),
        read=lambda drawn: tuple(ids[place] for place in sorted(drawn["selection"]["rows"]) if place < len(ids)),
        form=tuple(ids),  # the browser identifies rows by position, so another list needs another table
    )
    return [index for index in rows if index.id in ticked]


def _config() -> Mapping[str, Any]:
    column = st.column_config
    return {
        say("build.column.name"): column.TextColumn(width=190),
        say("build.group.corpus_name"): column.TextColumn(width=130),
        say("build.column.recall"): column.TextColumn(help=say("build.column.recall.help")),
        say("build.column.calls"): column.NumberColumn(format="localized", help=say("build.column.calls.help")),
        say("build.column.cost"): column.NumberColumn(format="$%.2f", help=say("build.column.calls.help")),
        say("build.chunks"): column.NumberColumn(format="localized"),
        say("build.entities"): column.NumberColumn(format="localized"),
        say("build.column.size"): column.NumberColumn(format="%.1f"),
        say("build.column.built"): column.DatetimeColumn(format=say("units.date_format")),
    }


def _group(index: IndexSummary, by: str) -> str:
    if by == "kind":
        return kind_title(index.kind)
    return shown(by, index_table.group_of(index, by)) if by == "model" else index_table.group_of(index, by)


def _recall(measured: index_table.MeasuredRecall | None) -> str:
    """Return the recall as text, so that a missing one does not read "None"; with two decimals it sorts like the
    number."""
    return "–" if measured is None else numbers.score(measured.recall)


def _recalls(rows: Sequence[IndexSummary]) -> Mapping[str, index_table.MeasuredRecall]:
    """Return the evidence recall by index, read again after an experiment has changed."""
    corpora = tuple(sorted((index.id, index.corpus_id) for index in rows))
    return _read_recalls(corpora, session.workbench().experiments.store.changes())


@st.cache_data(max_entries=4, show_spinner=False)
def _read_recalls(
    corpora: tuple[tuple[str, str], ...], changes: tuple[object, ...]
) -> dict[str, index_table.MeasuredRecall]:
    """Read the recalls. corpora: ids of indexes, each with that of its corpus. changes: of the experiments, part of the
    cache key."""
    return dict(session.workbench().experiments.measured_recall(dict(corpora)))


def _costs(rows: Sequence[IndexSummary]) -> Mapping[str, Spent]:
    return {index.id: _cost(index) for index in rows}


@st.cache_data(max_entries=1000, show_spinner=False, hash_funcs=session.BY_INDEX)
def _cost(summary: IndexSummary) -> Spent:
    try:
        return read_report(session.workbench().indexes.path(summary.id)).usage
    except LeanRAGError:  # the page that opens the index reports the damage
        return Spent()
