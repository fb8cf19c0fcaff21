"""Islands and bridges: what the aggregated relations of each layer join, and the effect of another tau."""

from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import streamlit as st

from leanrag_core.comparing.as_code import ViewCode
from leanrag_core.errors import LeanRAGError
from leanrag_core.figures import numbers
from leanrag_core.figures.drawing import isolated
from leanrag_core.indexing.aggregation.rules import parse_tau
from leanrag_core.indexing.forecasting.relation_calls import RelationCalls, relation_calls
from leanrag_core.messages.catalog import joined_sentences
from leanrag_core.types.config import IndexConfig, is_remote
from leanrag_core.types.index import Index
from leanrag_core.types.manifest import HEURISTIC, IMPORTED
from leanrag_core.types.summary import IndexSummary
from leanrag_core.types.visible import visible_values
from leanrag_core.views.islands import IndexIslands, base_line, drawn_note, finding, islands_of, picture_values
from pages.build import job_words
from pages.common import markup, session, state
from pages.common.component import component, report
from pages.common.drawing_view import tools
from pages.common.html import draw, html
from pages.common.messages import kept_fault, message, say, show_fault, words
from pages.explore.exploring import Exploring, View
from pages.explore.islands_values import panel_layer

_JOB = "lr_rebuild"  # in the session: the current index, the job that rebuilds it
_FAULT = "lr_rebuild_fault"


def start(summary: IndexSummary, config: IndexConfig) -> None:
    """Start a job that builds the index's corpus with these settings as a new index."""
    with kept_fault(_FAULT):
        job_id = session.workbench().builds.start(summary.corpus_id, config, summary.name)
        session.endpoint_builds.clear()
        st.session_state[_JOB] = (summary.id, job_id)


def go_to(index_id: str) -> None:
    """Go to that index, and forget the choices made in the other one."""
    state.remember("index", index_id)
    state.forget("node", "rel", "focus")


def progress(index_id: str) -> None:
    """Draw the job that rebuilds this index while it runs; then open the new index."""
    show_fault(_FAULT)
    source_id, job_id = st.session_state.get(_JOB, ("", ""))
    if source_id == index_id:
        live = session.workbench().jobs.job(job_id).live
        st.fragment(_line, run_every=0.5 if live else None)(job_id)


def _line(job_id: str) -> None:
    job = session.workbench().jobs.job(job_id)
    if job.status == "done" and job.result:
        st.session_state.pop(_JOB, None)
        go_to(job.result)
        st.rerun()
    if not job.live:
        message(job.error or job_words.ended(job), kind="error")
        return
    running = next((stage for stage in job.stages if stage.status == "running"), None)
    doing = words(job.kind.stage(running.name).doing) if running else say("explore.tau.starting")
    said = say("explore.tau.under_way", doing=doing, share=numbers.share(job.share))
    bar = markup.progress_bar(say("explore.tau.under_way", doing=doing, share=""), job.share)
    draw(html('<div class="lr-small" role="status">{}</div>{}', said, bar))


_HERE = Path(__file__).parent
_PICTURES = (
    '<div class="lr-islands"><div class="figure"></div><div class="base"></div><div class="legend"></div>'
    '<div class="reason" role="status" hidden></div><div class="table"></div></div>'
)
_PANEL = (
    '<div class="lr-tau"><div class="head"><span class="title" role="heading" aria-level="2"></span>'
    '<select class="layer"></select></div><div class="sub"></div><div class="chart"></div><div class="arrows"></div>'
    '<div class="change"></div><div class="actions"></div>'
    '<div class="evidence" id="lr-tau-evidence" role="region" hidden></div><div class="note"></div></div>'
)
_WORDS = (
    *("title", "choose_layer", "chart", "handle", "left", "right", "change", "none", "unknown", "summarised"),
    *("summarised_note", "joined", "joined_note", "connected", "islands", "islands_note", "calls", "no_calls", "cost"),
    *("no_price", "suggest", "no_suggestion", "largest", "share", "pair"),
)
_SECONDS_A_CALL = 4.0  # of an endpoint's model, as in the forecast of a build


def show(exploring: Exploring) -> None:
    """Draw the islands on the left and the panel of tau on the right."""
    index, summary = exploring.index, exploring.summary
    islands = _islands_of(summary)
    if not islands.layers:
        code = "explore.islands.one_layer" if len(index.layers) == 1 else "explore.islands.only_root"
        message(base_line(islands, say), title=say(code))
        return
    if exploring.filters.active:
        draw(markup.muted(say("explore.islands.unfiltered")))
    with_relations = [layer for layer in islands.layers if len(layer.curve.strengths)]
    left, right = st.columns([55, 45], gap="large")
    with left:
        _pictures(exploring, islands)
    with right, st.container(border=True, key="tau_panel"):
        if with_relations:
            _panel(index, summary, islands)
        else:
            message(say("explore.islands.no_relations", title=isolated(summary.title)))
        progress(summary.id)


@st.cache_resource(max_entries=8, show_spinner=False, hash_funcs=session.BY_INDEX)
def _islands_of(summary: IndexSummary) -> IndexIslands:
    """Return the islands of an index, computed once."""
    return islands_of(session.open_index(summary))


def _pictures(exploring: Exploring, islands: IndexIslands) -> None:
    head, more = finding(islands, say)
    draw(markup.lead(head, more, "lr-isl-finding"))
    summary, key = exploring.summary, "islands"

    def opened(chosen: str) -> None:
        exploring.go(chosen)
        state.forget("focus", "view")

    note = drawn_note(islands, say)
    values = picture_values(summary.id + summary.created, islands, say)
    title = say("explore.figure", what=say("explore.view.islands"), name=summary.name)
    data = visible_values(values) | {"tools": tools(title, note, keys=say("explore.islands.same_places"))}
    component(_HERE / "islands.js", _PICTURES, parts=("figure_tools",))(
        data=data, key=key, on_opened_change=report(key, "opened", opened)
    )


def _panel(index: Index, summary: IndexSummary, islands: IndexIslands) -> None:
    key, bench = "tau", session.workbench()
    config = index.manifest.config
    model = config.aggregation_model or config.model
    layers = []
    for made in islands.layers:
        if len(made.curve.strengths):
            layers.append(panel_layer(made, _known_calls(summary, made.layer.number, model)))
    reason, seconds = _rebuilding(index)
    rule = parse_tau(config.tau, index.manifest.kind == HEURISTIC)
    steps = [rule.step_text(number) for number in range(1, layers[-1]["number"] + 1)]
    settings = bench.settings.read()
    data: dict[str, Any] = {
        "index": summary.id + summary.created,
        "words": _panel_words(model),
        "layers": layers,
        "steps": steps,
        "existing": dict.fromkeys(_existing(summary), True),
        "rebuilds": not reason,
        "seconds": seconds,
        "secondsACall": _SECONDS_A_CALL / settings.concurrency,
        "priced": is_remote(model) and settings.price(model.partition(":")[2]).prompt > 0,
        "note": reason or _rebuild_note(index, model),
    }

    def rebuild(wanted: str) -> None:
        existing = _existing(summary).get(wanted)
        if existing and not reason:
            go_to(existing)
        elif not reason:
            start(summary, replace(config.checked(), tau=wanted))

    component(_HERE / "tau_panel.js", _PANEL, parts=("tau_chart",))(
        data=visible_values(data), key=key, on_rebuild_change=report(key, "rebuild", rebuild)
    )


def _panel_words(model: str) -> dict[str, str]:
    """Return the sentences of the panel; a script fills in the placeholders in braces."""
    words_of_panel = {_camel(name): say(f"explore.tau.{name}") for name in _WORDS}
    words_of_panel |= {
        "tau": say("explore.tau.tau", tau="{tau}"),
        "pairs": say("explore.tau.pairs", count="{count}"),
        "rebuild": say("explore.tau.rebuild", tau="{tau}", time="{time}"),
        "goThere": say("explore.tau.go_there", tau="{tau}"),
        "back": say("explore.tau.back"),
        "use": say("explore.tau.use", tau="{tau}"),
        "costNote": say("explore.tau.cost_note", model=model.partition(":")[2] or model, fresh="{fresh}"),
    }
    return words_of_panel


def _camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(part.capitalize() for part in rest)


def _known_calls(summary: IndexSummary, number: int, model: str) -> RelationCalls | None:
    """Return the calls of a layer's relations; None if no endpoint's model writes them."""
    if is_remote(model):
        with suppress(LeanRAGError):  # a damaged store of calls hides only the costs
            return _calls(summary, number, model)
    return None


@st.cache_resource(max_entries=32, ttl=120, show_spinner=False, hash_funcs=session.BY_INDEX)
def _calls(summary: IndexSummary, number: int, model: str) -> RelationCalls | None:
    bench = session.workbench()
    return relation_calls(session.open_index(summary), number, bench.models.make(), bench.calls)


def _rebuilding(index: Index) -> tuple[str, float]:
    """Return why the index cannot be rebuilt with another tau, "" if it can, and the expected seconds."""
    if index.manifest.kind == IMPORTED or not index.manifest.corpus.id:
        return say("explore.tau.imported"), 0.0
    if index.manifest.config.relation_rule != "lambda":
        return say("explore.tau.other_rule"), 0.0
    try:
        return "", session.workbench().builds.seconds_with_other_tau(index).expected
    except LeanRAGError as error:
        return words(error), 0.0


def _rebuild_note(index: Index, model: str) -> str:
    """Return in words what a rebuild keeps and what it does not."""
    parts = [say("explore.tau.keeps")]
    # Summaries of clusters are written without the sentences on relations; relations of higher layers quote them.
    above = sum(layer.summarised for layer in index.manifest.layers[2:])
    if is_remote(model) and above:
        parts.append(say("explore.tau.above", n=above))
    if index.manifest.edits or index.manifest.lineage:
        parts.append(say("explore.tau.without_edits"))
    return joined_sentences(parts)


def _existing(summary: IndexSummary) -> dict[str, str]:
    """Return by tau the ids of other indexes with the same corpus and otherwise the same settings."""
    settings, by_tau = _but_tau(summary), {}
    for other in session.index_list().indexes:
        if other.id != summary.id and other.corpus_id == summary.corpus_id and _but_tau(other) == settings:
            with suppress(LeanRAGError):  # this version does not understand the tau
                by_tau[str(parse_tau(other.config.tau, other.kind == HEURISTIC))] = other.id
    return by_tau


def _but_tau(summary: IndexSummary) -> dict[str, Any]:
    return summary.config.by_name() | {"tau": None}


def _code(exploring: Exploring) -> ViewCode:
    """Return code for the components of each layer."""
    lines = ("for layer in index.layers:", "    print(layer.number, len(components(len(layer), layer.ends)))")
    return ViewCode(("from leanrag_core.queries.islands import components",), lines, ("--islands",))


VIEW = View("islands", show, place=60, wide=True, code=_code)
