"""An experiment as a command and as files."""

import re
import shlex
from functools import partial

import streamlit as st

from leanrag_core.types.experiment import ExperimentSummary
from pages.common import markup, session
from pages.common.frame import plain_errors
from pages.common.html import draw
from pages.common.messages import language, say

_NOT_IN_NAMES = re.compile(r"[^\w]+")
_FILES = (
    ("csv", "text/csv", "table_rows"),
    ("json", "application/json", "data_object"),
    ("html", "text/html", "html"),
)


def command(summary: ExperimentSummary) -> None:
    """The command that runs the experiment again, or goes on with it."""
    with st.popover(say("evaluate.command"), icon=":material/code:", type="tertiary", key="evaluate_command"):
        draw(markup.muted(say("evaluate.command_hint")))
        with plain_errors():
            st.code(command_of(summary.id), language=None, wrap_lines=True)


def command_of(experiment: str) -> str:
    """The command, with the path of the experiment's specification."""
    path = session.workbench().experiments.store.folder(experiment) / "spec.json"
    return f"python -m leanrag_core experiment run {shlex.quote(str(path))}"


def export(summary: ExperimentSummary) -> None:
    """Scores of every question as CSV, the whole experiment as JSON, a report as HTML; each is made when it is asked
    for."""
    name = _NOT_IN_NAMES.sub(" ", summary.title)[:60].strip() or "experiment"
    with st.popover(say("evaluate.export"), icon=":material/download:", type="tertiary", key="evaluate_export"):
        draw(markup.muted(say("evaluate.export_hint")))
        for format_name, mime, icon in _FILES:
            st.download_button(
                say(f"evaluate.export.{format_name}"),
                partial(session.workbench().experiments.exported, summary.id, format_name, language()),
                file_name=f"{name}.{format_name}",
                mime=mime,
                icon=f":material/{icon}:",
                key=f"evaluate_{format_name}",
                on_click="ignore",
            )
