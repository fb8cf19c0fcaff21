"""What the workbench keeps on disk and where; the limit of kept results, and a button that deletes them."""

from contextlib import suppress
from pathlib import Path

import streamlit as st

from leanrag_core.figures import numbers
from leanrag_core.types.settings import Settings
from pages._shared.common import markup, session
from pages._shared.common.html import draw, html
from pages._shared.settings import settings_form

_STAGES = "stages"
_KEPT = (
    ("corpora", "Corpora, with their documents' text"),
    ("indexes", "Indexes"),
    ("calls", "Stored calls"),
    ("jobs", "Builds: settings, events, logs"),
    (_STAGES, "Results of builds that later builds take over"),
)


def panel(settings: Settings) -> None:
    """The folder of the workbench, the size of what is in it, and the limit of kept results."""
    root = session.workbench().root
    sizes = _sizes(str(root))
    rows = [(title, numbers.size(sizes[folder])) for folder, title in _KEPT]
    rows.append(("Total", numbers.size(sum(sizes.values()))))
    draw(
        html('<div class="lr-small lr-muted lr-path">{}</div>', str(root))
        + markup.facts_table(("", ""), rows, caption="Storage")
        + html('<div class="lr-small lr-muted">Indexes are deleted on Build, corpora in the Library, calls here.</div>')
    )
    settings_form.number(settings, "stages_mb")
    if st.button(
        f"Delete kept results, {numbers.size(sizes[_STAGES])}",
        icon=":material/delete:",
        key="clear_stages",
        disabled=not sizes[_STAGES],
    ):
        session.workbench().stages.clear()
        _sizes.clear()
        st.toast("Kept results deleted")
        st.rerun()
    draw(html('<div class="lr-hint">Nothing is lost: the next build of a corpus takes as long as its first.</div>'))


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
