"""What the workbench keeps on disk, and where."""

from contextlib import suppress
from pathlib import Path

import streamlit as st

from leanrag_core.figures import numbers
from pages._shared.common import markup, session
from pages._shared.common.html import draw, html

_KEPT = (
    ("corpora", "Corpora, with their documents' text"),
    ("indexes", "Indexes"),
    ("calls", "Stored calls"),
    ("jobs", "Builds: settings, events, logs"),
    ("stages", "Results of builds that later builds take over"),
)


def panel() -> None:
    """The folder of the workbench and the size of what is in it."""
    root = session.workbench().root
    sizes = _sizes(str(root))
    rows = [(title, numbers.size(sizes[folder])) for folder, title in _KEPT]
    rows.append(("Total", numbers.size(sum(sizes.values()))))
    draw(
        html('<div class="lr-small lr-muted lr-path">{}</div>', str(root))
        + markup.facts_table(("", ""), rows, caption="Storage")
        + html('<div class="lr-small lr-muted">Indexes are deleted on Build, corpora in the Library, calls here.</div>')
    )


@st.cache_data(ttl=20, max_entries=2, show_spinner=False)
def _sizes(root: str) -> dict[str, int]:
    """Bytes below each folder, looked up at most every twenty seconds."""
    return {folder: _bytes_below(Path(root) / folder) for folder, _ in _KEPT}


def _bytes_below(folder: Path) -> int:
    """Bytes of all files below the folder; one that is deleted meanwhile counts nothing."""
    total = 0
    for path in folder.rglob("*"):
        with suppress(OSError):
            total += path.stat().st_size if path.is_file() else 0
    return total
