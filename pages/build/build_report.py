"""The report of a build: its result, its cost, the losses, and how to recover them."""

from functools import partial

import streamlit as st

from leanrag_core.figures import numbers
from leanrag_core.figures.stage_charts import cluster_facts
from leanrag_core.indexing.extraction.advice import advice_for
from leanrag_core.jobs.kinds import REWRITE, UPDATE
from leanrag_core.queries.conflicts import READ_IN_PASSING, find_conflicts
from leanrag_core.types.conflicts import DENIED, Conflict, ConflictReport
from leanrag_core.types.index import Index
from leanrag_core.types.job import JobState
from leanrag_core.types.manifest import ABSENT, BY_MODEL
from leanrag_core.types.summary import IndexSummary
from pages.build import build_charts, job_words, parts_view, update_view
from pages.common import buttons, downloads, markup, session, state
from pages.common.frame import kind_line, lazy_fold, plain_errors
from pages.common.html import draw, html
from pages.common.messages import message, percent, say, words

_BEGINNING = 120  # characters of a chunk shown in the list of losses
_READ = 300  # rows of a list of losses
_LOG_SHOWN = 20_000  # characters


def show(job: JobState) -> None:
    """Draw counts, layers, cluster sizes, losses and seconds of a finished build."""
    summary = next((index for index in session.index_list().indexes if index.id == job.result), None)
    if summary is None:
        message(say("build.index_deleted"))
        return
    base, above = summary.layers[0], summary.layers[1:]
    tiles = [
        (say("build.entities"), f"{base.entities:,}", say("job.build.in_layer_0")),
        (say("build.relations"), f"{base.relations:,}", say("job.build.in_layer_0")),
        (say("build.aggregated"), f"{sum(layer.entities for layer in above):,}", say("build.in_layers", n=len(above))),
        (
            say("build.inter_cluster"),
            f"{sum(layer.relations for layer in above):,}",
            say("build.inter_cluster_relations"),
        ),
        (say("build.chunks"), f"{summary.chunks:,}", say("count.documents", n=summary.documents)),
    ]
    draw(markup.tiles(tiles))
    kind_line(summary)
    if job.kind.name in (UPDATE.name, REWRITE.name):
        with plain_errors():
            update_view.outcome(summary)
    left, right = st.columns([7, 5], gap="large")
    with left:
        _layers(summary)
    with right:
        _left_out(job, summary)
    with plain_errors():
        made = tuple(
            part for part in session.workbench().parts.all(session.open_index(summary)) if part.status != ABSENT
        )
        if made:
            parts_view.table(made)
    lazy_fold(say("build.conflicts"), partial(_conflicts, summary), key="build_conflicts", icon="compare_arrows")

    def charts() -> None:
        build_charts.hierarchy(session.open_index(summary))
        build_charts.costs(job)

    lazy_fold(say("build.charts"), charts, key="build_charts", icon="bar_chart")
    if summary.kind == BY_MODEL and job.kind.name != REWRITE.name:  # such a job reads no chunks
        losses(job, summary)


def _layers(summary: IndexSummary) -> None:
    """Draw the table of layers, and how well their entities are clustered."""
    head = tuple(
        say(f"build.{name}")
        for name in ("layer", "entities", "relations", "summarised", "joined", "clusters", "largest", "components")
    )
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
    markup.block(say("build.column.layers"), markup.facts_table(head, rows), say("build.clusters_note"))
    with st.expander(say("build.how_well")):
        clustering(summary)


def _left_out(job: JobState, summary: IndexSummary) -> None:
    """Draw how much each stage has left out, and why."""
    drops = job.report.drops
    if not drops:
        markup.block(say("build.left_out"), markup.muted(say("build.nothing_dropped")))
        return
    rows = [(job_words.stage_title(job, stage), f"{n:,}") for stage, n in sorted(drops.items())]
    markup.block(say("build.left_out"), markup.facts_table(("", ""), rows), say("build.left_out_note"))
    with st.expander(say("build.left_out_why")):
        drop_list(job, summary)


def _conflicts(summary: IndexSummary) -> None:
    """Draw the number of contradictions and both quotes of each."""
    if session.open_index(summary).chunks.num_rows > READ_IN_PASSING:
        markup.note(say("conflicts.not_counted"))
        return
    with st.spinner(say("build.conflicts_looking"), show_time=True):
        report = _conflicts_of(summary)
    n, read = len(report.conflicts), {"sentences": report.sentences, "statements": report.statements}
    markup.note(say("conflicts.found", n=n, **read))
    if n:
        head = tuple(say(f"build.conflict_{name}") for name in ("about", "one", "other"))
        rows = [
            (_about(each), *(f"{quote.text} ({quote.document})" for quote in (each.first, each.second)))
            for each in report.conflicts[:_READ]
        ]
        draw(markup.reading_table(head, rows, caption=say("build.conflicts")))
    draw(markup.muted(say("conflicts.tab_help")))


@st.cache_resource(show_spinner=False, max_entries=16, hash_funcs=session.BY_INDEX)
def _conflicts_of(summary: IndexSummary) -> ConflictReport:
    """Return the conflicts of the index, computed once."""
    return find_conflicts(session.open_index(summary))


def _about(conflict: Conflict) -> str:
    names = " – ".join(conflict.names)
    if conflict.kind == DENIED:
        return say("conflicts.denied", names=names)
    return say("build.conflict_value", name=names, what=say(f"conflicts.what.{conflict.what}"))


def clustering(summary: IndexSummary) -> None:
    """Draw sizes and quality of each layer's clusters, as recorded in the index's report."""
    with plain_errors():
        layers = cluster_facts(session.open_index(summary).report)
        if not layers:
            draw(markup.muted(say("build.nothing_clustered")))
            return
        head = tuple(
            say(f"build.{name}")
            for name in ("into_layer", "smallest", "median", "singles", "neighbours", "relations", "likelihood")
        )
        rows = [
            (
                f"L{layer.layer}",
                f"{layer.smallest:,}",
                f"{layer.median:g}",
                f"{layer.singletons:,}",
                percent(layer.neighbours_inside),
                percent(layer.relations_inside),
                "–" if layer.likelihood is None else numbers.decimal(layer.likelihood),
            )
            for layer in reversed(layers)
        ]
        draw(markup.facts_table(head, rows))
        draw(markup.hint(say("build.clustering_legend")))


def drop_list(job: JobState, summary: IndexSummary) -> None:
    with plain_errors():
        listed = session.open_index(summary).report.dropped
        rows = [
            (job_words.stage_title(job, stage), drop.item, drop.reason)
            for stage, drops in sorted(listed.items())
            for drop in drops
        ]
        head = (say("build.stage"), say("build.what"), say("build.why"))
        draw(markup.reading_table(head, rows[:_READ], caption=say("build.left_out_why")))
        if len(rows) > _READ:
            markup.note(say("build.first_of", shown=_READ, n=len(rows)))


def losses(job: JobState, summary: IndexSummary) -> None:
    """Draw the chunks and summaries for which the model failed, and the ways to retry."""
    with plain_errors():
        index = session.open_index(summary)
        lost = index.report.lost_chunks
        # The lists of a report stop after some hundred entries; the records of the index itself are complete.
        instead = summary.builtin_texts or index.report.listed_by_builtin
        empty = [chunk for chunk in index.report.empty_chunks if chunk not in lost]
        if not (lost or instead or empty):
            draw(markup.muted(say("build.nothing_lost")))
            return
        draw(markup.label(say("build.failed_at"), _counts(len(lost), instead, len(empty))))
        if lost or empty:
            loss_table(index, {**lost, **dict.fromkeys(empty, say("build.nothing_in_it"))})
        first = advice_for(lost.values())
        if first is not None:
            draw(html('<div class="lr-hint" style="margin:0">{}</div>', words(first)))
        with st.container(horizontal=True, gap="small"):
            if (lost or instead) and buttons.secondary(
                say("build.retry_failed"), "replay", "retry_failed", help=say("build.retry_failed_hint")
            ):
                state.remember("job", session.workbench().resume(job.id))
                st.rerun()
            if empty and buttons.secondary(
                say("build.run_again", n=len(empty)), "restart_alt", "retry_empty", help=say("build.run_again_hint")
            ):
                state.remember("job", session.workbench().builds.start_with_empty_chunks(summary.id))
                st.rerun()
        draw(html('<div class="lr-hint" style="margin:0">{}</div>', say("build.others_stored")))


def _counts(lost: int, instead: int, empty: int) -> str:
    counts = (("build.chunks_lost", lost), ("build.builtin_summaries", instead), ("build.chunks_empty", empty))
    return say("ask.comma").join(say(code, n=n) for code, n in counts if n)


def loss_table(index: Index, reasons: dict[str, str]) -> None:
    """Draw chunks with number, document, reason of the loss, and first words."""
    row_of = {id_: row for row, id_ in enumerate(index.chunks["id"].to_pylist())}
    titles = index.documents["title"].to_pylist()
    document_of = index.chunks["document"].to_pylist()
    rows = sorted(row_of[id_] for id_ in reasons if id_ in row_of)
    ids = index.chunks["id"].to_pylist()
    listed = [
        (f"{row + 1:,}", titles[document_of[row]], reasons[ids[row]], _beginning(index.chunk(row).text))
        for row in rows[:_READ]
    ]
    head = tuple(say(f"build.{name}") for name in ("chunk", "document", "why", "begins"))
    draw(markup.reading_table(head, listed, caption=say("build.losses")))
    if len(rows) > _READ:
        markup.note(say("build.first_of", shown=_READ, n=len(rows)))


def _beginning(text: str) -> str:
    """Return the first words of a chunk, in one line."""
    start = " ".join(text[: 2 * _BEGINNING].split())
    return start if len(start) <= _BEGINNING else f"{start[:_BEGINNING].rsplit(' ', 1)[0]} …"


def log_fold(job: JobState) -> None:
    """Draw the output of the build's process, with a download; nothing if it printed nothing."""
    log = session.workbench().jobs.log(job.id)
    if not log.strip():
        return
    with st.expander(say("build.log"), icon=":material/notes:", key="job_log"):
        markup.code(log[-_LOG_SHOWN:], height=240)
        downloads.button(say("build.download_log"), log, f"build-{job.id}.log", "text/plain", key="download_log")
