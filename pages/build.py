"""Build: settings, the live job, its report, and the indexes there are."""

from collections.abc import Sequence
from html import escape
from typing import Any

import pandas as pd
import streamlit as st

from leanrag_core.errors import InvalidConfig, JobNotFound
from leanrag_core.figures import numbers
from leanrag_core.figures.forecast import forecast
from leanrag_core.indexing.aggregation.threshold import parse_tau
from leanrag_core.types.config import IndexConfig
from leanrag_core.types.summary import CorpusSummary, IndexSummary, JobState
from pages._shared import forms, job_view, markup, session, state
from pages._shared.frame import enter, heading, kind_line, message, page_path, plain_errors

FIELDS = ("chunk_tokens", "overlap_tokens", "cluster_size", "tau", "seed", "size_cap")
PAPER = {"cluster_size": 20, "tau": "3", "chunk_tokens": 1024, "overlap_tokens": 128}
# Top-N and top-C of the paper's data sets; they are carried over to Ask.
PRESETS: dict[str, tuple[dict[str, Any], tuple[int, int] | None]] = {
    "Built-in default": ({}, None),
    "Paper: Mix": (PAPER, (10, 5)),
    "Paper: CS": (PAPER, (10, 10)),
    "Paper: Legal": (PAPER, (15, 10)),
    "Paper: Agriculture": (PAPER, (10, 5)),
}


def apply_preset() -> None:
    name = st.session_state.get("preset")
    if name not in PRESETS:
        return
    values, asked = PRESETS[name]
    specs = forms.option_fields(IndexConfig)
    for field in FIELDS:
        default = specs[field].default
        value = values.get(field, "" if default is None else default)
        st.session_state[state.widget_key(f"b_{field}")] = value
        state.remember(f"b_{field}", None if value == ("" if default is None else default) else value)
    if asked:
        state.set_widget("n", asked[0])
        state.set_widget("c", asked[1])


def match_preset() -> None:
    """The preset that is marked is one that the fields hold; none when they hold something else."""
    specs = forms.option_fields(IndexConfig)
    now = {field: st.session_state[forms.field_key(IndexConfig, field, "b_")] for field in FIELDS}

    def holds(name: str) -> bool:
        values = PRESETS[name][0]
        blank = {field: "" if specs[field].default is None else specs[field].default for field in FIELDS}
        return now == blank | values

    marked = st.session_state.get("preset")
    if marked not in PRESETS or not holds(marked):
        st.session_state["preset"] = next((name for name in list(PRESETS)[:1] if holds(name)), None)


def settings_form(corpora: list[CorpusSummary]) -> tuple[str, IndexConfig | None]:
    names = {one.id: f"{one.name}, {numbers.counted(one.documents, 'document')}" for one in corpora}
    with st.grid(2, min_column_width=240, gap="small"):
        key = state.prepare("corpus", corpora[0].id, str, lambda value: value in names)
        corpus_id = st.selectbox("Corpus", list(names), format_func=lambda id_: names[id_], key=key)
        with st.container(gap="xsmall"):
            st.selectbox("Engine", ["Built-in"], help="No key, no download, no cost: rules, MiniLM, Gaussian mixtures.")
    state.remember("corpus", corpus_id)
    match_preset()
    preset = st.pills("Preset", list(PRESETS), key="preset", on_change=apply_preset, wrap=True)
    if preset and PRESETS[preset][1]:
        n, c = PRESETS[preset][1] or (10, 5)
        st.html(f'<div class="lr-hint">Top-N {n} and top-C {c} are set on Ask.</div>')
    values = forms.draw_fields(IndexConfig, FIELDS, prefix="b_")
    try:
        parse_tau(values["tau"], heuristic=True)  # else the job would find out, minutes later
        return corpus_id, IndexConfig(**values)
    except (InvalidConfig, TypeError) as error:
        message(str(error), kind="error", title="These settings do not go together.")
        return corpus_id, None


def forecast_panel(corpus: CorpusSummary, config: IndexConfig | None, jobs: list[JobState]) -> None:
    with st.container(border=True, key="forecast"):
        tokens_of = {one.id: one.tokens for one in session.workbench().corpora()}
        expected = forecast(corpus, config or IndexConfig(), jobs, tokens_of)
        low, high = expected.seconds
        time = f"{numbers.duration(low)} to {numbers.duration(high)}" if high else "a minute or so"
        st.html(
            markup.label("Forecast")
            + f'<div class="lr-big"><b>No cost</b><span>{escape(time)}</span></div>'
            + f'<div class="lr-small lr-muted" style="margin:.2rem 0 .5rem">{escape(expected.basis)}</div>'
            + markup.facts_table(
                ("", ""),
                [
                    ("Documents", f"{corpus.documents:,}"),
                    ("Tokens", f"{corpus.tokens:,}"),
                    ("Chunks", f"about {expected.chunks:,}"),
                    ("Language-model calls", "0"),
                ],
            )
        )
        name = st.text_input("Name of the index", placeholder=corpus.name, key="index_name")
        if st.button(
            "Build index",
            type="primary",
            key="primary_build",
            icon=":material/play_arrow:",
            width="stretch",
            disabled=config is None or not corpus.documents,
        ):
            with plain_errors():
                assert config is not None
                state.remember("job", session.workbench().start_build(corpus.id, config, name.strip() or None))
                st.rerun()
        if not corpus.documents:
            st.caption("This corpus has no documents. Add some in the Library.")
        else:
            st.caption("You can close the page. The build goes on.")


def report_panel(job: JobState) -> None:
    """Counts, layers, cluster sizes, drops and seconds of a build that is done."""
    found = next((one for one in session.shelf().indexes if one.id == job.result), None)
    if found is None:
        message("The index of this build was deleted since.")
        return
    base = found.layers[0]
    tiles = [
        ("Entities", f"{base.entities:,}", "in layer 0"),
        ("Relations", f"{base.relations:,}", "in layer 0"),
        ("Aggregated", f"{sum(one.entities for one in found.layers[1:]):,}", f"in {len(found.layers) - 1} layers"),
        ("Inter-cluster", f"{sum(one.relations for one in found.layers[1:]):,}", "relations"),
        ("Chunks", f"{found.chunks:,}", numbers.counted(found.documents, "document")),
    ]
    shown = "".join(
        f'<div class="lr-tile"><div class="lr-label" style="margin:0">{title}</div><div class="v">{value}</div>'
        f'<div class="lr-small lr-muted">{note}</div></div>'
        for title, value, note in tiles
    )
    st.html(f'<div class="lr-tiles">{shown}</div>')
    kind_line(found.kind)
    left, right = st.columns([7, 5], gap="large")
    with left:
        head = ("Layer", "Entities", "Relations", "Summarised", "Joined", "Clusters", "Largest", "Components")
        rows = [
            (
                f"L{one.layer}",
                f"{one.entities:,}",
                f"{one.relations:,}",
                f"{one.summarised:,}" if one.layer else "–",
                f"{one.concatenated:,}" if one.layer else "–",
                f"{one.clusters:,}" if one.clusters else "–",
                f"{one.largest_cluster:,}" if one.clusters else "–",
                f"{one.components:,}",
            )
            for one in reversed(found.layers)
        ]
        markup.block("Layers", markup.facts_table(head, rows), "clusters: how a layer was grouped into the next")
    with right:
        drops = job.report.get("counts", {}).get("drops", {}) or {}
        body = markup.facts_table(("", ""), [(stage.capitalize(), f"{n:,}") for stage, n in sorted(drops.items())])
        none = '<div class="lr-small lr-muted">Nothing was dropped.</div>'
        markup.block("Left out on the way", body if drops else none, "by stage, with reasons below" if drops else "")
        if drops:
            with st.expander("What was left out, and why"):
                drop_list(found)


def drop_list(found: IndexSummary) -> None:
    with plain_errors():
        listed = session.open_index(found).report.get("dropped", {})
        rows = [
            {"Stage": stage, "What": drop["item"], "Why": drop["reason"]}
            for stage, drops in sorted(listed.items())
            for drop in drops
        ]
        st.dataframe(pd.DataFrame(rows), hide_index=True, height=forms.table_height(len(rows), 320))


def index_table(indexes: Sequence[IndexSummary]) -> None:
    st.html(markup.label("Indexes", f"{len(indexes):,}, newest first"))
    table = pd.DataFrame(
        {
            "Name": [one.name for one in indexes],
            "Corpus": [one.corpus_name for one in indexes],
            "Graph": [one.kind for one in indexes],
            "clustersize": [one.config.get("cluster_size") for one in indexes],
            "tau": [str(one.config.get("tau") or "auto") for one in indexes],
            "Chunk tokens": [one.config.get("chunk_tokens") for one in indexes],
            "Chunks": [one.chunks for one in indexes],
            "Entities": [one.layers[0].entities for one in indexes],
            "Layers": [len(one.layers) for one in indexes],
            "Size": [numbers.size(one.size_bytes) for one in indexes],
            "Built": [numbers.day(one.created) for one in indexes],
        }
    )

    def picked() -> None:
        cells = st.session_state["index_table"]["selection"]["cells"]
        if cells:
            st.session_state["index_chosen"] = indexes[int(cells[0][0])].id

    st.dataframe(
        table,
        hide_index=True,
        key="index_table",
        on_select=picked,
        selection_mode="single-cell",
        height=forms.table_height(len(indexes), 320),
        column_config={
            "Chunks": st.column_config.NumberColumn(format="localized"),
            "Entities": st.column_config.NumberColumn(format="localized"),
        },
    )
    by_id = {one.id: one for one in indexes}
    if st.session_state.get("index_chosen") not in by_id:
        st.session_state["index_chosen"] = indexes[0].id
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        chosen = st.selectbox(
            "Index", list(by_id), format_func=lambda id_: by_id[id_].name, key="index_chosen", width=320
        )
        if st.button(
            "Explore",
            icon=":material/account_tree:",
            key="explore_index",
            on_click=state.set_widget,  # before the sidebar's own widget is drawn
            args=("index", chosen),
        ):
            st.switch_page(page_path("explore"))
        if st.button("Rename", type="tertiary", icon=":material/edit:", key="rename_index"):
            rename(by_id[chosen])
        if st.button("Delete", type="tertiary", icon=":material/delete:", key="delete_index"):
            confirm_delete(by_id[chosen])


@st.dialog("Rename the index")
def rename(index: IndexSummary) -> None:
    name = st.text_input("Name", value=index.name)
    if st.button("Rename", type="primary", key="primary_rename"):
        with plain_errors():
            session.workbench().rename_index(index.id, name)
            st.rerun()


@st.dialog("Delete this index?")
def confirm_delete(index: IndexSummary) -> None:
    st.text(index.name)
    st.write(f"{numbers.size(index.size_bytes)} are freed. The documents stay, so that it can be built again.")
    if st.button("Delete index", type="primary", key="primary_delete_index"):
        with plain_errors():
            session.workbench().delete_index(index.id)
            st.session_state.pop("index_chosen", None)
            st.rerun()


def job_panel(jobs: list[JobState]) -> None:
    """The job that the URL names, else the one that runs; ended ones can be put away."""
    wanted = state.recall("job")
    live = [job for job in jobs if job_view.is_live(job)]
    if not wanted and live:
        wanted = live[0].id
        state.remember("job", wanted)
    if not wanted:
        return
    try:
        job = session.workbench().job(wanted)
    except JobNotFound as error:
        message(str(error), kind="error")
        state.remember("job", None)
        return
    job_view.show(job.id)
    if job.status == "done":
        report_panel(job)
    others = [other for other in live if other.id != job.id]
    with st.container(horizontal=True, gap="small"):
        for other in others:
            label = forms.plain(f"Also running: {other.title}, {numbers.share(other.share)}")
            st.button(label, key=f"other_{other.id}", type="tertiary", on_click=state.remember, args=("job", other.id))
        if not job_view.is_live(job):
            st.button("Put this report away", key="away", type="tertiary", on_click=state.remember, args=("job", None))
    st.html('<hr class="lr-rule">')


def page() -> None:
    enter("build")
    workbench = session.workbench()
    corpora, jobs = workbench.corpora(), workbench.jobs()
    heading("Build", "From documents to a hierarchy of entities and relations")
    if not corpora:
        st.html('<div class="lr-empty">No corpus yet. Add documents in the Library first.</div>')
        return
    job_panel(jobs)
    left, right = st.columns([7, 4], gap="large")
    with left:
        corpus_id, config = settings_form(corpora)
    with right:
        forecast_panel(next(one for one in corpora if one.id == corpus_id), config, jobs)
    indexes = session.shelf().indexes
    if indexes:
        index_table(indexes)
    else:
        st.html('<div class="lr-empty">No index yet. The one you build will be listed here.</div>')
    ended = [job for job in jobs if not job_view.is_live(job) and job.id != state.recall("job")]
    if ended:
        with st.expander(f"Earlier builds, {len(ended):,}", icon=":material/history:"):
            for job in ended[:12]:
                label = forms.plain(f"{job.title}, {job.status}, {numbers.day(job.started)}")
                st.button(
                    label, key=f"earlier_{job.id}", type="tertiary", on_click=state.remember, args=("job", job.id)
                )
    state.publish(["index", "corpus", "job", *(f"b_{field}" for field in FIELDS)])


page()
