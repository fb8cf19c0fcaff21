"""What a build made, what it cost, what was lost on the way, and how to get it back."""

import streamlit as st

from leanrag_core.figures import numbers
from leanrag_core.figures.clustering import cluster_facts
from leanrag_core.jobs.kinds import UPDATE
from leanrag_core.types.index import Index
from leanrag_core.types.job import JobState
from leanrag_core.types.manifest import BY_MODEL
from leanrag_core.types.part import ABSENT
from leanrag_core.types.summary import IndexSummary
from pages._shared.build import build_charts, parts_view, update_view
from pages._shared.common import markup, session, state
from pages._shared.common.frame import kind_line, message, plain_errors
from pages._shared.common.html import draw, html

_BEGINNING = 120  # characters of a chunk in the list of losses
_READ = 300  # rows of a list of losses
_LOG_SHOWN = 20_000  # characters


def show(job: JobState) -> None:
    """Counts, layers, cluster sizes, drops and seconds of a build that is done."""
    summary = next((index for index in session.index_list().indexes if index.id == job.result), None)
    if summary is None:
        message("The index of this build has been deleted.")
        return
    base, above = summary.layers[0], summary.layers[1:]
    tiles = [
        ("Entities", f"{base.entities:,}", "in layer 0"),
        ("Relations", f"{base.relations:,}", "in layer 0"),
        ("Aggregated", f"{sum(layer.entities for layer in above):,}", f"in {numbers.counted(len(above), 'layer')}"),
        ("Inter-cluster", f"{sum(layer.relations for layer in above):,}", "relations"),
        ("Chunks", f"{summary.chunks:,}", numbers.counted(summary.documents, "document")),
    ]
    draw(markup.tiles(tiles))
    kind_line(summary)
    if job.kind.name == UPDATE.name:
        with plain_errors():
            update_view.outcome(summary)
    left, right = st.columns([7, 5], gap="large")
    with left:
        head = ("Layer", "Entities", "Relations", "Summarised", "Joined", "Clusters", "Largest", "Components")
        rows = [
            (
                f"L{layer.layer}",
                f"{layer.entities:,}",
                f"{layer.relations:,}",
                f"{layer.summarised:,}" if layer.layer else "–",
                f"{layer.concatenated:,}" if layer.layer else "–",
                f"{layer.clusters:,}" if layer.clusters else "–",
                f"{layer.largest_cluster:,}" if layer.clusters else "–",
                f"{layer.components:,}",
            )
            for layer in reversed(summary.layers)
        ]
        markup.block("Layers", markup.facts_table(head, rows), "clusters: how a layer was grouped into the next")
        with st.expander("How well the layers cluster"):
            clustering(summary)
    with right:
        drops = job.report.drops
        body = markup.facts_table(("", ""), [(stage.capitalize(), f"{n:,}") for stage, n in sorted(drops.items())])
        none = html('<div class="lr-small lr-muted">Nothing was dropped.</div>')
        markup.block("Left out on the way", body if drops else none, "by stage, with reasons below" if drops else "")
        if drops:
            with st.expander("What was left out, and why"):
                drop_list(summary)
    with plain_errors():
        made = tuple(part for part in session.workbench().parts(summary.id) if part.status != ABSENT)
        if made:
            parts_view.table(made)
    title = "Charts: clusters, relations, time and tokens"
    charts = st.expander(title, icon=":material/bar_chart:", key="build_charts", on_change="rerun")
    if charts.open:
        with charts, plain_errors():
            build_charts.hierarchy(session.open_index(summary))
            build_charts.costs(job)
    if summary.kind == BY_MODEL:
        losses(job, summary)


def clustering(summary: IndexSummary) -> None:
    """Sizes and quality of each layer's clusters, as the index's report keeps them."""
    with plain_errors():
        layers = cluster_facts(session.open_index(summary).report)
        if not layers:
            draw(html('<div class="lr-small lr-muted">One entity alone: nothing was clustered.</div>'))
            return
        head = ("Into layer", "Smallest", "Median", "Singles", "Neighbours", "Relations", "Likelihood")
        rows = [
            (
                f"L{layer.layer}",
                f"{layer.smallest:,}",
                f"{layer.median:g}",
                f"{layer.singletons:,}",
                _share(layer.neighbours_inside),
                _share(layer.relations_inside),
                "–" if layer.likelihood is None else numbers.decimal(layer.likelihood),
            )
            for layer in reversed(layers)
        ]
        draw(markup.facts_table(head, rows))
        draw(
            html(
                '<div class="lr-hint">Neighbours: share of a node\'s 10 nearest that are in its own cluster. '
                "Relations: share of the layer's relations inside clusters. Likelihood: mean log "
                "density of the mixture.</div>"
            )
        )


def _share(value: float | None) -> str:
    return "–" if value is None else numbers.share(value)


def drop_list(summary: IndexSummary) -> None:
    with plain_errors():
        listed = session.open_index(summary).report.dropped
        rows = [
            (stage.capitalize(), drop.item, drop.reason) for stage, drops in sorted(listed.items()) for drop in drops
        ]
        draw(markup.reading_table(("Stage", "What", "Why"), rows[:_READ], caption="What was left out, and why"))
        if len(rows) > _READ:
            markup.note(f"The first {_READ:,} of {len(rows):,}; all are in report.json of the index.")


def losses(job: JobState, summary: IndexSummary) -> None:
    """Chunks and summaries that the model failed at, and the ways to ask again."""
    with plain_errors():
        index = session.open_index(summary)
        lost = index.report.lost_chunks
        # The lists of a report end after some hundred; what an index records of itself is counted whole.
        instead = summary.builtin_texts or index.report.listed_by_builtin
        empty = [chunk for chunk in index.report.empty_chunks if chunk not in lost]
        if not (lost or instead or empty):
            draw(html('<div class="lr-small lr-muted">The model answered everything; nothing was lost.</div>'))
            return
        draw(markup.label("What the model failed at", _counts(len(lost), instead, len(empty))))
        if lost or empty:
            loss_table(index, {**lost, **dict.fromkeys(empty, "the model summary nothing in it")})
        with st.container(horizontal=True, gap="small"):
            if (lost or instead) and st.button(
                "Retry what failed",
                icon=":material/replay:",
                key="retry_failed",
                help="Failed replies are not stored, so only these are asked for again. All others are reused.",
            ):
                state.remember("job", session.workbench().resume(job.id))
                st.rerun()
            if empty and st.button(
                _run_again(len(empty)),
                icon=":material/restart_alt:",
                key="retry_empty",
                help="Their stored replies are deleted and asked for again. Everything else is reused.",
            ):
                state.remember("job", session.workbench().run_empty_chunks_again(summary.id))
                st.rerun()
        draw(html('<div class="lr-hint" style="margin:0">Every other answer is stored and not asked for again.</div>'))


def _run_again(n: int) -> str:
    return "Run the empty chunk again" if n == 1 else f"Run the {n:,} empty chunks again"


def _counts(lost: int, instead: int, empty: int) -> str:
    parts = [f"{numbers.counted(lost, 'chunk')} with losses"] if lost else []
    parts += [f"{numbers.counted(instead, 'summary', 'summaries')} written by the built-in writer"] if instead else []
    parts += [f"{numbers.counted(empty, 'chunk')} without entities"] if empty else []
    return ", ".join(parts)


def loss_table(index: Index, reasons: dict[str, str]) -> None:
    """Chunks by number and document, why they are incomplete, and how they begin."""
    row_of = {id_: row for row, id_ in enumerate(index.chunks["id"].to_pylist())}
    titles = index.documents["title"].to_pylist()
    document_of = index.chunks["document"].to_pylist()
    rows = sorted(row_of[id_] for id_ in reasons if id_ in row_of)
    ids = index.chunks["id"].to_pylist()
    listed = [
        (f"{row + 1:,}", titles[document_of[row]], reasons[ids[row]], _beginning(index.chunk(row).text))
        for row in rows[:_READ]
    ]
    head = ("Chunk", "Document", "Why", "Begins")
    draw(markup.reading_table(head, listed, caption="Chunks with losses, and why"))
    if len(rows) > _READ:
        markup.note(f"The first {_READ:,} of {len(rows):,} chunks; all are in report.json of the index.")


def _beginning(text: str) -> str:
    """The first words of a chunk, in one line."""
    start = " ".join(text[: 2 * _BEGINNING].split())
    return start if len(start) <= _BEGINNING else f"{start[:_BEGINNING].rsplit(' ', 1)[0]} …"


def log_fold(job: JobState) -> None:
    """What the build's process printed, to read and to download; nothing when it printed nothing."""
    log = session.workbench().job_log(job.id)
    if not log.strip():
        return
    with st.expander("Log", icon=":material/notes:", key="job_log"):
        markup.code(log[-_LOG_SHOWN:], height=240)
        st.download_button(
            "Download the log",
            log,
            file_name=f"build-{job.id}.log",
            mime="text/plain",
            type="tertiary",
            icon=":material/download:",
            key="download_log",
            on_click="ignore",
        )
