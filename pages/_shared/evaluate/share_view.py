"""An experiment as files."""

import re

import streamlit as st

from leanrag_core.figures.chart import as_csv
from leanrag_core.records import to_json
from leanrag_core.types.experiment import ExperimentResult, ExperimentSummary
from pages._shared.common import markup
from pages._shared.common.frame import plain_errors
from pages._shared.common.html import draw
from pages._shared.common.messages import say
from pages._shared.evaluate import experiments, measure_words

_NOT_IN_NAMES = re.compile(r"[^\w]+")


def export(summary: ExperimentSummary) -> None:
    """Every question of every run as CSV, and the whole experiment as JSON; made when the button is open."""
    popover = st.popover(
        say("evaluate.export"), icon=":material/download:", type="tertiary", key="evaluate_export", on_change="rerun"
    )
    if not popover.open:
        return
    with popover, plain_errors():
        result = experiments.opened(summary)
        name = _NOT_IN_NAMES.sub(" ", summary.title)[:60].strip() or "experiment"
        draw(markup.muted(say("evaluate.export_hint")))
        st.download_button(
            say("evaluate.export_csv"),
            rows_csv(result),
            file_name=f"{name}.csv",
            mime="text/csv",
            icon=":material/table_rows:",
            key="evaluate_csv",
            on_click="ignore",
        )
        st.download_button(
            say("evaluate.export_json"),
            to_json(result, indent=1),
            file_name=f"{name}.json",
            mime="application/json",
            icon=":material/data_object:",
            key="evaluate_json",
            on_click="ignore",
        )


def rows_csv(result: ExperimentResult) -> str:
    """A line for each question of each run, with its scores."""
    measures = measure_words.measured(result.rows)
    rows = [
        (
            row.run,
            row.question,
            row.kind,
            *("" if row.scores.get(name) is None else str(row.scores[name]) for name in measures),
        )
        for row in result.rows
    ]
    return as_csv(("run", "question", "kind", *measures), rows)
