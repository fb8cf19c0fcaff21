"""The pages of the app and their states, by a short name: for checks and for pictures of all of them."""

from urllib.parse import quote

from pages.common.frame import PAGES
from pages.evaluate.experiments import TABS
from pages.explore.views import views


def states(question: str, *, index: str = "") -> dict[str, str]:
    """Return the path and query of each state on an index (the newest by default), a question being asked where one can
    be."""
    asked = f"q={quote(question)}"
    paths = {
        **{name: name for name, _ in PAGES},
        **{f"explore_{view.name}": f"explore?view={view.name}" for view in views()},
        "present_shown": "present?show=people-cities-and-ideas",
        "ask_answered": f"ask?{asked}",
        "compare_answered": f"compare?{asked}",
        "compare_variants": f"compare?{asked}&b_strategy=leanrag&b_ix_cluster_size=3",
        "compare_multiples": f"compare?{asked}&cview=multiples&vary=top_n&vary_at=2,5,10",
        **{f"evaluate_{tab}": f"evaluate?tab={tab}" for tab in TABS},
    }
    if index:
        paths = {name: f"{path}{'&' if '?' in path else '?'}index={index}" for name, path in paths.items()}
    return {**paths, "index_gone": "ask?index=gone"}
