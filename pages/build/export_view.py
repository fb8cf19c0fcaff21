"""The Download popover of an index: a button for each export format."""

import re
import tempfile
from functools import partial
from pathlib import Path

import streamlit as st

from leanrag_core.exporting.base import broken_exporters, exporters
from leanrag_core.types.summary import IndexSummary
from pages.common import session
from pages.common.messages import message, say, words

_NOT_IN_NAMES = re.compile(r"[^\w]+")


def popover(index: IndexSummary) -> None:
    """A button for each format; the file is made when it is pressed."""
    with st.popover(say("build.download"), type="tertiary", icon=":material/download:", key="download_index"):
        for exporter in exporters():
            st.download_button(
                words(exporter.title),
                partial(_content, index.id, exporter.name),
                file_name=f"{_NOT_IN_NAMES.sub(' ', index.name)[:60].strip() or 'index'}{exporter.suffix}",
                mime=exporter.media_type,
                help=words(exporter.help),
                type="tertiary",
                on_click="ignore",
                key=f"download_{exporter.name}",
            )
        for file in broken_exporters():
            message(words(file.message), kind="error", title=say("library.import.broken_format"))


def _content(index_id: str, format_name: str) -> bytes:
    """The exported file, whole: Streamlit takes downloads from memory."""
    workbench = session.workbench()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "index"
        workbench.export(workbench.indexes.open(index_id), format_name, path)
        return path.read_bytes()
