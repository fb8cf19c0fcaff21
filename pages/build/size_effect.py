"""What clustersize does to a build: layers and texts to write for every size, with a slider in the browser."""

from pathlib import Path

import streamlit as st

from leanrag_core.errors import LeanRAGError
from leanrag_core.types.config import IndexConfig
from pages.common import session, state
from pages.common.component import component
from pages.common.messages import say

_SCRIPT = Path(__file__).with_name("size_effect.js")
_FRAME = '<div class="lr-effect"></div>'
_KEY = "size_effect"
# From 8 on about even on a logarithmic scale, which the slider is drawn along.
_SIZES = (2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 18, 20, 22, 25, 28, 32, 36, 40, 45, 50, 56, 63, 70, 80, 90, 100)
_LARGE = (112, 125, 140, 160, 180, 200)


def show(corpus_id: str, config: IndexConfig) -> None:
    """The curve over clustersize with the form's value marked; a size chosen there is that of the form."""
    sizes = sorted({*_SIZES, *_LARGE, config.cluster_size})
    try:
        made = session.workbench().builds.size_effects(corpus_id, config, sizes)
    except LeanRAGError:  # the forecast beside it says so
        return

    def chosen() -> None:
        size = st.session_state[_KEY].get("size")
        if isinstance(size, int) and 2 <= size <= 200:
            state.remember("b_cluster_size", None if size == IndexConfig().cluster_size else size)

    values = {
        "rows": [[row.cluster_size, row.layers, row.aggregated, row.summarised] for row in made.effects],
        "size": config.cluster_size,
        "title": say("build.effect.title"),
        "basis": say("build.effect.measured" if made.is_measured else "build.effect.estimated", n=made.entities),
        # Filled in by the script, which follows the slider.
        "said": say(
            "build.effect.said", size="{size}", layers="{layers}", entities="{entities}", relations="{relations}"
        ),
        "entities": say("build.effect.entities"),
        "relations": say("build.effect.relations"),
        "paper": say("build.effect.paper", size=20),
    }
    component(_SCRIPT, _FRAME, draws_svg=True)(data=values, key=_KEY, on_size_change=chosen)
