"""Build: settings, the live job, its report, and the indexes there are."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
import streamlit as st

from leanrag_core.errors import InvalidConfig, JobNotFound
from leanrag_core.figures import numbers
from leanrag_core.indexing.aggregation.threshold import parse_tau
from leanrag_core.prompts.book import PromptBook
from leanrag_core.types.config import IndexConfig
from leanrag_core.types.job import JobState
from leanrag_core.types.model_names import model_title
from leanrag_core.types.summary import CorpusSummary, IndexSummary
from pages._shared.build import (
    build_report,
    engine_form,
    export_view,
    forecast_card,
    form_values,
    job_view,
    job_words,
    parts_view,
    update_view,
)
from pages._shared.common import forms, markup, session, state, widgets
from pages._shared.common.frame import enter, heading, message, page_path, plain_errors
from pages._shared.common.html import draw, html
from pages._shared.common.messages import say
from pages._shared.library import import_view

FORM = (*form_values.FIELDS, *form_values.CLUSTERING, "preset")


@dataclass(frozen=True)
class Form:
    """The form's values. config: for the forecast, always one that can be built; fault: why this form cannot."""

    corpus_id: str
    engine: engine_form.Engine
    config: IndexConfig
    fault: str = ""


def settings_form(corpora: list[CorpusSummary]) -> Form:
    names = {corpus.id: f"{corpus.name}, {numbers.counted(corpus.documents, 'document')}" for corpus in corpora}
    wanted = state.recall("corpus")
    if wanted and wanted not in names:
        message(
            f"The corpus {wanted} is not here, so {corpora[0].name} is chosen. Choose another one below.", kind="error"
        )
    with st.grid(2, min_column_width=240, gap="small"):
        corpus_id = widgets.one_of(
            "corpus",
            list(names),
            lambda mount: st.selectbox(
                "Corpus",
                list(names),
                index=list(names).index(mount.value),
                format_func=names.__getitem__,
                key=mount.key,
                on_change=mount.changed,
            ),
            form=widgets.labels(names),
            pin=True,
        )
        engine = engine_form.choose(corpus_id)
    if engine.remote:
        engine = engine_form.endpoint(corpus_id)
    with plain_errors():
        session.workbench().presets()  # a file that does not read says so; the program's own are there
    presets = form_values.known_presets()
    title = widgets.show(
        "preset",
        form_values.marked_preset(),
        lambda mount: st.pills(
            "Preset",
            list(presets),
            default=mount.value,
            format_func=forms.plain,
            key=mount.key,
            on_change=mount.changed,
            wrap=True,
        ),
        form_values.take_preset,
        form=tuple(presets),
    )
    if title and {"top_n", "top_c"} <= set(presets[title].ask):
        preset = presets[title]
        mixture = "Clusters are those of the mixture alone, of any size. " if preset.plain_mixture else ""
        hint = f"{mixture}Top-N {preset.ask['top_n']}, top-C {preset.ask['top_c']} and their budgets are set on Ask."
        draw(html('<div class="lr-hint">{}</div>', hint))
    if title and presets[title].name.startswith("own-"):
        st.button(
            say("preset.delete"),
            icon=":material/delete:",
            type="tertiary",
            key="delete_preset",
            on_click=_delete_preset,
            args=(title,),
        )
    checks: dict[str, Callable[[Any], str]] = {
        "tau": lambda value: tau_fault(value, heuristic=engine.name == engine_form.BUILTIN),
        "overlap_tokens": lambda value: overlap_fault(
            value, forms.field_value(IndexConfig, "chunk_tokens", "b_chunk_tokens")
        ),
    }
    values = forms.draw_fields(IndexConfig, form_values.FIELDS, prefix="b_", faults=checks)
    with st.expander("How clusters and their relations are made"):
        values |= forms.draw_fields(IndexConfig, form_values.CLUSTERING, prefix="b_")
    return checked(corpus_id, engine, values, {name: check(values[name]) for name, check in checks.items()})


def _delete_preset(title: str) -> None:
    """The person's preset is gone; the form keeps its values. For callbacks."""
    with plain_errors():
        session.workbench().delete_preset(title)
        state.remember("b_preset", None)


def tau_fault(value: str | None, *, heuristic: bool) -> str:
    try:
        parse_tau(value, heuristic=heuristic)  # else the job would fail, minutes later
    except InvalidConfig as error:
        return str(error)
    return ""


def overlap_fault(overlap_tokens: int, chunk_tokens: int) -> str:
    try:
        IndexConfig(chunk_tokens=chunk_tokens, overlap_tokens=overlap_tokens)
    except InvalidConfig as error:
        return str(error)
    return ""


def checked(corpus_id: str, engine: engine_form.Engine, values: dict[str, Any], faults: Mapping[str, str]) -> Form:
    """The form; of a wrong field the forecast takes the last value that was right."""
    right = st.session_state.setdefault("lr_right_values", {})
    specs = forms.option_fields(IndexConfig)
    for name, fault in faults.items():
        if fault:
            values = values | {name: right.get(name, specs[name].default)}
        else:
            right[name] = values[name]
    values = values | {"overlap_tokens": min(values["overlap_tokens"], values["chunk_tokens"] - 1)}
    fault, chosen = next((problem for problem in faults.values() if problem), ""), dict(engine.values)
    try:
        PromptBook(chosen.get("prompts", ()))
    except InvalidConfig as error:
        message(str(error), kind="error", title="A prompt cannot be used.")
        fault, chosen["prompts"] = fault or str(error), ()
    return Form(corpus_id, engine, IndexConfig(**values, **chosen), fault)


def index_table(indexes: Sequence[IndexSummary]) -> None:
    draw(markup.label("Indexes", f"{len(indexes):,}, newest first"))
    table = pd.DataFrame(
        {
            "Name": [index.title for index in indexes],
            "Corpus": [index.corpus_name for index in indexes],
            "Graph": [index.kind for index in indexes],
            "Model": [model_title(index.config.model) for index in indexes],
            "clustersize": [index.config.cluster_size for index in indexes],
            "tau": [str(index.config.tau or "auto") for index in indexes],
            "Chunk tokens": [index.config.chunk_tokens for index in indexes],
            "Chunks": [index.chunks for index in indexes],
            "Entities": [index.layers[0].entities for index in indexes],
            "Layers": [len(index.layers) for index in indexes],
            "Size": [numbers.size(index.size_bytes) for index in indexes],
            "Built": [numbers.day(index.created) for index in indexes],
        }
    )

    def picked() -> None:
        cells = st.session_state["index_table"]["selection"]["cells"]
        if cells:
            state.remember("row", indexes[int(cells[0][0])].id)

    st.dataframe(
        forms.visible_cells(table),
        hide_index=True,
        key="index_table",
        on_select=picked,
        selection_mode="single-cell",
        height=forms.table_height(len(indexes), 320),
        column_config={
            # 1,125 px in all, which is what a window of 1,440 px has room for.
            "Name": st.column_config.TextColumn(width=185),
            "Corpus": st.column_config.TextColumn(width=145),
            "Graph": st.column_config.TextColumn(width=100),
            "Model": st.column_config.TextColumn(width=80),
            "clustersize": st.column_config.NumberColumn(width=85),
            "tau": st.column_config.TextColumn(width=55),
            "Chunk tokens": st.column_config.NumberColumn(width=95),
            "Chunks": st.column_config.NumberColumn(width=65, format="localized"),
            "Entities": st.column_config.NumberColumn(width=70, format="localized"),
            "Layers": st.column_config.NumberColumn(width=60),
            "Size": st.column_config.TextColumn(width=65),
            "Built": st.column_config.TextColumn(width=120),
        },
    )
    by_id = {index.id: index for index in indexes}
    titles = {index.id: index.title for index in indexes}
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        chosen = widgets.one_of(
            "row",
            list(by_id),
            lambda mount: st.selectbox(
                "Index",
                list(by_id),
                index=list(by_id).index(mount.value),
                format_func=titles.__getitem__,
                key=mount.key,
                on_change=mount.changed,
                width=320,
            ),
            form=widgets.labels(titles),
            key="index_chosen",
            pin=True,
        )
        if st.button(
            "Explore",
            icon=":material/account_tree:",
            key="explore_index",
            on_click=state.remember,  # before the sidebar's own widget is drawn
            args=("index", chosen),
        ):
            st.switch_page(page_path("explore"))
        st.button(
            "Duplicate with changes",
            type="tertiary",
            icon=":material/content_copy:",
            key="duplicate_index",
            on_click=form_values.take_settings,
            args=(by_id[chosen],),
        )
        export_view.popover(by_id[chosen])
        if st.button("Rename", type="tertiary", icon=":material/edit:", key="rename_index"):
            rename(by_id[chosen])
        if st.button("Delete", type="tertiary", icon=":material/delete:", key="delete_index"):
            confirm_delete(by_id[chosen])
    update_view.fold(by_id[chosen])
    parts_view.fold(by_id[chosen])


@st.dialog("Rename the index")
def rename(index: IndexSummary) -> None:
    name = st.text_input("Name", value=index.name)
    if st.button("Rename", type="primary", key="primary_rename"):
        with plain_errors():
            session.workbench().rename_index(index.id, name)
            st.rerun()


@st.dialog("Delete this index?")
def confirm_delete(index: IndexSummary) -> None:
    st.text(index.title)
    st.write(f"This frees {numbers.size(index.size_bytes)}. The documents stay, so the index can be built again.")
    if st.button("Delete index", icon=":material/delete:", key="confirm_delete_index"):
        with plain_errors():
            session.workbench().delete_index(index.id)
            for name in ("index", "row"):  # else the page would report it as missing
                if state.recall(name) == index.id:
                    state.remember(name, None)
            st.rerun()


def job_panel(jobs: list[JobState]) -> None:
    """The job that the URL names, else a running one; the report of an ended one can be closed."""
    wanted = state.recall("job")
    live = [job for job in jobs if job.live]
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
    if job.status == "done" and job.builds_index:
        build_report.show(job)
    build_report.log_fold(job)
    others = sorted((other for other in live if other.id != job.id), key=lambda job: (job.status == "queued", job.id))
    with st.container(horizontal=True, gap="small"):
        for other in others:
            label = forms.plain(job_words.other_title(other, live))
            st.button(label, key=f"other_{other.id}", type="tertiary", on_click=state.remember, args=("job", other.id))
        if not job.live:
            st.button("Close this report", key="away", type="tertiary", on_click=state.remember, args=("job", None))
    draw(html('<hr class="lr-rule">') + markup.label("A new build"))


def page() -> None:
    import_view.choose_when_built()
    enter("build")
    workbench = session.workbench()
    corpora, jobs = workbench.corpora(), workbench.jobs()
    heading("Build", "From documents to a hierarchy of entities and relations")
    if not corpora:
        draw(html('<div class="lr-empty">No corpus yet. Add documents in the Library first.</div>'))
        return
    if st.session_state.pop(forecast_card.STARTED, False):  # its panel may be out of view, far above the button
        st.toast("The build has started. Its progress is at the top of this page.", icon=":material/construction:")
    job_panel(jobs)
    left, right = st.columns([7, 4], gap="large")
    with left:
        form = settings_form(corpora)
    with right:
        corpus = next(corpus for corpus in corpora if corpus.id == form.corpus_id)
        forecast_card.card(corpus, form.config, form.engine, jobs, fault=form.fault)
    indexes = session.index_list().indexes
    if indexes:
        index_table(indexes)
    else:
        draw(html('<div class="lr-empty">No index yet. The one you build will be listed here.</div>'))
    ended = [job for job in jobs if not job.live and job.id != state.recall("job")]
    if ended:
        what = "builds" if all(job.builds_index or job.status == "unknown" for job in ended) else "jobs"
        with st.expander(f"Earlier {what}, {len(ended):,}", icon=":material/history:"):
            for job in ended[:12]:
                label = forms.plain(f"{job.title}, {job.status}, {numbers.day(job.started)}")
                st.button(
                    label, key=f"earlier_{job.id}", type="tertiary", on_click=state.remember, args=("job", job.id)
                )
    state.publish(["index", "corpus", "job", *engine_form.URL, *forecast_card.URL, *(f"b_{field}" for field in FORM)])


page()
