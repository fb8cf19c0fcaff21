"""What all Plotly figures share: type, margins, hover, no mode bar."""

from typing import Any

from leanrag_core.figures.palette import Palette

FONT = '"Source Sans", "Source Sans Pro", system-ui, sans-serif'
CONFIG = {"displayModeBar": False, "responsive": True}


def layout(colours: Palette, *, height: int, margins: tuple[int, int, int, int] = (48, 8, 8, 36)) -> dict[str, Any]:
    """Layout values for every figure. margins: left, right, top, bottom in px."""
    left, right, top, bottom = margins
    axis = {"zeroline": False, "tickfont": {"color": colours["mute"]}}
    return {
        "height": height,
        "margin": {"l": left, "r": right, "t": top, "b": bottom},
        "font": {"family": FONT, "size": 13, "color": colours["text"]},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "xaxis": {**axis, "showgrid": False},
        "yaxis": {**axis, "showgrid": True, "gridcolor": colours["line"]},
        "hoverlabel": {
            "bgcolor": colours["surf"],
            "bordercolor": colours["line"],
            "font": {"family": FONT, "color": colours["text"], "size": 13},
            "align": "left",
        },
        "showlegend": False,
    }
